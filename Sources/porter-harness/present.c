#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "invoke.h"
#include "locks.h"

/* How often a running extension's memory is checked. */
#define LOOK_INTERVAL 5

static bool start_extension(struct device *device, const struct presenting *how) {
  struct text halt = {0};
  const char *usual = device->options.network == NULL ? NULL : device->relay;
  const char *chosen = how->relay == NULL ? usual : how->relay;
  char *relay = chosen == NULL ? NULL : copy_string(chosen);
  char *arguments[12] = {device->program, "extension", "--store", device->alice.store};
  size_t count = 4;
  if (device->alice.key_file != NULL && !how->locked) {
    arguments[count++] = "--key-file";
    arguments[count++] = device->alice.key_file;
  }
  if (relay != NULL) {
    arguments[count++] = "--relay";
    arguments[count++] = relay;
  }
  if (how->dozes) arguments[count++] = "--doze";
  if (device->options.log) arguments[count++] = "--log";
  if (how->kill_stage != NULL) text_format(&halt, "PORTER_HALT_AT=%s", how->kill_stage);
  const char *environment = how->kill_stage == NULL ? NULL : text_string(&halt);
  bool started = device_start(device, &device->extension, "extension", arguments, environment);
  if (!started) device_fail(device, "the extension starts", strerror(errno));
  free(relay);
  text_free(&halt);
  return started;
}

static uint64_t memory_limit(const struct device *device) {
  return (uint64_t)device->options.megabytes * 1024 * 1024;
}

/* Kills an extension that exceeds its limits, as a phone does. */
static bool kill_for(struct device *device, const char *limit, const char *came) {
  kill(device->extension.pid, SIGKILL);
  timeline_tell(&device->timeline, "device", "killed", "\"process\":\"extension\"", came);
  return device_fail(device, limit, came);
}

/* The extension's answer within its limits; NULL if it ended or had to be killed. */
static char *answer_within_limits(struct device *device, uint64_t began) {
  uint64_t end = began + (uint64_t)device->options.milliseconds * 1000;
  for (;;) {
    char *line = process_take_line(&device->extension);
    if (line != NULL) return line;
    if (device_wait(device, &device->extension, deadline_after(LOOK_INTERVAL)) == WAITED_INTERRUPTED) return NULL;
    uint64_t memory = process_peak_memory(device->extension.pid);
    if (memory > memory_limit(device)) {
      kill_for(device, "the extension stays within its memory", "it exceeded it, and was killed");
      return NULL;
    }
    if (now_microseconds() > end) {
      kill_for(device, "the extension answers within its time", "it did not, and was killed");
      return NULL;
    }
    if (!process_read(&device->extension)) return process_take_line(&device->extension);
  }
}

static void wait_for_end(struct device *device, struct ending *ending) {
  uint64_t end = deadline_after(5000);
  process_close_input(&device->extension);
  while (!process_ended(&device->extension, ending)) {
    if (now_microseconds() > end || device_interrupted()) kill(device->extension.pid, SIGKILL);
    device_wait(device, NULL, deadline_after(1));
  }
}

/* ------------------------------------------------------------------------------------------------ telling */

static void tell_outcome(struct device *device, const struct json *answer, double milliseconds, uint64_t memory) {
  struct text fields = {0};
  struct text said = {0};
  const char *outcome = json_string_at(answer, "outcome");
  const char *reason = json_string_at(answer, "reason");
  text_add_string(&fields, "\"outcome\":");
  json_write_string(&fields, outcome);
  text_add_string(&fields, ",\"reason\":");
  json_write_string(&fields, reason == NULL ? "" : reason);
  text_format(&fields, ",\"coldStartMs\":%.3f,\"peakMemoryBytes\":%llu", milliseconds, (unsigned long long)memory);
  text_format(&said, "answers \"%s\" %.1f ms after exec, with %.1f MB at its peak", outcome, milliseconds,
              (double)memory / 1e6);
  timeline_tell(&device->timeline, "extension", "answer", text_string(&fields), text_string(&said));
  text_free(&fields);
  text_free(&said);
}

/* Shows what the answer says. */
static void apply(struct device *device, const struct json *answer, uint64_t memory) {
  struct summary *summary = &device->summary;
  summary->notifications += (unsigned)json_count(json_at(answer, "notifications"));
  screen_apply(&device->screen, &device->timeline, answer);
  if (device->screen.badge >= 0) summary->badge = device->screen.badge;
  if (memory > summary->peak_memory) summary->peak_memory = memory;
  if (strcmp(summary->outcome, "presented") != 0)
    snprintf(summary->outcome, sizeof summary->outcome, "%s", json_string_at(answer, "outcome"));
}

static void count(struct device *device, const struct json *answer, double milliseconds, uint64_t memory) {
  struct summary *summary = &device->summary;
  tell_outcome(device, answer, milliseconds, memory);
  apply(device, answer, memory);
  if (milliseconds > summary->cold_start_ms) summary->cold_start_ms = milliseconds;
}

/* ------------------------------------------------------------------------------------------------ the push */

static bool check_killed(struct device *device, const struct ending *ending, const char *stage) {
  struct text expected = {0};
  struct text came = {0};
  text_format(&expected, "the extension is killed at %s", stage);
  if (ending->exited) text_format(&came, "it ended with status %d", ending->status);
  else text_format(&came, "it was killed by signal %d", ending->signal);
  bool as_planned = !ending->exited && ending->signal == SIGKILL;
  if (as_planned) timeline_tell(&device->timeline, "extension", "died", "", text_string(&expected));
  else device_fail(device, text_string(&expected), text_string(&came));
  text_free(&expected);
  text_free(&came);
  return as_planned;
}

