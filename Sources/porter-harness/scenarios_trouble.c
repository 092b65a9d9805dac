/* Scenarios in which something goes wrong: a server that is down, a clock that jumps, processes that die. */
#include <stdio.h>
#include <stdlib.h>

#include "scenarios.h"
#include "story.h"

/* Processes that are started from now on find that the device has slept for an hour. */
static void sleep_for_an_hour(struct device *device) {
  setenv("PORTER_SLEPT", "3600000", 1);
  story_tell(device, "device", "slept", "an hour passes");
}

bool scenario_server_down(struct device *device) {
  bool good = stage_set(device) && stage_quit(device) && stage_stop_server(device) && stage_write(device, "first") &&
              stage_write(device, "second");
  if (good) sleep_for_an_hour(device);
  good = good && stage_start_server(device) && stage_push_until(device, 2) && stage_shows(device, "bob", "first") &&
         stage_shows(device, "bob", "second") && stage_badge(device, 2) && stage_restart(device) &&
         stage_has_once(device, "first") && stage_has_once(device, "second");
  unsetenv("PORTER_SLEPT");
  return good;
}

/* From now on, processes that are started see a wall clock that is off by this. */
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
         stage_restart(device) && stage_has_once(device, "before") && stage_has_once(device, "a year later");
  unsetenv("PORTER_WALL_STEP");
  return good;
}

bool scenario_force_quit(struct device *device) {
  return stage_set(device) && stage_quit(device) && stage_write(device, "while you were out") &&
         stage_push_until(device, 1) && stage_shows(device, "bob", "while you were out") && stage_badge(device, 1) &&
         stage_restart(device) && stage_has_once(device, "while you were out");
}

bool scenario_killed_at_every_step(struct device *device) {
  static const char *const stages[] = {"beforeFetch", "afterFetch", "afterCommit", "beforeAcknowledge"};
  if (!stage_set(device) || !stage_sleep(device)) return false;
  for (size_t index = 0; index < sizeof stages / sizeof stages[0]; index++) {
    const struct presenting killed = {.kill_stage = stages[index]};
    struct text body = {0};
    text_format(&body, "killed at %s", stages[index]);
    bool good = stage_write(device, text_string(&body)) && stage_push(device, NULL, &killed) &&
                stage_write(device, "and another") && stage_push_until(device, 2 * ((unsigned)index + 1)) &&
                stage_shows(device, "bob", text_string(&body));
    text_free(&body);
    if (!good) return false;
  }
  unsigned shown = device->screen.shown;
  if (!stage_check(device, shown == 8, "each message is shown once", "%u notifications of 8", shown)) return false;
  if (!stage_wake(device)) return false;
  for (size_t index = 0; index < sizeof stages / sizeof stages[0]; index++) {
    struct text body = {0};
    text_format(&body, "killed at %s", stages[index]);
    bool good = stage_has_once(device, text_string(&body));
    text_free(&body);
    if (!good) return false;
  }
  return true;
}
