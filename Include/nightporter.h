/*
 * nightporter.h: the whole C interface of Nightporter, the notification core for end-to-end encrypted apps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One library is linked into an app and into its notification extension; both open the same store. chat_* functions follow
 * SimpleX's published interface in name, argument order, ownership and JSON shape. np_* functions add what that
 * interface lacks: version, freeing, pushes with a deadline, phases, states, the machines themselves, and a host's own
 * transport.
 *
 * CONVENTIONS
 *
 * Strings    Every string in and out is UTF-8 and NUL-terminated. Invalid UTF-8 is answered with an error.
 * Ownership  A `char *` result belongs to the caller, who frees it with np_string_free() or free(). A `const char *`
 *            result is static: valid while the library is loaded, and never freed. Arguments are copied; none is kept.
 * NULL       NULL and garbage are answered with an error, never trusted. The functions under "Validation" treat them as
 *            empty text unless they say otherwise. A function with a `char *` result returns NULL only when memory is
 *            exhausted.
 * Handles    A chat_ctrl is an opaque handle, not an address. A handle that was freed or never issued is detected and
 *            answered with an error. With pointers of 64 bits it does not become valid again by chance. With pointers
 *            of 32 bits a freed handle is issued again when its place has had 15 further controllers; the places of
 *            freed controllers are used first.
 * Threads    Every function may be called from any thread at any time, unless its comment says otherwise. Calls on one
 *            controller are carried out one after the other on that controller's own thread; np_event_fd(),
 *            np_version() and np_machine_* do not wait for that thread, and np_expire_push() and np_expire_push_id()
 *            at most 0.1 s for each push. Callbacks run on the library's own threads, which come and go and have stacks of 512 KB; the log's sink and `release` of a transport may
 *            also run on the thread of a caller.
 * Forking    A controller does not survive fork(). Call exec() in the child, or create the controller after the fork.
 *            In the child every function immediately rejects the parent's handles as invalid, with NP_ERROR_HANDLE or
 *            its equivalent. What the parent releases is released even if a child that did not call exec() has a copy.
 *            But when the parent ends, such a child still holds its locks, and other processes consider the parent
 *            running until the child ends.
 * Errors     An np_error code, or a JSON object {"error": …} in SimpleX's taxonomy. No call ends the process.
 * Order      Shut down in this order: stop calling, chat_close_store() or "/_app suspend 0", np_ctrl_free(). A call that
 *            waits in chat_recv_msg() returns when its controller is freed.
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

/* The version of this header. np_version() returns the loaded library's. */
#define NP_VERSION "0.1.0"

/* Incremented whenever a program compiled against an older header could misbehave. */
#define NP_ABI_VERSION 3

/* The library's version, such as "0.1.0". Static. */
const char *np_version(void);

/* The library's ABI number. Hosts compare it with NP_ABI_VERSION when they start. */
int np_abi_version(void);

/* ---------------------------------------------------------------------------------------------------------------------
 * Errors
 * ------------------------------------------------------------------------------------------------------------------ */

/* The results of functions that return an np_error. Values are never reused. */
typedef enum np_error {
  NP_OK = 0,
  NP_ERROR_NULL = 1,          /* a pointer that must not be NULL was NULL */
  NP_ERROR_HANDLE = 2,        /* no controller has this handle: it was freed, or never issued */
  NP_ERROR_UTF8 = 3,          /* a string is not UTF-8 */
  NP_ERROR_ARGUMENT = 4,      /* a value is outside what the function documents */
  NP_ERROR_STATE = 5,         /* the controller's machines refuse this now; np_state() shows their states */
  NP_ERROR_NOTHING_PENDING = 6, /* np_expire_push() found no push or refresh in progress */
  NP_ERROR_SYSTEM = 7,        /* the operating system refused a resource (descriptor, thread, memory) */
  NP_ERROR_TIMEOUT = 8        /* a relay exchange exceeded its time */
} np_error;

/* The name of an error, such as "NP_ERROR_HANDLE"; "unknown" for a value outside the enum. Static. */
const char *np_error_name(int error);

/* ---------------------------------------------------------------------------------------------------------------------
 * Controllers and the store
 * ------------------------------------------------------------------------------------------------------------------ */

/* One engine with one store, on one thread. */
typedef void *chat_ctrl;

/* A host's role towards the store. */
typedef enum np_role {
  NP_ROLE_APP = 0,
  NP_ROLE_EXTENSION = 1, /* a notification extension: handles pushes, and reports the user's action on a notification
                            with np_notification_response(). Commands that send, edit, delete, react, mark as read or
                            change settings belong to the app, and are refused (spec/protocol/commands.md) */
  NP_ROLE_SHARE = 2      /* a share extension: sends, but does not receive. It works alongside an app and its
                            notification extension; no app asks it to release the store, so its sending is not cut off.
                            np_receive_push() is refused, as are commands that neither send nor read chats
                            (spec/protocol/commands.md). Otherwise like NP_ROLE_EXTENSION */
} np_role;

