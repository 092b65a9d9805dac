/* The interface: a transport, and the np_relay made from it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "internal.h"

const char *np_net_version(void) { return NP_VERSION; }

const char *np_net_failure_name(int failure) {
  static const char *const names[] = {"none",        "unreachable", "timeout", "proxy",  "certificate", "fingerprint",
                                      "tls",         "busy",        "refused", "answer", "suspended",   "system"};
  return failure >= 0 && (size_t)failure < sizeof names / sizeof names[0] ? names[failure] : "unknown";
}

/* ------------------------------------------------------------------------------------------------ reports */

void net_note(struct net *net, np_net_failure failure) {
  net->last_failure = failure;
  if (failure == NP_NET_SUSPENDED || failure == net->logged_failure) return;
  net->logged_failure = failure;
  char line[64] = "the relay on the network: ";
  strncat(line, failure == NP_NET_NONE ? "answers again" : np_net_failure_name((int)failure), 30);
  if (net->log != NULL) net->log(net->log_context, failure == NP_NET_NONE ? LOG_INFO : LOG_WARNING, line);
}

/* ------------------------------------------------------------------------------------------------ exchanges */

static struct timespec after(int milliseconds) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  time.tv_sec += milliseconds / 1000;
  time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_sec++;
    time.tv_nsec -= 1000000000;
  }
  return time;
}

/* A slower answer counts immediately. After faster ones it is forgotten bit by bit. */
void net_note_time(struct net *net, uint64_t milliseconds) {
  net->usual_ms = milliseconds > net->usual_ms ? milliseconds : net->usual_ms - (net->usual_ms - milliseconds) / 4;
}

/* On a slow network no exchange is fast; one connection for each would make it slower still. */
static uint64_t hanging_ms(const struct net *net) {
  uint64_t twice = net->usual_ms * 2;
  if (twice < HANGING_MS) return HANGING_MS;
  return twice > LONGEST_HANGING_MS ? LONGEST_HANGING_MS : twice;
}

/* A connection with a hanging exchange may be dead: the next exchange does not wait for it. The lock is held. */
static void retire_hanging(struct net *net) {
  uint64_t now = now_ms();
  for (struct job *job = net->current == NULL ? NULL : net->current->jobs; job != NULL; job = job->next)
    if (now - job->begun >= hanging_ms(net)) {
      struct link *link = net->current;
      net->current = NULL;
      link_wake(link);
      return;
    }
}

/* Hands the job to the current link. The lock is held. */
static np_net_failure submit(struct net *net, struct job *job, struct link **link) {
  if (net->is_suspended) return NP_NET_SUSPENDED;
  if (pauses_hold(&net->pauses, job->request, job->request_length)) return NP_NET_BUSY;
  links_reap(net);
  /* A suspension may have begun in the meantime. */
  if (net->is_suspended) return NP_NET_SUSPENDED;
  if (!net->has_begun && net->ready != NULL && !news_begin(&net->news)) return NP_NET_SYSTEM;
  net->has_begun = true;
  retire_hanging(net);
  *link = link_current(net);
  if (*link == NULL) return NP_NET_SYSTEM;
  job->begun = now_ms();
  struct job **place = &(*link)->jobs;
  while (*place != NULL) place = &(*place)->next;
  *place = job;
  link_wake(*link);
  return NP_NET_NONE;
}

/* False if its time ended before its link was done with it: then it belongs to the link alone. The lock is held. */
static bool await(struct net *net, struct link *link, struct job *job, const struct timespec *end) {
  while (!job->is_done)
    if (pthread_cond_timedwait(&job->ended, &net->lock, end) == ETIMEDOUT && !job->is_done) {
      job->is_given_up = true;
      /* The next exchange must not use a connection that may be dead. */
      if (net->current == link) link_replace(net);
      link_wake(link);
      net_note(net, NP_NET_TIMEOUT);
      return false;
    }
  return true;
}

static np_error result_of(np_net_failure failure) { return failure == NP_NET_NONE ? NP_OK : NP_ERROR_SYSTEM; }

