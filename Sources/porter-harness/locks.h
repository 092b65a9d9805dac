/*
 * What a process holds of a store's files: the thing an operating system kills for (0xdead10cc) when it freezes a
 * process.
 */
#ifndef PORTER_LOCKS_H
#define PORTER_LOCKS_H

#include <stdbool.h>
#include <sys/types.h>

#include "text.h"

struct holding {
  unsigned locks;
  unsigned open_files;
  struct text description; /* what is held, for a person; "" when nothing is */
};

/*
 * Looks at each file whose path begins with `prefix`: locks that `pid` holds on it, and descriptors that it has open.
 * False with errno when the system would not say. The description is to be freed.
 */
bool holding_of(pid_t pid, const char *prefix, struct holding *holding);

/*
 * `porter-harness locks PID PREFIX`: prints {"locks","openFiles","held"}; exit status 0 when nothing is held, 1
 * otherwise.
 */
int locks_main(int argument_count, char **arguments);

extern const char locks_usage[];

#endif
