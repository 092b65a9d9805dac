/*
 * What a process holds of a store's files: the reason for which an operating system kills a process (0xdead10cc) when
 * it freezes it.
 */
#ifndef PORTER_LOCKS_H
#define PORTER_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

struct holding {
  unsigned locks;
  unsigned open_files;
  struct text description; /* what is held, in readable form; "" when nothing is */
};

/*
 * Checks each file whose path begins with `prefix`: the locks that `pid` holds on it, and the descriptors that it has
 * open. False with errno if the system does not report them. Free the description.
 */
bool holding_of(pid_t pid, const char *prefix, struct holding *holding);

/*
 * `porter-harness locks PID PREFIX`: prints {"locks","openFiles","held"}; exit status 0 if nothing is held, 1
 * otherwise.
 */
int locks_main(int argument_count, char **arguments);

extern const char locks_usage[];

#endif
