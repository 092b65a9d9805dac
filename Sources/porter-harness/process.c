#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sched.h>
#include <sys/prctl.h>
#endif
#ifdef __APPLE__
#include <libproc.h>
#include <mach-o/dyld.h>
#endif

#include "invoke.h"

/* ------------------------------------------------------------------------------------------------ start */

/* In the child, after fork(): only what POSIX allows there. */
static void become(char *const *arguments, const int *input, const int *output, int log, pid_t parent, int network) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (network >= 0 && setns(network, CLONE_NEWNET) != 0) _exit(127);
#else
  (void)network;
#endif
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  signal(SIGPIPE, SIG_DFL);
  if (dup2(input[0], 0) < 0 || dup2(output[1], 1) < 0 || dup2(log, 2) < 0) _exit(127);
  execv(arguments[0], arguments);
  _exit(127);
}

static void close_both(const int *pair) {
  close(pair[0]);
  close(pair[1]);
}

bool process_start(struct process *process, char *const *arguments, const char *log_path, const char *extra,
                   int network) {
  int input[2];
  int output[2];
  *process = (struct process){.input = -1, .output = -1};
  int log = open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return false;
  if (pipe(input) != 0) {
    close(log);
    return false;
  }
  if (pipe(output) != 0) {
    close_both(input);
    close(log);
    return false;
  }
  for (int end = 0; end < 2; end++) {
    fcntl(input[end], F_SETFD, FD_CLOEXEC);
    fcntl(output[end], F_SETFD, FD_CLOEXEC);
  }
  pid_t parent = getpid();
  char *changed = extra == NULL ? NULL : copy_string(extra);
  process->started_at = now_microseconds();
  pid_t pid = fork();
  if (pid == 0) {
    if (changed != NULL) putenv(changed);
    become(arguments, input, output, log, parent, network);
  }
  int error = errno;
  free(changed);
  close(log);
  close(input[0]);
  close(output[1]);
  if (pid < 0) {
    close(input[1]);
    close(output[0]);
    errno = error;
    return false;
  }
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  process->pid = pid;
  process->input = input[1];
  process->output = output[0];
  return true;
}

char *own_path(void) {
#ifdef __APPLE__
  char path[4096];
  uint32_t size = sizeof path;
  return _NSGetExecutablePath(path, &size) == 0 ? realpath(path, NULL) : NULL;
#else
  return realpath("/proc/self/exe", NULL);
#endif
}

/* ------------------------------------------------------------------------------------------------ pipes */

bool process_write(struct process *process, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(process->input, bytes, length);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

void process_close_input(struct process *process) {
  if (process->input >= 0) close(process->input);
  process->input = -1;
}

bool process_read(struct process *process) {
  char bytes[16384];
  for (;;) {
    ssize_t count = process->output < 0 ? 0 : read(process->output, bytes, sizeof bytes);
    if (count > 0) {
      text_add(&process->unread, bytes, (size_t)count);
    } else if (count == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
}

char *process_take_line(struct process *process) {
  struct text *unread = &process->unread;
  char *end = unread->length == 0 ? NULL : memchr(unread->bytes, '\n', unread->length);
  if (end == NULL) return NULL;
  size_t length = (size_t)(end - unread->bytes);
  struct text line = {0};
  text_add(&line, unread->bytes, length);
  memmove(unread->bytes, end + 1, unread->length - length);
  unread->length -= length + 1;
  return line.bytes;
}

/* ------------------------------------------------------------------------------------------------ end */

static uint64_t peak_of(const struct rusage *usage) {
#ifdef __APPLE__
  return (uint64_t)usage->ru_maxrss;
#else
  return (uint64_t)usage->ru_maxrss * 1024;
#endif
}

static bool wait_for(struct process *process, int options, struct ending *ending) {
  int status = 0;
  struct rusage usage = {0};
  pid_t waited;
  do waited = wait4(process->pid, &status, options, &usage);
  while (waited < 0 && errno == EINTR);
  if (waited != process->pid) return false;
  process->pid = 0;
  ending->exited = WIFEXITED(status);
  ending->status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  ending->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  ending->peak_memory = peak_of(&usage);
  return true;
}

bool process_stopped(struct process *process) {
  siginfo_t info = {.si_pid = 0};
  return waitid(P_PID, (id_t)process->pid, &info, WSTOPPED | WNOHANG) == 0 && info.si_pid == process->pid;
}

bool process_freeze(struct process *process) {
  int status = 0;
  pid_t waited;
  if (kill(process->pid, SIGSTOP) != 0) return false;
  do waited = waitpid(process->pid, &status, WUNTRACED);
  while (waited < 0 && errno == EINTR);
  if (waited == process->pid && WIFSTOPPED(status)) return true;
  process->pid = 0;
  return false;
}

bool process_ended(struct process *process, struct ending *ending) { return wait_for(process, WNOHANG, ending); }

void process_end(struct process *process) {
  struct ending ending;
  if (process->pid > 0) {
    kill(process->pid, SIGKILL);
    wait_for(process, 0, &ending);
  }
  process_close_input(process);
  if (process->output >= 0) close(process->output);
  process->output = -1;
  text_free(&process->unread);
}

uint64_t process_peak_memory(pid_t pid) {
#ifdef __APPLE__
  struct rusage_info_v2 usage;
  if (proc_pid_rusage(pid, RUSAGE_INFO_V2, (rusage_info_t *)&usage) != 0) return 0;
  return usage.ri_resident_size;
#else
  char path[64];
  char line[256];
  unsigned long long kilobytes = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE *status = fopen(path, "re");
  if (status == NULL) return 0;
  while (fgets(line, sizeof line, status) != NULL)
    if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1) break;
  fclose(status);
  return kilobytes * 1024;
#endif
}
