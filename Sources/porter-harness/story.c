#include <string.h>

#include "story.h"

void story_tell(struct device *device, const char *actor, const char *event, const char *said) {
  timeline_tell(&device->timeline, actor, event, "", said);
}

/* Sends a command that must be answered with `type`; its answer is not needed. */
bool story_command(struct device *device, struct host *host, const char *text, const char *type) {
  struct json *answer = host_command(device, host, text, type);
  json_free(answer);
  return answer != NULL;
}

void story_tell_push(struct device *device, const struct push *push) {
  struct text fields = {0};
  struct text said = {0};
  const char *type = json_string_at(push->json, "type");
  text_add_string(&fields, "\"type\":");
  json_write_string(&fields, type == NULL ? "" : type);
  text_format(&fields, ",\"bytes\":%zu", strlen(push->payload));
  text_format(&said, "gets a push of %zu bytes, type %s", strlen(push->payload), type == NULL ? "?" : type);
  timeline_tell(&device->timeline, "device", "push", text_string(&fields), text_string(&said));
  text_free(&fields);
  text_free(&said);
}

bool story_run(struct device *device) {
  static const struct {
    const char *name;
    bool (*run)(struct device *);
  } steps[] = {
      {"start the server", story_start_server},
      {"start alice's app", story_start_alice},
      {"start bob's app", story_start_bob},
      {"connect the two", story_connect_both},
      {"register the token", story_register_token},
      {"verify the token", story_verify_token},
      {"activate the token", story_activate_token},
      {"suspend alice's app", story_suspend},
      {"freeze alice's app", story_freeze},
      {"send from bob", story_send_messages},
      {"present the pushes", story_present_pushes},
      {"thaw alice's app", story_thaw},
      {"look at the chat", story_look_at_chat},
      {"read the chat", story_read_messages},
      {"close the apps", story_close_apps},
  };
  for (size_t index = 0; index < sizeof steps / sizeof steps[0]; index++) {
    device->step = steps[index].name;
    if (device->options.freeze_without_suspending && steps[index].run == story_suspend) continue;
    if (!steps[index].run(device)) return device_fail(device, "the step succeeds", "it failed");
    if (device_interrupted()) return device_fail(device, "the story ends", "the harness was interrupted");
  }
  return true;
}
