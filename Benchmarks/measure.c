/*
 * Runs a program, and reports the time from exec to its first whole line, its peak memory, and its page faults.
 *
 *   measure [--input FILE] [--output FILE] RUNS PROGRAM [ARGUMENT...]
 *
 * One line per run on standard output: nanoseconds to the first line, nanoseconds to the end, peak resident KiB (from
 * wait4), exit status, page faults without reading. --input is the program's standard input, --output receives its
 * standard output. Link it statically: until exec a child has its parent's memory, which wait4 counts too.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ll + time.tv_nsec;
}

static void fail(const char *what) {
  fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
  exit(1);
}

/* Reads to the end; returns the time of the first newline, 0 if there is none. */
static long long first_line(int from, int to) {
  char bytes[65536];
  long long at = 0;
  for (;;) {
    ssize_t count = read(from, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("read");
    if (count == 0) return at;
    if (at == 0 && memchr(bytes, '\n', (size_t)count)) at = now();
    if (to >= 0 && write(to, bytes, (size_t)count) != count) fail("write");
  }
}

static void run(char **program, const char *input, int output) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  pid_t child;
  long long began = now();
  int error = posix_spawn(&child, program[0], &actions, NULL, program, environ);
  if (error != 0) {
    errno = error;
    fail(program[0]);
  }
  close(ends[1]);
  long long line = first_line(ends[0], output);
  int status;
  struct rusage usage;
  if (wait4(child, &status, 0, &usage) != child) fail("wait4");
  long long end = now();
  close(ends[0]);
  posix_spawn_file_actions_destroy(&actions);
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  printf("%lld %lld %ld %d %ld\n", line == 0 ? -1 : line - began, end - began, usage.ru_maxrss, code, usage.ru_minflt);
}

int main(int count, char **words) {
  const char *input = "/dev/null";
  int output = -1;
  int at = 1;
  for (; at + 1 < count && strncmp(words[at], "--", 2) == 0; at += 2) {
    if (strcmp(words[at], "--input") == 0) input = words[at + 1];
    else if (strcmp(words[at], "--output") == 0)
      output = open(words[at + 1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    else break;
  }
  int runs = at < count ? atoi(words[at]) : 0;
  if (runs < 1 || at + 1 >= count) {
    fputs("usage: measure [--input FILE] [--output FILE] RUNS PROGRAM [ARGUMENT...]\n", stderr);
    return 2;
  }
  for (int index = 0; index < runs; index++) run(words + at + 1, input, output);
  return 0;
}
