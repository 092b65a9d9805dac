#include "extension.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host_side.h"
#include "json.h"
#include "keychain.h"
#include "net_relay.h"
#include "nightporter.h"
#include "process_memory.h"

const char extension_usage[] =
    "porter-harness extension --store PREFIX [--key KEY | --key-file FILE] [--deadline MS] [--expire-after MS]\n"
    "                         [--together COUNT] [--relay NAME|URL] [--doze] [--log]\n"
    "  The notification extension as a process: one push per line in, one answer per line out.\n"
    "  --key KEY           the store's key; omit for a plain store. Visible in the list of processes\n"
    "  --key-file FILE     a file with the raw key, x'…'\n"
    "  --deadline MS       the platform's time limit for a push (default 30000)\n"
    "  --expire-after MS   signal the platform's \"time is up\" after MS, from another thread\n"
    "  --together COUNT    hand over so many pushes at a time, each on a thread of its own, 64 at most\n"
    "  --relay NAME        a transport that behaves like offline, silent, empty or garbage\n"
    "  --relay URL         a relay on the network, https://HOST[:PORT][#FINGERPRINT]\n"
    "  --doze              keep the store's files open between two pushes, without a lock\n"
    "  --log               write the library's log to standard error, each line after its time in microseconds\n";

/* The library's limit of pushes in progress. */
enum { MOST_TOGETHER = 64 };

struct options {
  const char *store;
  const char *key;
  const char *key_file;
  const char *relay;
  int deadline;
  int expire_after;
  int together;
  bool doze;
  bool log;
};

static bool read_options(int count, char **words, struct options *options) {
  *options = (struct options){.deadline = 30000, .together = 1, .key = ""};
  for (int index = 0; index < count; index++) {
    bool more = index + 1 < count;
    if (strcmp(words[index], "--store") == 0 && more) options->store = words[++index];
    else if (strcmp(words[index], "--key") == 0 && more) options->key = words[++index];
    else if (strcmp(words[index], "--key-file") == 0 && more) options->key_file = words[++index];
    else if (strcmp(words[index], "--deadline") == 0 && more) options->deadline = atoi(words[++index]);
    else if (strcmp(words[index], "--expire-after") == 0 && more) options->expire_after = atoi(words[++index]);
    else if (strcmp(words[index], "--relay") == 0 && more) options->relay = words[++index];
    else if (strcmp(words[index], "--together") == 0 && more) options->together = atoi(words[++index]);
    else if (strcmp(words[index], "--doze") == 0) options->doze = true;
    else if (strcmp(words[index], "--log") == 0) options->log = true;
    else return false;
  }
  return options->store != NULL && options->together >= 1 && options->together <= MOST_TOGETHER;
}

/* The platform's clock: signals that time is up, unless the push ended before. */
struct expiry {
  chat_ctrl controller;
  int milliseconds;
};

static void *expire(void *context) {
  const struct expiry *expiry = context;
  struct timespec pause = {expiry->milliseconds / 1000, (long)(expiry->milliseconds % 1000) * 1000000};
  nanosleep(&pause, NULL);
  np_expire_push(expiry->controller);
  return NULL;
}

static void take_push(chat_ctrl controller, const char *payload, const struct options *options) {
  struct expiry expiry = {controller, options->expire_after};
  pthread_t thread;
  bool expires = options->expire_after > 0 && pthread_create(&thread, NULL, expire, &expiry) == 0;
  char *content = np_receive_push(controller, payload, options->deadline);
  write_line(content == NULL ? "{\"outcome\":\"failed\",\"reason\":\"out of memory\"}" : content);
  np_string_free(content);
  if (expires) pthread_join(thread, NULL);
}

/* One push per line. */
static bool read_payload(char **line, size_t *capacity) {
  ssize_t length = getline(line, capacity, stdin);
  if (length > 0 && (*line)[length - 1] == '\n') (*line)[length - 1] = '\0';
  return length > 0;
}

struct handed_over {
  pthread_t thread;
  chat_ctrl controller;
  const struct options *options;
  char *payload;
  size_t capacity;
};

