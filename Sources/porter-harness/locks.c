#include "locks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#include <libproc.h>
#endif

#include "json.h"

const char locks_usage[] =
    "porter-harness locks PID PREFIX\n"
    "  Shows which locks a process holds on the files whose paths begin with PREFIX, and which of them it has open.\n";

static void note(struct holding *holding, const char *what, const char *path) {
  if (holding->description.length > 0) text_add_string(&holding->description, ", ");
  text_format(&holding->description, "%s on %s", what, path);
}

#ifdef __linux__

/*
 * The kernel lists a descriptor's locks in /proc/PID/fdinfo: "lock:\t1: POSIX  ADVISORY  WRITE 4711 fd:00:131077
 * 1073741826 1073742335". A process's POSIX locks are listed with each descriptor of a file; `seen` has those that are
 * counted. /proc/locks lists all of the system, but in several reads, and misses some while others change.
 */
static void note_locks(
    struct holding *holding, struct text *seen, pid_t pid, const char *descriptor, const char *path) {
  char line[256];
  snprintf(line, sizeof line, "/proc/%d/fdinfo/%s", (int)pid, descriptor);
  FILE *information = fopen(line, "re");
  if (information == NULL) return;
  while (fgets(line, sizeof line, information) != NULL) {
    char kind[16];
    char access[16];
    int start = 0;
    if (sscanf(line, "lock: %*[0-9]: %n%15s %*15s %15s", &start, kind, access) != 2) continue;
    if (strstr(text_string(seen), line + start) != NULL) continue;
    text_add_string(seen, line + start);
    char what[64];
    snprintf(what, sizeof what, "%s %s lock", kind, access);
    holding->locks++;
    note(holding, what, path);
  }
  fclose(information);
}

static bool note_files(struct holding *holding, pid_t pid, const char *prefix) {
  char directory[64];
  snprintf(directory, sizeof directory, "/proc/%d/fd", (int)pid);
  DIR *descriptors = opendir(directory);
  if (descriptors == NULL) return false;
  struct text seen = {0};
  for (struct dirent *entry = readdir(descriptors); entry != NULL; entry = readdir(descriptors)) {
    char target[4096];
    ssize_t length = readlinkat(dirfd(descriptors), entry->d_name, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = '\0';
    if (strncmp(target, prefix, strlen(prefix)) != 0) continue;
    note_locks(holding, &seen, pid, entry->d_name, target);
    holding->open_files++;
    note(holding, "descriptor", target);
  }
  text_free(&seen);
  closedir(descriptors);
  return true;
}

#else

/* Elsewhere fcntl() names the process that blocks a write lock on the whole file. */
static void note_locks(struct holding *holding, pid_t pid, const char *path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid == pid) {
    holding->locks++;
    note(holding, "lock", path);
  }
  close(file);
}

static bool note_open_files(struct holding *holding, pid_t pid, const char *prefix) {
  struct proc_fdinfo descriptors[1024];
  int size = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, descriptors, sizeof descriptors);
  if (size < 0) return false;
  for (size_t index = 0; index < (size_t)size / sizeof descriptors[0]; index++) {
    struct vnode_fdinfowithpath file;
    if (descriptors[index].proc_fdtype != PROX_FDTYPE_VNODE) continue;
    if (proc_pidfdinfo(pid, descriptors[index].proc_fd, PROC_PIDFDVNODEPATHINFO, &file, sizeof file) <= 0) continue;
    if (strncmp(file.pvip.vip_path, prefix, strlen(prefix)) != 0) continue;
    holding->open_files++;
    note(holding, "descriptor", file.pvip.vip_path);
  }
  return true;
}

static bool note_files(struct holding *holding, pid_t pid, const char *prefix) {
  const char *slash = strrchr(prefix, '/');
  struct text directory = {0};
  text_add(&directory, prefix, (size_t)(slash - prefix) + 1);
  DIR *files = opendir(text_string(&directory));
  for (struct dirent *entry = files == NULL ? NULL : readdir(files); entry != NULL; entry = readdir(files)) {
    struct text path = {0};
    struct stat status;
    text_format(&path, "%s%s", text_string(&directory), entry->d_name);
    if (strncmp(path.bytes, prefix, strlen(prefix)) == 0 && stat(path.bytes, &status) == 0 && S_ISREG(status.st_mode))
      note_locks(holding, pid, path.bytes);
    text_free(&path);
  }
  text_free(&directory);
  if (files == NULL) return false;
  closedir(files);
  return note_open_files(holding, pid, prefix);
}

#endif

/* The directory of a prefix, resolved, so that it compares with what the system reports. To be freed. */
static char *resolve(const char *prefix) {
  const char *slash = strrchr(prefix, '/');
  struct text directory = {0};
  if (slash == NULL) text_add_string(&directory, ".");
  else text_add(&directory, prefix, slash == prefix ? 1 : (size_t)(slash - prefix));
  char *real = realpath(text_string(&directory), NULL);
  text_free(&directory);
  if (real == NULL) return NULL;
  struct text resolved = {0};
  text_format(&resolved, "%s/%s", strcmp(real, "/") == 0 ? "" : real, slash == NULL ? prefix : slash + 1);
  free(real);
  return resolved.bytes;
}

bool holding_of(pid_t pid, const char *given_prefix, struct holding *holding) {
  *holding = (struct holding){0};
  char *prefix = resolve(given_prefix);
  bool known = prefix != NULL && note_files(holding, pid, prefix);
  int error = errno;
  free(prefix);
  errno = error;
  return known;
}

int locks_main(int argument_count, char **arguments) {
  struct holding holding;
  if (argument_count != 2 || !holding_of((pid_t)atoi(arguments[0]), arguments[1], &holding)) {
    const char *problem = argument_count == 2 ? strerror(errno) : "two arguments are needed";
    fprintf(stderr, "porter-harness: %s\n%s", problem, locks_usage);
    return 2;
  }
  struct text out = {0};
  text_format(&out, "{\"locks\":%u,\"openFiles\":%u,\"held\":", holding.locks, holding.open_files);
  json_write_string(&out, text_string(&holding.description));
  text_add_string(&out, "}");
  puts(text_string(&out));
  int status = holding.locks + holding.open_files == 0 ? 0 : 1;
  text_free(&out);
  text_free(&holding.description);
  return status;
}
