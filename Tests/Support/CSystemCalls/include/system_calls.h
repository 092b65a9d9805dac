#ifndef SYSTEM_CALLS_H
#define SYSTEM_CALLS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Watches the calling thread's use of the operating system that bypasses its ports: clocks, sleeping, waiting on
 * descriptors, and randomness. The functions of libc are interposed, so that nothing is missed, whichever library
 * calls. Linux only; elsewhere nothing is found.
 */
void system_calls_watch(void);

/* Stops watching. The names of the functions that were called meanwhile, each once, separated by spaces; "" if none was.
 * Valid until the next call of this thread. */
const char *system_calls_end(void);

/* libsodium takes its randomness from `fill` from now on, in the whole process; from the system again with NULL. */
void system_calls_sodium(void (*fill)(void *bytes, size_t count));

#endif
