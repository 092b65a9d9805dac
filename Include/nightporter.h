/*
 * nightporter.h: the whole C interface of Nightporter, the notification core for end-to-end encrypted apps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One library is linked into an app and into its notification extension; both open the same store. chat_* functions follow
 * SimpleX's published interface in name, argument order, ownership and JSON shape. np_* functions are what that interface
 * lacks: version, freeing, pushes with a deadline, phases, states, the machines themselves, and a host's own transport.
 *
 * CONVENTIONS
 *
 * Strings    Every string in and out is UTF-8 and ends with NUL. A string that is not UTF-8 is answered with an error.
 * Ownership  A `char *` result belongs to the caller, who gives it back with np_string_free() or free(). A `const char *`
 *            result is static: it lives as long as the library and is not freed. Arguments are copied; none is kept.
 * NULL       NULL and garbage are never trusted: they are answered with an error, and by the functions under "Validation" with what
 *            they answer to a text in which there is nothing. A function with a `char *` result gives NULL only when memory is
 *            exhausted.
 * Handles    A chat_ctrl is an opaque handle, not an address. A handle that was freed, or never given, is recognised and
 *            answered with an error; it can not become valid again by chance.
 * Threads    Every function may be called from any thread at any time, unless its own text says otherwise. Calls on one controller
 *            are carried out one after the other on that controller's own thread; np_expire_push(), np_event_fd(), np_version()
 *            and np_machine_* do not wait for that thread.
 * Forking    A controller does not survive fork(). Call exec() in the child, or create the controller after the fork. What the
 *            parent lets go of is let go of, also when a child that did not call exec() has a copy of it; but the locks of a
 *            parent that dies live on in such a child, and others believe the parent to be at work until the child ends.
 * Errors     An np_error code, or a JSON object {"error": …} in SimpleX's taxonomy. No call ends the process.
 * Order      End in this order: stop calling, chat_close_store() or "/_app suspend 0", np_ctrl_free(). A call that waits in
 *            chat_recv_msg() returns when its controller is freed.
 */
#ifndef NIGHTPORTER_H
#define NIGHTPORTER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------------
 * Version
 * ------------------------------------------------------------------------------------------------------------------ */

/* The version of this header. np_version() tells that of the library that was loaded. */
#define NP_VERSION "0.1.0"

/* Grows by one whenever a program compiled against an older header could misbehave. */
#define NP_ABI_VERSION 1

/* The library's version, such as "0.1.0". Static. */
const char *np_version(void);

