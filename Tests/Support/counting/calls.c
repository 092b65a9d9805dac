/*
 * Runs a program, and counts the system calls of all its threads:
 *
 *   calls FILE PROGRAM [ARGUMENT...]
 *
 * At its end FILE has one line, `calls COUNT`. Exits with the program's exit status, or with 128 plus the number of its
 * signal.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_THREADS = 256 };

static pid_t inside[MOST_THREADS]; /* threads between the beginning and the end of a call */

static void fail(const char *what) {
  fprintf(stderr, "calls: %s: %s\n", what, strerror(errno));
  exit(127);
}

/* Whether this stop is the beginning of a call rather than its end. */
static bool begins(pid_t thread) {
  int free_place = -1;
  for (int place = 0; place < MOST_THREADS; place++) {
    if (inside[place] == thread) {
      inside[place] = 0;
      return false;
    }
    if (inside[place] == 0) { free_place = place; }
  }
  if (free_place >= 0) { inside[free_place] = thread; }
  return true;
}

static void begin(char **words) {
  if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) { fail("ptrace"); }
  raise(SIGSTOP);
  execvp(words[0], words);
  fail(words[0]);
}

/* The program's status, as returned by waitpid. */
static int count(pid_t program, long *calls) {
  for (;;) {
    int status = 0;
    pid_t thread = waitpid(-1, &status, __WALL);
    if (thread < 0 && errno != EINTR) { fail("waitpid"); }
    if (thread < 0) { continue; }
    if (!WIFSTOPPED(status)) {
      if (thread == program) { return status; }
      continue;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80) && begins(thread)) { (*calls)++; }
    /* The tracer's own stops, and the first one of each thread, are not signals of the program. */
    bool is_own = signal == SIGTRAP || signal == (SIGTRAP | 0x80) || signal == SIGSTOP;
    ptrace(PTRACE_SYSCALL, thread, NULL, is_own ? 0L : (long)signal);
  }
}

int main(int argument_count, char **arguments) {
  if (argument_count < 3) { return 127; }
  pid_t program = fork();
  if (program < 0) { fail("fork"); }
  if (program == 0) { begin(arguments + 2); }
  int status = 0;
  if (waitpid(program, &status, 0) < 0) { fail("waitpid"); }
  long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
  if (ptrace(PTRACE_SETOPTIONS, program, NULL, options) != 0) { fail("ptrace"); }
  if (ptrace(PTRACE_SYSCALL, program, NULL, 0L) != 0) { fail("ptrace"); }
  long calls = 0;
  status = count(program, &calls);
  FILE *file = fopen(arguments[1], "w");
  if (file == NULL || fprintf(file, "calls %ld\n", calls) < 0 || fclose(file) != 0) { fail(arguments[1]); }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
