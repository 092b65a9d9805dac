#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "invoke.h"
#include "keychain.h"
#include "nightporter.h"

/* Longer than any answer of the library may take: commands that need the relay are answered within 15 s. */
#define ANSWER_TIME 20000

/* The last line of a process's log, to be quoted in a failure. */
static void last_log_line(const struct device *device, const char *name, struct text *out) {
  char *path = device_log_path(device, name);
  FILE *log = fopen(path, "r");
  char *line = NULL;
  size_t capacity = 0;
  while (log != NULL && getline(&line, &capacity, log) > 0) {
    line[strcspn(line, "\n")] = '\0';
    text_clear(out);
    text_format(out, "; its log ends with: %s", line);
  }
  if (log != NULL) fclose(log);
  free(line);
  free(path);
}

bool device_fail_silent(struct device *device, struct process *process, const char *name, const char *expected) {
  struct text came = {0};
  struct text log = {0};
  struct ending ending;
  last_log_line(device, name, &log);
  /* A process's end can be observed shortly after it has closed its output. */
  bool ended = process_ended(process, &ending);
  for (uint64_t end = deadline_after(100); !ended && now_microseconds() < end; ended = process_ended(process, &ending))
    device_wait(device, NULL, deadline_after(5));
  if (device_interrupted()) text_add_string(&came, "the harness was interrupted");
  else if (!ended) text_add_string(&came, "nothing, in time");
  else if (ending.exited) text_format(&came, "it ended with status %d", ending.status);
  else text_format(&came, "it was killed by signal %d (%s)", ending.signal, strsignal(ending.signal));
  text_add_string(&came, text_string(&log));
  device_fail(device, expected, text_string(&came));
  text_free(&came);
  text_free(&log);
  return false;
}

/* The answer to a line, whether or not it could be written. */
static struct json *take_answer(struct device *device, struct host *host, const char *line, bool written,
                                int milliseconds) {
  char *answer = written ? device_line(device, &host->process, deadline_after(milliseconds)) : NULL;
  struct json *json = answer == NULL ? NULL : json_parse(answer, strlen(answer));
  if (answer == NULL) {
    struct text expected = {0};
    /* A raw key is kept out of every message. */
    const char *secret = strstr(line, "x'");
    int shown = secret == NULL ? (int)strlen(line) : (int)(secret - line);
    text_format(&expected, "%s answers %.*s within %d ms", host->name, shown, line, milliseconds);
    device_fail_silent(device, &host->process, host->name, text_string(&expected));
    text_free(&expected);
  } else if (json == NULL) {
    device_fail(device, "an answer in JSON", answer);
  }
  free(answer);
  return json;
}

static bool write_script_line(struct host *host, const char *line) {
  return process_write(&host->process, line, strlen(line)) && process_write(&host->process, "\n", 1);
}

struct json *host_line(struct device *device, struct host *host, int milliseconds, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  char *line = NULL;
  int length = vasprintf(&line, format, arguments);
  va_end(arguments);
  if (length < 0) return NULL;
  struct json *json = take_answer(device, host, line, write_script_line(host, line), milliseconds);
  free(line);
  return json;
}

bool host_ask(struct device *device, struct host *host, const char *command) {
  struct text line = {0};
  text_add_string(&line, "chat_send_cmd $c ");
  json_write_string(&line, command);
  bool written = write_script_line(host, text_string(&line));
  text_free(&line);
  return written || device_fail_silent(device, &host->process, host->name, "a command can be given to it");
}

struct json *host_command(struct device *device, struct host *host, const char *command, const char *expected_type) {
  return host_ask(device, host, command) ? host_answer(device, host, command, expected_type) : NULL;
}

