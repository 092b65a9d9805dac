#include "extension.h"

#include <pthread.h>
#include <sqlite3.h>
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
#include "sqlite_memory.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

const char extension_usage[] =
    "porter-harness extension --store PREFIX [--key KEY | --key-file FILE] [--deadline MS] [--expire-after MS]\n"
    "                         [--relay NAME|URL] [--doze] [--log]\n"
    "  The notification extension as a process: one push per line in, one answer per line out.\n"
    "  --key KEY           the store's key; omit for a plain store. Visible in the list of processes\n"
    "  --key-file FILE     a file with the raw key, x'…'\n"
    "  --deadline MS       the platform's time limit for a push (default 30000)\n"
    "  --expire-after MS   signal the platform's \"time is up\" after MS, from another thread\n"
    "  --relay NAME        a transport that behaves like offline, silent, empty or garbage\n"
    "  --relay URL         a relay on the network, https://HOST[:PORT][#FINGERPRINT]\n"
    "  --doze              keep the store's files open between two pushes, without a lock\n"
    "  --log               write the library's log to standard error, each line after its time in microseconds\n";

struct options {
  const char *store;
  const char *key;
  const char *key_file;
  const char *relay;
  int deadline;
  int expire_after;
  bool doze;
  bool log;
};

static bool read_options(int count, char **words, struct options *options) {
  *options = (struct options){.deadline = 30000, .key = ""};
  for (int index = 0; index < count; index++) {
    bool more = index + 1 < count;
    if (strcmp(words[index], "--store") == 0 && more) options->store = words[++index];
    else if (strcmp(words[index], "--key") == 0 && more) options->key = words[++index];
    else if (strcmp(words[index], "--key-file") == 0 && more) options->key_file = words[++index];
    else if (strcmp(words[index], "--deadline") == 0 && more) options->deadline = atoi(words[++index]);
    else if (strcmp(words[index], "--expire-after") == 0 && more) options->expire_after = atoi(words[++index]);
    else if (strcmp(words[index], "--relay") == 0 && more) options->relay = words[++index];
    else if (strcmp(words[index], "--doze") == 0) options->doze = true;
    else if (strcmp(words[index], "--log") == 0) options->log = true;
    else return false;
  }
  return options->store != NULL;
}

static void answer(const char *line) {
  fputs(line, stdout);
  putc('\n', stdout);
  fflush(stdout);
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
  answer(content == NULL ? "{\"outcome\":\"failed\",\"reason\":\"out of memory\"}" : content);
  np_string_free(content);
  if (expires) pthread_join(thread, NULL);
}

/* A store that does not open has a notice in place of the push, unless that is about what is muted or hidden. */
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
  answer(text_string(&line));
  text_free(&line);
  json_free(json);
}

/* An extension does not listen to news: it looks for what its push names. */
static bool use_relay(chat_ctrl controller, const char *name) {
  if (!net_relay_is_address(name)) return np_set_relay(controller, host_relay(name)) == NP_OK;
  np_relay relay;
  if (net_relay_make(name, NULL, &relay) != NP_OK) return false;
  bool is_used = np_set_relay(controller, &relay) == NP_OK;
  if (!is_used) net_relay_free(&relay);
  return is_used;
}

/* What a host may do with its own process, and a library may not. The threads of a push work in turn, so that one arena
 * serves them all; SQLite's count of its memory takes a lock with each allocation, and nothing asks for it. */
static void prepare_process(void) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, 1);
#endif
  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  sqlite_memory_use();
}

int extension_main(int argument_count, char **arguments) {
  struct options options;
  if (!read_options(argument_count, arguments, &options)) {
    fputs(extension_usage, stderr);
    return 2;
  }
  prepare_process();
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
  char *line = NULL;
  size_t capacity = 0;
  for (ssize_t length = getline(&line, &capacity, stdin); length > 0; length = getline(&line, &capacity, stdin)) {
    if (line[length - 1] == '\n') line[length - 1] = '\0';
    take_push(controller, line, &options);
  }
  free(line);
  np_ctrl_free(controller);
  return 0;
}
