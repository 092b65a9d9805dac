#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invoke.h"
#include "locks.h"
#include "story.h"

/* ------------------------------------------------------------------------------------------------ freeze */

bool story_suspend(struct device *device) {
  struct host *alice = &device->alice;
  if (!story_command(device, alice, "/_app suspend 5000000", "cmdOk")) return false;
  struct json *event = host_event(device, alice, "chatSuspended", 6000);
  if (event == NULL) return false;
  json_free(event);
  struct json *closed = host_line(device, alice, 10000, "chat_close_store $c");
  const char *problem = json_string_at(closed, "result");
  bool good = problem != NULL && *problem == '\0';
  if (closed != NULL && !good) device_fail(device, "the store closes", problem == NULL ? "no answer" : problem);
  json_free(closed);
  if (good) story_tell(device, "alice", "suspended", "goes to the background, suspends and closes the store");
  return good;
}

/* Rule 6: no connection to a relay outlives the suspension. */
static bool check_connections(struct device *device) {
  if (device->options.network == NULL) return true;
  int count = network_connections(device->alice.process.pid);
  if (count == 0) return true;
  struct text came = {0};
  if (count < 0) text_add_string(&came, strerror(errno));
  else text_format(&came, "%d are open", count);
  device_fail(device, "a frozen app has no connection", text_string(&came));
  text_free(&came);
  return false;
}

/* Checks what the app holds; kills it, as a phone would, if that includes a lock. */
static bool check_holding(struct device *device) {
  struct holding holding;
  struct host *alice = &device->alice;
  if (!holding_of(alice->process.pid, alice->store, &holding))
    return device_fail(device, "the system reports the locks that are held", strerror(errno));
  if (holding.locks > device->summary.locks_held_when_frozen) device->summary.locks_held_when_frozen = holding.locks;
  bool good = holding.locks == 0 && holding.open_files == 0;
  if (!good) {
    struct text came = {0};
    text_format(&came, "%s%s", holding.locks > 0 ? "0xdead10cc: it was killed with " : "",
                text_string(&holding.description));
    if (holding.locks > 0) {
      kill(alice->process.pid, SIGKILL);
      timeline_tell(&device->timeline, "device", "killed", "\"process\":\"alice\",\"code\":\"0xdead10cc\"",
                    text_string(&came));
    }
    device_fail(device, "a frozen app holds nothing of the store", text_string(&came));
    text_free(&came);
  }
  text_free(&holding.description);
  return good && check_connections(device);
}

bool story_freeze(struct device *device) {
  if (!check_holding(device)) return false;
  if (!process_freeze(&device->alice.process)) return device_fail(device, "the app can be frozen", "it ended");
  /* Check again: nothing between the first check and the freeze may have taken a lock. */
  if (!check_holding(device)) return false;
  bool network = device->options.network != NULL;
  timeline_tell(&device->timeline, "device", "frozen",
                network ? "\"locks\":0,\"openFiles\":0,\"connections\":0" : "\"locks\":0,\"openFiles\":0",
                network ? "freezes alice's app: no lock, no open file of the store, no connection"
                        : "freezes alice's app: no lock, no open file of the store");
  return true;
}

/* The text of bob's nth message. */
static const char *message_text(const struct device *device, int number, struct text *text) {
  text_clear(text);
  text_add_string(text, "hello");
  if (device->options.messages > 1) text_format(text, " %d", number);
  return text_string(text);
}

bool story_send_messages(struct device *device) {
  struct text body = {0};
  struct text text = {0};
  bool good = true;
  for (int number = 1; good && number <= device->options.messages; number++) {
    message_text(device, number, &body);
    text_clear(&text);
    text_format(&text,
                "/_send @%lld live=off json [{\"msgContent\":{\"type\":\"text\",\"text\":\"%s\"},\"mentions\":{}}]",
                device->bob.contact_id, text_string(&body));
    good = story_command(device, &device->bob, text_string(&text), "newChatItems");
    text_clear(&text);
    text_format(&text, "sends \"%s\"", text_string(&body));
    if (good) story_tell(device, "bob", "sent", text_string(&text));
  }
  text_free(&body);
  text_free(&text);
  return good;
}

/* A push must not reveal its subject to the services that carry it. */
static bool check_secret(struct device *device, const struct push *push) {
  if (strstr(push->payload, "hello") == NULL) return true;
  return device_fail(device, "a push does not carry the message's text", push->payload);
}

bool story_present_pushes(struct device *device) {
  unsigned wanted = (unsigned)device->options.messages;
  const char *kill_stage = device->options.kill_stage;
  uint64_t deadline = deadline_after(15000);
  bool good = true;
  while (good && device->summary.notifications < wanted) {
    struct push *push = device_push(device, deadline);
    if (push == NULL) {
      struct text came = {0};
      text_format(&came, "%u after 15 s", device->summary.notifications);
      device_fail(device, "each message is shown", text_string(&came));
      text_free(&came);
      return false;
    }
    story_tell_push(device, push);
    good = check_secret(device, push) && (kill_stage == NULL || present(device, push, kill_stage)) &&
           present(device, push, NULL);
    kill_stage = NULL;
    push_free(push);
  }
  /* A late push has nothing left to show. */
  while (good) {
    struct push *late = device_push(device, deadline_after(250));
    if (late == NULL) break;
    story_tell_push(device, late);
    good = present(device, late, NULL);
    push_free(late);
  }
  if (!good) return false;
  if (device->summary.notifications != wanted)
    return device_fail(device, "each message is shown once", "there were more notifications than messages");
  if (device->summary.badge == (long long)wanted) return true;
  return device_fail(device, "the badge is the number of messages", "another number");
}

