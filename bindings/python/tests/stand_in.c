/*
 * A library with Nightporter's interface and nothing behind it, for tests of the Python package alone: a store that
 * opens, an event queue that can be filled at will, and calls that take as long as requested. Compiled against
 * the real header, so that it cannot drift from it.
 *
 * Commands:   emit N        puts N numbered events in the queue immediately
 *             emit-slow N   the same from its own thread, with pauses of random length up to 300 µs
 *             sleep MS      takes MS milliseconds
 *             emit-error    puts an error in the queue instead of an event
 *             exchange      carries one request through the host's transport
 *             release       no longer needs the transport
 * Any other command is refused. Pushes run concurrently, as in the library.
 * The environment's STAND_IN_JOURNAL names a file to which each call that matters for the order of closing adds a line.
 * With STAND_IN_CLOSES_SILENTLY closing the store emits no event.
 */
#include "nightporter.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { QUEUE = 65536, CONTROLLERS = 4096, PUSHES = 64 };

/* The name of a background refresh among the pushes. */
static const char *const refresh = "np:refresh";

struct push {
  const char *name; /* NULL: none */
  int expired;
  struct push *later;
};

struct controller {
  int events[QUEUE];
  int first, count, next;
  int wake[2];
  struct push *pushes; /* in progress, the oldest first */
  int freed;
  pthread_t emitter;
  int emitting;
};

static struct controller *controllers[CONTROLLERS];
static int made;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void journal(const char *line) {
  const char *path = getenv("STAND_IN_JOURNAL");
  if (!path) return;
  FILE *file = fopen(path, "a");
  if (!file) return;
  fprintf(file, "%s\n", line);
  fclose(file);
}

/* A call that lasts is in the journal twice: when it begins, and when it ends. */
static void begin(const char *call) {
  char line[32];
  snprintf(line, sizeof line, "began %s", call);
  journal(line);
}

static void sleep_us(long us) {
  struct timespec span = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&span, NULL);
}

static struct controller *find(chat_ctrl handle) {
  uintptr_t number = (uintptr_t)handle;
  if (number == 0 || number >= CONTROLLERS || !controllers[number] || controllers[number]->freed) return NULL;
  return controllers[number];
}

/* The caller holds the lock. The number 0 stands for an error. */
static void put(struct controller *self, int number) {
  self->events[(self->first + self->count++) % QUEUE] = number;
  if (self->count == 1 && write(self->wake[1], "", 1) != 1) abort();
}

static void *emit_slowly(void *argument) {
  struct controller *self = argument;
  unsigned seed = 7;
  while (__atomic_load_n(&self->emitting, __ATOMIC_ACQUIRE) > 0) {
    sleep_us(rand_r(&seed) % 300);
    pthread_mutex_lock(&lock);
    put(self, ++self->next);
    pthread_mutex_unlock(&lock);
    __atomic_sub_fetch(&self->emitting, 1, __ATOMIC_ACQ_REL);
  }
  return NULL;
}

const char *np_version(void) { return NP_VERSION; }
#ifndef STAND_IN_ABI
#define STAND_IN_ABI NP_ABI_VERSION
#endif
int np_abi_version(void) { return STAND_IN_ABI; }
const char *np_error_name(int error) { return error ? "other" : "NP_OK"; }

char *chat_migrate_init_key(const char *path, const char *key, int keep_key, const char *confirm, int background,
                            chat_ctrl *ctrl) {
  (void)keep_key, (void)confirm, (void)background;
  if (strcmp(key, "slow") == 0) {
    begin("open");
    sleep_us(2000000);
  }
  if (strcmp(path, "broken") == 0) return strdup("{\"type\":\"errorNotADatabase\",\"dbFile\":\"broken_chat.db\"}");
  struct controller *self = calloc(1, sizeof *self);
  if (!self || pipe(self->wake) != 0) abort();
  fcntl(self->wake[0], F_SETFL, O_NONBLOCK);
  pthread_mutex_lock(&lock);
  controllers[++made] = self;
  *ctrl = (chat_ctrl)(uintptr_t)made;
  pthread_mutex_unlock(&lock);
  journal("open");
  return strdup("{\"type\":\"ok\"}");
}

char *chat_migrate_init(const char *path, const char *key, const char *confirm, chat_ctrl *ctrl) {
  return chat_migrate_init_key(path, key, 0, confirm, 0, ctrl);
}

