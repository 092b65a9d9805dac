/* Child processes: started with pipes, read line by line, measured, and never left behind. */
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
  uint64_t peak_memory; /* bytes resident at most */
};

/*
 * Starts a program with its standard error appended to `log`. `extra` is one "NAME=value" for its environment, or NULL.
 * The child dies with this process, whatever ends it (where the system can do that). False with errno when it could not
 * be started.
 */
bool process_start(struct process *process, char *const *arguments, const char *log, const char *extra);

/* Writes everything, or answers false. */
bool process_write(struct process *process, const char *bytes, size_t length);
void process_close_input(struct process *process);

/* Takes what can be read now. False at the end of the output. */
bool process_read(struct process *process);

/* Takes a whole line out of what was read, without its end; NULL when there is none yet. To be freed. */
char *process_take_line(struct process *process);

/* Stops it (SIGSTOP) and waits until it stands. False when it ended instead. */
bool process_freeze(struct process *process);

/* Whether it has ended; if so, how. */
bool process_ended(struct process *process, struct ending *ending);

/* Kills it if it still runs, even frozen, waits for it, and gives its resources back. */
void process_end(struct process *process);

/* The most memory that a running process has had resident, in bytes; 0 when the system does not say. */
uint64_t process_peak_memory(pid_t pid);

/* The path of this very program, to be freed; NULL with errno. */
char *own_path(void);

#endif
