/*
 * nightporter_net.h: a relay on the network as a transport for nightporter.h, over libcurl.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A library of its own, libnightporter-net, for hosts that have no HTTP client: programs on Linux, extensions, Python. It speaks
 * spec/protocol/relay-http.md. It does not need libnightporter, nor libnightporter it: what connects the two is an np_relay.
 *
 *   chat_ctrl ctrl;
 *   np_relay relay;
 *   …chat_migrate_init_key(…, &ctrl)…
 *   np_net_options options = {.size = sizeof options, .ready = np_relay_ready, .ready_context = ctrl};
 *   if (np_net_relay("https://relay.example#6f1a…", &options, &relay) == NP_OK && np_set_relay(ctrl, &relay) != NP_OK)
 *     np_net_relay_free(&relay);
 *
 * CONVENTIONS are those of nightporter.h. In addition:
 *
 * Ownership  np_net_relay() makes a transport. np_set_relay() hands it to one controller, which releases it. Until then, or if
 *            np_set_relay() fails, np_net_relay_free() does. Each transport is for one controller.
 * Threads    A transport has one thread of its own while it is in use, which does everything that libcurl does. Signals are blocked
 *            on it. After an exchange without an answer there may be a second one until that exchange's time is over.
 * Suspending When the controller's network comes to rest (np_relay.suspend), exchanges in progress fail immediately, every
 *            connection is closed, and the thread ends, before the call returns. So np_state()'s "quiescent" holds for the
 *            network too. One exception: the system's own name resolution cannot be interrupted. A thread of libcurl's that waits in
 *            it holds a socket to the name server until the resolver's own time is over.
 * Waiting    An exchange ends by its time whatever the relay, a proxy or a name server does.
 * Environment  No proxy and no file of authorities is taken from the environment.
 */
#ifndef NIGHTPORTER_NET_H
#define NIGHTPORTER_NET_H

#include "nightporter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the loaded library, such as "0.1.0"; NP_VERSION is that of the header. Static. */
const char *np_net_version(void);

/* What becomes of the stream of news. Values are never reused. */
typedef enum np_net_stream {
  NP_NET_STREAM_OPEN = 1,  /* it has begun; if something came meanwhile, `ready` follows */
  NP_NET_STREAM_RESET = 2, /* it has begun, and the relay has forgotten what was subscribed, as after a restart. `ready` follows */
  NP_NET_STREAM_ENDED = 3  /* it ended, or could not be opened. The transport tries again by itself */
} np_net_stream;

typedef struct np_net_options {
  size_t size;              /* sizeof(np_net_options) of the host's header */
  np_error (*ready)(void *context); /* called when something may wait at the relay: np_relay_ready, with the controller as its
                               context. While the controller is active the transport then keeps a stream of news open. NULL: no
                               stream, as an extension should have it. Called on the transport's thread; it must not wait */
  void *ready_context;
  np_log_sink log;          /* NULL: none. Called on any thread. Lines have no address, name or key */
  void *log_context;
  const char *proxy;        /* NULL or "": none. "http://HOST:PORT" is asked to CONNECT, "socks5h://HOST:PORT" is a SOCKS proxy such
                               as Tor's; either may have "USER:PASSWORD@". The proxy resolves the relay's name, never this
                               machine. "socks5://", which would, is refused */
  const char *ca_file;      /* the authorities that are trusted, in PEM; NULL or "": the system's. Not read if the address has a
                               fingerprint */
  int isolate;              /* not 0, with a SOCKS proxy without a user: the transport has random credentials, so that Tor gives it
                               circuits that it shares with nothing else */
  int connect_timeout_ms;   /* for a connection, with TLS; the exchange's own time counts too. 0: 10000. At most 60000 */
  void (*stream)(void *context, np_net_stream state); /* what becomes of the stream of news, with the context of `ready` and on its
                               terms. NULL, as a controller needs it: the engine finds out by itself */
} np_net_options;

/*
 * Makes a transport to the relay at `url`, and opens nothing yet.
 *
 * url      "https://HOST[:PORT][#FINGERPRINT[,FINGERPRINT]]", as `porter-relay address` prints it. With a fingerprint, only a
 *          certificate with that key is accepted, and no authority, name or date counts. Without one, a certificate
 *          is verified by the authorities and its name. The TLS version is 1.3.
 * options  NULL: all as 0. Copied, with its strings. A structure of an earlier header, which ends before `stream`, is taken.
 * relay    is filled in, if the result is NP_OK.
 *
 * NP_ERROR_NULL for a missing argument. NP_ERROR_ARGUMENT for another kind of address or proxy, an address that ends in
 * ".onion" without a SOCKS proxy, `isolate` without one or with a user, a time out of range. NP_ERROR_SYSTEM when memory or
 * randomness is exhausted.
 */
np_error np_net_relay(const char *url, const np_net_options *options, np_relay *relay);

/* Frees a transport that no controller has taken. NULL is allowed, and a structure that was freed before. */
void np_net_relay_free(np_relay *relay);

/* Why exchanges fail. Values are never reused. */
typedef enum np_net_failure {
  NP_NET_NONE = 0,        /* the latest exchange was answered, or there was none */
  NP_NET_UNREACHABLE = 1, /* no such name, no route, no connection, or it broke */
  NP_NET_TIMEOUT = 2,     /* no answer in the exchange's time */
  NP_NET_PROXY = 3,       /* the proxy cannot be reached or refuses */
  NP_NET_CERTIFICATE = 4, /* the certificate is not by a known authority, has expired, or is another host's */
  NP_NET_FINGERPRINT = 5, /* the certificate's key is not the one in the address */
  NP_NET_TLS = 6,         /* TLS failed otherwise, for instance because the relay has no TLS 1.3 */
  NP_NET_BUSY = 7,        /* the relay answered 429 or 5xx, or the time that it asked to wait is not over */
  NP_NET_REFUSED = 8,     /* another status: this is no relay, or it speaks another protocol */
  NP_NET_ANSWER = 9,      /* too long, or not of the relay's content type */
  NP_NET_SUSPENDED = 10,  /* the network is at rest */
  NP_NET_SYSTEM = 11      /* out of memory, threads or descriptors */
} np_net_failure;

/* How the latest exchange of this transport ended, for a host's page about the network. Only until the transport is released. */
np_net_failure np_net_last_failure(const np_relay *relay);

/* The name of a failure, such as "fingerprint"; "unknown" for a value outside the enum. Static. */
const char *np_net_failure_name(int failure);

#ifdef __cplusplus
}
#endif

#endif /* NIGHTPORTER_NET_H */
