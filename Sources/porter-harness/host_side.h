/* What a host provides to the library: transports and a log sink, which scripts choose by name. */
#ifndef PORTER_HOST_SIDE_H
#define PORTER_HOST_SIDE_H

#include "nightporter.h"

/*
 * A transport by name; NULL if there is none.
 *   offline   answers NP_ERROR_SYSTEM immediately, like a device without a network
 *   silent    answers NP_ERROR_TIMEOUT once all its time has passed
 *   empty     answers NP_OK with nothing
 *   garbage   answers NP_OK with 64 bytes that are not a valid answer
 */
const np_relay *host_relay(const char *name);

/*
 * A log sink by name; NULL if there is none.
 *   output   {"log","level"} lines among the answers
 *   error    to standard error, as "MICROSECONDS LEVEL LINE"
 */
np_log_sink host_log_sink(const char *name);

/* Writes one line to standard output, unbroken, from any thread. */
void write_line(const char *line);

#endif