char *chat_close_store(chat_ctrl ctrl) {
  struct controller *self = find(ctrl);
  journal("close store");
  if (!self) return strdup("no controller");
  pthread_mutex_lock(&lock);
  if (!getenv("STAND_IN_CLOSES_SILENTLY")) put(self, ++self->next); /* as with "chatSuspended" */
  pthread_mutex_unlock(&lock);
  return strdup(getenv("STAND_IN_CLOSE_FAILS") ? "the disk is gone" : "");
}

char *chat_reopen_store(chat_ctrl ctrl) { return strdup(find(ctrl) ? "" : "no controller"); }

np_error np_ctrl_free(chat_ctrl ctrl) {
  struct controller *self = find(ctrl);
  journal("free");
  if (!self) return NP_ERROR_HANDLE;
  if (self->emitter) pthread_join(self->emitter, NULL);
  self->freed = 1;
  close(self->wake[0]);
  close(self->wake[1]);
  return NP_OK;
}

void np_string_free(char *string) { free(string); }

static np_relay transport;

/* One request through the host's transport, whose answer must be the request backwards. */
static char *exchange(void) {
  uint8_t *answer = NULL;
  size_t length = 0;
  char text[80];
  np_error error = transport.exchange(transport.context, (const uint8_t *)"ab\0c", 4, &answer, &length, 100);
  int as_sent = error == NP_OK && length == 4 && memcmp(answer, "c\0ba", 4) == 0;
  free(answer);
  snprintf(text, sizeof text, "{\"result\":{\"type\":\"exchanged\",\"error\":%d,\"asSent\":%s}}", error,
           as_sent ? "true" : "false");
  return strdup(text);
}

char *chat_send_cmd_retry(chat_ctrl ctrl, const char *command, int retry) {
  (void)retry;
  struct controller *self = find(ctrl);
  int number = 0;
  if (!self) return strdup("{\"error\":{\"type\":\"noController\"}}");
  if (sscanf(command, "emit %d", &number) == 1) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < number; i++) put(self, ++self->next);
    pthread_mutex_unlock(&lock);
  } else if (sscanf(command, "emit-slow %d", &number) == 1) {
    self->emitting = number;
    pthread_create(&self->emitter, NULL, emit_slowly, self);
  } else if (strcmp(command, "emit-error") == 0) {
    pthread_mutex_lock(&lock);
    put(self, 0);
    pthread_mutex_unlock(&lock);
  } else if (sscanf(command, "sleep %d", &number) == 1) {
    begin("sleep");
    sleep_us(number * 1000L);
    journal("slept");
  } else if (strcmp(command, "exchange") == 0) {
    return exchange();
  } else if (strcmp(command, "release") == 0) {
    transport.release(transport.context);
    memset(&transport, 0, sizeof transport);
  } else {
    return strdup("{\"error\":{\"type\":\"error\",\"errorType\":{\"type\":\"commandError\",\"message\":\"unknown\"}}}");
  }
  return strdup("{\"result\":{\"type\":\"cmdOk\"}}");
}

char *chat_send_cmd(chat_ctrl ctrl, const char *command) { return chat_send_cmd_retry(ctrl, command, 0); }

char *chat_recv_msg_wait(chat_ctrl ctrl, int wait_us) {
  struct controller *self = find(ctrl);
  char text[80] = "", byte;
  if (!self) return strdup("{\"error\":{\"type\":\"noController\"}}");
  (void)wait_us;
  pthread_mutex_lock(&lock);
  if (self->count > 0) {
    int number = self->events[self->first];
    self->first = (self->first + 1) % QUEUE;
    if (--self->count == 0 && read(self->wake[0], &byte, 1) != 1) abort();
    if (number == 0)
      snprintf(text, sizeof text, "{\"error\":{\"type\":\"errorStore\",\"storeError\":{\"type\":\"dBException\"}}}");
    else
      snprintf(text, sizeof text, "{\"result\":{\"type\":\"numbered\",\"number\":%d}}", number);
  } else {
    journal("drained");
  }
  pthread_mutex_unlock(&lock);
  return strdup(text);
}

char *chat_recv_msg(chat_ctrl ctrl) { return chat_recv_msg_wait(ctrl, -1); }

int np_event_fd(chat_ctrl ctrl) { return find(ctrl) ? find(ctrl)->wake[0] : -1; }