/*
 * Opens the store at `path` (a prefix: the file is `<path>_chat.db`), creating or migrating it, and creates a
 * controller. Symbolic links are followed once, here: every process that opens the store finds the same locks, through
 * whatever links. The other name of a hard link cannot be found from this one: open a store by only one of its names,
 * since the logs of two would damage it. Its key cannot be changed while it has two. spec/protocol/files.md lists the
 * files beside it, which to exclude from backups, and how to delete a store.
 *
 * key       "": a plain file. x'…' with 64 hexadecimal digits between the quotes: a raw key of 32 bytes. Anything else: a
 *           passphrase of at most 4096 bytes, which must not begin with x'. Argon2id derives the key from it, which
 *           takes about 0.1 s and 64 MB. The address of another engine's database is refused as a passphrase, with the
 *           code `storeKeyInvalid`: text that begins with host= or dbname=, or with postgres, postgresql, mysql,
 *           mariadb, sqlserver, mongodb, mongodb+srv, redis or sqlite and then ://.
 *           With a key, every page, the log and everything else written is sealed (Sources/CSealedVFS/README.md). A key
 *           is never ignored: no plain file is created instead.
 *           `errorNotADatabase`: no key for a sealed store, a wrong key, a key for a plain store, a file that is not a
 *           database, or a newer format; `np.code` says which, and `np.advice` what to do. `errorSQL`, with `np.page`
 *           and `np.file`: a page was changed or is missing.
 * confirm   "yesUp": migrate forwards without asking. "error": answer `errorMigration` if a migration is needed.
 *           "yesUpDown", "console": as in SimpleX's interface; but migrations here only go forwards, so a store with a
 *           newer schema is always refused. Any other text is answered with `invalidConfirmation`.
 * ctrl      receives the handle, only if the answer is {"type":"ok"}. Free it with np_ctrl_free().
 *
 * The controller has the role `app`, and `keep_key` is 0: see chat_migrate_init_key(). Returns SimpleX's
 * DBMigrationResult as JSON. Waits for the disk; no network.
 */
char *chat_migrate_init(const char *path, const char *key, const char *confirm, chat_ctrl *ctrl);

/*
 * Like chat_migrate_init(), with two more options.
 *
 * keep_key    not 0: the key stays in memory (guarded, not in swap or core dumps), so that the store can be reopened.
 *             0: the key is wiped as soon as the store is open, as are a passphrase and everything derived from it. While
 *             the store is open only the file's own key remains, from which the given key cannot be recovered. Wiping
 *             `key` itself is up to the caller. A suspension still closes the store, immediately and completely.
 *             Reopening it is then refused until np_set_key() has supplied the key: chat_reopen_store() returns
 *             "reopenDBStore: no key", "/_app activate" fails with the code `storeKeyForgotten`, and a push has the
 *             outcome "locked". "" is always kept.
 * background  an np_role; any other number is NP_ROLE_EXTENSION, as in SimpleX's interface. An extension never migrates
 *             (INC-23) but answers `errorMigration`; its phase is that of a notification extension, and the host starts it
 *             with `/_start main=off snd_files=off`. A passphrase is refused with the code `storeKeyNotRaw`, since deriving
 *             its key takes 64 MB, which do not fit an extension: the app calls np_derive_key() and stores the result
 *             where its extension finds it. An answer other than `ok` or `invalidConfirmation` has the member "notice":
 *             a notification as in np_receive_push() that says why messages cannot be shown and what to do. Show it for
 *             the push that started the extension, unless np_push_is_silent() says that the push is about what the user
 *             has muted or hidden. Its identifier is "np:notice"; the next push that can read the store and everything
 *             waiting withdraws it.
 *
 * The answer to NP_ROLE_APP has "notice" as well. Show it if the system launched the app for a message push; on screen,
 * show a page of your own. The library does not record that an app has shown it: remove "np:notice" when the store
 * opens.
 */
char *chat_migrate_init_key(const char *path, const char *key, int keep_key, const char *confirm, int background,
                            chat_ctrl *ctrl);

/*
 * Closes the store's files. Afterwards the process holds no open file and no lock of the store, whatever was in
 * progress: work that takes long or waits for another process is interrupted, rolled back, and done when the chat
 * continues. An interrupted command is answered with an error; so is "/_db encryption", which leaves the store as it
 * was. The same holds for "/_app suspend 0", for the end of a suspension's delay, and for np_ctrl_free(). np_state()
 * then reports `quiescent: true`. Returns "", or a text that says what failed: the store is then still open, and
 * "holds" says so. Closing twice is harmless.
 */
char *chat_close_store(chat_ctrl ctrl);

/*
 * Reopens the files. Returns "", or a text that says what failed. Reopening an open store is harmless. While the chat
 * is suspended nothing is opened, so the process stays quiescent: in that case "/_app activate" opens the files, and
 * reports why if it cannot.
 */
char *chat_reopen_store(chat_ctrl ctrl);

/*
 * Returns the raw key of the store at `path`, which was sealed with this passphrase. The app derives it once and passes
 * it to its extension. {"result": {"type": "storeKey", "storeKey": "x'…'"}}, or an error. The key is for this file
 * only; "/_db encryption" changes it, even for the same passphrase. Takes 64 MB and about 0.1 s. The store may be open,
 * and is not changed. np_string_free() overwrites the answer; free() would leave the key in memory.
 */
char *np_derive_key(const char *path, const char *passphrase);

/*
 * Sets the key for the next opening of the controller's store, and with `keep_key` for all later ones. Needed when the
 * key was not kept, or the app has sealed the store with another one. Does not wait, and opens nothing.
 * NP_ERROR_ARGUMENT for a malformed key, or for a passphrase in an extension.
 */
np_error np_set_key(chat_ctrl ctrl, const char *key, int keep_key);

