/* Scenarios about what is not to be seen or heard. */
#include "scenarios.h"

bool scenario_muted_chat(struct device *device) {
  return stage_set(device) &&
         stage_say(device, &device->alice, "cmdOk", "/_settings @%lld {\"enableNtfs\":\"none\",\"favorite\":false}",
                   device->alice.contact_id) &&
         stage_sleep(device) && stage_write(device, "psst") && stage_push(device, "nothingNew", NULL) &&
         stage_shows_nothing(device) && stage_badge(device, 0) && stage_wake(device) && stage_has_once(device, "psst");
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
