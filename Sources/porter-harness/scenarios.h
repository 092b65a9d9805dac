/* The nights a device can play, one function each. */
#ifndef PORTER_SCENARIOS_H
#define PORTER_SCENARIOS_H

#include "stage.h"

bool scenario_contact_request(struct device *device);
bool scenario_call_answered(struct device *device);
bool scenario_call_missed(struct device *device);
bool scenario_edited_and_deleted(struct device *device);
bool scenario_three_profiles(struct device *device);
bool scenario_muted_chat(struct device *device);
bool scenario_hidden_preview(struct device *device);
bool scenario_app_lock(struct device *device);
bool scenario_burst(struct device *device);
bool scenario_reply(struct device *device);
bool scenario_server_down(struct device *device);
bool scenario_token_recovers(struct device *device);
bool scenario_periodic(struct device *device);
bool scenario_share(struct device *device);
bool scenario_clock_moved(struct device *device);
bool scenario_force_quit(struct device *device);
bool scenario_killed_at_every_step(struct device *device);
bool scenario_dozing(struct device *device);

#endif
