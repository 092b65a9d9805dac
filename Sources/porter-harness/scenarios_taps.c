/* Scenarios in which the user responds to a notification. */
#include <string.h>

#include "scenarios.h"

/* bob has received this text from alice, once. */
static bool bob_has(struct device *device, const char *text) {
  struct json *event = stage_await(device, &device->bob, "newChatItems");
  const char *came = json_string_at(event, "result.result.chatItems.0.chatItem.content.msgContent.text");
  struct text statement = {0};
  text_format(&statement, "bob gets \"%s\"", text);
  bool held = came != NULL && stage_check(device, strcmp(came, text) == 0, text_string(&statement), "\"%s\"", came);
  text_free(&statement);
  json_free(event);
  return held;
}

bool scenario_reply(struct device *device) {
  return stage_set(device) && stage_sleep(device) && stage_write(device, "are you there?") &&
         stage_push_until(device, 1) &&
         stage_choose(device, screen_find(&device->screen, "bob", "are you there?"), "NTF_ACT_REPLY", "yes", NULL) &&
         stage_wake(device) && bob_has(device, "yes") && stage_shows_nothing(device) &&
         stage_has_once(device, "are you there?");
}
