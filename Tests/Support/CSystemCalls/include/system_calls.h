#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Watches the calling thread for operating system use that bypasses its ports: clocks, sleeping, waiting on
 * descriptors, and randomness, whichever library calls; and the program's own use of file locks, directories, file
 * names and the process number outside its ports. libc's functions are interposed, so that nothing is missed. Linux
 * only; elsewhere nothing is found.
 */
void system_calls_watch(void);

/* Calls by this thread in between are made by a port. */
void system_calls_enter_port(void);
void system_calls_leave_port(void);

/* Stops watching. Returns the names of the functions called since, each once, separated by spaces; "" if there were
 * none. Valid until this thread's next call. */
const char *system_calls_end(void);

/* From now on libsodium takes its randomness from `fill`, in the whole process; with NULL, from the system again. */
void system_calls_sodium(void (*fill)(void *bytes, size_t count));

/* SQLite's generator restarts, in the whole process: from this seed, or with 0 from the system. */
void system_calls_sqlite(int seed);

#endif
