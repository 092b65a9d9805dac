/* The steps of the story that a device plays, in order. Each is bounded in time and records why it fails. */
#ifndef PORTER_STORY_H
#define PORTER_STORY_H

#include "device.h"

bool story_start_server(struct device *device);
bool story_start_alice(struct device *device);
bool story_start_bob(struct device *device);
bool story_connect_both(struct device *device);
bool story_register_token(struct device *device);
bool story_verify_token(struct device *device);
bool story_activate_token(struct device *device);
bool story_suspend(struct device *device);
bool story_freeze(struct device *device);
bool story_send_messages(struct device *device);
bool story_present_pushes(struct device *device);
bool story_thaw(struct device *device);
bool story_look_at_chat(struct device *device);
bool story_read_messages(struct device *device);
bool story_close_apps(struct device *device);

/* Shared by the steps. */
void story_tell(struct device *device, const char *actor, const char *event, const char *said);
void story_tell_push(struct device *device, const struct push *push);

/* Sends a command that must be answered with `type`; its answer is not needed. */
bool story_command(struct device *device, struct host *host, const char *text, const char *type);

#endif
