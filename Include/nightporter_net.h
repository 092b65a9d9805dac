/*
 * nightporter_net.h: a relay on the network as a transport for nightporter.h, over libcurl.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A separate library, libnightporter-net, for hosts without an HTTP client: programs on Linux, extensions, Python. It
 * speaks spec/protocol/relay-http.md. Neither library needs the other: an np_relay connects the two.
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
 * Threads    While in use, a transport has one thread of its own, on which libcurl does all its work. Signals are
 *            blocked on it. A connection may be dead if an exchange's time ended on it, if an exchange has been unanswered
 *            for a second (on a slow network: twice as long as recent answers took, at most five seconds), or if the
 *            stream of news has been silent for 75 seconds. Later exchanges and the stream then get a new thread with a
 *            new connection, and the previous thread ends with its last exchange: besides the one thread there may be one
 *            for each unanswered exchange, until that exchange's time is over.
 * Suspending When the controller's network comes to rest (np_relay.suspend), exchanges in progress fail immediately, every
 *            connection is closed, and the thread ends, before the call returns. So np_state()'s "quiescent" holds for the
 *            network too. One exception: the system's own name resolution cannot be interrupted. A libcurl thread that
 *            waits in it holds a socket to the name server until the resolver's own timeout.
 * Waiting    An exchange ends within its time, whatever the relay, a proxy or a name server does.
 * Environment  Neither a proxy nor a CA file is taken from the environment.
 */
#ifndef NIGHTPORTER_NET_H
#define NIGHTPORTER_NET_H

#include "nightporter.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the loaded library, such as "0.1.0"; NP_VERSION is the header's. Static. */
const char *np_net_version(void);

/* The states of the stream of news. Values are never reused. */
typedef enum np_net_stream {
  NP_NET_STREAM_OPEN = 1,  /* it is open; if something arrived in the meantime, `ready` follows */
  NP_NET_STREAM_RESET = 2, /* it is open, but the relay has lost the subscriptions, as after a restart. `ready` follows */
  NP_NET_STREAM_ENDED = 3  /* it ended, or could not be opened. The transport retries by itself */
} np_net_stream;

typedef struct np_net_options {
  size_t size;              /* sizeof(np_net_options) of the host's header */
  np_error (*ready)(void *context); /* called when something may wait at the relay: np_relay_ready, with the controller as its
                               context. The transport then keeps a stream of news open while the controller is active.
                               NULL: no stream, the right choice for an extension. Called on the transport's thread; it
                               must not wait */
  void *ready_context;
  np_log_sink log;          /* NULL: none. Called on any thread. Lines contain no address, name or key */
  void *log_context;
  const char *proxy;        /* NULL or "": none. "http://HOST:PORT" is asked to CONNECT, "socks5h://HOST:PORT" is a
                               SOCKS proxy such as Tor's; either may have "USER:PASSWORD@". The proxy resolves the
                               relay's name, never this machine. "socks5://", which would resolve it here, is refused */
  const char *ca_file;      /* the trusted authorities, in PEM; NULL or "": the system's. Not read if the address has a
                               fingerprint */
  int isolate;              /* not 0, with a SOCKS proxy without a user: the transport uses random credentials, so that
                               Tor gives it circuits shared with nothing else */
  int connect_timeout_ms;   /* for connecting, including TLS; the exchange's own time applies too. 0: 10000. At most
                               60000 */
  void (*stream)(void *context, np_net_stream state); /* called with changes of the stream of news, with the context of
                               `ready` and on the same terms. NULL is right for a controller: the engine finds out by
                               itself */
} np_net_options;

/*
 * Makes a transport to the relay at `url`; opens nothing yet.
 *
 * url      "https://HOST[:PORT][#FINGERPRINT[,FINGERPRINT]]", as `porter-relay address` prints it. With a fingerprint, only a
 *          certificate with that key is accepted, and no authority, name or date counts. Without one, a certificate
 *          is verified by authority and name. The TLS version is 1.3.
 * options  NULL: all 0. Copied, including its strings. A structure of an earlier header, which ends before `stream`, is
 *          accepted.
 * relay    is filled in if the result is NP_OK.
 *
 * NP_ERROR_NULL for a missing argument. NP_ERROR_ARGUMENT for another kind of address or proxy, an address that ends in
 * ".onion" without a SOCKS proxy, `isolate` without one or with a user, a time out of range. NP_ERROR_SYSTEM when memory or
 * randomness is exhausted.
 */
np_error np_net_relay(const char *url, const np_net_options *options, np_relay *relay);

/* Frees a transport that no controller has taken. NULL is allowed, and so is a structure that was already freed. */
void np_net_relay_free(np_relay *relay);

/* Why an exchange failed. Values are never reused. */
typedef enum np_net_failure {
  NP_NET_NONE = 0,        /* the latest exchange was answered, or there was none */
  NP_NET_UNREACHABLE = 1, /* no such name, no route, no connection, or it broke */
  NP_NET_TIMEOUT = 2,     /* no answer in the exchange's time */
  NP_NET_PROXY = 3,       /* the proxy cannot be reached or refuses */
  NP_NET_CERTIFICATE = 4, /* the certificate is not from a known authority, has expired, or is another host's */
  NP_NET_FINGERPRINT = 5, /* the certificate's key is not the one in the address */
  NP_NET_TLS = 6,         /* TLS failed otherwise, for instance because the relay has no TLS 1.3 */
  NP_NET_BUSY = 7,        /* the relay answered 429 or 5xx, or the time it asked to wait is not over */
  NP_NET_REFUSED = 8,     /* another status: this is not a relay, or it speaks another protocol */
  NP_NET_ANSWER = 9,      /* the answer is too long, or not of the relay's content type */
  NP_NET_SUSPENDED = 10,  /* the network is at rest */
  NP_NET_SYSTEM = 11      /* out of memory, threads or descriptors */
} np_net_failure;

/* How the latest exchange of this transport ended, for a host's network status page. Only until the transport is
   released. */
np_net_failure np_net_last_failure(const np_relay *relay);

/* The name of a failure, such as "fingerprint"; "unknown" for a value outside the enum. Static. */
const char *np_net_failure_name(int failure);

#ifdef __cplusplus
}
#endif

#endif /* NIGHTPORTER_NET_H */
