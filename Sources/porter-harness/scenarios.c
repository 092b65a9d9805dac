#include <stdio.h>
#include <string.h>

#include "scenarios.h"

static const struct scenario scenarios[] = {
    {"muted-chat", "A muted chat shows nothing and rings nobody, and its messages are there.", scenario_muted_chat},
    {"hidden-preview", "With previews hidden, neither a name nor a text reaches the screen.", scenario_hidden_preview},
    {"app-lock", "Before the first unlock a push shows that something came; afterwards, what it was.",
     scenario_app_lock},
    {"burst", "Fifty messages in a minute are one sound and one notification, and none is lost.", scenario_burst},
    {"reply", "A reply is stored while the app sleeps, and sent once when it wakes.", scenario_reply},
    {"server-down", "The server is down for an hour while messages are sent; afterwards each is shown once.",
     scenario_server_down},
    {"clock-moved", "The clock is put forward by a year and back again; nothing is lost, nothing shown twice.",
     scenario_clock_moved},
    {"force-quit", "The app is swiped away; notifications still come, and the app finds all it missed.",
     scenario_force_quit},
    {"killed-at-every-step", "The extension is killed at each step of a push; each message is shown once.",
     scenario_killed_at_every_step},
};

const struct scenario *scenario_at(size_t index) {
  return index < sizeof scenarios / sizeof scenarios[0] ? &scenarios[index] : NULL;
}

const struct scenario *scenario_find(const char *name) {
  for (size_t index = 0; scenario_at(index) != NULL; index++)
    if (strcmp(scenarios[index].name, name) == 0) return &scenarios[index];
  return NULL;
}

const char scenarios_usage[] =
    "porter-harness scenarios\n"
    "  Lists the nights that `device --scenario NAME` plays, with a sentence each.\n";

int scenarios_main(int argument_count, char **arguments) {
  (void)arguments;
  if (argument_count > 0) {
    fputs(scenarios_usage, stderr);
    return 2;
  }
  for (size_t index = 0; scenario_at(index) != NULL; index++)
    printf("%-22s %s\n", scenarios[index].name, scenarios[index].sentence);
  return 0;
}