static void *take_handed_over(void *context) {
  const struct handed_over *push = context;
  take_push(push->controller, push->payload, push->options);
  return NULL;
}

/* Like a platform whose host takes the next push while the last one is in progress. */
static void take_together(chat_ctrl controller, const struct options *options) {
  struct handed_over pushes[MOST_TOGETHER] = {0};
  int count = 0;
  do {
    count = 0;
    while (count < options->together && read_payload(&pushes[count].payload, &pushes[count].capacity)) count++;
    for (int index = 0; index < count; index++) {
      struct handed_over *push = &pushes[index];
      push->controller = controller;
      push->options = options;
      if (pthread_create(&push->thread, NULL, take_handed_over, push) != 0) abort();
    }
    for (int index = 0; index < count; index++) pthread_join(pushes[index].thread, NULL);
  } while (count > 0);
  for (int index = 0; index < MOST_TOGETHER; index++) free(pushes[index].payload);
}

static void take_in_turn(chat_ctrl controller, const struct options *options) {
  char *line = NULL;
  size_t capacity = 0;
  while (read_payload(&line, &capacity)) take_push(controller, line, options);
  free(line);
}

/* If the store does not open, a notice replaces the push, unless that is about something muted or hidden. */
static void answer_with_notice(const char *migration, const char *store) {
  struct json *json = migration == NULL ? NULL : json_parse(migration, strlen(migration));
  const char *code = json_string_at(json, "np.code");
  char *payload = NULL;
  size_t capacity = 0;
  bool is_silent = getline(&payload, &capacity, stdin) > 0 && np_push_is_silent(store, payload);
  free(payload);
  const struct json *notice = is_silent ? NULL : json_at(json, "notice");
  struct text line = {0};
  text_format(&line, "{\"migration\":%s,\"outcome\":\"%s\",\"notifications\":[", migration == NULL ? "null" : migration,
              code != NULL && strcmp(code, "storeKeyMissing") == 0 ? "locked" : "failed");
  if (notice != NULL) json_write(&line, notice);
  text_add_string(&line, "]}");
  write_line(text_string(&line));
  text_free(&line);
  json_free(json);
}

/* An extension does not listen to news: it fetches what its push names. */
static bool use_relay(chat_ctrl controller, const char *name) {
  if (!net_relay_is_address(name)) return np_set_relay(controller, host_relay(name)) == NP_OK;
  np_relay relay;
  if (net_relay_make(name, NULL, &relay) != NP_OK) return false;
  bool is_used = np_set_relay(controller, &relay) == NP_OK;
  if (!is_used) net_relay_free(&relay);
  return is_used;
}

int extension_main(int argument_count, char **arguments) {
  struct options options;
  if (!read_options(argument_count, arguments, &options)) {
    fputs(extension_usage, stderr);
    return 2;
  }
  process_memory_prepare();
  if (options.log) np_set_log(host_log_sink("error"), NULL, 0);
  chat_ctrl controller = NULL;
  char key[KEYCHAIN_TEXT_BYTES] = "";
  if (options.key_file != NULL && !keychain_read(options.key_file, key)) {
    fputs("porter-harness: the key cannot be read\n", stderr);
    return 2;
  }
  const char *given = options.key_file != NULL ? key : options.key;
  char *migration = chat_migrate_init_key(options.store, given, 1, "error", 1, &controller);
  memset(key, 0, sizeof key);
  if (controller == NULL) {
    answer_with_notice(migration, options.store);
    np_string_free(migration);
    return 1;
  }
  np_string_free(migration);
  if (options.relay != NULL && !use_relay(controller, options.relay)) {
    fputs("porter-harness: this relay cannot be used\n", stderr);
    np_ctrl_free(controller);
    return 2;
  }
  if (options.doze) np_string_free(chat_send_cmd(controller, "/_app doze on"));
  if (options.together > 1) take_together(controller, &options);
  else take_in_turn(controller, &options);
  np_ctrl_free(controller);
  return 0;
}
