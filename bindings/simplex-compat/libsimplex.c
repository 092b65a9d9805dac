/*
 * libsimplex.c: Nightporter under the name of SimpleX's library, for programs that were written for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every chat_* function of nightporter.h is forwarded to libnightporter, which is loaded from the same folder. Around
 * it are the functions of that interface which Nightporter does not have: those that start a Haskell runtime do
 * nothing, since there is none, and those for files, media and remote hosts answer with an error in their own form.
 */
#include "nightporter_net.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __APPLE__
#define LIBRARY "@loader_path/libnightporter.dylib"
#define NET_LIBRARY "@loader_path/libnightporter-net.dylib"
#else
#define SONAME(name, abi) name ".so." #abi
#define SONAME_OF_ABI(name, abi) SONAME(name, abi)
#define LIBRARY SONAME_OF_ABI("libnightporter", NP_ABI_VERSION)
#define NET_LIBRARY SONAME_OF_ABI("libnightporter-net", NP_ABI_VERSION)
#endif

/*
 * The function with this name in libnightporter. This library needs that one, so it is loaded already, and the same
 * name can not lead back here, as it would if the two were simply linked.
 */
static void *found(const char *name) {
  static void *library;
  void *opened = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
  if (!opened) {
    opened = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    __atomic_store_n(&library, opened, __ATOMIC_RELEASE);
  }
  void *function = opened ? dlsym(opened, name) : NULL;
  if (!function) {
    fprintf(stderr, "libsimplex: %s\n", dlerror());
    abort(); /* a broken installation, in which the loader would already have ended the process */
  }
  return function;
}

#define FORWARD(result, name, parameters, arguments)    \
  result name parameters {                              \
    result(*function) parameters;                       \
    void *forwarded_to = found(#name);                  \
    memcpy(&function, &forwarded_to, sizeof function);  \
    return function arguments;                          \
  }

FORWARD(char *, chat_send_cmd, (chat_ctrl ctrl, const char *command), (ctrl, command))
FORWARD(char *, chat_send_cmd_retry, (chat_ctrl ctrl, const char *command, int retry), (ctrl, command, retry))
FORWARD(char *, chat_recv_msg, (chat_ctrl ctrl), (ctrl))
FORWARD(char *, chat_recv_msg_wait, (chat_ctrl ctrl, int wait_us), (ctrl, wait_us))
FORWARD(char *, chat_parse_markdown, (const char *text), (text))
FORWARD(char *, chat_parse_server, (const char *address), (address))
FORWARD(char *, chat_parse_uri, (const char *uri, int safe), (uri, safe))
FORWARD(char *, chat_password_hash, (const char *password, const char *salt), (password, salt))
FORWARD(char *, chat_valid_name, (const char *name), (name))
FORWARD(int, chat_json_length, (const char *text), (text))

/*
 * Programs for that interface name no relay: its servers are built in. A new store gets the relay that NIGHTPORTER_RELAY
 * names, or one in the same folder, and standard error says which. "/_network" changes it.
 */
#define RELAY_NAME "nightporter.relay"

/* Writes a path into a JSON string; bytes that have to be escaped are the quote, the backslash and controls. */
static void write_json(FILE *out, const char *text) {
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') { fputc('\\', out); }
    if ((unsigned char)*c < 0x20) {
      fprintf(out, "\\u%04x", (unsigned)*c);
    } else {
      fputc(*c, out);
    }
  }
}

/* A relay on the network is reached through libnightporter-net, for each controller anew: the store does not name it. */
static int is_on_network(const char *relay) { return relay && !strncmp(relay, "https://", 8); }

