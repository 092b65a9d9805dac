#include "stage.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invoke.h"
#include "story.h"

#define EVENT_TIME 15000

/* Evaluates the words of a variadic step. */
#define FORMATTED(text, format)                    \
  do {                                             \
    va_list arguments;                             \
    va_start(arguments, format);                   \
    char *line = NULL;                             \
    if (vasprintf(&line, format, arguments) >= 0) { \
      text_add_string(&(text), line);              \
      free(line);                                  \
    }                                              \
    va_end(arguments);                             \
  } while (0)

/* ------------------------------------------------------------------------------------------------ processes */

bool stage_set(struct device *device) {
  return story_start_server(device) && story_start_alice(device) && story_start_bob(device) &&
         story_connect_both(device) && story_register_token(device) && story_verify_token(device) &&
         story_activate_token(device);
}

bool stage_sleep(struct device *device) { return story_suspend(device) && story_freeze(device); }

bool stage_wake(struct device *device) { return story_thaw(device); }

bool stage_quit(struct device *device) {
  device_end(device, &device->alice.process);
  device->alice.process = (struct process){.input = -1, .output = -1};
  story_tell(device, "device", "quit", "alice's app is swiped away");
  return true;
}

bool stage_restart(struct device *device) {
  if (!host_restart(device, &device->alice)) return false;
  if (!story_command(device, &device->alice, "/_start", "chatStarted")) return false;
  story_tell(device, "alice", "appStarted", "starts the app again");
  return true;
}

bool stage_stop_server(struct device *device) {
  device_end(device, &device->server);
  device->server = (struct process){.input = -1, .output = -1};
  free(device->server_link);
  device->server_link = NULL;
  story_tell(device, "server", "serverStopped", "is down");
  return true;
}

bool stage_start_server(struct device *device) { return story_start_server(device); }

/* ------------------------------------------------------------------------------------------------ talking to apps */

bool stage_say(struct device *device, struct host *host, const char *type, const char *format, ...) {
  struct text text = {0};
  FORMATTED(text, format);
  bool good = story_command(device, host, text_string(&text), type);
  text_free(&text);
  return good;
}

struct json *stage_ask(struct device *device, struct host *host, const char *type, const char *format, ...) {
  struct text text = {0};
  FORMATTED(text, format);
  struct json *answer = host_command(device, host, text_string(&text), type);
  text_free(&text);
  return answer;
}

struct json *stage_await(struct device *device, struct host *host, const char *type) {
  return host_event(device, host, type, EVENT_TIME);
}

bool stage_hear(struct device *device, struct host *host, const char *type) {
  struct json *event = stage_await(device, host, type);
  json_free(event);
  return event != NULL;
}

bool stage_write(struct device *device, const char *text) {
  struct text said = {0};
  bool good = stage_say(
      device, &device->bob, "newChatItems",
      "/_send @%lld live=off json [{\"msgContent\":{\"type\":\"text\",\"text\":\"%s\"},\"mentions\":{}}]",
      device->bob.contact_id, text);
  text_format(&said, "sends \"%s\"", text);
  if (good) story_tell(device, "bob", "sent", text_string(&said));
  text_free(&said);
  return good;
}

struct json *stage_state(struct device *device) { return host_line(device, &device->alice, 10000, "np_state $c"); }

/* Whether every connection is in a state in which it gets pushes. */
static bool all_subscribed(const struct json *state) {
  const struct json *counts = json_at(state, "result.notifications.subscriptions");
  bool any = false;
  for (const struct json *one = counts == NULL ? NULL : counts->child; one != NULL; one = one->next) {
    if (one->key == NULL || strncmp(one->key, "created", strlen("created")) != 0) return false;
    any = true;
  }
  return any;
}

/* Whether a connection has returned its notifier. */
static bool one_released(const struct json *state) {
  return json_integer_at(state, "result.notifications.subscriptions.off", 0) > 0;
}

static bool await_subscriptions(struct device *device, const char *what, bool (*is_so)(const struct json *state)) {
  uint64_t deadline = deadline_after(EVENT_TIME);
  struct text came = {0};
  bool held = false;
  while (!held && now_microseconds() < deadline && !device_interrupted()) {
    struct json *state = stage_state(device);
    held = is_so(state);
    text_clear(&came);
    if (!held && state != NULL) json_write(&came, json_at(state, "result.notifications"));
    json_free(state);
    if (!held) device_wait(device, NULL, deadline_after(20));
  }
  if (!held) device_fail(device, what, text_string(&came));
  text_free(&came);
  return held;
}

bool stage_await_subscriptions(struct device *device) {
  return await_subscriptions(device, "the server is to send pushes for every mailbox", all_subscribed);
}

