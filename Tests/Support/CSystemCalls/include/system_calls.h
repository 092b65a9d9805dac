#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Watches the calling thread's use of the operating system that bypasses its ports: clocks, sleeping, waiting on
 * descriptors, and randomness, whichever library calls; and the program's own use of file locks, of directories, of names
 * of files and of the process's number, outside its ports. The functions of libc are interposed, so that nothing is
 * missed. Linux only; elsewhere nothing is found.
 */
void system_calls_watch(void);

/* What this thread does in between is done by a port. */
void system_calls_enter_port(void);
void system_calls_leave_port(void);

/* Stops watching. The names of the functions that were called meanwhile, each once, separated by spaces; "" if none was.
 * Valid until the next call of this thread. */
const char *system_calls_end(void);

/* libsodium takes its randomness from `fill` from now on, in the whole process; from the system again with NULL. */
void system_calls_sodium(void (*fill)(void *bytes, size_t count));

/* SQLite's generator begins anew, in the whole process: from this seed, or from the system with 0. */
void system_calls_sqlite(int seed);

#endif