static int is_named(const struct push *push, const char *name) {
  return push->name && strcmp(push->name, name) == 0;
}

/* A push lasts until it is expired or its deadline has passed. */
static char *run_push(chat_ctrl ctrl, const char *name, const char *payload, int deadline_ms) {
  struct controller *self = find(ctrl);
  struct push push = {.name = name}, **place;
  int count = 0;
  if (!self || !payload) return strdup("{\"outcome\":\"failed\"}");
  const char *call = is_named(&push, refresh) ? "refresh" : "push";
  begin(call);
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += deadline_ms / 1000;
  end.tv_nsec += deadline_ms % 1000 * 1000000L;
  if (end.tv_nsec >= 1000000000L) end.tv_sec++, end.tv_nsec -= 1000000000L;
  sleep_us(20000); /* so that an expiry can come too early */
  pthread_mutex_lock(&lock);
  for (place = &self->pushes; *place; place = &(*place)->later) count++;
  if (count < PUSHES) {
    *place = &push;
    while (!push.expired && pthread_cond_timedwait(&changed, &lock, &end) != ETIMEDOUT) continue;
    for (place = &self->pushes; *place != &push; place = &(*place)->later) continue;
    *place = push.later;
  }
  pthread_mutex_unlock(&lock);
  journal(strcmp(call, "push") == 0 ? "push ended" : "refresh ended");
  return strdup(push.expired || count == PUSHES ? "{\"outcome\":\"expired\"}" : "{\"outcome\":\"nothingNew\"}");
}

char *np_receive_push(chat_ctrl ctrl, const char *payload, int deadline_ms) {
  return run_push(ctrl, NULL, payload, deadline_ms);
}

char *np_background_refresh(chat_ctrl ctrl, int deadline_ms) { return run_push(ctrl, refresh, "", deadline_ms); }

char *np_receive_push_id(chat_ctrl ctrl, const char *push_id, const char *payload, int deadline_ms) {
  return push_id ? run_push(ctrl, push_id, payload, deadline_ms) : strdup("{\"outcome\":\"failed\"}");
}

/* Without a name, ends the oldest push that is not ending already. */
static np_error expire(chat_ctrl ctrl, const char *name) {
  struct controller *self = find(ctrl);
  np_error error = NP_ERROR_NOTHING_PENDING;
  if (!self) return NP_ERROR_HANDLE;
  pthread_mutex_lock(&lock);
  for (struct push *push = self->pushes; push && (name || error != NP_OK); push = push->later) {
    if (push->expired || (name && !is_named(push, name))) continue;
    push->expired = 1;
    error = NP_OK;
  }
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
  return error;
}

np_error np_expire_push_id(chat_ctrl ctrl, const char *push_id) {
  return push_id ? expire(ctrl, push_id) : NP_ERROR_NULL;
}

np_error np_expire_push(chat_ctrl ctrl) { return expire(ctrl, NULL); }

char *np_categories(chat_ctrl ctrl) {
  return strdup(!ctrl || find(ctrl) ? "{\"categories\":[]}" : "{\"error\":{\"type\":\"x\"}}");
}

char *np_notification_response(chat_ctrl ctrl, const char *response_json) {
  if (!find(ctrl)) return strdup("{\"error\":{\"type\":\"x\"}}");
  journal(response_json);
  return strdup("{\"result\":{\"type\":\"notificationResponse\",\"responseId\":1,\"action\":\"open\","
                "\"outcome\":\"waiting\",\"repeated\":false}}");
}

np_error np_set_phase(chat_ctrl ctrl, np_phase phase) {
  if (!find(ctrl)) return NP_ERROR_HANDLE;
  return phase == NP_PHASE_BACKGROUND_REFRESH ? NP_ERROR_STATE : NP_OK;
}

int np_push_is_silent(const char *path, const char *payload_json) {
  return strcmp(path, "store") == 0 && strstr(payload_json, "muted") != NULL;
}

char *np_derive_key(const char *path, const char *passphrase) {
  if (strcmp(passphrase, "open sesame") != 0)
    return strdup("{\"error\":{\"type\":\"errorDatabase\",\"databaseError\":{\"type\":\"errorOpen\",\"sqliteError\":"
                  "{\"type\":\"errorNotADatabase\"}},\"np\":{\"code\":\"storeKeyWrong\",\"advice\":\"\"}}}");
  if (strcmp(path, "nonsense") == 0) return strdup("{\"result\":{\"type\":\"storeKey\"}}");
  return strdup("{\"result\":{\"type\":\"storeKey\",\"storeKey\":\"x'00ff'\"}}");
}

