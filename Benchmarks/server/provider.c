// A device simulator that takes pushes as fast as they arrive: `provider SOCKET [TIMES]`. It answers each with status
// 200.
//
// A line N on standard input is answered, once N pushes have arrived since the last such line, with the nanoseconds
// from the first of them to the last, and with the number of different tokens they were for. Ends with standard input.
//
// When a line N is answered, the file TIMES gets a line for each push: the token's first 16 digits, and its time of
// arrival in nanoseconds of CLOCK_MONOTONIC.
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS = 64, LINE = 16384, TABLE = 1 << 21 };

struct connection {
  int descriptor; // 0: free
  size_t length;
  char line[LINE];
};

static struct connection connections[CONNECTIONS];
// The first bytes of the tokens, with open addressing; 0: free.
static uint64_t tokens[TABLE];
static long expected, come, different;
static int64_t first, last;
static FILE *arrivals;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void note_token(const char *line) {
  char digits[17] = {0};
  const char *start = strstr(line, "\"token\":\"");
  if (start == NULL) { return; }
  memcpy(digits, start + 9, 16);
  if (arrivals != NULL) { fprintf(arrivals, "%s %lld\n", digits, (long long)last); }
  uint64_t value = strtoull(digits, NULL, 16) | 1;
  size_t place = (size_t)(value * 0x9e3779b97f4a7c15u >> 43);
  while (tokens[place] != 0 && tokens[place] != value) { place = (place + 1) % TABLE; }
  if (tokens[place] == 0) { different++; }
  tokens[place] = value;
}

static void report(void) {
  if (expected == 0 || come < expected) { return; }
  if (arrivals != NULL) { fflush(arrivals); }
  printf("%lld %ld\n", (long long)(last - first), different);
  fflush(stdout);
  expected = come = different = 0;
  memset(tokens, 0, sizeof tokens);
}

static void note_push(const char *line) {
  last = now();
  if (come++ == 0) { first = last; }
  note_token(line);
  report();
}

static void serve(struct connection *connection) {
  ssize_t count = read(connection->descriptor, connection->line + connection->length, LINE - 1 - connection->length);
  if (count > 0) { connection->length += (size_t)count; }
  connection->line[connection->length] = 0;
  bool is_whole = connection->length > 0 && connection->line[connection->length - 1] == '\n';
  if (count > 0 && !is_whole) { return; }
  static const char answer[] = "{\"status\":200}\n";
  if (is_whole) {
    note_push(connection->line);
    if (write(connection->descriptor, answer, sizeof answer - 1) < 0) { perror("provider"); }
    connection->length = 0;
    return;
  }
  close(connection->descriptor);
  connection->descriptor = 0;
}

static bool read_question(void) {
  char line[32];
  ssize_t count = read(0, line, sizeof line - 1);
  if (count <= 0) { return false; }
  line[count] = 0;
  expected = strtol(line, NULL, 10);
  report();
  return true;
}

int main(int count, char **words) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (count < 2 || strlen(words[1]) >= sizeof address.sun_path) { return 2; }
  strcpy(address.sun_path, words[1]);
  if (count > 2 && (arrivals = fopen(words[2], "a")) == NULL) { return 1; }
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) { return 1; }
  puts("listening");
  fflush(stdout);
  while (true) {
    struct pollfd waiting[CONNECTIONS + 2] = {{.fd = 0, .events = POLLIN}, {.fd = listener, .events = 0}};
    for (int i = 0; i < CONNECTIONS; i++) {
      int descriptor = connections[i].descriptor;
      waiting[i + 2] = (struct pollfd){.fd = descriptor == 0 ? -1 : descriptor, .events = POLLIN};
      if (descriptor == 0) { waiting[1].events = POLLIN; }
    }
    if (poll(waiting, CONNECTIONS + 2, -1) < 0 && errno != EINTR) { return 1; }
    if (waiting[0].revents != 0 && !read_question()) { return 0; }
    for (int i = 0; i < CONNECTIONS; i++) {
      if (waiting[i + 2].fd >= 0 && waiting[i + 2].revents != 0) { serve(&connections[i]); }
    }
    if ((waiting[1].revents & POLLIN) == 0) { continue; }
    int descriptor = accept(listener, NULL, NULL);
    for (int i = 0; descriptor > 0; i++) {
      if (connections[i].descriptor != 0) { continue; }
      connections[i] = (struct connection){.descriptor = descriptor};
      break;
    }
  }
}
