#include <stdio.h>
#include <string.h>

#include "scenarios.h"

static const struct scenario scenarios[] = {
    {"contact-request", "A stranger asks to be a contact; accepted from the notification, they are connected.",
     scenario_contact_request},
    {"call-answered", "A call rings while the app is suspended, and is accepted from its notification.",
     scenario_call_answered},
    {"call-missed", "A call that ends before it is answered rings no more, and is shown as missed.",
     scenario_call_missed},
    {"edited-and-deleted", "An edit replaces its notification without a sound; a deletion takes it away.",
     scenario_edited_and_deleted},
    {"three-profiles", "Three profiles, one of them muted: each shows what it may, and the badge counts the rest.",
     scenario_three_profiles},
    {"muted-chat", "A muted chat has no push, and its messages are there; unmuted, it is heard again.",
     scenario_muted_chat},
    {"hidden-preview", "With previews hidden, neither a name nor a text reaches the screen.", scenario_hidden_preview},
    {"app-lock", "Before the first unlock a push shows that something came; afterwards, what it was.",
     scenario_app_lock},
    {"burst", "Fifty messages in a minute are one sound at most and one notification; none is lost.", scenario_burst},
    {"reply", "A reply is stored while the app is suspended, and sent once when it is active again.", scenario_reply},
    {"server-down", "The server is down for an hour while messages are sent; afterwards each is shown once.",
     scenario_server_down},
    {"token-recovers", "The provider refuses the device's token; the app registers anew by itself, and pushes come.",
     scenario_token_recovers},
    {"periodic", "In the periodic mode a round in the background shows what came.", scenario_periodic},
    {"share", "A push is shown while a share extension is in the middle of a send; neither disturbs the other.",
     scenario_share},
    {"clock-moved", "The clock is put forward by a year and back again; nothing is lost, nothing shown twice.",
     scenario_clock_moved},
    {"force-quit", "The app is swiped away; notifications still come, and the app finds all it missed.",
     scenario_force_quit},
    {"killed-at-every-step", "The extension is killed at each step of a push; no message is lost or shown twice.",
     scenario_killed_at_every_step},
    {"dozing", "An extension stays between pushes; its store's files are open, and it holds no lock, even when frozen.",
     scenario_dozing},
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
