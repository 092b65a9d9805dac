/*
 * A host of libnightporter-net that executes the lines it reads and reports what happens: with nothing else in its
 * process, so that its descriptors and threads are the library's, and so that it runs under sanitizers and valgrind.
 *
 *   open URL [proxy=…] [ca=…] [isolate=1] [connect=MS] [news=1 [stream=1]]   opened, or refused CODE
 *   exchange NAME MS HEX         later: answer NAME CODE FAILURE HEX, from a thread of its own
 *   suspend, resume, free        suspended, resumed, freed
 *   count                        count SOCKETS THREADS, beside the main one
 *   settle                       the same, when there are no threads or none has ended for ten seconds: a thread that was
 *                                joined may be seen in /proc for a moment
 *   sleep SECONDS                slept: as if the machine had slept for this long
 *   linger MS                    lingering: each closing of connections begins with "closing" and takes this long
 *   patience                     patience MS: how long sent bytes of each TCP socket may stay unacknowledged (the least)
 *   quit
 *
 * "ready" is written for each news, and with stream=1 "stream-open", "stream-reset" and "stream-ended".
 */
#include <curl/curl.h>
#include <dirent.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nightporter_net.h"

static np_relay relay;
static pthread_mutex_t output = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ended = PTHREAD_COND_INITIALIZER;
static int exchanges;

static void say(const char *line) {
  pthread_mutex_lock(&output);
  puts(line);
  fflush(stdout);
  pthread_mutex_unlock(&output);
}

static np_error ready(void *context) {
  (void)context;
  say("ready");
  return NP_OK;
}

static void stream(void *context, np_net_stream state) {
  (void)context;
  static const char *const names[] = {"", "stream-open", "stream-reset", "stream-ended"};
  say(names[state]);
}

/* ------------------------------------------------------------------------------------------------ circumstances */

static atomic_int seconds_slept;
static atomic_int milliseconds_lingered;

/* In place of the C library's, for the transport too: only this clock counts the time asleep. */
int clock_gettime(clockid_t clock, struct timespec *time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0 && clock == CLOCK_BOOTTIME) time->tv_sec += seconds_slept;
  return status;
}

/* In place of libcurl's. */
CURLMcode curl_multi_cleanup(CURLM *multi) {
  CURLMcode (*original)(CURLM *) = NULL;
  *(void **)&original = dlsym(RTLD_NEXT, "curl_multi_cleanup");
  if (original == NULL) abort();
  if (milliseconds_lingered > 0) {
    say("closing");
    usleep((useconds_t)milliseconds_lingered * 1000);
  }
  return original(multi);
}

/* ------------------------------------------------------------------------------------------------ exchanges */

struct exchange {
  char name[32];
  int milliseconds;
  uint8_t *request;
  size_t length;
};

static int digit(char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; }

static void report(const struct exchange *exchange, np_error code, const uint8_t *answer, size_t length) {
  char *line = malloc(128 + 2 * length);
  if (line == NULL) abort();
  int at = snprintf(line, 128, "answer %s %d %s ", exchange->name, (int)code,
                    np_net_failure_name((int)np_net_last_failure(&relay)));
  for (size_t index = 0; index < length; index++) at += sprintf(line + at, "%02x", answer[index]);
  say(line);
  free(line);
}

static void *run_exchange(void *context) {
  struct exchange *exchange = context;
  uint8_t *answer = NULL;
  size_t length = 0;
  np_error code = relay.exchange(relay.context, exchange->request, exchange->length, &answer, &length,
                                 exchange->milliseconds);
  report(exchange, code, answer, length);
  free(answer);
  free(exchange->request);
  free(exchange);
  pthread_mutex_lock(&counting);
  exchanges--;
  pthread_cond_signal(&ended);
  pthread_mutex_unlock(&counting);
  return NULL;
}

static void start_exchange(const char *words) {
  struct exchange *exchange = calloc(1, sizeof *exchange);
  if (exchange == NULL) abort();
  int at = 0;
  if (sscanf(words, "%31s %d %n", exchange->name, &exchange->milliseconds, &at) != 2) abort();
  const char *hex = words + at;
  exchange->length = strlen(hex) / 2;
  exchange->request = malloc(exchange->length + 1);
  if (exchange->request == NULL) abort();
  for (size_t index = 0; index < exchange->length; index++)
    exchange->request[index] = (uint8_t)(digit(hex[2 * index]) * 16 + digit(hex[2 * index + 1]));
  pthread_mutex_lock(&counting);
  exchanges++;
  pthread_mutex_unlock(&counting);
  pthread_t thread;
  if (pthread_create(&thread, NULL, run_exchange, exchange) != 0) abort();
  pthread_detach(thread);
}