bool stage_await_release(struct device *device) {
  return await_subscriptions(device, "a mailbox is to have no pushes any more", one_released);
}

/* ------------------------------------------------------------------------------------------------ pushes */

/* The next push for extensions; wake pushes go to the app, which is not running. */
static struct push *next_alert(struct device *device, uint64_t deadline) {
  for (;;) {
    struct push *push = device_push(device, deadline);
    if (push == NULL) return NULL;
    story_tell_push(device, push);
    const char *type = json_string_at(push->json, "type");
    if (type == NULL || strcmp(type, "alert") == 0) return push;
    push_free(push);
  }
}

static bool check_outcome(struct device *device, const struct json *answer, const char *outcome) {
  const char *came = json_string_at(answer, "outcome");
  if (outcome == NULL || (came != NULL && strcmp(came, outcome) == 0)) return true;
  struct text expected = {0};
  text_format(&expected, "the push ends with \"%s\"", outcome);
  device_fail(device, text_string(&expected), came == NULL ? "no outcome" : came);
  text_free(&expected);
  return false;
}

struct json *stage_answer(struct device *device, const char *outcome, const struct presenting *how) {
  static const struct presenting usual;
  struct push *push = next_alert(device, deadline_after(EVENT_TIME));
  if (push == NULL) {
    device_fail(device, "a push comes", "none within 15 s");
    return NULL;
  }
  struct json *answer = NULL;
  bool good = present_push(device, push, how == NULL ? &usual : how, &answer);
  push_free(push);
  if (good && answer != NULL && !check_outcome(device, answer, outcome)) {
    json_free(answer);
    return NULL;
  }
  return answer;
}

bool stage_push(struct device *device, const char *outcome, const struct presenting *how) {
  struct json *answer = stage_answer(device, outcome, how);
  bool killed = how != NULL && how->kill_stage != NULL && device->expected.length == 0;
  json_free(answer);
  return answer != NULL || killed;
}

bool stage_push_again(struct device *device, bool dozes) {
  struct push *push = next_alert(device, deadline_after(EVENT_TIME));
  if (push == NULL) return device_fail(device, "a push comes", "none within 15 s");
  struct json *answer = NULL;
  bool good = present_again(device, push, dozes, &answer) && check_outcome(device, answer, "presented");
  push_free(push);
  json_free(answer);
  return good;
}

bool stage_push_until(struct device *device, unsigned count) {
  static const struct presenting usual;
  uint64_t deadline = deadline_after(2 * EVENT_TIME);
  while (device->screen.shown < count) {
    struct push *push = next_alert(device, deadline);
    if (push == NULL) {
      struct text came = {0};
      text_format(&came, "%u of %u in time", device->screen.shown, count);
      device_fail(device, "the notifications are shown", text_string(&came));
      text_free(&came);
      return false;
    }
    struct json *answer = NULL;
    bool good = present_push(device, push, &usual, &answer);
    push_free(push);
    json_free(answer);
    if (!good) return false;
  }
  return stage_push_rest(device);
}

bool stage_push_rest(struct device *device) {
  static const struct presenting usual;
  for (struct push *push = next_alert(device, deadline_after(250)); push != NULL;
       push = next_alert(device, deadline_after(250))) {
    struct json *answer = NULL;
    bool good = present_push(device, push, &usual, &answer);
    push_free(push);
    json_free(answer);
    if (!good) return false;
  }
  return true;
}

void stage_refuse_pushes(struct device *device, const char *reason) {
  device->pushes.refusal = reason;
  story_tell(device, "device", reason == NULL ? "pushesTaken" : "pushesRefused",
             reason == NULL ? "the provider takes pushes again" : "the provider refuses the device's token");
}

/* ------------------------------------------------------------------------------------------------ responses */

static void write_response(struct text *out, const struct shown *shown, const char *action, const char *text) {
  text_add_string(out, "{\"actionIdentifier\":");
  json_write_string(out, action == NULL ? "com.apple.UNNotificationDefaultActionIdentifier" : action);
  text_add_string(out, ",\"identifier\":");
  json_write_string(out, shown->identifier);
  text_format(out, ",\"userInfo\":%s", shown->user_info);
  if (*shown->target != '\0') {
    text_add_string(out, ",\"targetContentIdentifier\":");
    json_write_string(out, shown->target);
  }
  if (text != NULL) {
    text_add_string(out, ",\"userText\":");
    json_write_string(out, text);
  }
  text_add_string(out, "}");
}