/* The library's ABI number; a host compares it with NP_ABI_VERSION at its start. */
int np_abi_version(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------------------------------ */

/* What a function with an np_error result answers. Values are never reused. */
typedef enum np_error {
  NP_OK = 0,
  NP_ERROR_NULL = 1,          /* a pointer that must not be NULL was NULL */
  NP_ERROR_HANDLE = 2,        /* no controller has this handle: it was freed, or never given */
  NP_ERROR_UTF8 = 3,          /* a string is not UTF-8 */
  NP_ERROR_ARGUMENT = 4,      /* a value is outside what the function documents */
  NP_ERROR_STATE = 5,         /* the controller's machines refuse this now; np_state() says what they are in */
  NP_ERROR_NOTHING_PENDING = 6, /* np_expire_push() found no push in progress */
  NP_ERROR_SYSTEM = 7,        /* the operating system refused a resource (descriptor, thread, memory) */
  NP_ERROR_TIMEOUT = 8        /* a relay exchange did not end in its time */
} np_error;

/* The name of an error, such as "NP_ERROR_HANDLE"; "unknown" for a value outside the enum. Static. */
const char *np_error_name(int error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Controllers and the store
 * ------------------------------------------------------------------------------------------------------------------ */

/* One engine with one store, on one thread. */
typedef void *chat_ctrl;

/*
 * Opens the store at `path` (a prefix: the file is `<path>_chat.db`), creating or migrating it, and makes a controller.
 *
 * key       "": a plain file. x'…' with 64 hexadecimal digits between the quotes: a raw key of 32 bytes. Anything else: a
 *           passphrase, at most 4096 bytes, which must not begin with x'; Argon2id makes the key, in some 0.1 s and with 64 MB.
 *           With a key every page, the log and all else that is written is sealed (Sources/CSealedVFS/README.md).
 *           A key is never ignored, and a plain file never made in its place. `errorNotADatabase`: no key for a sealed store,
 *           another key than its own, a key for a plain store, a file that is no database, a newer format; `np.code` tells
 *           which, and `np.advice` what to do. A page that was changed or is missing: `errorSQL`, with `np.page`
 *           and `np.file`.
 * confirm   "yesUp": migrate forwards without asking. "error": answer `errorMigration` when a migration is needed.
 *           "yesUpDown", "console": as in SimpleX's interface; a store of a newer schema is always refused, since migrations here
 *           go forwards only. Any other text is answered with `invalidConfirmation`.
 * ctrl      receives the handle, only when the answer is {"type":"ok"}. The caller ends it with np_ctrl_free().
 *
 * The controller has the role `app`. Returns SimpleX's DBMigrationResult as JSON. Waits for the disk; no network.
 */
char *chat_migrate_init(const char *path, const char *key, const char *confirm, chat_ctrl *ctrl);

/*
 * As chat_migrate_init(), with two more choices.
 *
 * keep_key    not 0: the key stays in memory (guarded, not in swap or core dumps), so that the store can be opened again.
 *             0: it is wiped as soon as the store is open, and so is a passphrase with all that was made of it. What
 *             remains while the store is open is the file's own key, from which the given one cannot be found. `key` itself
 *             is the caller's to wipe. A suspension closes the store all the same, at once and whole; what would open it
 *             again then is refused until np_set_key() gave the key: chat_reopen_store() says "reopenDBStore: no key",
 *             "/_app activate" has the code `storeKeyForgotten`, and a push ends with the outcome "locked". "" is always
 *             kept.
 * background  0: role `app`. Not 0: role `extension`: it never migrates (INC-23) but answers `errorMigration`, its phase
 *             is that of a notification extension, and chat_start is `/_start main=off snd_files=off`. A passphrase
 *             is refused with the code `storeKeyNotRaw`, since its 64 MB do not fit an extension: the app calls
 *             np_derive_key() and keeps the answer where its extension finds it.
 */
char *chat_migrate_init_key(const char *path, const char *key, int keep_key, const char *confirm, int background,
                            chat_ctrl *ctrl);

/*
 * Closes the store's files. Afterwards the process holds no open file and no lock of the store, whatever was in progress:
 * what waits for another process or takes long is broken off, rolled back, and done when the chat goes on; a command that
 * this ends is answered with an error, "/_db encryption" too, after which the store is as it was. So for "/_app suspend 0",
 * for the end of a suspension's delay, and for np_ctrl_free(). np_state() says `quiescent: true`. Returns "" or a text that
 * says what failed: then the store is still open, and "holds" says so. Closing twice is harmless.
 */
char *chat_close_store(chat_ctrl ctrl);

/*
 * Opens the files again. Returns "" or a text that says what failed. Reopening an open store is harmless. While the chat is
 * suspended nothing is opened, so that the process stays quiescent: "/_app activate" opens the files then, and says why
 * if it cannot.
 */
char *chat_reopen_store(chat_ctrl ctrl);

/*
 * The raw key of the store at `path`, which was sealed with this passphrase: for the app to make once, and to give to its
 * extension. {"result": {"type": "storeKey", "storeKey": "x'…'"}}, or an error. It is the key of this file only; after
 * "/_db encryption" it is another one, also with the same passphrase. Takes 64 MB and some 0.1 s. The store may be
 * open meanwhile, and is not changed. np_string_free() overwrites the answer; free() would leave the key in memory.
 */
char *np_derive_key(const char *path, const char *passphrase);

/*
 * Gives the controller the key for the next opening of its store, with `keep_key` for each later one too: when the key
 * was not kept, or when the app has sealed the store with another one. Does not wait, and opens nothing. A key that is none, or
 * a passphrase in an extension: NP_ERROR_ARGUMENT.
 */
np_error np_set_key(chat_ctrl ctrl, const char *key, int keep_key);

/*
 * Gives the store another key, its first (`current_key` is ""), or none (`new_key` is ""): what "/_db encryption" does, with
 * its rules and its answer, {"result": {"type": "cmdOk"}} or an error. spec/protocol/commands.md has them. Here the keys
 * are read where they are, and copied into guarded memory only; the command's text makes copies of them, in ordinary
 * memory, that nobody wipes. Waits for the disk, and up to 3 s for whoever is about to open the store.
 */
char *np_change_key(chat_ctrl ctrl, const char *current_key, const char *new_key);

/* Ends a controller: closes its store, wakes its waiting callers, gives its thread and memory back. NULL is allowed. */
np_error np_ctrl_free(chat_ctrl ctrl);

/* Overwrites and frees a string that a function of this header gave. NULL is allowed. */
void np_string_free(char *string);

/* ---------------------------------------------------------------------------------------------------------------------
 * Commands and events
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Carries out one command and waits for its answer: {"result": …} or {"error": …}. spec/protocol/commands.md has the grammar.
 * No wait is without end: the relay and the notification server have 15 s for each answer, and a command is answered
 * with an error then. Most commands need none or one; `/_ntf register` asks both, one after the other, and `/_ntf conn messages`
 * the relay for each message.
 */
char *chat_send_cmd(chat_ctrl ctrl, const char *command);

/*
 * As chat_send_cmd(); a `retry` above 0 gives the notification server more time, in steps of 15 s (at most 4 steps), in `/_ntf
 * register`, `/_ntf verify` and `/_ntf check`.
 */
char *chat_send_cmd_retry(chat_ctrl ctrl, const char *command, int retry);

/* Waits for the next event, without limit; returns `{"error": …}` when the controller is freed meanwhile. */
char *chat_recv_msg(chat_ctrl ctrl);

/*
 * Waits at most `wait_us` microseconds for the next event; a number below 0 counts as 0. "" when none came; `{"error": …}`, each
 * time, when the controller was freed. An event is taken and returned in one step: one that arrives as the time ends is
 * either returned or still there for the next call. At most 4096 events wait, and at most 16 MB of them, in the role
 * `extension` 1 MB; the oldest give way, and an event `eventsLost` with their number takes their place.
 */
char *chat_recv_msg_wait(chat_ctrl ctrl, int wait_us);

/*
 * A descriptor that is readable while events wait, for poll(), epoll, libuv or asyncio. Owned by the controller: do not
 * read, write or close it; np_ctrl_free() closes it, so take it out of what waits for it before. After it became readable call
 * chat_recv_msg_wait(ctrl, 0) until that returns "" or an error. Returns -1 for a handle that is not valid.
 */
int np_event_fd(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * Pushes
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Takes in one push and answers once, before `deadline_ms` milliseconds have passed, what to show.
 *
 * payload_json  the whole payload as the platform gave it, {"aps": …, "notificationData": …}.
 * deadline_ms   1 to 30000.
 *
 * In the role `extension` the store is closed again before the answer is given, so that the caller can hand over to the platform
 * at once (INC-48). The answer:
 *
 *   { "outcome": "presented" | "nothingNew" | "yielded" | "verified" | "locked" | "offline" | "expired" | "unknown" |
 *                "quarantined" | "stopped" | "wrongSchema" | "failed" (final states of the machine `push`) | "busy",
 *     "reason": a sentence for a log, without any content,
 *     "work": "ran" | "partial" | "skipped": whether all, some or none of the mailboxes were looked into,
 *     "holders": [ role and instance of processes that have what was left alone ], left out when there are none,
 *     "notifications": [ { "identifier", "title", "body", "categoryIdentifier", "targetContentIdentifier", "userInfo", … } ],
 *     "withdrawals": [ identifiers of shown notifications to take away ],
 *     "badge": number, left out when the store could not be read,
 *     "recorded": false when it could not be put on record that these were shown, as while another process is frozen with the
 *                 store's lock: they come again with the next push, under the same identifiers; left out otherwise,
 *     "quiescent": true when no store file is open or locked any more,
 *     "trace": [ { "us": microseconds since the call, "machine", "event", "state" } ] }
 *
 * One push at a time for each controller: a second call during a first is answered with the outcome "busy", at once. A handle
 * that is not valid and a deadline out of range are answered with {"error": …} instead; a payload that is NULL or
 * no JSON with the outcome "unknown".
 *
 * An answer has at most 256 notifications, the newest, 1024 withdrawals, and the first and last 256 steps of the trace, so that
 * it fits an extension's memory though thousands of messages waited. What is left over comes with the next push, each once.
 */
char *np_receive_push(chat_ctrl ctrl, const char *payload_json, int deadline_ms);

/*
 * The platform's "time is up" for the push in progress; call it from another thread. The waiting np_receive_push() returns its
 * best answer at once, with outcome "expired" unless it had one already. NP_ERROR_NOTHING_PENDING when none is in progress.
 */
np_error np_expire_push(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * Phases and states
 * ------------------------------------------------------------------------------------------------------------------ */

/* What the platform tells a process about itself. */
typedef enum np_phase {
  NP_PHASE_ACTIVE = 0,            /* on screen, or about to be: the same as "/_app activate" */
  NP_PHASE_BACKGROUND = 1,        /* begins to suspend, with the platform's usual time (15 s) */
  NP_PHASE_SUSPENDED = 2,         /* suspends now: the same as "/_app suspend 0"; quiescent when the call returns */
  NP_PHASE_BACKGROUND_REFRESH = 3 /* woken in the background to fetch */
} np_phase;

/*
 * Tells the controller its phase. NP_ERROR_STATE when it does not get there: the machines refuse, for instance before "/_start" and
 * in the role `extension`, or the store does not open. The commands that the phases stand for say why.
 */
np_error np_set_phase(chat_ctrl ctrl, np_phase phase);

/*
 * Everything that can be known about a controller without changing it:
 *   { "role", "quiescent", "holds": [what keeps it from being quiescent], "operations": { "cycle", kind: how many are
 *     under way, … }, "machines": { name: state, … }, "instance", "unread", "eventsWaiting",
 *     "presence": { "role": of the other process, "state", "working": whether it holds its lock, "phase", "instance",
 *     "process" }, "channel": { "name", "sent", "received", "rejected", "repeated" },
 *     "claims": [what work of this process has claimed now: { "connection", "state", "epoch" }],
 *     "owners": [the last owners of the store's connections: { "role", "instance", "process", "connections", "self" }] }
 * The kinds of operations are "notifications", "receiving", "delivery", "sending" and "database", in the order in which a
 * suspension lets them go. "unread" and "owners" are left out while the store is closed, "channel" while nothing can be
 * heard. "quiescent" is true exactly when "holds" is empty. Never opens the store.
 *
 * Answers within some two seconds: an engine that has been at one thing for a second, such as waiting for another process's
 * transaction, is not waited for. Then "busy" says what it does: { "doing", "milliseconds" }; the rest is as it was when
 * that began, "quiescent" is false, and "unread", "owners", "channel" and the token's status are left out.
 */
char *np_state(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * A host's own transport
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Carries one request to the relay and its answer back; spec/protocol/relay.md has their form, which a transport need not know.
 *
 * answer         to be set to memory from malloc(); the library frees it.
 * answer_length  its length, at most 65536.
 * timeout_ms     after this time the answer is of no use.
 *
 * Returns NP_OK, NP_ERROR_TIMEOUT or NP_ERROR_SYSTEM. Called on a thread of the library's own, one call at a time for each
 * controller; it may block. Of this library it may call np_relay_ready() only.
 */
typedef np_error (*np_relay_exchange)(void *context, const uint8_t *request, size_t request_length, uint8_t **answer,
                                      size_t *answer_length, int timeout_ms);

typedef struct np_relay {
  size_t size;                    /* sizeof(np_relay) of the host's header */
  void *context;                  /* given to each call; the host's own */
  np_relay_exchange exchange;     /* must not be NULL */
  void (*release)(void *context); /* called once, on any thread, when the library needs the transport no more; may be NULL.
                                     After np_ctrl_free() has returned, if an exchange was still under way then. */
} np_relay;

/*
 * Makes the controller reach the relay through the host. Before "/_start" only, else NP_ERROR_STATE.
 * `relay` is copied; its context must live until `release` is called, which is never when the answer is not NP_OK.
 */
np_error np_set_relay(chat_ctrl ctrl, const np_relay *relay);

/* The host's transport has learned that something waits at the relay: the controller asks for it. Does not wait. */
np_error np_relay_ready(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * Validation: pure functions of their arguments
 * ------------------------------------------------------------------------------------------------------------------ */

/* JSON {"formattedText": […]}, or {} when the text has no markdown. */
char *chat_parse_markdown(const char *text);

/* JSON {"serverAddress": …, "parseError": ""} for a notification server's or relay's address. */
char *chat_parse_server(const char *address);

/* JSON {"uriInfo": {"scheme", "sanitized"}, "parseError": ""}. Known trackers are always removed;
 * `safe` 0 removes every parameter that is not known to be needed. */
char *chat_parse_uri(const char *uri, int safe);

/* The hash of a hidden profile's password with its salt, both base64url in and out. */
char *chat_password_hash(const char *password, const char *salt);

/* The nearest valid display name: at most 50 characters; "" when nothing is left of it. */
char *chat_valid_name(const char *name);

/* Length in bytes of the text as a JSON string, without its quotes; -1 for NULL or a text that is not UTF-8. */
int chat_json_length(const char *text);

/* ---------------------------------------------------------------------------------------------------------------------
 * The machines, pure: spec/machines/ has them, nightporter_machines.h their constants
 * ------------------------------------------------------------------------------------------------------------------ */

#define NP_STEP_MAX_EFFECTS 8

typedef enum np_step_kind {
  NP_STEP_MOVED = 0,   /* a transition was taken, to another state */
  NP_STEP_STAYED = 1,  /* a transition was taken that ends where it began; its effects count */
  NP_STEP_IGNORED = 2, /* a harmless repeat; `reason` names it */
  NP_STEP_REFUSED = 3  /* not allowed in this state; `reason` names why */
} np_step_kind;

typedef struct np_step {
  int32_t state;                         /* the state afterwards */
  int32_t kind;                          /* an np_step_kind */
  int32_t effect_count;                  /* how many of `effects` are set */
  int32_t effects[NP_STEP_MAX_EFFECTS];  /* in the order in which they are to be carried out */
  const char *reason;                    /* static; "" when a transition was taken */
} np_step;

/* How many machines there are; they are numbered from 0. */
int np_machine_count(void);

/* The number of the machine with this name, such as "token_status"; -1 when there is none. */
int np_machine_find(const char *name);

/* Names are static; NULL for a number out of range. Counts are -1 for a number out of range. */
const char *np_machine_name(int machine);
int np_machine_state_count(int machine);
int np_machine_event_count(int machine);
int np_machine_effect_count(int machine);
const char *np_machine_state_name(int machine, int state);
const char *np_machine_event_name(int machine, int event);
const char *np_machine_effect_name(int machine, int effect);

/* The state in which a machine begins; -1 for a number out of range. */
int np_machine_initial(int machine);

/* What `machine` does in `state` on `event`; changes nothing but `*step`. NP_ERROR_ARGUMENT for a number out of range. */
np_error np_machine_step(int machine, int state, int event, np_step *step);

/* ---------------------------------------------------------------------------------------------------------------------
 * Log
 * ------------------------------------------------------------------------------------------------------------------ */

/* level: 0 debug, 1 info, 2 warning, 3 error. `line` lives for the call only, and never holds a message, name or key. */
typedef void (*np_log_sink)(void *context, int level, const char *line);

/*
 * Where controllers made afterwards write their log; NULL for nowhere, which is how the library starts. The sink is called on any
 * thread and must not call back into the library.
 */
np_error np_set_log(np_log_sink sink, void *context, int minimum_level);

#ifdef __cplusplus
}
#endif

#endif /* NIGHTPORTER_H */
