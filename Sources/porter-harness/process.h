/* Child processes: started with pipes, read line by line, measured, and never left running. */
#ifndef PORTER_PROCESS_H
#define PORTER_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "text.h"

struct process {
  pid_t pid; /* 0: not started, or already waited for */
  int input; /* we write; -1 when closed */
  int output; /* we read; -1 when closed */
  struct text unread;
  uint64_t started_at; /* microseconds, from before fork() */
};

/* How a process ended. */
struct ending {
  bool exited; /* else it was killed by `signal` */
  int status;
  int signal;
  uint64_t peak_memory; /* maximum of resident bytes */
};

/*
 * Starts a program with its standard error appended to `log`. `extra` is one "NAME=value" for its environment, or NULL.
 * `network` is a descriptor of its network namespace, or -1: this process's. The child ends with this process, whatever
 * ends it (where the system supports that). False with errno if it could not be started.
 */
bool process_start(struct process *process, char *const *arguments, const char *log, const char *extra, int network);

/* Writes everything, or returns false. */
bool process_write(struct process *process, const char *bytes, size_t length);
void process_close_input(struct process *process);

/* Reads what is available. False at the end of the output. */
bool process_read(struct process *process);

/* Takes a complete line out of what was read, without its terminator; NULL if there is none yet. To be freed. */
char *process_take_line(struct process *process);

/* Whether it has stopped itself since the last check. */
bool process_stopped(struct process *process);

/* Stops it (SIGSTOP) and waits until it has stopped. False if it ended instead. */
bool process_freeze(struct process *process);

/* Whether it has ended; if so, how. */
bool process_ended(struct process *process, struct ending *ending);

/* Kills it if it is still running, even if frozen, waits for it, and releases its resources. */
void process_end(struct process *process);

/* The peak resident memory of a running process, in bytes; 0 if the system does not report it. */
uint64_t process_peak_memory(pid_t pid);

/* The path of this program, to be freed; NULL with errno. */
char *own_path(void);

#endif
