/*
 * What scenarios are made of. Each step is bounded in time; each returns false once the failure is recorded, so that
 * steps are joined with &&.
 */
#ifndef PORTER_STAGE_H
#define PORTER_STAGE_H

#include "device.h"

/* A night that a device can play. */
struct scenario {
  const char *name;
  const char *sentence; /* what it shows */
  bool (*play)(struct device *);
};

const struct scenario *scenario_find(const char *name);

/* The scenario of this place in the list; NULL behind the last. */
const struct scenario *scenario_at(size_t index);

/* `porter-harness scenarios` */
int scenarios_main(int argument_count, char **arguments);

extern const char scenarios_usage[];

/* A server, two apps that are connected, and a token that is active. */
bool stage_set(struct device *device);

/* Alice's app suspends, and is frozen. Checks that it holds nothing. */
bool stage_sleep(struct device *device);

/* It is thawed, opens its store and activates. */
bool stage_wake(struct device *device);

/* The person swipes alice's app away; later starts it anew, on the same store. */
bool stage_quit(struct device *device);
bool stage_restart(struct device *device);

/* The server ends, as with SIGTERM; later starts again on its state, under the same link. */
bool stage_stop_server(struct device *device);
bool stage_start_server(struct device *device);

/* A command that has to be answered with `type`. */
bool stage_say(struct device *device, struct host *host, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same, for its answer; NULL: the failure is recorded. To be freed. */
struct json *stage_ask(struct device *device, struct host *host, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Waits for an event of this type, at most 15 s; `stage_await` gives it, to be freed. */
bool stage_hear(struct device *device, struct host *host, const char *type);
struct json *stage_await(struct device *device, struct host *host, const char *type);

/* bob writes to alice; the text holds no quotes and no backslashes. */
bool stage_write(struct device *device, const char *text);

/* Waits for a push of type alert, and hands it to an extension; `how` may be NULL. The answer's outcome is checked. */
bool stage_push(struct device *device, const char *outcome, const struct presenting *how);

/* The same, for the answer, to be freed; `outcome` may be NULL. NULL when it was killed as planned, too. */
struct json *stage_answer(struct device *device, const char *outcome, const struct presenting *how);

/* An extension that stays, whose store dozes between two pushes; hands it the next push, which is presented. */
bool stage_stay(struct device *device);
bool stage_push_again(struct device *device, bool dozes);

/* The system freezes it, and thaws it again. It holds no lock while it is frozen. */
bool stage_freeze_extension(struct device *device);
bool stage_thaw_extension(struct device *device);

/* Hands pushes to extensions until `count` notifications are or were on the screen, and then what is left of them. */
bool stage_push_until(struct device *device, unsigned count);

/* Hands over the pushes that have come meanwhile, until none comes for a quarter of a second. */
bool stage_push_rest(struct device *device);

/*
 * The person chooses a notification's action (NTF_ACT_…, or NULL for a tap): the platform lets the app run, frozen
 * or not, and hands it over. The notification disappears. `text` is what a reply says, or NULL. The answer's outcome is
 * checked, unless it is NULL.
 */
bool stage_choose(struct device *device, const struct shown *shown, const char *action, const char *text,
                  const char *outcome);

/* The provider refuses every push from now on; NULL: no longer. */
void stage_refuse_pushes(struct device *device, const char *reason);

/* Records that something held; or else fails with what came. */
bool stage_check(struct device *device, bool held, const char *statement, const char *came, ...)
    __attribute__((format(printf, 4, 5)));

/* What the screen has to look like. */
bool stage_shows(struct device *device, const char *title, const char *body);
bool stage_shows_nothing(struct device *device);
bool stage_badge(struct device *device, long long badge);

/* So many notifications have been shown, and none of them a second time. */
bool stage_shown_once(struct device *device, unsigned count);

/* Alice's chat has this text, received, exactly once; the same of another app's. */
bool stage_has_once(struct device *device, const char *text);
bool stage_host_has_once(struct device *device, struct host *host, const char *text);

/* Waits until the server is to send pushes for all of alice's mailboxes. */
bool stage_await_subscriptions(struct device *device);

/* Waits until the relay and the server have forgotten a mailbox of alice's that is to have no push. */
bool stage_await_release(struct device *device);

/* What np_state says of alice's app, to be freed. */
struct json *stage_state(struct device *device);

#endif