/*
 * Chooses the cipher of the stores that this process seals from now on, also by np_change_key() and "/_db encryption":
 * changing a store's key, even to the same key, moves it from one cipher to the other. "AEGIS-256",
 * "XChaCha20-Poly1305", or "fastest", the default: AEGIS-256 where the linked libsodium has it (1.0.19) and the
 * processor has instructions for AES, else XChaCha20-Poly1305. A store that may have to be opened with an older
 * libsodium, for instance after a move to another device, needs XChaCha20-Poly1305; otherwise it is refused there with
 * "storeCipherUnavailable". NP_ERROR_ARGUMENT for another name, NP_ERROR_SYSTEM for a cipher that libsodium lacks;
 * nothing is changed then.
 */
np_error np_set_cipher(const char *name);

/*
 * Changes the store's key, seals a plain store (`current_key` is ""), or makes it plain (`new_key` is ""). Does what
 * "/_db encryption" does, with the same rules and answer, {"result": {"type": "cmdOk"}} or an error; see
 * spec/protocol/commands.md. Here the keys are read in place and copied only into guarded memory, whereas the text of
 * the command leaves copies in ordinary memory that are never wiped. Waits for the disk, and up to 3 s for another
 * process that is about to open the store.
 */
char *np_change_key(chat_ctrl ctrl, const char *current_key, const char *new_key);

/* Frees a controller: closes its store, wakes its waiting callers, releases its thread and memory. NULL is allowed. */
np_error np_ctrl_free(chat_ctrl ctrl);

/* Overwrites and frees a string that a function of this header returned. NULL is allowed. */
void np_string_free(char *string);

/* ---------------------------------------------------------------------------------------------------------------------
 * Commands and events
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Carries out one command and waits for its answer: {"result": …} or {"error": …}. spec/protocol/commands.md has the grammar.
 * Every wait is bounded: the relay and the notification server have 15 s for each answer, after which the command is
 * answered with an error. Most commands ask at most one of them; `/_ntf register` asks both, one after the other, and
 * `/_ntf conn messages` asks the relay for each message.
 */
char *chat_send_cmd(chat_ctrl ctrl, const char *command);

/*
 * Like chat_send_cmd(). A `retry` above 0 gives the notification server more time, in steps of 15 s (at most 4 steps), in
 * `/_ntf register`, `/_ntf verify` and `/_ntf check`.
 */
char *chat_send_cmd_retry(chat_ctrl ctrl, const char *command, int retry);

/* Waits for the next event, without limit; returns `{"error": …}` if the controller is freed. */
char *chat_recv_msg(chat_ctrl ctrl);

/*
 * Waits at most `wait_us` microseconds for the next event; a negative number counts as 0. Returns "" if none came, and
 * `{"error": …}` on every call once the controller is freed. An event is taken and returned in one step: one that
 * arrives as the time ends is either returned now or left for the next call. The queue holds at most 4096 events and
 * 16 MB, or 128 KB in the role `extension`; beyond that the oldest are dropped, and an event `eventsLost` with their
 * number replaces them.
 *
 * In the role `app` an event about something received comes again in the app's next process unless the host has taken
 * it: an app killed while reading events gets the rest after its next "/_start", each once, together with what
 * extensions have committed since. The same holds for changes that no command made: an address has accepted a request,
 * a contact can be written to, messages have disappeared, a call's item says something else. Events about a state that
 * can be queried come only once: the state of tokens, subscriptions, the process, and a message that the app sent. When
 * half of the queue is full, events that come again wait in the store until there is room, and `notifications`, which
 * say what to show at that moment, are left out. An event taken while the store is closed, or while another process
 * writes to it, is noted in the file `<path>_taken` until the store has it. This is done when the call returns, unless
 * the engine is busy with something else for longer than 100 ms, such as waiting for another process: an event may come
 * again if this process is killed at that point.
 *
 * Events also come for what the user has muted. Before ringing for `callInvitation`, check its `user.showNtfs` (false:
 * muted) and `contact.chatSettings.enableNtfs` ("none": muted). Notifications respect both by themselves.
 */
char *chat_recv_msg_wait(chat_ctrl ctrl, int wait_us);

/*
 * Returns a descriptor that is readable while events wait, for poll(), epoll, libuv or asyncio. The controller owns it: do
 * not read, write or close it. np_ctrl_free() closes it, so remove it from your event loop first. When it becomes
 * readable, call chat_recv_msg_wait(ctrl, 0) until that returns "" or an error. Returns -1 for an invalid handle.
 */
