/* A relay on the network, through libnightporter-net, which is loaded on first use. */
#ifndef PORTER_NET_RELAY_H
#define PORTER_NET_RELAY_H

#include <stdbool.h>

#include "nightporter.h"

bool net_relay_is_address(const char *text);

/*
 * Makes the transport, which listens to news for `listener` unless that is NULL. The library is searched for in
 * $NIGHTPORTER_NET_LIBRARY (its file; if that is set, nowhere else), next to this program, and in the system. Failures
 * are reported on standard error.
 */
np_error net_relay_make(const char *url, chat_ctrl listener, np_relay *relay);

/* Frees a transport that no controller has taken. */
void net_relay_free(np_relay *relay);

#endif