bool stage_choose(struct device *device, const struct shown *shown, const char *action, const char *text,
                  const char *outcome) {
  if (shown == NULL) return device_fail(device, "a notification is there to choose from", "none");
  struct text response = {0};
  struct text quoted = {0};
  struct text said = {0};
  write_response(&response, shown, action, text);
  json_write_string(&quoted, text_string(&response));
  kill(device->alice.process.pid, SIGCONT);
  struct json *answer =
      host_line(device, &device->alice, 10000, "np_notification_response $c %s", text_string(&quoted));
  const char *came = json_string_at(answer, "result.result.outcome");
  bool good = came != NULL && (outcome == NULL || strcmp(came, outcome) == 0);
  if (good) {
    text_format(&said, "chooses %s: %s", action == NULL ? "the notification" : action, came);
    story_tell(device, "alice", "response", text_string(&said));
    screen_dismiss(&device->screen, shown);
  } else if (answer != NULL) {
    json_write(&said, answer);
    device_fail(device, outcome == NULL ? "the response is taken" : outcome, text_string(&said));
  }
  json_free(answer);
  text_free(&response);
  text_free(&quoted);
  text_free(&said);
  return good;
}

/* ------------------------------------------------------------------------------------------------ checks */

bool stage_check(struct device *device, bool held, const char *statement, const char *came, ...) {
  struct text text = {0};
  if (held) {
    text_add_string(&text, "\"what\":");
    json_write_string(&text, statement);
    timeline_tell(&device->timeline, "held", "held", text_string(&text), statement);
    device->summary.held++;
  } else {
    FORMATTED(text, came);
    device_fail(device, statement, text_string(&text));
  }
  text_free(&text);
  return held;
}

/* Describes the screen, for a failure. */
static void describe(const struct device *device, struct text *text) {
  text_format(text, "%u notifications, badge %lld:", screen_count(&device->screen), device->screen.badge);
  for (const struct shown *shown = device->screen.first; shown != NULL; shown = shown->next)
    text_format(text, " [%s | %s | %s]", shown->title, shown->body, shown->category);
}

bool stage_shows(struct device *device, const char *title, const char *body) {
  struct text statement = {0};
  struct text came = {0};
  text_format(&statement, "the screen shows \"%s%s%s\"", title == NULL ? "" : title,
              title == NULL || body == NULL ? "" : " ", body == NULL ? "" : body);
  describe(device, &came);
  bool held = stage_check(device, screen_find(&device->screen, title, body) != NULL, text_string(&statement), "%s",
                          text_string(&came));
  text_free(&statement);
  text_free(&came);
  return held;
}

bool stage_shows_nothing(struct device *device) {
  struct text came = {0};
  describe(device, &came);
  bool held = stage_check(device, device->screen.first == NULL, "the screen shows no notification", "%s",
                          text_string(&came));
  text_free(&came);
  return held;
}

bool stage_shown_once(struct device *device, unsigned count) {
  const struct screen *screen = &device->screen;
  return stage_check(device, screen->shown == count && screen->repeated == 0, "each message is shown once",
                     "%u notifications of %u, and %u again", screen->shown, count, screen->repeated);
}

bool stage_badge(struct device *device, long long badge) {
  struct text statement = {0};
  text_format(&statement, "the badge is %lld", badge);
  bool held = stage_check(device, device->screen.badge == badge, text_string(&statement), "%lld",
                          device->screen.badge);
  text_free(&statement);
  return held;
}

/* How often a text occurs among an app's received items; -1 without an answer. */
static int copies_of(struct device *device, struct host *host, const char *text) {
  struct json *answer = stage_ask(device, host, "apiChat", "/_get chat @%lld count=100", host->contact_id);
  if (answer == NULL) return -1;
  const struct json *items = json_at(answer, "result.result.chat.chatItems");
  int copies = 0;
  for (const struct json *item = items == NULL ? NULL : items->child; item != NULL; item = item->next) {
    const char *direction = json_string_at(item, "chatDir.type");
    const char *content = json_string_at(item, "content.msgContent.text");
    if (direction != NULL && strcmp(direction, "directRcv") == 0 && content != NULL && strcmp(content, text) == 0)
      copies++;
  }
  json_free(answer);
  return copies;
}

bool stage_has_once(struct device *device, const char *text) {
  return stage_host_has_once(device, &device->alice, text);
}

bool stage_host_has_once(struct device *device, struct host *host, const char *text) {
  struct text statement = {0};
  uint64_t deadline = deadline_after(10000);
  int copies = copies_of(device, host, text);
  while (copies == 0 && now_microseconds() < deadline && !device_interrupted()) {
    device_wait(device, NULL, deadline_after(50));
    copies = copies_of(device, host, text);
  }
  text_format(&statement, "%s's chat has \"%s\" once", host->name, text);
  bool held = copies >= 0 && stage_check(device, copies == 1, text_string(&statement), "%d times", copies);
  text_free(&statement);
  return held;
}
