/* A thread with its connections: begins exchanges, reports how they ended, keeps the stream of news. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* OpenSSL and libcurl use about 60 KB of it. Names are resolved on another thread. */
static const size_t stack_bytes = 512 * 1024;

/* ------------------------------------------------------------------------------------------------ jobs */

static void take_out(struct link *link, struct job *job) {
  struct job **place = &link->jobs;
  while (*place != job) place = &(*place)->next;
  *place = job->next;
  job->next = NULL;
}

/* Takes the job out of the link: wakes its caller, unless that has gone. The lock is held. */
static void finish(struct link *link, struct job *job, np_net_failure failure) {
  if (job->easy != NULL) curl_multi_remove_handle(link->multi, job->easy);
  take_out(link, job);
  if (job->is_given_up) {
    job_free(job);
    return;
  }
  net_note(link->net, failure);
  job->failure = failure;
  job->is_done = true;
  pthread_cond_signal(&job->ended);
}

static void begin(struct link *link, struct job *job) {
  struct net *net = link->net;
  if (!job_prepare(job, &net->settings, net->ready == NULL ? NULL : net->news.listener) ||
      curl_multi_add_handle(link->multi, job->easy) != CURLM_OK)
    finish(link, job, NP_NET_SYSTEM);
}

/* Begins new jobs, and drops those given up. */
static void look_at_jobs(struct link *link) {
  for (struct job *job = link->jobs, *next; job != NULL; job = next) {
    next = job->next;
    if (job->is_given_up) finish(link, job, NP_NET_TIMEOUT);
    else if (job->easy == NULL) begin(link, job);
  }
}

static void end_transfer(struct link *link, struct job *job, CURLcode code) {
  struct net *net = link->net;
  np_net_failure failure = transfer_failure(job->easy, code, net->settings.proxy != NULL);
  if (failure == NP_NET_UNREACHABLE && transfer_broke(code) && !job->was_repeated && !job->is_given_up) {
    curl_multi_remove_handle(link->multi, job->easy);
    job_repeat(job);
    if (curl_multi_add_handle(link->multi, job->easy) == CURLM_OK) return;
  }
  if (failure == NP_NET_NONE) {
    net_note_time(net, now_ms() - job->begun);
    curl_easy_getinfo(job->easy, CURLINFO_RESPONSE_CODE, &job->response.status);
    pauses_note(&net->pauses, &job->response, job->request, job->request_length);
    failure = response_failure(&job->response);
  }
  if (job->is_too_long) failure = NP_NET_ANSWER;
  /* The network is back. */
  if (failure == NP_NET_NONE && net->news.owner == link && net->news.is_unreachable) net->news.opens = 0;
  finish(link, job, failure);
}

static void take_results(struct link *link) {
  int left;
  for (CURLMsg *message; (message = curl_multi_info_read(link->multi, &left)) != NULL;) {
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode code = message->data.result;
    struct job *job = NULL;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&job);
    if (job == NULL) news_ended(link, code);
    else end_transfer(link, job, code);
  }
}

/* ------------------------------------------------------------------------------------------------ the thread */

/* A stopping link, or a retired one without exchanges and news, has nothing left to do. The lock is held. */
static bool is_over(const struct link *link) {
  return link->stops || (link->net->current != link && link->jobs == NULL && link->net->news.owner != link);
}

static void end_link(struct link *link) {
  struct net *net = link->net;
  while (link->jobs != NULL) finish(link, link->jobs, NP_NET_SUSPENDED);
  if (net->news.owner == link) {
    news_close(link);
    net->news.owner = NULL;
  }
  CURLM *multi = link->multi;
  link->multi = NULL;
  pthread_mutex_unlock(&net->lock);
  curl_multi_cleanup(multi);
  pthread_mutex_lock(&net->lock);
  link->has_ended = true;
}

static void *run(void *context) {
  struct link *link = context;
  struct net *net = link->net;
  pthread_mutex_lock(&net->lock);
  while (!is_over(link)) {
    look_at_jobs(link);
    int wait = news_step(link, now_ms());
    pthread_mutex_unlock(&net->lock);
    int running;
    curl_multi_perform(link->multi, &running);
    pthread_mutex_lock(&net->lock);
    take_results(link);
    /* An ended exchange may have made something else due. */
    int due = is_over(link) ? 0 : news_step(link, now_ms());
    bool tells_end = news_take_end(link);
    pthread_mutex_unlock(&net->lock);
    if (tells_end) net->stream(net->ready_context, NP_NET_STREAM_ENDED);
    curl_multi_poll(link->multi, NULL, 0, due < wait ? due : wait, NULL);
    pthread_mutex_lock(&net->lock);
  }
  end_link(link);
  bool frees_itself = link->frees_itself;
  pthread_mutex_unlock(&net->lock);
  if (frees_itself) {
    free(link);
    net_release(net);
  }
  return NULL;
}

/* Blocks all signals on it: the host's handlers run on the host's threads. */
static bool start_thread(struct link *link) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return false;
  pthread_attr_setstacksize(&attributes, stack_bytes);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool is_started = pthread_create(&link->thread, &attributes, run, link) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return is_started;
}

/* ------------------------------------------------------------------------------------------------ links */

struct link *link_current(struct net *net) {
  if (net->current != NULL) return net->current;
  struct link *link = calloc(1, sizeof *link);
  if (link == NULL) return NULL;
  link->net = net;
  link->multi = curl_multi_init();
  net->current = link;
  if (link->multi == NULL || !start_thread(link)) {
    net->current = NULL;
    curl_multi_cleanup(link->multi);
    free(link);
    return NULL;
  }
  link->next = net->links;
  net->links = link;
  return link;
}

void link_replace(struct net *net) {
  struct link *link = net->current;
  net->current = NULL;
  if (net->ready != NULL && link_current(net) == NULL) net->current = link;
}

void link_wake(struct link *link) {
  if (link->multi != NULL) curl_multi_wakeup(link->multi);
}

/* The lock is not held, since the thread may need it. */
static void join(struct link *link) {
  pthread_join(link->thread, NULL);
  free(link);
}

void links_reap(struct net *net) {
  for (struct link **place = &net->links; *place != NULL;) {
    struct link *link = *place;
    /* Until then a suspension must find it. */
    if (!link->has_ended) {
      place = &link->next;
      continue;
    }
    *place = link->next;
    net->reaping++;
    pthread_mutex_unlock(&net->lock);
    join(link);
    pthread_mutex_lock(&net->lock);
    net->reaping--;
    pthread_cond_broadcast(&net->reaped);
    place = &net->links;
  }
}

void links_stop(struct net *net) {
  pthread_mutex_lock(&net->lock);
  struct link *links = net->links;
  net->links = NULL;
  net->current = NULL;
  for (struct link *link = links; link != NULL; link = link->next) {
    link->stops = true;
    link_wake(link);
  }
  for (struct link *link = links, *next; link != NULL; link = next) {
    next = link->next;
    if (pthread_equal(link->thread, pthread_self())) {
      /* The host's `ready` released the controller: this thread ends when that has returned. */
      link->frees_itself = true;
      net->references++;
      pthread_detach(link->thread);
      continue;
    }
    pthread_mutex_unlock(&net->lock);
    join(link);
    pthread_mutex_lock(&net->lock);
  }
  while (net->reaping > 0) pthread_cond_wait(&net->reaped, &net->lock);
  pthread_mutex_unlock(&net->lock);
}
