/* Scenarios about what must not be seen or heard. */
#include <stdio.h>

#include "scenarios.h"

static bool set_notifications(struct device *device, const char *mode) {
  return stage_say(device, &device->alice, "cmdOk", "/_settings @%lld {\"enableNtfs\":\"%s\",\"favorite\":false}",
                   device->alice.contact_id, mode);
}

bool scenario_muted_chat(struct device *device) {
  /* The server sends no push for it. */
  bool good = stage_set(device) && set_notifications(device, "none") && stage_await_release(device) &&
              stage_sleep(device) && stage_write(device, "psst") && stage_push_rest(device) &&
              stage_shows_nothing(device) && stage_wake(device) && stage_has_once(device, "psst");
  return good && set_notifications(device, "all") && stage_await_subscriptions(device) && stage_sleep(device) &&
         stage_write(device, "hello") && stage_push_until(device, 1) && stage_shows(device, "bob", "hello") &&
         stage_badge(device, 2) && stage_wake(device) && stage_has_once(device, "hello");
}

bool scenario_hidden_preview(struct device *device) {
  bool good = stage_set(device) &&
              stage_say(device, &device->alice, "cmdOk",
                        "/_save app settings {\"notificationPreviewMode\":\"hidden\"}") &&
              stage_sleep(device) && stage_write(device, "the secret word") && stage_push_until(device, 1);
  return good &&
         stage_check(device, !screen_contains(&device->screen, "bob"), "the name is hidden", "it is on the screen") &&
         stage_check(device, !screen_contains(&device->screen, "secret"), "the text is hidden",
                     "it is on the screen") &&
         stage_badge(device, 1) && stage_wake(device) && stage_has_once(device, "the secret word");
}

#define BURST 50

/* Each message of a burst is in alice's chat once. */
static bool has_burst(struct device *device) {
  struct json *answer =
      stage_ask(device, &device->alice, "apiChat", "/_get chat @%lld count=100", device->alice.contact_id);
  const struct json *items = json_at(answer, "result.result.chat.chatItems");
  unsigned seen[BURST] = {0};
  for (const struct json *item = items == NULL ? NULL : items->child; item != NULL; item = item->next) {
    const char *text = json_string_at(item, "content.msgContent.text");
    int number = 0;
    if (text != NULL && sscanf(text, "message %d", &number) == 1 && number >= 0 && number < BURST) seen[number]++;
  }
  json_free(answer);
  unsigned once = 0;
  for (int number = 0; number < BURST; number++) once += seen[number] == 1;
  return answer != NULL && stage_check(device, once == BURST, "alice's chat has each of fifty messages once",
                                       "%u of them", once);
}

bool scenario_burst(struct device *device) {
  bool good = stage_set(device) && stage_sleep(device);
  for (int number = 0; good && number < BURST; number++) {
    char text[32];
    snprintf(text, sizeof text, "message %d", number);
    good = stage_write(device, text);
  }
  good = good && stage_push(device, "presented", NULL) && stage_push_rest(device);
  const struct screen *screen = &device->screen;
  /* None if the chat made a sound just before, when it was connected. */
  return good && stage_check(device, screen->sounds <= 1, "there is one sound at most", "%u", screen->sounds) &&
         stage_check(device, screen_find_category(screen, "NTF_CAT_MANY_EVENTS") != NULL,
                     "a summary stands for the messages", "there is none") &&
         stage_check(device, screen_count(screen) < 8, "the screen is not flooded", "%u notifications",
                     screen_count(screen)) &&
         stage_badge(device, BURST) && stage_wake(device) && has_burst(device);
}

bool scenario_app_lock(struct device *device) {
  const struct presenting locked = {.locked = true};
  return stage_set(device) && stage_sleep(device) && stage_write(device, "good morning") &&
         stage_push(device, "locked", &locked) &&
         stage_check(device, screen_count(&device->screen) == 1, "a notice says that something came",
                     "%u notifications", screen_count(&device->screen)) &&
         stage_check(device, !screen_contains(&device->screen, "bob"), "it names no sender", "it names bob") &&
         stage_write(device, "are you up?") && stage_push_until(device, 3) &&
         stage_shows(device, "bob", "good morning") && stage_shows(device, "bob", "are you up?") &&
         stage_check(device, screen_count(&device->screen) == 2, "the notice is gone", "%u notifications",
                     screen_count(&device->screen)) &&
         stage_badge(device, 2) && stage_wake(device) && stage_has_once(device, "good morning");
}