struct json *host_answer(struct device *device, struct host *host, const char *command, const char *expected_type) {
  struct json *answer = take_answer(device, host, command, true, ANSWER_TIME);
  if (answer == NULL || expected_type == NULL) return answer;
  const char *type = json_string_at(answer, "result.result.type");
  if (type != NULL && strcmp(type, expected_type) == 0) return answer;
  struct text expected = {0};
  struct text came = {0};
  text_format(&expected, "%s is answered with %s", command, expected_type);
  json_write(&came, answer);
  device_fail(device, text_string(&expected), text_string(&came));
  text_free(&expected);
  text_free(&came);
  json_free(answer);
  return NULL;
}

struct json *host_event(struct device *device, struct host *host, const char *type, int milliseconds) {
  struct json *answer =
      host_line(device, host, milliseconds + 5000, "await $c \"%s\" %d", type, milliseconds);
  if (answer == NULL || json_at(answer, "error") == NULL) return answer;
  struct text expected = {0};
  text_format(&expected, "%s reports the event %s", host->name, type);
  device_fail(device, text_string(&expected), json_string_at(answer, "error"));
  text_free(&expected);
  json_free(answer);
  return NULL;
}

static bool open_store(struct device *device, struct host *host, int role);

static bool start_process(struct device *device, struct host *host) {
  char *arguments[] = {device->program, "script", "-", NULL};
  bool started = device_start(device, &host->process, host->name, arguments, host->environment);
  if (!started) device_fail(device, "an app process starts", strerror(errno));
  if (started && device->options.log) json_free(host_line(device, host, 5000, "np_set_log \"error\" null 0"));
  return started;
}

bool host_start(struct device *device, struct host *host, const char *name) {
  host->name = name;
  host->store = device_path(device, name);
  if (!start_process(device, host)) return false;
  if (!device->options.plain) {
    struct text key = {0};
    text_format(&key, "keychain-%s", host->name);
    host->key_file = device_path(device, text_string(&key));
    text_free(&key);
    if (!keychain_make(host->key_file)) return device_fail(device, "the app makes a key", strerror(errno));
  }
  return open_store(device, host, NP_ROLE_APP);
}

bool host_start_role(struct device *device, struct host *host, int role) {
  return start_process(device, host) && open_store(device, host, role);
}

bool host_restart(struct device *device, struct host *host) { return host_start_role(device, host, NP_ROLE_APP); }

/* The app makes a key on its first start, and keeps it where its extension finds it. */
static bool read_key(struct device *device, struct host *host, char key[KEYCHAIN_TEXT_BYTES]) {
  memset(key, 0, KEYCHAIN_TEXT_BYTES);
  if (host->key_file == NULL || keychain_read(host->key_file, key)) return true;
  return device_fail(device, "the app has a key for its store", strerror(errno));
}

/* Before the start of the chat. */
static bool use_network(struct device *device, struct host *host) {
  struct text address = {0};
  json_write_string(&address, device->relay);
  struct json *answer = host_line(device, host, ANSWER_TIME, "np_set_relay $c %s", text_string(&address));
  const char *result = json_string_at(answer, "result");
  bool good = result != NULL && strcmp(result, "NP_OK") == 0;
  if (answer != NULL && !good) device_fail(device, "the app takes a relay on the network", "it does not");
  json_free(answer);
  text_free(&address);
  return good;
}

static bool open_store(struct device *device, struct host *host, int role) {
  char key[KEYCHAIN_TEXT_BYTES];
  if (!read_key(device, host, key)) return false;
  struct text path = {0};
  json_write_string(&path, host->store);
  struct json *answer = host_line(device, host, ANSWER_TIME, "c = chat_migrate_init_key %s \"%s\" 1 \"yesUp\" %d",
                                  text_string(&path), key, role);
  memset(key, 0, sizeof key);
  text_free(&path);
  const char *type = json_string_at(answer, "result.type");
  bool open = type != NULL && strcmp(type, "ok") == 0;
  if (answer != NULL && !open) {
    struct text came = {0};
    json_write(&came, answer);
    device_fail(device, "the store opens", text_string(&came));
    text_free(&came);
  }
  json_free(answer);
  return open && (device->options.network == NULL || use_network(device, host));
}