static bool check_answer(struct device *device, const struct json *json, const char *answer,
                         const struct ending *ending, bool locked) {
  struct text came = {0};
  /* Without the key the extension has no controller: it ends with status 1, and shows a notice. */
  if (locked && json_at(json, "migration") != NULL && ending->exited) return true;
  if (answer == NULL && !ending->exited) text_format(&came, "it was killed by signal %d", ending->signal);
  else if (answer == NULL) text_format(&came, "it ended with status %d without an answer", ending->status);
  else text_format(&came, "%s (status %d)", answer, ending->status);
  bool good = json_string_at(json, "outcome") != NULL && ending->exited && ending->status == 0;
  if (!good) device_fail(device, "the extension answers with an outcome, and ends with status 0", text_string(&came));
  if (good && ending->peak_memory > memory_limit(device))
    good = device_fail(device, "the extension stays within its memory", "it exceeded it");
  const struct json *quiescent = json_at(json, "quiescent");
  if (good && (quiescent == NULL || quiescent->kind != JSON_TRUE))
    good = device_fail(device, "the extension is quiescent when it answers", text_string(&came));
  text_free(&came);
  return good;
}

bool present_push(struct device *device, const struct push *push, const struct presenting *how, struct json **content) {
  struct ending ending = {0};
  *content = NULL;
  if (!start_extension(device, how)) return false;
  timeline_tell(&device->timeline, "device", "extensionStarted", "", "starts the extension and hands it the push");
  /* The wait finds a child that has already ended. */
  if (process_write(&device->extension, push->payload, strlen(push->payload)))
    process_write(&device->extension, "\n", 1);
  char *answer = answer_within_limits(device, device->extension.started_at);
  double milliseconds = (double)(now_microseconds() - device->extension.started_at) / 1000;
  pid_t pid = device->extension.pid;
  wait_for_end(device, &ending);
  record_ended(&device->record, pid);
  process_end(&device->extension);

  struct json *json = answer == NULL ? NULL : json_parse(answer, strlen(answer));
  bool good = how->kill_stage != NULL ? check_killed(device, &ending, how->kill_stage)
                                      : check_answer(device, json, answer, &ending, how->locked);
  if (good && how->kill_stage == NULL) count(device, json, milliseconds, ending.peak_memory);
  free(answer);
  if (good) *content = json;
  else json_free(json);
  return good;
}

/* ------------------------------------------------------------------------------------------------ dozing */

bool present_stay(struct device *device) {
  if (!start_extension(device, &(struct presenting){.dozes = true})) return false;
  timeline_tell(&device->timeline, "device", "extensionStarted", "", "starts an extension that stays");
  return true;
}

/* Between two pushes its files are open but not locked: the system may freeze it at any moment. */
static bool check_rest(struct device *device, const struct json *answer, bool dozes, double milliseconds) {
  struct holding holding;
  struct text fields = {0};
  struct text said = {0};
  if (!holding_of(device->extension.pid, device->alice.store, &holding))
    return device_fail(device, "the system reports the locks that are held", strerror(errno));
  bool good = holding.locks == 0 && (holding.open_files > 0) == dozes;
  if (good) {
    text_add_string(&fields, "\"outcome\":");
    json_write_string(&fields, json_string_at(answer, "outcome"));
    text_format(&fields, ",\"milliseconds\":%.3f,\"locks\":0,\"openFiles\":%u", milliseconds, holding.open_files);
    text_format(&said, "answers \"%s\" after %.1f ms, and %s: %u open files of the store, no lock",
                json_string_at(answer, "outcome"), milliseconds, dozes ? "dozes" : "closes", holding.open_files);
    timeline_tell(&device->timeline, "extension", dozes ? "dozes" : "answer", text_string(&fields), text_string(&said));
  } else {
    text_format(&said, "%u locks and %u open files: %s", holding.locks, holding.open_files,
                text_string(&holding.description));
    device_fail(device, dozes ? "a dozing extension has its store's files open, and no lock" : "the store is closed",
                text_string(&said));
  }
  text_free(&holding.description);
  text_free(&fields);
  text_free(&said);
  return good;
}

bool present_again(struct device *device, const struct push *push, bool dozes, struct json **content) {
  uint64_t began = now_microseconds();
  *content = NULL;
  if (process_write(&device->extension, push->payload, strlen(push->payload)))
    process_write(&device->extension, "\n", 1);
  char *answer = answer_within_limits(device, began);
  double milliseconds = (double)(now_microseconds() - began) / 1000;
  struct json *json = answer == NULL ? NULL : json_parse(answer, strlen(answer));
  bool good = json_string_at(json, "outcome") != NULL;
  if (!good) device_fail(device, "the extension answers with an outcome", answer == NULL ? "no answer" : answer);
  good = good && check_rest(device, json, dozes, milliseconds);
  if (good) apply(device, json, process_peak_memory(device->extension.pid));
  free(answer);
  if (good) *content = json;
  else json_free(json);
  return good;
}

bool present(struct device *device, const struct push *push, const char *kill_stage) {
  struct json *content = NULL;
  bool good = present_push(device, push, &(struct presenting){.kill_stage = kill_stage}, &content);
  json_free(content);
  return good;
}
