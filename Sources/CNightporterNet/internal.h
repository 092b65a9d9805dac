/* Declarations shared by the files of this library. None is exported. */
#ifndef NIGHTPORTER_NET_INTERNAL_H
#define NIGHTPORTER_NET_INTERNAL_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nightporter_net.h"

#pragma GCC visibility push(hidden)

enum {
  ANSWER_LIMIT = 65536,   /* bytes of a request or an answer */
  TOKEN_LENGTH = 43,      /* 32 bytes in base64url: a fingerprint, a listener's name */
  EVENT_ID_LENGTH = 64,   /* at most */
  ENTITY_BYTES = 24,      /* names a mailbox in a request */
  PAUSED_MAILBOXES = 8,
  HANGING_MS = 1000,      /* an exchange may hang if it has no answer after this time, or twice the usual one */
  LONGEST_HANGING_MS = 5000,
  LOG_INFO = 1,
  LOG_WARNING = 2
};

/* Milliseconds since the machine was started, including the time it slept. */
uint64_t now_ms(void);

/* ------------------------------------------------------------------------------------------------ settings */

struct settings {
  char *exchange_url;
  char *news_url;
  char *pins; /* for CURLOPT_PINNEDPUBLICKEY; NULL: the authorities decide */
  char *proxy;
  char *proxy_user;
  char *proxy_password;
  char *ca_file;
  long connect_timeout_ms;
};

/* Reads an address and options. settings_free() frees what was read before a failure. */
np_error settings_read(struct settings *settings, const char *url, const np_net_options *options);
void settings_free(struct settings *settings);

/* 43 random characters of base64url. */
bool random_token(char token[TOKEN_LENGTH + 1]);

/* ------------------------------------------------------------------------------------------------ pauses */

/* How long the relay asked for no requests: for all of it, or for one mailbox. */
struct pauses {
  uint64_t until;
  struct {
    uint8_t entity[ENTITY_BYTES];
    uint64_t until;
  } mailboxes[PAUSED_MAILBOXES];
};

/* The relevant parts of a response's header. */
struct response {
  long status;
  unsigned retry_after; /* seconds, 0: none */
  bool limits_mailbox;
  bool is_bytes;
  bool is_stream;
};

void pauses_note(struct pauses *pauses, const struct response *response, const uint8_t *request, size_t length);
bool pauses_hold(const struct pauses *pauses, const uint8_t *request, size_t length);

/* ------------------------------------------------------------------------------------------------ transfers */

struct net;

/* Sets everything common to exchanges and the stream of news. False if memory is exhausted. */
bool transfer_prepare(CURL *easy, const struct settings *settings, struct response *response);

/* Returns why a transfer failed; NP_NET_NONE if it has a status. */
np_net_failure transfer_failure(CURL *easy, CURLcode code, bool has_proxy);

/* Returns why a response is not an answer. */
np_net_failure response_failure(const struct response *response);

/* Whether the connection broke before a complete answer arrived, so that the same bytes may be resent on another. */
bool transfer_broke(CURLcode code);

/* ------------------------------------------------------------------------------------------------ exchanges */

/* One request and its answer. It is in its link's list until the link is done with it; then the waiting caller frees
   it, or the link if the caller has given it up. */
struct job {
  struct job *next;
  CURL *easy; /* NULL until the link begins it */
  struct curl_slist *headers;
  uint8_t *request;
  size_t request_length;
  uint8_t *answer;
  size_t answer_length;
  size_t answer_capacity;
  struct response response;
  uint64_t begun;
  bool is_too_long;
  bool was_repeated;
  bool is_given_up;
  bool is_done;
  np_net_failure failure;
  pthread_cond_t ended;
};

struct job *job_make(const uint8_t *request, size_t length);
void job_free(struct job *job);
/* Prepares the transfer; `listener` may be NULL. */
bool job_prepare(struct job *job, const struct settings *settings, const char *listener);
/* Prepares a second attempt, on a new connection. */
void job_repeat(struct job *job);

/* ------------------------------------------------------------------------------------------------ news */

/* The stream of news. Only the owning link touches it; `owner` is guarded by the lock of `net`. */
struct news {
  struct link *owner;
  CURL *easy; /* NULL while the stream is closed */
  struct curl_slist *headers;
  struct response response;
  char listener[TOKEN_LENGTH + 1];
  char last_id[EVENT_ID_LENGTH + 1];
  char line[256];
  size_t line_length;
  char event[16];
  char id[EVENT_ID_LENGTH + 1];
  uint64_t heard; /* when the latest byte arrived */
  uint64_t opens; /* when to open it again */
  unsigned retry_ms;
  unsigned failures;
  bool has_begun; /* its first event has arrived */
  bool is_unreachable;
  bool end_is_due; /* report it when the lock is not held */
};

/* Does what is due, and returns the time until something is. The lock is held. */
int news_step(struct link *link, uint64_t now);
void news_ended(struct link *link, CURLcode code);
void news_close(struct link *link);
/* Whether the stream has ended since the last call. The lock is held. */
bool news_take_end(struct link *link);
/* Takes a new name, unknown to the relay. */
bool news_begin(struct news *news);

/* ------------------------------------------------------------------------------------------------ links */

/* A thread with its connections. A link that left an exchange unanswered is retired: it finishes what it has, and later
   exchanges get another link, since its connection may be dead. */
struct link {
  struct link *next;
  struct net *net;
  pthread_t thread;
  CURLM *multi; /* NULL once the thread is ending */
  struct job *jobs;
  bool stops;
  bool has_ended;    /* its connections are closed */
  bool frees_itself; /* its own thread released the transport */
};

/* Returns the current link, creating one if needed; NULL when out of memory or threads. The lock is held. */
struct link *link_current(struct net *net);
/* Retires the current link. The stream of news moves to a new one, and stays if none can be made. The lock is held. */
void link_replace(struct net *net);
void link_wake(struct link *link);
/* Joins threads that have closed their connections. The lock is held. */
void links_reap(struct net *net);
/* Ends all links: their exchanges fail, their connections are closed, and their threads have ended. The lock is not
   held. */
void links_stop(struct net *net);

/* ------------------------------------------------------------------------------------------------ the transport */

struct net {
  struct settings settings;
  np_error (*ready)(void *context);
  void (*stream)(void *context, np_net_stream state);
  void *ready_context;
  np_log_sink log;
  void *log_context;
  pthread_mutex_t lock; /* guards everything below */
  unsigned references;
  bool is_suspended;
  bool has_begun; /* since it was created or resumed: the listener has its name */
  np_net_failure last_failure;
  np_net_failure logged_failure;
  struct link *current;
  uint64_t usual_ms;  /* what the slowest of the latest answers took */
  struct link *links; /* including the current one and those that are ending */
  unsigned reaping;   /* links that were taken out, and whose threads are being joined */
  pthread_cond_t reaped;
  struct pauses pauses;
  struct news news;
};

/* Notes how long an answer took. The lock is held. */
void net_note_time(struct net *net, uint64_t milliseconds);
/* Notes how an exchange ended, and logs a change. The lock is held. */
void net_note(struct net *net, np_net_failure failure);
/* Drops a reference; the last one frees. The lock is not held. */
void net_release(struct net *net);

#pragma GCC visibility pop

#endif /* NIGHTPORTER_NET_INTERNAL_H */