int np_event_fd(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * Pushes
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Handles one push within `deadline_ms` milliseconds, and returns what to show, once.
 *
 * payload_json  the whole payload as the platform delivered it, {"aps": …, "notificationData": …}.
 * deadline_ms   1 to 30000.
 *
 * In the role `extension`, and in an app that is not on screen, the store is closed again before the call returns, so
 * the caller can hand the answer to the platform immediately (INC-48). An app on screen keeps its files open; what it
 * receives is reported in events, and the answer has only what no process has shown yet. A wake push (`checkMessages`)
 * in an app that is not on screen is a round of np_background_refresh(). The answer:
 *
 *   { "outcome": "presented" | "nothingNew" | "yielded" | "verified" | "locked" | "offline" | "expired" | "unknown" |
 *                "quarantined" | "stopped" | "wrongSchema" | "failed" (final states of the machine `push`),
 *     "reason": a sentence for a log, without any content,
 *     "work": "ran" | "partial" | "skipped": whether all, some or none of the mailboxes were checked,
 *     "holders": [ role and instance of the processes that hold what was skipped ], left out when empty,
 *     "notifications": [ { "identifier", "title", "body", "categoryIdentifier", "targetContentIdentifier", "userInfo", … } ],
 *     "withdrawals": [ identifiers of shown notifications to remove, before "notifications" are shown ],
 *     "applicationPushes": [ { "pushId", "userId", "scope", "outcome", "envelope", "arrivedAt" } ], left out when
 *                          empty,
 *     "badge": number, left out when the store could not be read,
 *     "recorded": false when it could not be recorded that these were shown, for instance because a frozen process holds the
 *                 store's lock: they come again with the next push, under the same identifiers; left out otherwise,
 *     "quiescent": true when no store file is open or locked any longer; after "/_app doze on" none is locked,
 *     "nextRefreshMs": in the role `app`: when np_background_refresh() is due,
 *     "trace": [ { "us": microseconds since the call, "machine", "event", "state" } ] }
 *
 * "/_app doze on" lets the role `extension` keep the store's files open between its pushes, with no lock on them: the
 * process may be frozen as before, and the next push need not read the schema and compile its statements again. In
 * np_state() the machine chat_lifecycle is then in `dozing` instead of `suspended`; "holds" is empty in both. If
 * another process has since replaced a file or changed the schema, the store is reopened. It is closed by
 * chat_close_store(), "/_app suspend", NP_PHASE_SUSPENDED, np_set_key(), "/_app doze off" and np_ctrl_free(); a host
 * whose system asks for memory uses one of the first three. While dozing, a sealed store's own key stays in guarded
 * memory, as the given one does anyway: with `keep_key` 0 the store is always closed. Linux only; elsewhere the store
 * is closed.
 *
 * Call it from as many threads as there are pushes. Pushes run concurrently: while one waits, for the relay or for
 * another process, the others still show what they find, above all a call. They share the store: while it is closed to
 * the process, each push waits for it until its own deadline. Each push has its own answer, and its own deadline, which
 * begins with its call. A message is in the answer of only one of them. A mailbox that several pushes name is queried
 * for one of them; a request that is not answered within two seconds is given up, and repeated for another push that
 * waits. The store is closed after the last push, so the answers of the others have "quiescent": false. At most 64
 * pushes are in progress; one more immediately has the outcome "expired". An invalid handle or a deadline out of range
 * is answered with {"error": …} instead; a payload that is NULL or not JSON has the outcome "unknown".
 *
 * A notification without "sound" is shown silently: each chat makes one sound in 30 s. From 8 messages of one chat, or
 * 20 of all chats, one notification of the category NTF_CAT_MANY_EVENTS replaces them. Only messages in the same answer
 * count: seven, and seven more in the next answer, are fourteen notifications. A later summary with the same identifier
 * also covers the unread messages of the earlier one. When some of these are read or deleted, the summary comes again,
 * silently, with those that remain, except messages of chats that the user has since muted; if none remain, it is
 * withdrawn. From 8 undecided contact requests of a profile on, those already on screen included, one notification of
 * that category replaces them ("np:requests:<user>"), and their own are withdrawn. It comes again, silently, when some
 * of them are accepted, rejected or withdrawn, and is withdrawn with the last. All contact requests together make one
 * sound in 30 s, and so do notices ("np:notice", see below) until they are withdrawn. Sounds on screen count, and
 * follow the same rule. Only the answers to pushes and refreshes make summaries: in the event `notifications` of an app
 * on screen each message and request has its own notification, and an existing summary comes again with what is left of
 * it.
 *
 * A failure never makes a push silent. Each message that the push names but that did not arrive, because the outcome is
 * "offline", "expired" or "failed", or because another process has the connection, has a placeholder of the category
 * NTF_CAT_CONNECTION_EVENT. When the message arrives, with a later push or in another process, its notification has the
 * same identifier and replaces the placeholder; if none of it should be shown, or its mailbox is later found empty
 * because the relay has deleted it, the placeholder is withdrawn. If what the push names is unknown (mostly "locked",
 * "stopped", "wrongSchema" and "failed", "yielded" to a process that has the store and perhaps fetches nothing, and
 * "offline" after the mode was switched while the push was on its way), a single notice, with the identifier
 * "np:notice", says what is wrong and what to do. Whatever the outcome, it is withdrawn by the next push or round that
 * reads the store and leaves nothing aside, and by an app that comes to the screen. So a push that finds the notice on
 * screen looks for everything that waits, and shows it, as a round does. Muted and hidden mailboxes get neither a
 * placeholder nor a notice. Nor do those of chats that notify of mentions only, since it is not known whether there is
 * a mention. For a push that cannot be opened, its tags and the file `<path>_silent` decide. The role `extension` and
 * an app that is not on screen return placeholders and notices; an app on screen returns none. A wake push names
 * nothing, so it has no placeholder, and has a notice only if the store does not open and no notice is on screen yet:
 * the user need not know of a brief outage.
 *
 * "applicationPushes" are the host's own pushes: from a service of the host's, through a scope made with
 * "/_ntf scope subscribe", sealed for the host and signed by the service (spec/protocol/scopes.md). Dispatch on "scope"
 * and on the "command" of the "envelope", which is { "id", "version", "command", "expires", "sender", "url", "data" };
 * "outcome" says how to treat it: "current" | "expired" | "unknownVersion" | "unknownCommand". An answer with one has
 * the outcome "presented" even without a notification: what the user sees of it is up to the host. Each is in one
 * answer, or in one `applicationPush` event of an app; "/_ntf scope pushes" lists it until "/_ntf scope settle", for a
 * host that was killed in between. Only answers in the role `extension` have them.
 *
 * A call to an app on screen has the event `callInvitation`, and in `notifications` a "presentation" with nothing: the
 * app rings by itself. If it leaves the screen ("/_app phase background", "/_app suspend", np_set_phase()) while the
 * call rings, it gets `notifications` with the call's notification, and the "presentation" for it to ring: take the
 * waiting events before the system freezes the process. A host whose system rings on without it, such as with CallKit,
 * leaves that notification out. It has the call's identifier: it is withdrawn when the call is answered, and "Missed
 * call" takes its place otherwise.
 *
 * While an app is on screen, its event `notifications` also has withdrawals: of what the user reads or decides in the
 * app, of what is deleted, and of calls that are over. A chat read as a whole (`/_read chat`) also withdraws that its
 * contact connected. These events are not kept, so the next answer repeats the withdrawals, unless the same
 * notification has been shown again since. Apply events and answers in order, and the withdrawals of each first. The
 * event also comes with its "badge" alone: when that has changed and nothing else, for instance because a chat was muted
 * or a missed call read, and whenever the app comes to the screen.
 *
 * An answer has at most 64 application pushes, 256 notifications (the newest), 1024 withdrawals, and the first and last 256
 * steps of the trace, so that it fits an extension's memory even if thousands of messages were waiting. The rest comes
 * with the next push, each once.
 */
char *np_receive_push(chat_ctrl ctrl, const char *payload_json, int deadline_ms);

/*
 * Reports the platform's "time is up" for the oldest push or background refresh that has no answer yet; call it from
 * another thread. The waiting np_receive_push() or np_background_refresh() returns its best answer immediately, with
 * outcome "expired" unless it had one already. Other pushes continue. NP_ERROR_NOTHING_PENDING when no push or refresh is
 * in progress.
 */
np_error np_expire_push(chat_ctrl ctrl);

/*
 * Runs one round in the background, when the system has woken an app that is not on screen: activates the chat, checks
 * every mailbox, commits, decides what to show, and comes to rest. Returns within `deadline_ms` milliseconds (1 to
 * 30000), with an answer like np_receive_push()'s; what is committed is shown in it once, whichever process committed
 * it. Receiving ends 18 s after the last push or round that began in the meantime, and work then in progress ends 5 s
 * later. A new process needs no "/_start" first: that would count as the user looking at the app.
 *
 * "nextRefreshMs" says when the next round is due: 40 minutes after a complete one in the mode INSTANT, 20 in the mode
 * PERIODIC, 10 without a token; 10 after one that did not check every mailbox, such as one that was cut off ("expired")
 * or did not reach everything ("offline", "failed"), and after a push that was not about a new message. Ask the system
 * to wake the app at that time; np_state() has the remaining time when the app leaves the screen.
 *
 * In the role `extension` the answer is the error `roleNotAllowed`. Otherwise as np_receive_push(). When the system says
 * that time is up, np_expire_push_id(ctrl, "np:refresh") ends the refresh and nothing else; np_expire_push() ends it
 * only if it began before every push that has no answer yet.
 */
char *np_background_refresh(chat_ctrl ctrl, int deadline_ms);

/*
 * Like np_receive_push(), for a push that the caller can name later: `push_id` is any text that is not NULL, such as the
 * platform's identifier of the request. It is not in the answer, and has no meaning to the library; pushes may share
 * one. Do not use "np:refresh", which names the background refresh.
 */
char *np_receive_push_id(chat_ctrl ctrl, const char *push_id, const char *payload_json, int deadline_ms);

/*
 * Like np_expire_push(), for the push passed to np_receive_push_id() with this name; others are not affected. If
 * several pushes share the name, all end. "np:refresh" names the np_background_refresh() in progress.
 * NP_ERROR_NOTHING_PENDING if there is none.
 */
np_error np_expire_push_id(chat_ctrl ctrl, const char *push_id);

/*
 * For a push whose store did not open: 1 if the "notice" of chat_migrate_init_key() must not be shown for it, because
 * every mailbox that it is about is muted or hidden by the user, or its chat notifies of mentions only. 0 otherwise,
 * also if this is unknown: the server is an earlier version, or the file `<path>_silent` cannot be read. `path` is the
 * one given to chat_migrate_init_key(). Callable from any thread; reads only that file. np_receive_push() takes it into
 * account by itself.
 *
 * The library writes that file whenever the user mutes, hides or shows something, in any process that has the store
 * open. It is not sealed, and contains no key and no identifier: 16 bytes for each such mailbox, derived from the
 * token's key, among as many dummies as bring the total to 64 or another power of two. It must be readable before the
 * device is unlocked for the first time, when the store is not: on Darwin the library gives it NSFileProtectionNone. A
 * host that gives the store's folder another protection class must leave this file's as it is. Without the file such a
 * push has its notice.
 */
int np_push_is_silent(const char *path, const char *payload_json);

/*
 * Chooses the language of notifications, and replaces texts. Returns {"result": {"type": "cmdOk"}} or an error.
 *
 * ctrl  the controller whose notifications these texts are for. In the role `app` they are also stored, so that its
 *       extension has them without a call of its own, and the app after its next start; this needs the store open. In
 *       the role `extension` nothing is stored. NULL: for all controllers of this process that were given none,
 *       existing and future ones. Precedence: the controller's own, the process's, the stored ones, English.
 * json  { "language": "pt-BR", "strings": { "%@ is connected!": "%@ entrou!",
 *         "%d new messages": {"one": "%d mensagem nova", "other": "%d mensagens novas"} } }
 *       Both members may be left out; {} removes the texts. At most 65536 bytes. English, Arabic and Japanese ship with
 *       the library ("en", "ar", "ja", and tags such as "ar-EG"); for any other language, and for each phrase that
 *       "strings" leaves out, the shipped language is shown: English unless the tag names another one. "language" also
 *       decides which plural form (zero, one, two, few, many, other, as in CLDR) a count takes.
 *       spec/protocol/strings.md lists the phrases.
 *
 * A table with an unknown key, a missing or repeated placeholder, or an unknown plural form is refused as a whole: the
 * code is `stringsInvalid`, and `np.key` names the member. Does not wait for the network.
 */
char *np_set_strings(chat_ctrl ctrl, const char *json);

/* ---------------------------------------------------------------------------------------------------------------------
 * What the user does with notifications
 * ------------------------------------------------------------------------------------------------------------------ */

/*
 * Returns the notification categories with their actions, for a host to register with its platform. `ctrl` determines
 * the language, as in np_set_strings(); NULL: the process's texts.
 *
 *   { "categories": [ { "identifier": "NTF_CAT_…", "placeholder", "placeholderKey": what to show for a body that the platform
 *                       hides, "actions": [ { "identifier": "NTF_ACT_…", "action": the word in answers and events,
 *                       "title", "titleKey", "foreground": whether it opens the app, "authenticationRequired": whether the
 *                       device must be unlocked first, "destructive", "textInput": whether it asks for a text } ] } ] }
 *
 * A key is the English phrase. NTF_CAT_CHECK_MESSAGE is the category of a push that no extension replaced with its own
 * notification, NTF_CAT_MANY_EVENTS that of a summary of several notifications of one answer, as np_receive_push()
 * says.
 */
char *np_categories(chat_ctrl ctrl);

/*
 * Reports what the user did with a notification, in the app or its extension, in any phase.
 *
 * response_json  { "actionIdentifier": one of np_categories(); left out, or com.apple.UNNotificationDefaultActionIdentifier,
 *                  for a tap,
 *                  "identifier", "userInfo", "targetContentIdentifier": as they were in the notification,
 *                  "userText": the text of a reply }
 *
 * The response is stored before the call returns, and carried out once: immediately in an app that receives and sends; an
 * action that opens the app only while it is on screen. Otherwise it waits until an app may carry it out, even if the
 * process ends. The store is closed again if it was closed before. Afterwards the event `ntfResponse` reports the
 * outcome and where to navigate: { "responseId", "action", "outcome": "applied" | "stale", "reason", "userId",
 * "chatId", "contactRequestId": the request that was accepted, rejected or opened }. It comes again, with the same id,
 * when the app ends before the host has taken it. A contact created by accepting is reported beforehand by the event
 * `acceptingContactRequest`.
 *
 *   tap             makes the notification's profile active; if the notification leads to no chat, such as a summary of
 *                   several, only in a store that has the connection named in "userInfo"
 *   accept, reject  answers the contact request or the call; accepting makes the profile active. Accepting a contact
 *                   request may wait for the relay, and its profile becomes active before that: by the time of the
 *                   event the user may have chosen a profile other than `userId`
 *   mark read       marks the notification's message and those before it as read
 *   reply           sends the text, and marks as read
 *
 * Returns {"result": {"type": "notificationResponse", "responseId", "action", "outcome", "reason", "repeated"}}. The outcome is
 * "waiting" (for the app to carry it out), "applying" (begun), "applied", or "stale": what it is about no longer
 * exists, or belongs to another profile or another store; "reason" says which. With "refresh": true the app is
 * suspended, and the action does not open it: call np_background_refresh(), which carries it out, such as sending a
 * reply; otherwise it would wait until the user opens the app. Repeating a response, with the same
 * identifier, action, text and userInfo.agentConnId, changes nothing, and is answered with `repeated` and the first
 * outcome. "open" counts as another tap once another notification was shown under the identifier, such as a message
 * instead of its placeholder, and every time on a notice ("np:notice"). {"error": …} with the code `responseInvalid`
 * for anything else, and `responsesTooMany` when 1000 wait for the app. A store that cannot be opened now is an error
 * too: report the response again later.
 */
char *np_notification_response(chat_ctrl ctrl, const char *response_json);

/* ---------------------------------------------------------------------------------------------------------------------
 * Phases and states
 * ------------------------------------------------------------------------------------------------------------------ */

/* The phases that a platform puts a process into. */
typedef enum np_phase {
  NP_PHASE_ACTIVE = 0,            /* on screen, or about to be: the same as "/_app activate". In an extension, which
                                     sets it when it starts, this and "/_app phase active" are the same as "/_start" */
  NP_PHASE_BACKGROUND = 1,        /* has left the screen: the network comes to rest, the store stays open; see below */
  NP_PHASE_SUSPENDED = 2,         /* suspends now: the same as "/_app suspend 0"; quiescent when the call returns,
                                     unless the store's files could not be closed; see below */
  NP_PHASE_BACKGROUND_REFRESH = 3 /* woken in the background to fetch, for at most 25 s from the last push or round that
                                     begins. Nothing received counts as shown: np_background_refresh() does a whole
                                     round and returns what to show */
} np_phase;

/*
 * In the background the host still reads and writes the store: what is to be sent waits in it until the app is active again, or an
 * extension at work sends it. A command that only the network can answer fails with the code `networkStopped`. Pushes
 * go to the extension. NP_PHASE_SUSPENDED, or "/_app suspend", closes the store as well; without either the app begins
 * to suspend by itself 10 s after it was set to NP_PHASE_BACKGROUND, and is suspended within the platform's usual time
 * (15 s). The event `chatSuspended` reports it.
 *
 * Set NP_PHASE_SUSPENDED, or wait for that event, before the system may freeze the process: in the background the
 * store's file is open and locked for reading, which some systems punish. It does not hold up other processes.
 *
 * A suspension succeeds, and its event comes, even if the system refuses to close the store's files: chat_lifecycle is
 * then in `suspendedStillOpen`, and the log has the reason. So before the process may be frozen, check `quiescent` in
 * np_state(), or call chat_close_store(), which tries again and says what failed.
 *
 * An app that is not running (not started, stopped, or suspended), one in NP_PHASE_BACKGROUND_REFRESH, and an extension
 * have no use for a store without a network: there NP_PHASE_BACKGROUND suspends, within 15 s.
 */

/*
 * Sets the controller's phase. NP_ERROR_STATE if the phase is not reached: the machines refuse it, for instance before
 * "/_start" in an app, or in an extension while the user has stopped the chat in the app; or the store does not open;
 * or another process is the app. The commands that the phases stand for report why, as does the log (np_set_log()): the
 * answer with its error, such as `ownedElsewhere` with the holder.
 */
np_error np_set_phase(chat_ctrl ctrl, np_phase phase);

/*
 * Returns everything that can be known about a controller without changing it:
 *   { "role", "quiescent", "holds": [what keeps it from being quiescent], "operations": { "cycle", kind: how many are
 *     in progress, … }, "blocked": { "network", "database": whether such work may not begin }, "machines": { name:
 *     state, … }, "instance", "unread", "eventsWaiting",
 *     "notifications": the state of pushes: { "token": { "status", "mode", "reason", "reasonTs" }, "subscriptions": {
 *     state: how many mailboxes are in it, … }, "repairs": subscriptions that had to be recreated, [{ "reason": an
 *     event of the machine subscription, "count": how many mailboxes last for this reason, "ts": when this was last
 *     noticed }, …] },
 *     "relay": the file of the relay that the store names; a host's own transport replaces it,
 *     "pushesWaiting": how many pushes have no answer yet, beside the one that came first,
 *     "presence": { "role": of the other process, "state", "working": whether it holds its lock, "phase", "instance",
 *     "process" }, "channel": { "name", "sent", "received", "rejected", "repeated" },
 *     "nextRefreshMs": in the role `app`: when np_background_refresh() is due,
 *     "claims": [what this process currently claims: { "connection", "state", "epoch" }],
 *     "owners": [the last owners of the store's connections: { "role", "instance", "process", "connections", "self" }] }
 * The kinds of operations are "notifications", "receiving", "delivery", "sending" and "database", in the order in which a
 * suspension drains them. "unread", "relay", "notifications" and "owners" are left out while the store is closed,
 * "channel" while there is none. "quiescent" is true exactly when "holds" is empty. Never opens the store. It is closed
 * in the states `closed` and `suspended` of chat_lifecycle; in `dozing` its files are open but not locked.
 *
 * Returns within about two seconds. It does not wait for an engine that has been busy with one thing for a second, such
 * as waiting for another process's transaction. "busy" then says with what: { "doing", "milliseconds" }. "quiescent" is
 * false, "eventsWaiting", "pushesWaiting" and "working" in "presence" are current, and the rest is as it was when that
 * began. Left out are "unread", "relay", "notifications", "channel", "owners", "nextRefreshMs", the machine
 * token_status, and "phase", "instance" and "process" in "presence".
 */
char *np_state(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * A host's own transport
 * ------------------------------------------------------------------------------------------------------------------ */

/* The most calls of one controller's transport at the same time. */
#define NP_RELAY_CALLS 71

/*
 * Carries one request to the relay and its answer back. spec/protocol/relay.md describes their format, which a
 * transport need not know.
 *
 * answer         set this to memory from malloc(); the library frees it.
 * answer_length  its length, at most 65536.
 * timeout_ms     after this time the answer is useless.
 *
 * Returns NP_OK, NP_ERROR_TIMEOUT or NP_ERROR_SYSTEM. Called on the library's threads, each of which is created when
 * first needed and ends when the network comes to rest; it may block. One controller's calls run concurrently: one that
 * sends, one that receives, and one for each mailbox that a push in progress checks or a command waits for. So no push,
 * least of all a call's, waits for another push's hanging request, and a hanging request for messages, or for the
 * notification server's answers, delays no outgoing message. When a receiving call has not returned within a second,
 * the next is made alongside it, up to six, so that a hanging mailbox does not keep others from being checked.
 * NP_RELAY_CALLS is the total limit, including calls from before a suspension that have not returned: one for each
 * possible push, in addition to the seven without one. Calls beyond it wait. A transport that makes one call wait for
 * another defeats all this. The only function of this library that it may call is np_relay_ready().
 */
typedef np_error (*np_relay_exchange)(void *context, const uint8_t *request, size_t request_length, uint8_t **answer,
                                      size_t *answer_length, int timeout_ms);

typedef struct np_relay {
  size_t size;                    /* sizeof(np_relay) of the host's header */
  void *context;                  /* passed to each call; the host's own */
  np_relay_exchange exchange;     /* must not be NULL */
  void (*release)(void *context); /* called once, on any thread, when the library no longer needs the transport; may be
                                     NULL. If an exchange is in progress when np_ctrl_free() returns, called later. */
  void (*suspend)(void *context); /* the network comes to rest, at the end of a push for instance: end the exchanges in
                                     progress with NP_ERROR_SYSTEM, close every connection, and then return, without
                                     waiting for the network. Called on the controller's thread. May be NULL: then an
                                     exchange in progress is abandoned, and closing connections is up to the host */
  void (*resume)(void *context);  /* exchanges follow. Called before the first one, and after each `suspend` before the
                                     next; until then return NP_ERROR_SYSTEM immediately. May be NULL */
} np_relay;

/* A structure without `suspend` and `resume` is accepted as well: its `size` says so. */

/*
 * Makes the controller reach the relay through the host. Only before "/_start", otherwise NP_ERROR_STATE.
 * `relay` is copied; its context must live until `release` is called, which never happens if the result is not NP_OK.
 */
np_error np_set_relay(chat_ctrl ctrl, const np_relay *relay);

/* Call this when the transport learns that messages wait at the relay: the controller fetches them. Does not wait. */
np_error np_relay_ready(chat_ctrl ctrl);

/* ---------------------------------------------------------------------------------------------------------------------
 * Validation: pure functions of their arguments
 * ------------------------------------------------------------------------------------------------------------------ */

/* JSON {"formattedText": […]}, or {} when the text has no markdown. */
char *chat_parse_markdown(const char *text);

/* JSON {"serverAddress": …, "parseError": ""} for the address of a notification server, ntf:…, or of a relay in a file,
   embedded:<path> or an absolute path. Only {"parseError": …} for anything else, also for the address of a relay on the
   network, https://HOST#FINGERPRINT, which np_net_relay() checks. */
char *chat_parse_server(const char *address);

/* JSON {"uriInfo": {"scheme", "sanitized"}, "parseError": ""}. Known trackers are always removed;
 * `safe` 0 removes every parameter that is not known to be needed. */
char *chat_parse_uri(const char *uri, int safe);

/* The hash of a hidden profile's password with its salt, both base64url in and out. */
char *chat_password_hash(const char *password, const char *salt);

/* The nearest valid display name, at most 50 characters; "" if no valid character is left. */
char *chat_valid_name(const char *name);

/* The text's length in bytes as a JSON string, without the quotes; -1 for NULL or a text that is not UTF-8. */
int chat_json_length(const char *text);

/* ---------------------------------------------------------------------------------------------------------------------
 * The machines, pure: spec/machines/ has them, nightporter_machines.h their constants
 * ------------------------------------------------------------------------------------------------------------------ */

#define NP_STEP_MAX_EFFECTS 8

typedef enum np_step_kind {
  NP_STEP_MOVED = 0,   /* a transition was taken, to another state */
  NP_STEP_STAYED = 1,  /* a transition was taken that ends where it began; its effects still count */
  NP_STEP_IGNORED = 2, /* a harmless repeat; `reason` names it */
  NP_STEP_REFUSED = 3  /* not allowed in this state; `reason` names why */
} np_step_kind;

typedef struct np_step {
  int32_t state;                         /* the state afterwards */
  int32_t kind;                          /* an np_step_kind */
  int32_t effect_count;                  /* how many of `effects` are set */
  int32_t effects[NP_STEP_MAX_EFFECTS];  /* in the order in which to carry them out */
  const char *reason;                    /* static; "" when a transition was taken */
} np_step;

/* How many machines there are; they are numbered from 0. */
int np_machine_count(void);

/* The number of the machine with this name, such as "token_status"; -1 if there is none. */
int np_machine_find(const char *name);

/* Names are static; NULL for a number out of range. Counts are -1 for a number out of range. */
const char *np_machine_name(int machine);
int np_machine_state_count(int machine);
int np_machine_event_count(int machine);
int np_machine_effect_count(int machine);
const char *np_machine_state_name(int machine, int state);
const char *np_machine_event_name(int machine, int event);
const char *np_machine_effect_name(int machine, int effect);

/* A machine's initial state; -1 for a number out of range. */
int np_machine_initial(int machine);

/* Computes what `machine` does in `state` on `event`; changes nothing but `*step`. NP_ERROR_ARGUMENT for a number out
   of range. */
np_error np_machine_step(int machine, int state, int event, np_step *step);

/* ---------------------------------------------------------------------------------------------------------------------
 * Log
 * ------------------------------------------------------------------------------------------------------------------ */

/* level: 0 debug, 1 info, 2 warning, 3 error. `line` is valid during the call only, and never contains a message, name or
   key. */
typedef void (*np_log_sink)(void *context, int level, const char *line);

/*
 * Sets the sink for the logs of controllers created afterwards; NULL, the default, discards them. The sink is called on
 * any thread and must not call back into the library.
 */
np_error np_set_log(np_log_sink sink, void *context, int minimum_level);

#ifdef __cplusplus
}
#endif

#endif /* NIGHTPORTER_H */
