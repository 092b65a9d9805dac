/* Scenarios in which something goes wrong: a server is down, a clock jumps, processes are killed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "invoke.h"
#include "scenarios.h"
#include "story.h"

/* To processes started from now on, the device has slept for an hour. */
static void sleep_for_an_hour(struct device *device) {
  setenv("PORTER_SLEPT", "3600000", 1);
  story_tell(device, "device", "slept", "an hour passes");
}

bool scenario_server_down(struct device *device) {
  /* An app that quits earlier has not yet requested pushes for any mailbox. */
  bool good = stage_set(device) && stage_await_subscriptions(device) && stage_quit(device) &&
              stage_stop_server(device) && stage_write(device, "first") && stage_write(device, "second");
  if (good) sleep_for_an_hour(device);
  good = good && stage_start_server(device) && stage_push_until(device, 2) && stage_shows(device, "bob", "first") &&
         stage_shows(device, "bob", "second") && stage_badge(device, 2) && stage_restart(device) &&
         stage_has_once(device, "first") && stage_has_once(device, "second") && stage_shown_once(device, 2);
  unsetenv("PORTER_SLEPT");
  return good;
}

/* Processes started from now on see a wall clock that is off by this much. */
static void move_clock(struct device *device, const char *milliseconds, const char *said) {
  setenv("PORTER_WALL_STEP", milliseconds, 1);
  story_tell(device, "device", "clockMoved", said);
}

bool scenario_clock_moved(struct device *device) {
  bool good = stage_set(device) && stage_sleep(device) && stage_write(device, "before");
  if (good) move_clock(device, "31536000000", "the clock is put forward by a year");
  good = good && stage_push_until(device, 1) && stage_quit(device) && stage_restart(device) &&
         stage_has_once(device, "before") && stage_sleep(device) && stage_write(device, "a year later");
  if (good) move_clock(device, "-31536000000", "the clock is put back by two years");
  good = good && stage_push_until(device, 2) && stage_shows(device, "bob", "a year later") && stage_quit(device) &&
         stage_restart(device) && stage_has_once(device, "before") && stage_has_once(device, "a year later") &&
         stage_shown_once(device, 2);
  unsetenv("PORTER_WALL_STEP");
  return good;
}

bool scenario_force_quit(struct device *device) {
  return stage_set(device) && stage_await_subscriptions(device) && stage_quit(device) &&
         stage_write(device, "while you were out") &&
         stage_push_until(device, 1) && stage_shows(device, "bob", "while you were out") && stage_badge(device, 1) &&
         stage_restart(device) && stage_has_once(device, "while you were out") && stage_shown_once(device, 1);
}

bool scenario_killed_at_every_step(struct device *device) {
  /* At the last stage it has recorded what it shows but not answered: that banner is lost, the message is not. */
  static const char *const stages[] = {"beforeFetch",       "afterFetch",       "insideCommit", "afterCommit",
                                       "beforeAcknowledge", "afterAcknowledge", "shownRecorded"};
  enum { STAGES = sizeof stages / sizeof stages[0] };
  if (!stage_set(device) || !stage_sleep(device)) return false;
  for (size_t index = 0; index < STAGES; index++) {
    const struct presenting killed = {.kill_stage = stages[index]};
    bool is_lost = index + 1 == STAGES;
    struct text body = {0};
    text_format(&body, "killed at %s", stages[index]);
    bool good = stage_write(device, text_string(&body)) && stage_push(device, NULL, &killed) &&
                stage_write(device, "and another") &&
                stage_push_until(device, 2 * ((unsigned)index + 1) - (is_lost ? 1 : 0)) &&
                (is_lost ? stage_check(device, !screen_contains(&device->screen, text_string(&body)),
                                       "what was recorded as shown is not shown again", "it is")
                         : stage_shows(device, "bob", text_string(&body))) &&
                stage_badge(device, 2 * ((long long)index + 1));
    text_free(&body);
    if (!good) return false;
  }
  if (!stage_shown_once(device, 2 * STAGES - 1) || !stage_wake(device)) return false;
  for (size_t index = 0; index < STAGES; index++) {
    struct text body = {0};
    text_format(&body, "killed at %s", stages[index]);
    bool good = stage_has_once(device, text_string(&body));
    text_free(&body);
    if (!good) return false;
  }
  return true;
}

/* The token's verification push arrives, and the app returns it. */
static bool verify_again(struct device *device) {
  struct push *push = device_push(device, deadline_after(30000));
  if (push == NULL) return device_fail(device, "a verification push comes", "none within 30 s");
  story_tell_push(device, push);
  struct text payload = {0};
  json_write_string(&payload, push->payload);
  struct json *answer =
      host_line(device, &device->alice, 15000, "np_receive_push $c %s 10000", text_string(&payload));
  const char *outcome = json_string_at(answer, "result.outcome");
  bool held = outcome != NULL && stage_check(device, strcmp(outcome, "verified") == 0,
                                             "the new registration is verified", "%s", outcome);
  json_free(answer);
  text_free(&payload);
  push_free(push);
  return held;
}

