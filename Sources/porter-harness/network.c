#include "network.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#endif

/* RFC 5737: in no real network. */
#define RELAY_ADDRESS "192.0.2.1"

bool network_is_separate(const struct network *network) { return network->namespaces[PLACE_RELAY] >= 0; }

enum place network_place(const char *actor) {
  if (strcmp(actor, "bob") == 0) return PLACE_BOB;
  if (strcmp(actor, "server") == 0) return PLACE_SERVER;
  return strcmp(actor, "relay") == 0 ? PLACE_RELAY : PLACE_ALICE;
}

void network_close(struct network *network) {
  for (int place = 0; place < PLACES; place++) {
    if (network->namespaces[place] >= 0) close(network->namespaces[place]);
    network->namespaces[place] = -1;
  }
  text_free(&network->obstacle);
}

/* ------------------------------------------------------------------------------------------------ namespaces */

#ifdef __linux__

static bool write_file(const char *path, const char *content) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool good = write(file, content, strlen(content)) == (ssize_t)strlen(content);
  close(file);
  return good;
}

/* A user other than root may have namespaces inside a user namespace, as its root: ip(8) needs that. */
static bool leave(void) {
  if (unshare(CLONE_NEWNET) == 0) return true;
  unsigned user = (unsigned)geteuid();
  unsigned group = (unsigned)getegid();
  if (errno != EPERM || unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) return false;
  char map[64];
  snprintf(map, sizeof map, "0 %u 1", user);
  if (!write_file("/proc/self/uid_map", map) || !write_file("/proc/self/setgroups", "deny")) return false;
  snprintf(map, sizeof map, "0 %u 1", group);
  return write_file("/proc/self/gid_map", map);
}

static bool make_namespaces(struct network *network) {
  for (int place = 0; place < PLACES; place++) {
    if (!leave()) {
      text_format(&network->obstacle, "a network namespace: %s", strerror(errno));
      return false;
    }
    network->namespaces[place] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (network->namespaces[place] >= 0) continue;
    text_format(&network->obstacle, "/proc/self/ns/net: %s", strerror(errno));
    return false;
  }
  return true;
}

/* Only what POSIX allows after fork(). */
static void become_ip(int namespace, int input, int errors) {
  char *const arguments[] = {"ip", "-batch", "-", NULL};
  if (setns(namespace, CLONE_NEWNET) != 0 || dup2(input, 0) < 0 || dup2(errors, 2) < 0) _exit(126);
  execvp(arguments[0], arguments);
  _exit(127);
}

/* Runs lines of ip(8) in one of the namespaces. They are few enough for a pipe. */
static bool configure(struct network *network, enum place place, const struct text *lines) {
  int input[2];
  int errors[2];
  if (pipe2(input, O_CLOEXEC) != 0) return false;
  if (pipe2(errors, O_CLOEXEC) != 0) {
    close(input[0]);
    close(input[1]);
    return false;
  }
  bool written = write(input[1], lines->bytes, lines->length) == (ssize_t)lines->length;
  close(input[1]);
  pid_t pid = fork();
  if (pid == 0) become_ip(network->namespaces[place], input[0], errors[1]);
  close(input[0]);
  close(errors[1]);
  char said[256] = "";
  ssize_t length = read(errors[0], said, sizeof said - 1);
  close(errors[0]);
  int status = -1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  if (written && status == 0) return true;
  said[length > 0 ? length : 0] = '\0';
  said[strcspn(said, "\n")] = '\0';
  bool missing = pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127;
  text_format(&network->obstacle, "ip: %s", missing ? "it is not installed" : said);
  return false;
}

/* Makes a link between the relay and each of the others, with an address at both ends, and a route only to that
   address. */
static bool make_links(struct network *network) {
  static const char *const names[] = {"alice", "bob", "server"};
  struct text relay = {0};
  struct text host = {0};
  text_add_string(&relay, "link set lo up\n");
  for (int place = 0; place < PLACE_RELAY; place++)
    text_format(&relay,
                "link add %s type veth peer name relay netns /proc/%d/fd/%d\n"
                "address add " RELAY_ADDRESS " peer 192.0.2.%d dev %s\nlink set %s up\n",
                names[place], (int)getpid(), network->namespaces[place], 11 + place, names[place], names[place]);
  bool made = configure(network, PLACE_RELAY, &relay);
  for (enum place place = PLACE_ALICE; made && place < PLACE_RELAY; place++) {
    text_clear(&host);
    text_format(&host, "link set lo up\naddress add 192.0.2.%d peer " RELAY_ADDRESS " dev relay\nlink set relay up\n",
                11 + (int)place);
    made = configure(network, place, &host);
  }
  text_free(&relay);
  text_free(&host);
  return made;
}

static void raise_loopback(void) {
  struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP};
  int endpoint = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (endpoint < 0) return;
  ioctl(endpoint, SIOCSIFFLAGS, &request);
  close(endpoint);
}

static bool make(struct network *network) {
  int own = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  if (own < 0) {
    text_format(&network->obstacle, "/proc/self/ns/net: %s", strerror(errno));
    return false;
  }
  bool made = make_namespaces(network) && make_links(network);
  /* Everything stays where it was. There is no way back from a user namespace: then the last one must do. */
  if (!made && setns(own, CLONE_NEWNET) != 0) raise_loopback();
  close(own);
  return made;
}

#else

static bool make(struct network *network) {
  text_add_string(&network->obstacle, "this system has no network namespaces");
  return false;
}

#endif

void network_open(struct network *network) {
  *network = (struct network){.address = RELAY_ADDRESS};
  for (int place = 0; place < PLACES; place++) network->namespaces[place] = -1;
  if (make(network)) return;
  struct text obstacle = network->obstacle;
  network->obstacle = (struct text){0};
  network_close(network);
  network->obstacle = obstacle;
  network->address = "127.0.0.1";
}

/* ------------------------------------------------------------------------------------------------ connections */

/* The inode of an established connection in a line of /proc/PID/net/tcp; 0 for any other. */
static unsigned long established(const char *line) {
  unsigned state = 0;
  unsigned long inode = 0;
  int fields = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", &state, &inode);
  return fields == 2 && state == 1 ? inode : 0;
}

static bool has_socket(pid_t pid, unsigned long inode) {
  char path[64];
  char wanted[64];
  char target[64];
  bool found = false;
  snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
  snprintf(wanted, sizeof wanted, "socket:[%lu]", inode);
  DIR *descriptors = opendir(path);
  if (descriptors == NULL) return false;
  for (struct dirent *entry = readdir(descriptors); entry != NULL && !found; entry = readdir(descriptors)) {
    ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = '\0';
    found = strcmp(target, wanted) == 0;
  }
  closedir(descriptors);
  return found;
}

int network_connections(pid_t pid) {
  int count = 0;
  static const char *const tables[] = {"tcp", "tcp6"};
  for (size_t index = 0; index < sizeof tables / sizeof tables[0]; index++) {
    char path[64];
    char line[512];
    snprintf(path, sizeof path, "/proc/%d/net/%s", (int)pid, tables[index]);
    FILE *table = fopen(path, "re");
    if (table == NULL && index > 0) break;
    if (table == NULL) return -1;
    while (fgets(line, sizeof line, table) != NULL) {
      unsigned long inode = established(line);
      if (inode != 0 && has_socket(pid, inode)) count++;
    }
    fclose(table);
  }
  return count;
}