static void reach_network(chat_ctrl ctrl, const char *url, int listens) {
  const char *file = getenv("NIGHTPORTER_NET_LIBRARY");
  void *library = dlopen(file && *file ? file : NET_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  void *made = library ? dlsym(library, "np_net_relay") : NULL;
  void *freed = library ? dlsym(library, "np_net_relay_free") : NULL;
  void *set = found("np_set_relay");
  void *ready = found("np_relay_ready");
  np_error (*make_relay)(const char *, const np_net_options *, np_relay *);
  void (*free_relay)(np_relay *);
  np_error (*set_relay)(chat_ctrl, const np_relay *);
  np_net_options options = { .size = sizeof options };
  np_relay relay;
  if (!made || !freed) { fprintf(stderr, "nightporter: no relay: %s\n", dlerror()); return; }
  memcpy(&make_relay, &made, sizeof make_relay);
  memcpy(&free_relay, &freed, sizeof free_relay);
  memcpy(&set_relay, &set, sizeof set_relay);
  if (listens) {
    memcpy(&options.ready, &ready, sizeof options.ready);
    options.ready_context = ctrl;
  }
  np_error error = make_relay(url, &options, &relay);
  if (error == NP_OK && (error = set_relay(ctrl, &relay)) != NP_OK) { free_relay(&relay); }
  if (error != NP_OK) { fprintf(stderr, "nightporter: no relay: error %d for %s\n", (int)error, url); }
  else if (listens) { fprintf(stderr, "nightporter: the relay is %s\n", url); }
}

/* Says which relay is in use: a store that names one keeps it. The text is as JSON has it, with its escapes. */
static void tell_relay(chat_ctrl ctrl) {
  void *forwarded_to = found("np_state");
  char *(*state_of)(chat_ctrl);
  memcpy(&state_of, &forwarded_to, sizeof state_of);
  char *state = state_of(ctrl);
  const char *named = state ? strstr(state, "\"relay\":\"") : NULL;
  if (named) {
    named += strlen("\"relay\":\"");
    const char *end = named;
    while (*end && *end != '"') { end += *end == '\\' && end[1] ? 2 : 1; }
    fprintf(stderr, "nightporter: the relay is %.*s\n", (int)(end - named), named);
  }
  free(state);
}

static void choose_relay(chat_ctrl ctrl, const char *path) {
  const char *chosen = getenv("NIGHTPORTER_RELAY");
  const char *slash = strrchr(path, '/');
  char *command = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&command, &length);
  if (!out) { return; }
  if (chosen && *chosen) {
    fputs("/_network {\"relay\":\"", out);
    write_json(out, chosen);
  } else {
    fputs("/_network {\"defaultRelay\":\"", out);
    if (slash) {
      char *folder = strndup(path, (size_t)(slash - path) + 1);
      if (folder) { write_json(out, folder); }
      free(folder);
    }
    fputs(RELAY_NAME, out);
  }
  fputs("\"}", out);
  if (fclose(out) == 0) {
    char *answer = chat_send_cmd(ctrl, command);
    if (answer && !strstr(answer, "\"cmdOk\"")) { fprintf(stderr, "nightporter: no relay: %s\n", answer); }
    else { tell_relay(ctrl); }
    free(answer);
  }
  free(command);
}

char *chat_migrate_init_key(const char *path, const char *key, int keep_key, const char *confirm, int background,
                            chat_ctrl *ctrl) {
  char *(*function)(const char *, const char *, int, const char *, int, chat_ctrl *);
  void *forwarded_to = found("chat_migrate_init_key");
  memcpy(&function, &forwarded_to, sizeof function);
  char *answer = function(path, key, keep_key, confirm, background, ctrl);
  if (answer && strstr(answer, "\"type\":\"ok\"")) {
    const char *chosen = getenv("NIGHTPORTER_RELAY");
    if (is_on_network(chosen)) { reach_network(*ctrl, chosen, !background); }
    /* An extension finds what its app has stored. */
    else if (!background) { choose_relay(*ctrl, path); }
  }
  return answer;
}

char *chat_migrate_init(const char *path, const char *key, const char *confirm, chat_ctrl *ctrl) {
  return chat_migrate_init_key(path, key, 0, confirm, 0, ctrl);
}

/*
 * Programs for that interface have no function that frees a controller: to them, closing its store is its end. Its thread
 * and descriptors would stay. So a controller that was closed is freed once KEPT others were closed after it; until then it can
 * be opened again.
 */
#define KEPT 2

