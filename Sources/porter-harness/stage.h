/*
 * The steps of scenarios. Each is bounded in time, and records its failure and returns false, so that steps are joined
 * with &&.
 */
#ifndef PORTER_STAGE_H
#define PORTER_STAGE_H

#include "device.h"

/* A night a device can play. */
struct scenario {
  const char *name;
  const char *sentence; /* what it shows */
  bool (*play)(struct device *);
};

const struct scenario *scenario_find(const char *name);

/* The scenario at this place in the list; NULL after the last. */
const struct scenario *scenario_at(size_t index);

/* `porter-harness scenarios` */
int scenarios_main(int argument_count, char **arguments);

extern const char scenarios_usage[];

/* Sets up a server, two connected apps, and an active token. */
bool stage_set(struct device *device);

/* Alice's app suspends and is frozen. Checks that it holds nothing. */
bool stage_sleep(struct device *device);

/* Alice's app is thawed, opens its store and activates. */
bool stage_wake(struct device *device);

/* The user swipes alice's app away; later starts it again, on the same store. */
bool stage_quit(struct device *device);
bool stage_restart(struct device *device);

/* The server ends, as with SIGTERM; later starts again on its state, under the same link. */
bool stage_stop_server(struct device *device);
bool stage_start_server(struct device *device);

/* Sends a command that must be answered with `type`. */
bool stage_say(struct device *device, struct host *host, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Like stage_say(), for the answer, to be freed. NULL: the failure is recorded. */
struct json *stage_ask(struct device *device, struct host *host, const char *type, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Waits for an event of this type, at most 15 s; `stage_await` returns it, to be freed. */
bool stage_hear(struct device *device, struct host *host, const char *type);
struct json *stage_await(struct device *device, struct host *host, const char *type);

/* bob writes to alice; the text must have no quotes and no backslashes. */
bool stage_write(struct device *device, const char *text);

/* Waits for a push of type alert, and hands it to an extension; `how` may be NULL. The answer's outcome is checked. */
bool stage_push(struct device *device, const char *outcome, const struct presenting *how);

/* Like stage_push(), for the answer, to be freed; `outcome` may be NULL. Also NULL when it was killed as planned. */
struct json *stage_answer(struct device *device, const char *outcome, const struct presenting *how);

/* Has an extension that stays, and whose store dozes between two pushes; hands it the next push, which is presented. */
bool stage_stay(struct device *device);
bool stage_push_again(struct device *device, bool dozes);

/* The system freezes the extension and thaws it again. It holds no lock while frozen. */
bool stage_freeze_extension(struct device *device);
bool stage_thaw_extension(struct device *device);

/* Hands pushes to extensions until `count` notifications are or were on the screen, and then the remaining pushes. */
bool stage_push_until(struct device *device, unsigned count);

/* Hands over the pushes that have arrived in the meantime, until none arrives for a quarter of a second. */
bool stage_push_rest(struct device *device);

/*
 * The user chooses a notification's action (NTF_ACT_…, or NULL for a tap): the platform lets the app run, frozen or
 * not, and hands the response over. The notification disappears. `text` is the text of a reply, or NULL. The answer's
 * outcome is checked, unless it is NULL.
 */
bool stage_choose(struct device *device, const struct shown *shown, const char *action, const char *text,
                  const char *outcome);

/* The provider refuses every push from now on; NULL: no longer. */
void stage_refuse_pushes(struct device *device, const char *reason);

/* Records that a statement held; otherwise fails with what happened instead. */
bool stage_check(struct device *device, bool held, const char *statement, const char *came, ...)
    __attribute__((format(printf, 4, 5)));

/* Checks what the screen shows. */
bool stage_shows(struct device *device, const char *title, const char *body);
bool stage_shows_nothing(struct device *device);
bool stage_badge(struct device *device, long long badge);

/* This many notifications have been shown, and none twice. */
bool stage_shown_once(struct device *device, unsigned count);

/* Alice's chat has this received text exactly once; likewise for another app's. */
bool stage_has_once(struct device *device, const char *text);
bool stage_host_has_once(struct device *device, struct host *host, const char *text);

/* Waits until the server is set to send pushes for all of alice's mailboxes. */
bool stage_await_subscriptions(struct device *device);

/* Waits until the relay and the server have forgotten a mailbox of alice's that is to have no pushes. */
bool stage_await_release(struct device *device);

/* np_state() of alice's app, to be freed. */
struct json *stage_state(struct device *device);

#endif