bool scenario_token_recovers(struct device *device) {
  if (!stage_set(device) || !stage_await_subscriptions(device) || !stage_sleep(device)) return false;
  stage_refuse_pushes(device, "ExpiredToken");
  bool good = stage_write(device, "unheard");
  /* The server tries the push and is refused. */
  uint64_t end = deadline_after(30000);
  while (good && device->pushes.refused == 0 && now_microseconds() < end) device_wait(device, NULL, deadline_after(50));
  good = good && stage_check(device, device->pushes.refused > 0, "the provider refused the push", "%u refused",
                             device->pushes.refused);
  stage_refuse_pushes(device, NULL);
  return good && stage_wake(device) && stage_has_once(device, "unheard") && verify_again(device) &&
         stage_await_subscriptions(device) && stage_sleep(device) && stage_write(device, "heard again") &&
         stage_push_until(device, device->screen.shown + 1) && stage_shows(device, "bob", "heard again");
}

bool scenario_periodic(struct device *device) {
  bool good = stage_set(device) &&
              stage_say(device, &device->alice, "ntfTokenStatus", "/_ntf register apns_test %s PERIODIC",
                        device->token) &&
              stage_sleep(device) && stage_write(device, "in the meantime");
  if (!good) return false;
  /* The system briefly wakes the app in the background. */
  kill(device->alice.process.pid, SIGCONT);
  struct json *answer = host_line(device, &device->alice, 30000, "np_background_refresh $c 20000");
  const char *outcome = json_string_at(answer, "result.outcome");
  const struct json *quiescent = json_at(answer, "result.quiescent");
  good = outcome != NULL &&
         stage_check(device, strcmp(outcome, "presented") == 0, "the round has something to show", "%s", outcome) &&
         stage_check(device, quiescent != NULL && quiescent->kind == JSON_TRUE, "it ends with nothing held",
                     "not so") &&
         stage_check(device, json_integer_at(answer, "result.nextRefreshMs", 0) >= 600000,
                     "it says when the next one is due", "%lld ms", json_integer_at(answer, "result.nextRefreshMs", 0));
  if (good) screen_apply(&device->screen, &device->timeline, json_at(answer, "result"));
  json_free(answer);
  return good && stage_shows(device, "bob", "in the meantime") && stage_badge(device, 1) && stage_wake(device) &&
         stage_has_once(device, "in the meantime");
}

/* Waits until the share extension stops in the middle of its send (`enum FaultPoint`). */
static bool await_stop(struct device *device, struct host *extension) {
  uint64_t deadline = deadline_after(15000);
  bool stopped = process_stopped(&extension->process);
  while (!stopped && now_microseconds() < deadline && !device_interrupted()) {
    device_wait(device, NULL, deadline_after(5));
    stopped = process_stopped(&extension->process);
  }
  return stage_check(device, stopped, "a share extension is stopped in the middle of its send", "it is not");
}

/* Handles a push from beginning to end while the send is neither finished nor given up. */
static bool push_amid_send(struct device *device, struct host *extension) {
  return await_stop(device, extension) && stage_write(device, "look!") && stage_push(device, "presented", NULL) &&
         stage_shows(device, "bob", "look!") &&
         stage_check(device, kill(extension->process.pid, SIGCONT) == 0, "it sends on when the push is shown",
                     "it has ended");
}

static void write_sharing(struct text *command, const struct device *device, const char *what) {
  text_clear(command);
  text_format(command,
              "/_send @%lld live=off json [{\"msgContent\":{\"type\":\"text\",\"text\":\"%s\"},\"mentions\":{}}]",
              device->alice.contact_id, what);
}

/*
 * The share extension is a process that opens alice's store in its role. The notification extension sends what waits
 * when it ends, including the picture: it is offered to the relay twice, and the second one comes after both offers.
 */
static bool share_beside_push(struct device *device, struct host *extension, const char *stop) {
  struct text command = {0};
  bool good = host_start_role(device, extension, 2) &&
              story_command(device, extension, "/_start main=off", "chatStarted");
  if (good) story_tell(device, "share", "shareStarted", "opens alice's store to share a picture");
  FILE *file = good ? fopen(stop, "we") : NULL;
  write_sharing(&command, device, "a picture");
  good = file != NULL && fclose(file) == 0 && host_ask(device, extension, text_string(&command)) &&
         push_amid_send(device, extension);
  struct json *sent = good ? host_answer(device, extension, text_string(&command), "newChatItems") : NULL;
  if (sent != NULL) story_tell(device, "share", "sent", "has sent \"a picture\"");
  write_sharing(&command, device, "a second picture");
  good = sent != NULL && story_command(device, extension, text_string(&command), "newChatItems");
  if (good) story_tell(device, "share", "sent", "sends \"a second picture\"");
  good = good && stage_host_has_once(device, &device->bob, "a second picture") &&
         stage_host_has_once(device, &device->bob, "a picture");
  json_free(sent);
  text_free(&command);
  return good;
}

bool scenario_share(struct device *device) {
  struct host extension = {.name = "share", .process = {.input = -1, .output = -1}};
  struct text environment = {0};
  if (!stage_set(device) || !stage_sleep(device)) return false;
  char *stop = device_path(device, "stop-share");
  text_format(&environment, "PORTER_STOP_AT=beforeSend:%s", stop);
  extension.environment = text_string(&environment);
  extension.store = device->alice.store;
  extension.key_file = device->alice.key_file;
  bool good = share_beside_push(device, &extension, stop);
  device_end(device, &extension.process);
  text_free(&environment);
  free(stop);
  return good && stage_wake(device) && stage_has_once(device, "look!");
}