/* ------------------------------------------------------------------------------------------------ thaw */

bool story_thaw(struct device *device) {
  struct host *alice = &device->alice;
  if (kill(alice->process.pid, SIGCONT) != 0) return device_fail(device, "the app can be thawed", strerror(errno));
  struct json *opened = host_line(device, alice, 10000, "chat_reopen_store $c");
  const char *problem = json_string_at(opened, "result");
  bool good = problem != NULL && *problem == '\0';
  if (opened != NULL && !good) device_fail(device, "the store opens again", problem == NULL ? "no answer" : problem);
  json_free(opened);
  good = good && story_command(device, alice, "/_app activate", "cmdOk");
  if (good) story_tell(device, "alice", "activated", "is thawed and activates");
  return good;
}

/* Counts what arrived in alice's chat: each of bob's messages, and every repeat. */
static bool count_messages(struct device *device) {
  struct text text = {0};
  text_format(&text, "/_get chat @%lld count=100", device->alice.contact_id);
  struct json *answer = host_command(device, &device->alice, text_string(&text), "apiChat");
  const struct json *items = json_at(answer, "result.result.chat.chatItems");
  device->summary.messages = 0;
  device->summary.duplicates = 0;
  for (int number = 1; number <= device->options.messages; number++) {
    unsigned copies = 0;
    message_text(device, number, &text);
    for (const struct json *item = items == NULL ? NULL : items->child; item != NULL; item = item->next) {
      const char *direction = json_string_at(item, "chatDir.type");
      const char *content = json_string_at(item, "content.msgContent.text");
      if (direction != NULL && strcmp(direction, "directRcv") == 0 && content != NULL &&
          strcmp(content, text_string(&text)) == 0)
        copies++;
    }
    if (copies > 0) device->summary.messages++;
    if (copies > 1) device->summary.duplicates += copies - 1;
  }
  json_free(answer);
  text_free(&text);
  return answer != NULL;
}

bool story_look_at_chat(struct device *device) {
  unsigned wanted = (unsigned)device->options.messages;
  uint64_t deadline = deadline_after(10000);
  do {
    if (!count_messages(device)) return false;
    device_wait(device, NULL, deadline_after(50));
  } while (device->summary.messages < wanted && now_microseconds() < deadline && !device_interrupted());
  /* By now, anything activation fetched again would show up as a duplicate. */
  for (uint64_t settled = deadline_after(300); now_microseconds() < settled && !device_interrupted();)
    device_wait(device, NULL, settled);
  if (!count_messages(device)) return false;
  if (device->summary.messages != wanted) return device_fail(device, "the app has each message", "some are missing");
  if (device->summary.duplicates > 0) return device_fail(device, "the app has each message once", "some twice");
  story_tell(device, "alice", "messages", wanted == 1 ? "has the message, once" : "has the messages, each once");
  return true;
}

static bool check_unread(struct device *device, long long wanted) {
  struct json *state = host_line(device, &device->alice, 10000, "np_state $c");
  if (state == NULL) return false;
  device->summary.badge = json_integer_at(state, "result.unread", -1);
  json_free(state);
  if (device->summary.badge == wanted) return true;
  struct text expected = {0};
  struct text came = {0};
  text_format(&expected, "%lld messages are unread", wanted);
  text_format(&came, "%lld", device->summary.badge);
  device_fail(device, text_string(&expected), text_string(&came));
  text_free(&expected);
  text_free(&came);
  return false;
}

bool story_read_messages(struct device *device) {
  struct text text = {0};
  if (!check_unread(device, device->options.messages)) return false;
  text_format(&text, "/_read chat @%lld", device->alice.contact_id);
  bool good = story_command(device, &device->alice, text_string(&text), "cmdOk") && check_unread(device, 0);
  text_free(&text);
  if (good) timeline_tell(&device->timeline, "alice", "read", "\"badge\":0", "reads the chat: the badge is clear");
  return good;
}

static bool close_app(struct device *device, struct host *host) {
  struct ending ending = {0};
  json_free(host_line(device, host, 10000, "chat_close_store $c"));
  json_free(host_line(device, host, 10000, "np_ctrl_free $c"));
  process_close_input(&host->process);
  record_ended(&device->record, host->process.pid);
  uint64_t deadline = deadline_after(5000);
  while (!process_ended(&host->process, &ending)) {
    if (now_microseconds() > deadline || device_interrupted()) return device_fail(device, "an app ends", "it stays");
    device_wait(device, NULL, deadline_after(2));
  }
  if (ending.exited && ending.status == 0) return true;
  return device_fail(device, "an app ends with status 0", "it did not");
}

bool story_close_apps(struct device *device) {
  return close_app(device, &device->alice) && close_app(device, &device->bob);
}