static np_error exchange(void *context, const uint8_t *request, size_t length, uint8_t **answer, size_t *answer_length,
                         int timeout_ms) {
  struct net *net = context;
  if (net == NULL || answer == NULL || answer_length == NULL || (request == NULL && length > 0)) return NP_ERROR_NULL;
  *answer = NULL;
  *answer_length = 0;
  if (length > ANSWER_LIMIT || timeout_ms <= 0) return timeout_ms <= 0 ? NP_ERROR_TIMEOUT : NP_ERROR_ARGUMENT;
  struct timespec end = after(timeout_ms);
  struct job *job = job_make(request, length);
  if (job == NULL) return NP_ERROR_SYSTEM;
  struct link *link = NULL;
  pthread_mutex_lock(&net->lock);
  np_net_failure failure = submit(net, job, &link);
  bool is_ours = failure != NP_NET_NONE || await(net, link, job, &end);
  if (failure != NP_NET_NONE) net_note(net, failure);
  else if (is_ours) failure = job->failure;
  pthread_mutex_unlock(&net->lock);
  if (!is_ours) return NP_ERROR_TIMEOUT;
  if (failure == NP_NET_NONE) {
    /* An empty answer is an answer, too. */
    *answer = job->answer == NULL ? malloc(1) : job->answer;
    *answer_length = job->answer_length;
    job->answer = NULL;
    if (*answer == NULL) failure = NP_NET_SYSTEM;
  }
  job_free(job);
  return result_of(failure);
}

/* ------------------------------------------------------------------------------------------------ rest */

static void suspend(void *context) {
  struct net *net = context;
  pthread_mutex_lock(&net->lock);
  net->is_suspended = true;
  pthread_mutex_unlock(&net->lock);
  links_stop(net);
}

static void resume(void *context) {
  struct net *net = context;
  pthread_mutex_lock(&net->lock);
  net->is_suspended = false;
  net->has_begun = false;
  pthread_mutex_unlock(&net->lock);
}

void net_release(struct net *net) {
  pthread_mutex_lock(&net->lock);
  bool is_last = --net->references == 0;
  pthread_mutex_unlock(&net->lock);
  if (!is_last) return;
  settings_free(&net->settings);
  pthread_cond_destroy(&net->reaped);
  pthread_mutex_destroy(&net->lock);
  free(net);
}

static void release(void *context) {
  suspend(context);
  net_release(context);
}

/* ------------------------------------------------------------------------------------------------ making it */

static bool curl_works;

static void start_curl(void) { curl_works = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK; }

/* A newer header's structure is longer: members unknown to this library are ignored. An older one's has no `stream`. */
static bool read_options(np_net_options *copy, const np_net_options *options) {
  *copy = (np_net_options){.size = sizeof *copy};
  if (options == NULL) return true;
  if (options->size < offsetof(np_net_options, stream)) return false;
  memcpy(copy, options, options->size < sizeof *copy ? options->size : sizeof *copy);
  return true;
}

static np_error make(const char *url, const np_net_options *options, struct net **made) {
  struct net *net = calloc(1, sizeof *net);
  if (net == NULL) return NP_ERROR_SYSTEM;
  pthread_mutex_init(&net->lock, NULL);
  pthread_cond_init(&net->reaped, NULL);
  net->references = 1;
  net->ready = options->ready;
  net->stream = options->stream;
  net->ready_context = options->ready_context;
  net->log = options->log;
  net->log_context = options->log_context;
  np_error error = settings_read(&net->settings, url, options);
  if (error == NP_OK) *made = net;
  else net_release(net);
  return error;
}

np_error np_net_relay(const char *url, const np_net_options *options, np_relay *relay) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  if (url == NULL || relay == NULL) return NP_ERROR_NULL;
  np_net_options copy;
  if (!read_options(&copy, options)) return NP_ERROR_ARGUMENT;
  if (pthread_once(&once, start_curl) != 0 || !curl_works) return NP_ERROR_SYSTEM;
  struct net *net = NULL;
  np_error error = make(url, &copy, &net);
  if (error != NP_OK) return error;
  *relay = (np_relay){sizeof *relay, net, exchange, release, suspend, resume};
  return NP_OK;
}

void np_net_relay_free(np_relay *relay) {
  if (relay == NULL || relay->exchange != exchange || relay->context == NULL) return;
  release(relay->context);
  *relay = (np_relay){0};
}

np_net_failure np_net_last_failure(const np_relay *relay) {
  if (relay == NULL || relay->exchange != exchange || relay->context == NULL) return NP_NET_NONE;
  struct net *net = relay->context;
  pthread_mutex_lock(&net->lock);
  np_net_failure failure = net->last_failure;
  pthread_mutex_unlock(&net->lock);
  return failure;
}