static struct {
  pthread_mutex_t lock;
  chat_ctrl closed[KEPT]; /* the oldest first, then NULL */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* A thread of the parent may have held the lock. */
static void forget_in_child(void) {
  pthread_mutex_init(&kept.lock, NULL);
  memset(kept.closed, 0, sizeof kept.closed);
}

__attribute__((constructor)) static void watch_forks(void) { pthread_atfork(NULL, NULL, forget_in_child); }

/* Removes it from the closed controllers; 1 if it was one of them. The caller holds the lock. */
static int remove_closed(chat_ctrl ctrl) {
  int left = 0;
  for (int i = 0; i < KEPT; i++) {
    if (kept.closed[i] != ctrl) { kept.closed[left++] = kept.closed[i]; }
  }
  int was_closed = ctrl && left < KEPT;
  while (left < KEPT) { kept.closed[left++] = NULL; }
  return was_closed;
}

static int take_closed(chat_ctrl ctrl) {
  pthread_mutex_lock(&kept.lock);
  int was_closed = remove_closed(ctrl);
  pthread_mutex_unlock(&kept.lock);
  return was_closed;
}

static void add_closed(chat_ctrl ctrl) {
  chat_ctrl oldest = NULL;
  pthread_mutex_lock(&kept.lock);
  remove_closed(ctrl);
  int free_place = 0;
  while (free_place < KEPT && kept.closed[free_place]) { free_place++; }
  if (free_place == KEPT) {
    oldest = kept.closed[0];
    remove_closed(oldest);
    free_place--;
  }
  kept.closed[free_place] = ctrl;
  pthread_mutex_unlock(&kept.lock);
  if (!oldest) { return; }
  np_error (*free_controller)(chat_ctrl);
  void *forwarded_to = found("np_ctrl_free");
  memcpy(&free_controller, &forwarded_to, sizeof free_controller);
  free_controller(oldest);
}

char *chat_close_store(chat_ctrl ctrl) {
  char *(*function)(chat_ctrl);
  void *forwarded_to = found("chat_close_store");
  memcpy(&function, &forwarded_to, sizeof function);
  take_closed(ctrl);
  char *answer = function(ctrl);
  if (ctrl && answer && !*answer) { add_closed(ctrl); }
  return answer;
}

char *chat_reopen_store(chat_ctrl ctrl) {
  char *(*function)(chat_ctrl);
  void *forwarded_to = found("chat_reopen_store");
  memcpy(&function, &forwarded_to, sizeof function);
  int was_closed = take_closed(ctrl);
  char *answer = function(ctrl);
  if (was_closed && answer && *answer) { add_closed(ctrl); }
  return answer;
}

/* The Haskell runtime: there is none to start. */

void hs_init(int *argc, char ***argv) { (void)argc, (void)argv; }
void hs_init_with_rtsopts(int *argc, char ***argv) { (void)argc, (void)argv; }
void hs_exit(void) {}
void haskell_init(void) {}
void haskell_init_nse(void) {}
void haskell_init_se(void) {}

/* Functions that Nightporter does not have. Each answers in its own form; a `char *` is freed by the caller. */

#define NO_FILES "Nightporter is a notification core: it has no files"

char *chat_write_file(chat_ctrl ctrl, const char *path, const char *data, int length) {
  (void)ctrl, (void)path, (void)data, (void)length;
  return strdup("{\"type\":\"error\",\"writeError\":\"" NO_FILES "\"}");
}

char *chat_encrypt_file(chat_ctrl ctrl, const char *from, const char *to) {
  (void)ctrl, (void)from, (void)to;
  return strdup("{\"type\":\"error\",\"writeError\":\"" NO_FILES "\"}");
}

/* The result is a byte, 1 for an error, and its text. */
char *chat_read_file(const char *path, const char *key, const char *nonce) {
  (void)path, (void)key, (void)nonce;
  return strdup("\x01" NO_FILES);
}

char *chat_decrypt_file(const char *from, const char *key, const char *nonce, const char *to) {
  (void)from, (void)key, (void)nonce, (void)to;
  return strdup(NO_FILES);
}

#define NO_MEDIA "Nightporter is a notification core: it has no media streams"

char *chat_encrypt_media(chat_ctrl ctrl, const char *key, char *frame, int length) {
  (void)ctrl, (void)key, (void)frame, (void)length;
  return strdup(NO_MEDIA);
}

char *chat_decrypt_media(const char *key, char *frame, int length) {
  (void)key, (void)frame, (void)length;
  return strdup(NO_MEDIA);
}

char *chat_send_remote_cmd_retry(chat_ctrl ctrl, int host, const char *command, int retry) {
  (void)ctrl, (void)command, (void)retry;
  static const char format[] =
      "{\"remoteHostId\":%d,\"error\":{\"type\":\"errorRemoteHost\",\"rhKey\":{\"type\":\"rhId\","
      "\"remoteHostId\":%d},\"remoteHostError\":{\"type\":\"missing\"}}}";
  char *answer = malloc(sizeof format + 24);
  if (answer) snprintf(answer, sizeof format + 24, format, host, host);
  return answer;
}

char *chat_send_remote_cmd(chat_ctrl ctrl, int host, const char *command) {
  return chat_send_remote_cmd_retry(ctrl, host, command, 0);
}
