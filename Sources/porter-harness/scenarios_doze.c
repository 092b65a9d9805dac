/* A night in which the extension stays, and its store dozes. */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "locks.h"
#include "scenarios.h"
#include "story.h"

bool stage_stay(struct device *device) { return present_stay(device); }

/* The system freezes it without warning. It must hold nothing then that another process waits for. */
bool stage_freeze_extension(struct device *device) {
  struct holding holding;
  if (!process_freeze(&device->extension)) return device_fail(device, "the extension can be frozen", "it ended");
  if (!holding_of(device->extension.pid, device->alice.store, &holding))
    return device_fail(device, "the system reports the locks that are held", strerror(errno));
  if (holding.locks > device->summary.locks_held_when_frozen) device->summary.locks_held_when_frozen = holding.locks;
  bool held = stage_check(device, holding.locks == 0, "the frozen extension holds no lock", "%s",
                          text_string(&holding.description));
  if (held)
    timeline_tell(&device->timeline, "device", "frozen", "\"freezes\":\"extension\"", "freezes the dozing extension");
  text_free(&holding.description);
  return held;
}

bool stage_thaw_extension(struct device *device) {
  if (kill(device->extension.pid, SIGCONT) != 0)
    return device_fail(device, "the extension can be thawed", strerror(errno));
  story_tell(device, "device", "thawed", "thaws the extension");
  return true;
}

/* The app works alongside the frozen extension, and changes the files that it has open. */
static bool use_app(struct device *device) {
  return stage_freeze_extension(device) && stage_wake(device) && stage_has_once(device, "one") &&
         stage_has_once(device, "two") && stage_sleep(device) && stage_thaw_extension(device);
}

bool scenario_dozing(struct device *device) {
  bool good = stage_set(device) && stage_sleep(device) && stage_stay(device) && stage_write(device, "one") &&
              stage_push_again(device, false) && stage_shows(device, "bob", "one") && stage_write(device, "two") &&
              stage_push_again(device, true) && stage_shows(device, "bob", "two") && stage_badge(device, 2) &&
              use_app(device) && stage_write(device, "three") && stage_push_again(device, true) &&
              stage_shows(device, "bob", "three") && stage_badge(device, 3);
  device_end(device, &device->extension);
  device->extension = (struct process){.input = -1, .output = -1};
  return good && stage_wake(device) && stage_has_once(device, "three") && stage_shown_once(device, 3);
}