static void await_exchanges(void) {
  pthread_mutex_lock(&counting);
  while (exchanges > 0) pthread_cond_wait(&ended, &counting);
  pthread_mutex_unlock(&counting);
}

/* ------------------------------------------------------------------------------------------------ the transport */

static const char *option(const char *word, const char *name) {
  size_t length = strlen(name);
  return strncmp(word, name, length) == 0 && word[length] == '=' ? word + length + 1 : NULL;
}

static void open_relay(char *words) {
  np_net_options options = {.size = sizeof options};
  char *rest = NULL;
  char *url = strtok_r(words, " ", &rest);
  for (char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;) {
    if (option(word, "proxy") != NULL) options.proxy = option(word, "proxy");
    else if (option(word, "ca") != NULL) options.ca_file = option(word, "ca");
    else if (option(word, "isolate") != NULL) options.isolate = atoi(option(word, "isolate"));
    else if (option(word, "connect") != NULL) options.connect_timeout_ms = atoi(option(word, "connect"));
    else if (option(word, "news") != NULL) options.ready = ready;
    else if (option(word, "stream") != NULL) options.stream = stream;
  }
  np_error code = np_net_relay(url == NULL ? "" : url, &options, &relay);
  char line[32];
  snprintf(line, sizeof line, code == NP_OK ? "opened" : "refused %d", (int)code);
  say(line);
}

/* ------------------------------------------------------------------------------------------------ counts */

static bool is_socket(const char *name) {
  char path[300];
  struct stat status;
  snprintf(path, sizeof path, "/proc/self/fd/%s", name);
  return stat(path, &status) == 0 && S_ISSOCK(status.st_mode);
}

static bool is_any(const char *name) {
  (void)name;
  return true;
}

static int count(const char *folder, bool (*counts)(const char *name)) {
  DIR *directory = opendir(folder);
  if (directory == NULL) abort();
  int found = 0;
  for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
    if (entry->d_name[0] != '.' && counts(entry->d_name)) found++;
  closedir(directory);
  return found;
}

static void report_patience(void) {
  unsigned least = 0;
  for (int descriptor = 0; descriptor < 1024; descriptor++) {
    unsigned patience = 0;
    socklen_t length = sizeof patience;
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, &length) != 0) continue;
    if (least == 0 || patience < least) least = patience;
  }
  char line[32];
  snprintf(line, sizeof line, "patience %u", least);
  say(line);
}

static int threads(void) { return count("/proc/self/task", is_any); }

/* The thread sanitizer's own thread appears with the first one created. */
#ifdef __SANITIZE_THREAD__
enum { THREADS_AT_REST = 2 };
#else
enum { THREADS_AT_REST = 1 };
#endif

static void report_counts(void) {
  char line[64];
  snprintf(line, sizeof line, "count %d %d", count("/proc/self/fd", is_socket), threads() - THREADS_AT_REST);
  say(line);
}

static void settle(void) {
  await_exchanges();
  for (int tries = 0; tries < 10000 && threads() > THREADS_AT_REST; tries++) usleep(1000);
  report_counts();
}

/* ------------------------------------------------------------------------------------------------ lines */

static void run_line(char *line) {
  if (strncmp(line, "open ", 5) == 0) open_relay(line + 5);
  else if (strncmp(line, "exchange ", 9) == 0) start_exchange(line + 9);
  else if (strcmp(line, "suspend") == 0) relay.suspend(relay.context), say("suspended");
  else if (strcmp(line, "resume") == 0) relay.resume(relay.context), say("resumed");
  else if (strcmp(line, "free") == 0) np_net_relay_free(&relay), say("freed");
  else if (strcmp(line, "count") == 0) report_counts();
  else if (strcmp(line, "settle") == 0) settle();
  else if (strncmp(line, "sleep ", 6) == 0) atomic_fetch_add(&seconds_slept, atoi(line + 6)), say("slept");
  else if (strncmp(line, "linger ", 7) == 0) atomic_store(&milliseconds_lingered, atoi(line + 7)), say("lingering");
  else if (strcmp(line, "patience") == 0) report_patience();
  else say("unknown");
}

int main(void) {
  char *line = NULL;
  size_t capacity = 0;
  for (ssize_t length; (length = getline(&line, &capacity, stdin)) > 0;) {
    line[length - 1] = '\0';
    if (strcmp(line, "quit") == 0) break;
    run_line(line);
  }
  free(line);
  if (relay.exchange != NULL) {
    relay.suspend(relay.context);
    await_exchanges();
    np_net_relay_free(&relay);
  }
  return 0;
}