np_error np_set_key(chat_ctrl ctrl, const char *key, int keep_key) {
  if (!find(ctrl)) return NP_ERROR_HANDLE;
  journal(keep_key ? "keep key" : "key");
  return strncmp(key, "x'", 2) == 0 && key[2] == '\0' ? NP_ERROR_ARGUMENT : NP_OK;
}

np_error np_set_cipher(const char *name) {
  journal(name);
  return strcmp(name, "AEGIS-256") == 0 ? NP_ERROR_SYSTEM : NP_OK;
}

char *np_change_key(chat_ctrl ctrl, const char *current_key, const char *new_key) {
  if (!find(ctrl)) return strdup("{\"error\":{\"type\":\"x\"}}");
  if (strcmp(current_key, "open sesame") != 0 || strcmp(new_key, "x'00ff'") != 0)
    return strdup("{\"error\":{\"type\":\"errorDatabase\",\"databaseError\":{\"type\":\"errorOpen\",\"sqliteError\":"
                  "{\"type\":\"errorNotADatabase\"}},\"np\":{\"code\":\"storeKeyWrong\",\"advice\":\"\"}}}");
  journal("change key");
  return strdup("{\"result\":{\"type\":\"cmdOk\"}}");
}

char *np_set_strings(chat_ctrl ctrl, const char *json) {
  if (ctrl && !find(ctrl)) return strdup("{\"error\":{\"type\":\"x\"}}");
  journal(json);
  if (strstr(json, "wrong"))
    return strdup("{\"error\":{\"type\":\"error\",\"errorType\":{\"type\":\"commandError\",\"message\":\"\"},"
                  "\"np\":{\"code\":\"stringsInvalid\",\"advice\":\"\",\"key\":\"wrong\"}}}");
  return strdup("{\"result\":{\"type\":\"cmdOk\"}}");
}

char *np_state(chat_ctrl ctrl) { return strdup(find(ctrl) ? "{\"quiescent\":false}" : "{\"error\":{\"type\":\"x\"}}"); }

np_error np_set_relay(chat_ctrl ctrl, const np_relay *relay) {
  if (!find(ctrl)) return NP_ERROR_HANDLE;
  if (transport.exchange) return NP_ERROR_STATE;
  transport = *relay;
  return relay->size == sizeof *relay ? NP_OK : NP_ERROR_ARGUMENT;
}

np_error np_relay_ready(chat_ctrl ctrl) { return find(ctrl) ? NP_OK : NP_ERROR_HANDLE; }

char *chat_parse_markdown(const char *text) { return strdup(text ? "{}" : ""); }
char *chat_parse_server(const char *address) { return strdup(address ? "{}" : ""); }
char *chat_parse_uri(const char *uri, int safe) { return strdup(uri && !safe ? "{}" : ""); }
char *chat_password_hash(const char *password, const char *salt) { return strdup(password && salt ? "hash" : ""); }
char *chat_valid_name(const char *name) { return strdup(name ? name : ""); }
int chat_json_length(const char *text) { return text ? (int)strlen(text) : -1; }

int np_machine_count(void) { return 0; }
int np_machine_find(const char *name) { return (void)name, -1; }
const char *np_machine_name(int machine) { return (void)machine, NULL; }
int np_machine_state_count(int machine) { return (void)machine, -1; }
int np_machine_event_count(int machine) { return (void)machine, -1; }
int np_machine_effect_count(int machine) { return (void)machine, -1; }
const char *np_machine_state_name(int machine, int state) { return (void)machine, (void)state, NULL; }
const char *np_machine_event_name(int machine, int event) { return (void)machine, (void)event, NULL; }
const char *np_machine_effect_name(int machine, int effect) { return (void)machine, (void)effect, NULL; }
int np_machine_initial(int machine) { return (void)machine, -1; }

np_error np_machine_step(int machine, int state, int event, np_step *step) {
  return (void)machine, (void)state, (void)event, (void)step, NP_ERROR_ARGUMENT;
}

np_error np_set_log(np_log_sink sink, void *context, int minimum_level) {
  if (sink) sink(context, minimum_level, "the log is open");
  return NP_OK;
}
