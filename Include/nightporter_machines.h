/* Generated from spec/machines by porter-machines. Do not change by hand. */

/*
 * The codes of the machines, for np_machine_step and its relatives. A machine's codes are stable within an ABI
 * number; look machines up by name, since a new one may change the numbers of those after it.
 */

#ifndef NIGHTPORTER_MACHINES_H
#define NIGHTPORTER_MACHINES_H

/* The machines, by name. */
enum np_machine {
  NP_MACHINE_APP_PHASE = 0,
  NP_MACHINE_APPLICATION_PUSH = 1,
  NP_MACHINE_BACKGROUND_REFRESH = 2,
  NP_MACHINE_CALL = 3,
  NP_MACHINE_CHAT_LIFECYCLE = 4,
  NP_MACHINE_CONNECTION = 5,
  NP_MACHINE_CONTACT_REQUEST = 6,
  NP_MACHINE_EXTENSION_PHASE = 7,
  NP_MACHINE_LEDGER_ENTRY = 8,
  NP_MACHINE_MAILBOX_FETCH = 9,
  NP_MACHINE_MESSAGE_FETCH = 10,
  NP_MACHINE_NOTIFICATION_RESPONSE = 11,
  NP_MACHINE_OPERATIONS = 12,
  NP_MACHINE_OWNERSHIP = 13,
  NP_MACHINE_PRESENCE = 14,
  NP_MACHINE_PUSH = 15,
  NP_MACHINE_PUSH_ANSWER = 16,
  NP_MACHINE_ROUND = 17,
  NP_MACHINE_SERVER_TOKEN = 18,
  NP_MACHINE_SUBSCRIPTION = 19,
  NP_MACHINE_TOKEN_STATUS = 20,
  NP_MACHINE_VALUE_RESERVATION = 21
};

/* The phase of the app's process, as other processes see it. It is published together with the instance that wrote it,
and is valid only while that process is running (INC-12, INC-13, INC-17). A new process starts as suspended, since it
holds nothing yet; it starts as stopped if the phase file says so, since the user's decision to stop outlives the
process. An app that leaves the foreground stops in two stages: in the background it needs no network, suspended no
store. In both it has released the lock, so extensions act. Only a suspended process may be frozen: in the background
the store's file is open (INC-01). Activation ends within the step that began it: no other event arrives in between. */
enum np_app_phase_state {
  /* In the foreground; receives by itself. */
  NP_APP_PHASE_STATE_ACTIVE = 0,
  /* Coming to the foreground: the store opens. Counts as running, so that extensions yield. An extension at work is
  asked to release what it holds, but the app does not wait for it: the store arbitrates (INC-07, INC-22). */
  NP_APP_PHASE_STATE_ACTIVATING = 1,
  /* At work in the background for a bounded time: a system grants 30 s, 5 s of which are for coming to rest. What is
  committed here has not been seen; it waits in the ledger until it is composed, as in an extension. */
  NP_APP_PHASE_STATE_BG_REFRESH = 2,
  /* Finishes work in progress within a delay, which the operations enforce (INC-01). */
  NP_APP_PHASE_STATE_SUSPENDING = 3,
  /* Holds nothing: the system may freeze or end the process at any moment (INC-01). */
  NP_APP_PHASE_STATE_SUSPENDED = 4,
  /* The user stopped the chat. Neither process receives anything until it is started again. */
  NP_APP_PHASE_STATE_STOPPED = 5,
  /* Not on screen. The network comes to rest and stays at rest; the store is read and written until a suspension
  follows. */
  NP_APP_PHASE_STATE_BACKGROUND = 6
};

enum np_app_phase_event {
  /* The app comes to the foreground, or is started; no extension is at work. */
  NP_APP_PHASE_EVENT_FOREGROUND_EXTENSION_INACTIVE = 0,
  /* The app comes to the foreground, or is started, while an extension is at work. */
  NP_APP_PHASE_EVENT_FOREGROUND_EXTENSION_ACTIVE = 1,
  /* The chat is active: the store is open, operations may begin. */
  NP_APP_PHASE_EVENT_ACTIVATED = 2,
  /* The chat could not be activated. */
  NP_APP_PHASE_EVENT_ACTIVATE_FAILED = 3,
  /* The app leaves the foreground, and no call keeps it there: the network must come to rest. */
  NP_APP_PHASE_EVENT_BACKGROUND = 4,
  /* The system grants background time, for a task or a silent push. */
  NP_APP_PHASE_EVENT_REFRESH_BEGAN = 5,
  /* The background time is over, and the host has not reported its end. */
  NP_APP_PHASE_EVENT_REFRESH_OVER = 6,
  /* Everything must be released now (suspend with a delay of 0). */
  NP_APP_PHASE_EVENT_SUSPEND_NOW = 7,
  /* The chat is suspended: no store file is open. */
  NP_APP_PHASE_EVENT_CHAT_SUSPENDED = 8,
  /* The user stops the chat, or the store is about to be exported, imported or deleted. */
  NP_APP_PHASE_EVENT_STOP = 9,
  /* The user starts the stopped chat again. */
  NP_APP_PHASE_EVENT_START_CONFIRMED = 10,
  /* Everything must be released within a delay: the host requests it, or a round has ended. */
  NP_APP_PHASE_EVENT_SUSPEND = 11,
  /* The app has been in the background for 10 s, and the host has not reported what follows. */
  NP_APP_PHASE_EVENT_BACKGROUND_OVER = 12
};

enum np_app_phase_effect {
  /* Write the phase and the writing instance where other processes see them; the phase file's lock is held. */
  NP_APP_PHASE_EFFECT_PUBLISH_WORKING = 0,
  /* Write the phase, and release the phase file's lock. */
  NP_APP_PHASE_EFFECT_PUBLISH_RESTING = 1,
  /* Ask the extension to release what it holds, without waiting for it: each claim of this app is a new epoch, and the
  store refuses what the extension still tries to commit (INC-04, INC-22). */
  NP_APP_PHASE_EFFECT_ASK_EXTENSION_TO_YIELD = 2,
  /* Raise start or activate at the chat lifecycle. Answer: activated or activateFailed. */
  NP_APP_PHASE_EFFECT_ACTIVATE_CHAT = 3,
  /* Subscribe, send, fetch, and ask the notification server what waits. If the host said not to, only continue the work
  found in the store, and check the mailboxes later. */
  NP_APP_PHASE_EFFECT_TAKE_UP_WORK = 4,
  /* Raise suspend at the chat lifecycle, with the delay given by the host; after background time, with 5 s. */
  NP_APP_PHASE_EFFECT_SUSPEND_CHAT = 5,
  /* Raise suspendNow at the chat lifecycle. */
  NP_APP_PHASE_EFFECT_SUSPEND_CHAT_NOW = 6,
  /* Raise stop at the chat lifecycle. */
  NP_APP_PHASE_EFFECT_STOP_CHAT = 7,
  /* Raise background at the chat lifecycle. */
  NP_APP_PHASE_EFFECT_STOP_NETWORK = 8,
  /* Raise backgroundOver 10 s after the host reports background, leaving 5 s of a platform's usual 15 s for coming to
  rest. */
  NP_APP_PHASE_EFFECT_ARM_BACKGROUND = 9,
  /* Cancel backgroundOver. */
  NP_APP_PHASE_EFFECT_CANCEL_BACKGROUND = 10,
  /* Report the calls that ring in the app as notifications: off screen its host shows none. */
  NP_APP_PHASE_EFFECT_SHOW_CALLS = 11,
  /* Starts the timer `refresh`: raise `refreshOver` after 25000 ms. */
  NP_APP_PHASE_EFFECT_START_REFRESH = 12,
  /* Takes the timer `refresh` back; harmless if it does not run. */
  NP_APP_PHASE_EFFECT_CANCEL_REFRESH = 13
};

enum np_app_phase_reason {
  NP_APP_PHASE_REASON_ALREADY_ACTIVE = 0,
  NP_APP_PHASE_REASON_APP_IS_ACTIVE = 1,
  NP_APP_PHASE_REASON_ALREADY_ACTIVATING = 2,
  NP_APP_PHASE_REASON_ACTIVATING = 3,
  NP_APP_PHASE_REASON_ALREADY_REFRESHING = 4,
  NP_APP_PHASE_REASON_ALREADY_SUSPENDING = 5,
  NP_APP_PHASE_REASON_ALREADY_SUSPENDED = 6,
  NP_APP_PHASE_REASON_CHAT_STOPPED = 7,
  NP_APP_PHASE_REASON_ALREADY_IN_BACKGROUND = 8
};

/* One push of the host's own, received through a scope: sealed by the host's service, stored with the message that
brought it, and handed to the host once: in the answer to a push by an extension, or as an event by an app. It stays
readable until the host settles it, so a host that is killed after receiving it finds it again. Envelopes that do not
open never get here: they are quarantined. */
enum np_application_push_state {
  /* No envelope with this name has arrived. */
  NP_APPLICATION_PUSH_STATE_NONE = 0,
  /* It is stored, and has not been handed over. */
  NP_APPLICATION_PUSH_STATE_WAITING = 1,
  /* An app has emitted its event. Until the host takes the event, the app's next process emits it again. */
  NP_APPLICATION_PUSH_STATE_OFFERED = 2,
  /* It was part of an answer. */
  NP_APPLICATION_PUSH_STATE_HANDED = 3,
  /* The host is done with it. */
  NP_APPLICATION_PUSH_STATE_SETTLED = 4
};

enum np_application_push_event {
  /* It opened, it is signed by the service, and its name is new in this scope. */
  NP_APPLICATION_PUSH_EVENT_ARRIVE = 0,
  /* An envelope with this name arrived again. */
  NP_APPLICATION_PUSH_EVENT_REPEAT = 1,
  /* An extension puts it into the answer to a push. */
  NP_APPLICATION_PUSH_EVENT_HAND = 2,
  /* An app emits its event. */
  NP_APPLICATION_PUSH_EVENT_OFFER = 3,
  /* The host has processed it. */
  NP_APPLICATION_PUSH_EVENT_SETTLE = 4
};

enum np_application_push_effect {
  /* Store the envelope with its name. */
  NP_APPLICATION_PUSH_EFFECT_STORE_ENVELOPE = 0,
  /* Erase its content. Keep its name for as long as a repeat would be valid. */
  NP_APPLICATION_PUSH_EFFECT_ERASE_ENVELOPE = 1,
  /* Emit applicationPush. */
  NP_APPLICATION_PUSH_EFFECT_EMIT_APPLICATION_PUSH = 2
};

enum np_application_push_reason {
  NP_APPLICATION_PUSH_REASON_NO_ENVELOPE = 0,
  NP_APPLICATION_PUSH_REASON_ALREADY_STORED = 1,
  NP_APPLICATION_PUSH_REASON_ALREADY_OFFERED = 2,
  NP_APPLICATION_PUSH_REASON_ALREADY_HANDED = 3,
  NP_APPLICATION_PUSH_REASON_ENDED = 4
};

/* The rounds of an app that is not on screen: the system wakes it for a task or a push, it checks every mailbox, and
notifies the user of what arrived. The times are those of SimpleX's app. A round receives for at most 18 s, counted from
the latest push, and work then in progress has 5 s to finish, so both fit the 30 s that a system grants. The next round
is due after 40 min in the mode instant, 20 min in the mode periodic and 10 min without a token; after a round that was
cut off or did not reach everything, after 10 min, the minimum. A round requested earlier is carried out anyway: the
system has its reasons, and looking twice is harmless. An extension at work is no reason to wait either, since claims
keep the two apart. SimpleX's app ends a round when nothing has come for 6 s, because it subscribes and cannot know
whether more is on its way. A round here asks each mailbox until it reports that it is empty, and ends with the last
one: there is nothing left to wait for. */
enum np_background_refresh_state {
  /* No round is due: the app is on screen, stopped, or newly started. */
  NP_BACKGROUND_REFRESH_STATE_IDLE = 0,
  /* The app left the screen, and has done no round since. */
  NP_BACKGROUND_REFRESH_STATE_SCHEDULED = 1,
  /* A round is in progress. */
  NP_BACKGROUND_REFRESH_STATE_RUNNING = 2,
  /* The round is over; the app comes to rest. */
  NP_BACKGROUND_REFRESH_STATE_SUSPENDING = 3,
  /* The last round checked everything. The next one is planned. */
  NP_BACKGROUND_REFRESH_STATE_DONE = 4,
  /* The last round did not check everything. The next one is planned, and comes soon. */
  NP_BACKGROUND_REFRESH_STATE_EXPIRED = 5
};

enum np_background_refresh_event {
  /* The app has left the screen and released its phase file's lock. */
  NP_BACKGROUND_REFRESH_EVENT_LEFT = 0,
  /* The app is in the foreground. */
  NP_BACKGROUND_REFRESH_EVENT_ENTERED = 1,
  /* The user stopped the chat. */
  NP_BACKGROUND_REFRESH_EVENT_STOPPED = 2,
  /* An app that is not on screen must carry out a round: np_background_refresh, or a push. */
  NP_BACKGROUND_REFRESH_EVENT_BEGIN = 3,
  /* The receiving time is over. */
  NP_BACKGROUND_REFRESH_EVENT_RECEIVING_OVER = 4,
  /* The round has checked what it could reach, and what is to be shown is recorded as shown. */
  NP_BACKGROUND_REFRESH_EVENT_ENDED = 5,
  /* Everything is closed and unlocked. Every mailbox was checked. */
  NP_BACKGROUND_REFRESH_EVENT_RELEASED_DONE = 6,
  /* Everything is closed and unlocked. Not everything was checked: time was up, or the relay or the store was out of
  reach. */
  NP_BACKGROUND_REFRESH_EVENT_RELEASED_CUT = 7
};

enum np_background_refresh_effect {
  /* Compute when the next round is due: after the mode's interval, or after the minimum interval if there was no round
  yet or the last one is at least the mode's interval ago. */
  NP_BACKGROUND_REFRESH_EFFECT_PLAN_NEXT = 0,
  /* Plan the next round after the minimum interval. */
  NP_BACKGROUND_REFRESH_EFFECT_PLAN_SOON = 1,
  /* Plan no round: an app on screen receives by itself, and a stopped one does not receive. */
  NP_BACKGROUND_REFRESH_EFFECT_CANCEL_PLAN = 2,
  /* Raise expire at the round's push. */
  NP_BACKGROUND_REFRESH_EFFECT_END_RECEIVING = 3,
  /* Suspend the app, with the remaining time for work in progress. Answer: released. */
  NP_BACKGROUND_REFRESH_EFFECT_RELEASE_APP = 4,
  /* Allow the push to be answered. */
  NP_BACKGROUND_REFRESH_EFFECT_REPORT_REFRESHED = 5,
  /* Starts the timer `receiving`: raise `receivingOver` after 18000 ms. */
  NP_BACKGROUND_REFRESH_EFFECT_START_RECEIVING = 6,
  /* Takes the timer `receiving` back; harmless if it does not run. */
  NP_BACKGROUND_REFRESH_EFFECT_CANCEL_RECEIVING = 7
};

enum np_background_refresh_reason {
  NP_BACKGROUND_REFRESH_REASON_NOTHING_PLANNED = 0,
  NP_BACKGROUND_REFRESH_REASON_STALE = 1,
  NP_BACKGROUND_REFRESH_REASON_ALREADY_PLANNED = 2,
  NP_BACKGROUND_REFRESH_REASON_ALREADY_SUSPENDING = 3
};

/* One call with a contact, as seen by one side; signalling only. Each step is part of the transaction that sends or
receives its message, so a call is the same after a kill, and for app and extension. A contact has one call at a time:
the next invitation replaces it. An invitation lives for three minutes from when the relay received it; each side counts
by its time since boot. A call that has ended does not ring, and its notification is withdrawn. */
enum np_call_state {
  /* Not stored. */
  NP_CALL_STATE_IDLE = 0,
  /* Our user waits for the contact. */
  NP_CALL_STATE_INVITED = 1,
  /* The contact calls; the notification may be shown. */
  NP_CALL_STATE_RINGING = 2,
  /* Our user has accepted from the notification; the host is about to offer a session. */
  NP_CALL_STATE_ACCEPTED = 3,
  /* Our offer was sent; the contact's host must answer it. */
  NP_CALL_STATE_OFFER_SENT = 4,
  /* The contact's offer was received; our host must answer it. */
  NP_CALL_STATE_OFFER_RECEIVED = 5,
  /* Each side knows the other's session. */
  NP_CALL_STATE_NEGOTIATED = 6,
  /* The session is connected. */
  NP_CALL_STATE_CONNECTED = 7,
  /* There was a session, or the hosts were agreeing on one. */
  NP_CALL_STATE_ENDED = 8,
  /* The call was never accepted. */
  NP_CALL_STATE_MISSED = 9,
  /* Our user rejected it. */
  NP_CALL_STATE_REJECTED = 10,
  /* A session could not be established. */
  NP_CALL_STATE_FAILED = 11
};

enum np_call_event {
  /* Our user calls. */
  NP_CALL_EVENT_INVITE = 0,
  /* The contact calls, and the invitation is still valid. */
  NP_CALL_EVENT_PEER_INVITED = 1,
  /* The contact called, but the invitation had expired when it arrived. */
  NP_CALL_EVENT_PEER_LATE = 2,
  /* Our user accepts from the notification; the host makes the offer. */
  NP_CALL_EVENT_ACCEPT = 3,
  /* Our user rejects. The contact gets no message about it. */
  NP_CALL_EVENT_REJECT = 4,
  /* Our host offers a media session, which accepts the call. */
  NP_CALL_EVENT_OFFER = 5,
  /* The contact has accepted, and offers a media session. */
  NP_CALL_EVENT_PEER_OFFERED = 6,
  /* Our host answers the offer. */
  NP_CALL_EVENT_ANSWER = 7,
  /* The contact has answered our offer. */
  NP_CALL_EVENT_PEER_ANSWERED = 8,
  /* Our host adds to the description of its session. */
  NP_CALL_EVENT_EXTRA = 9,
  /* The contact adds to the description of its session. */
  NP_CALL_EVENT_PEER_EXTRA = 10,
  /* Our host reports that the session is connected. */
  NP_CALL_EVENT_STATUS_CONNECTED = 11,
  /* Our host reports that the session has ended. */
  NP_CALL_EVENT_STATUS_DISCONNECTED = 12,
  /* Our host reports that no session could be established. */
  NP_CALL_EVENT_STATUS_FAILED = 13,
  /* Our user hangs up. */
  NP_CALL_EVENT_END = 14,
  /* The contact has hung up, or has deleted the connection. */
  NP_CALL_EVENT_PEER_ENDED = 15,
  /* The invitation has expired. */
  NP_CALL_EVENT_EXPIRE = 16,
  /* Another invitation replaces this call. */
  NP_CALL_EVENT_REPLACE = 17
};

enum np_call_effect {
  /* Add the call to the chat. */
  NP_CALL_EFFECT_ADD_ITEM = 0,
  /* Update the call's status in the chat. */
  NP_CALL_EFFECT_UPDATE_ITEM = 1,
  /* Put the invitation into the outbox. */
  NP_CALL_EFFECT_SEND_INVITATION = 2,
  /* Remove the invitation from the outbox, if the relay does not have it yet. */
  NP_CALL_EFFECT_WITHDRAW_INVITATION = 3,
  /* Put the offer into the outbox. */
  NP_CALL_EFFECT_SEND_OFFER = 4,
  /* Put the answer into the outbox. */
  NP_CALL_EFFECT_SEND_ANSWER = 5,
  /* Put the addition into the outbox. */
  NP_CALL_EFFECT_SEND_EXTRA = 6,
  /* Put the end into the outbox. */
  NP_CALL_EFFECT_SEND_END = 7,
  /* Have the notification removed or suppressed. The call stays unread. */
  NP_CALL_EFFECT_STOP_RINGING = 8,
  /* Store the event about the contact's message until the host takes it. */
  NP_CALL_EFFECT_QUEUE_EVENT = 9,
  /* Drop the call's events that the host has not taken: the call is answered or over, and they would be mistaken for
  the next call's. */
  NP_CALL_EFFECT_FORGET_EVENTS = 10,
  /* Store the event callEnded, replacing those that the host has not taken. */
  NP_CALL_EFFECT_QUEUE_END = 11,
  /* Emit the stored events and the item. */
  NP_CALL_EFFECT_EMIT_EVENTS = 12
};

enum np_call_reason {
  NP_CALL_REASON_NO_CALL = 0,
  NP_CALL_REASON_NOT_ANSWERED = 1,
  NP_CALL_REASON_TOO_EARLY = 2,
  NP_CALL_REASON_NOT_ACCEPTED = 3,
  NP_CALL_REASON_ALREADY_ACCEPTED = 4,
  NP_CALL_REASON_IN_SESSION = 5,
  NP_CALL_REASON_ALREADY_CONNECTED = 6,
  NP_CALL_REASON_ENDED = 7
};

/* The chat of one controller: its store and its work. The functions and commands of the interface raise its events
(chat_reopen_store, /_start, /_app suspend and so on); the answers say what to return. Suspending and stopping always
end: the operations are drained within a delay (see operations). In closed and in suspended no file of the store is
open; in dozing none is locked. In the background the network rests and the store does not; the phase ensures that a
suspension follows. Starting and activating end within the step that began them: no other event arrives in between. */
enum np_chat_lifecycle_state {
  /* The store is closed and nothing runs. */
  NP_CHAT_LIFECYCLE_STATE_CLOSED = 0,
  /* The store should be closed but could not be. The next event that needs it closed tries again. */
  NP_CHAT_LIFECYCLE_STATE_STILL_OPEN = 1,
  /* The store is open; the chat has not been started. */
  NP_CHAT_LIFECYCLE_STATE_OPENED = 2,
  /* The store opens if necessary, and the work begins. */
  NP_CHAT_LIFECYCLE_STATE_STARTING = 3,
  /* The chat runs. */
  NP_CHAT_LIFECYCLE_STATE_ACTIVE = 4,
  /* Operations in progress finish; none begins. */
  NP_CHAT_LIFECYCLE_STATE_SUSPENDING = 5,
  /* No file is open or locked. The chat counts as started, and continues when activated. */
  NP_CHAT_LIFECYCLE_STATE_SUSPENDED = 6,
  /* Like suspended, but the store could not be closed. The next event that needs it closed tries again. */
  NP_CHAT_LIFECYCLE_STATE_SUSPENDED_STILL_OPEN = 7,
  /* The store is reopened, and the work continues. */
  NP_CHAT_LIFECYCLE_STATE_ACTIVATING = 8,
  /* Operations in progress finish; then the chat is stopped. */
  NP_CHAT_LIFECYCLE_STATE_STOPPING = 9,
  /* The chat was stopped. The store is open. */
  NP_CHAT_LIFECYCLE_STATE_STOPPED = 10,
  /* The network comes to rest and stays at rest. Commands read and write the store; what they send waits in it. */
  NP_CHAT_LIFECYCLE_STATE_BACKGROUND = 11,
  /* Like suspended, but the store's files are open; none of them is locked. */
  NP_CHAT_LIFECYCLE_STATE_DOZING = 12
};

enum np_chat_lifecycle_event {
  /* The store must be opened: a new controller, or chat_reopen_store. */
  NP_CHAT_LIFECYCLE_EVENT_OPEN = 0,
  /* The store could not be opened. */
  NP_CHAT_LIFECYCLE_EVENT_OPEN_FAILED = 1,
  /* The store must be closed: chat_close_store. */
  NP_CHAT_LIFECYCLE_EVENT_CLOSE = 2,
  /* The store could not be closed: one of its statements is still executing. */
  NP_CHAT_LIFECYCLE_EVENT_CLOSE_FAILED = 3,
  /* The chat must run, whatever that takes: /_start, or a push. */
  NP_CHAT_LIFECYCLE_EVENT_START = 4,
  /* The work has started. */
  NP_CHAT_LIFECYCLE_EVENT_STARTED = 5,
  /* The store could not be opened. */
  NP_CHAT_LIFECYCLE_EVENT_START_FAILED_CLOSED = 6,
  /* The store is open, but could not be read. The chat counts as started, and may be activated. */
  NP_CHAT_LIFECYCLE_EVENT_START_FAILED_UNREADABLE = 7,
  /* The chat must continue: /_app activate. */
  NP_CHAT_LIFECYCLE_EVENT_ACTIVATE = 8,
  /* The store is open and the work continues. */
  NP_CHAT_LIFECYCLE_EVENT_ACTIVATED = 9,
  /* The store could not be reopened. */
  NP_CHAT_LIFECYCLE_EVENT_ACTIVATE_FAILED = 10,
  /* The chat must release everything within a delay: /_app suspend. A delay of 0 raises suspendNow instead. */
  NP_CHAT_LIFECYCLE_EVENT_SUSPEND = 11,
  /* The chat must release everything now: /_app suspend 0, the system's "time is up", or the end of the controller. */
  NP_CHAT_LIFECYCLE_EVENT_SUSPEND_NOW = 12,
  /* The chat must come to rest now, between two pushes of one extension whose host allows dozing: the next push may
  come soon. */
  NP_CHAT_LIFECYCLE_EVENT_DOZE = 13,
  /* The store could not doze. */
  NP_CHAT_LIFECYCLE_EVENT_DOZE_FAILED = 14,
  /* The operations are quiescent: all work that had begun has ended, or was given up at the deadline; none may begin.
  */
  NP_CHAT_LIFECYCLE_EVENT_DRAINED = 15,
  /* The chat must stop: /_stop. */
  NP_CHAT_LIFECYCLE_EVENT_STOP = 16,
  /* The network must come to rest, and the store must stay open: /_app phase background. */
  NP_CHAT_LIFECYCLE_EVENT_BACKGROUND = 17
};

enum np_chat_lifecycle_effect {
  /* Open the store's files; allow transactions. Answer: openFailed, if that fails. */
  NP_CHAT_LIFECYCLE_EFFECT_OPEN_STORE = 0,
  /* Close the store's files: afterwards none is open or locked. Answer: closeFailed, if that fails. */
  NP_CHAT_LIFECYCLE_EFFECT_CLOSE_STORE = 1,
  /* Release every lock of the store, and keep its files open. Answer: dozeFailed, if that cannot be done. */
  NP_CHAT_LIFECYCLE_EFFECT_DOZE_STORE = 2,
  /* Open the store unless it is open, begin operations, and listen to other processes. Answer: started or startFailed.
  */
  NP_CHAT_LIFECYCLE_EFFECT_START_WORK = 3,
  /* Open the store, allow operations, listen to other processes. Answer: activated or activateFailed. */
  NP_CHAT_LIFECYCLE_EFFECT_RESUME_WORK = 4,
  /* End subscriptions: nothing new comes in. */
  NP_CHAT_LIFECYCLE_EFFECT_STOP_RECEIVING = 5,
  /* Raise suspend at the operations, with the given delay. Answer: drained. */
  NP_CHAT_LIFECYCLE_EFFECT_DRAIN_WORK = 6,
  /* Raise suspendNow at the operations: work in progress is given up. */
  NP_CHAT_LIFECYCLE_EFFECT_CANCEL_WORK = 7,
  /* Raise open at the operations: only transactions may begin. */
  NP_CHAT_LIFECYCLE_EFFECT_ALLOW_STORE = 8,
  /* Raise activated or started at the process's phase. */
  NP_CHAT_LIFECYCLE_EFFECT_REPORT_ACTIVE = 9,
  /* Raise activateFailed or startFailed at the process's phase. */
  NP_CHAT_LIFECYCLE_EFFECT_REPORT_INACTIVE = 10,
  /* Raise chatSuspended at the process's phase. */
  NP_CHAT_LIFECYCLE_EFFECT_REPORT_SUSPENDED = 11,
  /* Emit the event chatSuspended. Never after suspendNow. */
  NP_CHAT_LIFECYCLE_EFFECT_EMIT_CHAT_SUSPENDED = 12,
  /* Raise stopNetwork at the operations: work in progress ends, and only transactions begin. */
  NP_CHAT_LIFECYCLE_EFFECT_STOP_NETWORK = 13
};

enum np_chat_lifecycle_reason {
  NP_CHAT_LIFECYCLE_REASON_STALE = 0,
  NP_CHAT_LIFECYCLE_REASON_ALREADY_CLOSED = 1,
  NP_CHAT_LIFECYCLE_REASON_CHAT_NOT_STARTED = 2,
  NP_CHAT_LIFECYCLE_REASON_NOT_RUNNING = 3,
  NP_CHAT_LIFECYCLE_REASON_ALREADY_OPEN = 4,
  NP_CHAT_LIFECYCLE_REASON_STARTING = 5,
  NP_CHAT_LIFECYCLE_REASON_ALREADY_RUNNING = 6,
  NP_CHAT_LIFECYCLE_REASON_CHAT_NOT_STOPPED = 7,
  NP_CHAT_LIFECYCLE_REASON_OPENS_WHEN_ACTIVATED = 8,
  NP_CHAT_LIFECYCLE_REASON_ACTIVATING = 9,
  NP_CHAT_LIFECYCLE_REASON_ALREADY_STOPPING = 10,
  NP_CHAT_LIFECYCLE_REASON_ALREADY_IN_BACKGROUND = 11
};

/* One connection to a contact: from an invitation to a channel that carries messages. Both sides run this machine: the
one that made the invitation waits, the other accepts it. A user's address is such a mailbox too: it takes requests, and
never becomes a channel. So is a scope, which takes the host's own pushes. */
enum np_connection_state {
  /* Nothing exists yet. */
  NP_CONNECTION_STATE_NONE = 0,
  /* An invitation exists, but only one side. */
  NP_CONNECTION_STATE_REQUESTED = 1,
  /* Each side has the other's keys; the channel is not yet proven to work. */
  NP_CONNECTION_STATE_ACCEPTED = 2,
  /* Messages pass. */
  NP_CONNECTION_STATE_READY = 3,
  /* The other side has deleted the connection. The conversation stays until our user deletes it. */
  NP_CONNECTION_STATE_LEFT = 4,
  /* It is an address, which takes any number of requests from anyone with its link, or a scope. */
  NP_CONNECTION_STATE_PUBLISHED = 5,
  /* Deleted. */
  NP_CONNECTION_STATE_DELETED = 6
};

enum np_connection_event {
  /* Our user makes an invitation, and the relay has made its mailbox. */
  NP_CONNECTION_EVENT_INVITE = 0,
  /* Our user follows an invitation, and the relay has made our mailbox. */
  NP_CONNECTION_EVENT_ACCEPT = 1,
  /* The other side followed our invitation: its keys and its mailbox are known. */
  NP_CONNECTION_EVENT_PEER_CONFIRMED = 2,
  /* The other side, whose invitation we followed, says hello. */
  NP_CONNECTION_EVENT_PEER_GREETED = 3,
  /* The other side, which followed our invitation, answered our hello. */
  NP_CONNECTION_EVENT_PEER_ANSWERED = 4,
  /* Our user sends a message. */
  NP_CONNECTION_EVENT_MESSAGE_GIVEN = 5,
  /* A message from the other side was decrypted. */
  NP_CONNECTION_EVENT_MESSAGE_ARRIVED = 6,
  /* The other side reports that it has deleted the connection. */
  NP_CONNECTION_EVENT_PEER_LEFT = 7,
  /* Our user deletes the contact, or the invitation. */
  NP_CONNECTION_EVENT_DELETE = 8,
  /* Our user deletes it without a message to the other side. */
  NP_CONNECTION_EVENT_DELETE_SILENTLY = 9,
  /* Our user makes an address, or the host a scope, and the relay has made its mailbox. */
  NP_CONNECTION_EVENT_PUBLISH = 10,
  /* A person asks, through our address, to become a contact; or a service has sent a push through our scope. */
  NP_CONNECTION_EVENT_REQUEST_ARRIVED = 11,
  /* Our user deletes the profile, and leaves its mailboxes at the relay. */
  NP_CONNECTION_EVENT_ABANDON = 12
};

enum np_connection_effect {
  /* Send our keys, our profile and our mailbox to the mailbox of the invitation. */
  NP_CONNECTION_EFFECT_SEND_CONFIRMATION = 0,
  /* Record the only key whose messages the relay may accept in our mailbox; the relay is asked before the message is
  acknowledged. */
  NP_CONNECTION_EFFECT_SECURE_MAILBOX = 1,
  /* Say hello: the first message under the ratchet. */
  NP_CONNECTION_EFFECT_SEND_GREETING = 2,
  /* Answer the hello. */
  NP_CONNECTION_EFFECT_SEND_ANSWER = 3,
  /* Send the other side, if there is one yet, a message that this side has left. */
  NP_CONNECTION_EFFECT_SEND_LEFT = 4,
  /* Take the request back, if the connection was requested through an address. For an invitation there is no one to
  notify yet. */
  NP_CONNECTION_EFFECT_WITHDRAW_REQUEST = 5,
  /* Record that the contact is connected; contactConnected is emitted after the commit. */
  NP_CONNECTION_EFFECT_EMIT_CONTACT_CONNECTED = 6,
  /* Record that the contact has left; contactDeletedByContact is emitted after the commit. */
  NP_CONNECTION_EFFECT_EMIT_CONTACT_LEFT = 7,
  /* Listen to the mailbox, and raise create at the connection's notification subscription. */
  NP_CONNECTION_EFFECT_CREATE_SUBSCRIPTION = 8,
  /* Raise turnOff at the notification subscription. */
  NP_CONNECTION_EFFECT_DELETE_SUBSCRIPTION = 9,
  /* Encrypt the message, and put it into the outbox. */
  NP_CONNECTION_EFFECT_SEND_MESSAGE = 10,
  /* Commit the message. */
  NP_CONNECTION_EFFECT_DELIVER_MESSAGE = 11,
  /* Commit the request, as in contact_request, or the push, as in application_push. */
  NP_CONNECTION_EFFECT_DELIVER_REQUEST = 12,
  /* Have the relay delete the mailbox. */
  NP_CONNECTION_EFFECT_DELETE_MAILBOX = 13,
  /* Delete the keys and the ratchet, and raise forget at the notification subscription. */
  NP_CONNECTION_EFFECT_FORGET_KEYS = 14
};

enum np_connection_reason {
  NP_CONNECTION_REASON_NO_CONNECTION = 0,
  NP_CONNECTION_REASON_NOT_ACCEPTED = 1,
  NP_CONNECTION_REASON_ALREADY_ACCEPTED = 2,
  NP_CONNECTION_REASON_ALREADY_USED = 3,
  NP_CONNECTION_REASON_NO_ADDRESS = 4,
  NP_CONNECTION_REASON_ALREADY_READY = 5,
  NP_CONNECTION_REASON_ALREADY_LEFT = 6,
  NP_CONNECTION_REASON_CONTACT_LEFT = 7,
  NP_CONNECTION_REASON_IS_ADDRESS = 8,
  NP_CONNECTION_REASON_ENDED = 9
};

/* One person's request to become a contact, received through the user's address. It is stored with the message that
brought it, shown once however often the same person asks, and accepted once however often the user taps. Accepting it
uses the invitation inside it, and survives a kill at any point. */
enum np_contact_request_state {
  /* This person has not asked yet. */
  NP_CONTACT_REQUEST_STATE_NONE = 0,
  /* The user has not decided yet. */
  NP_CONTACT_REQUEST_STATE_RECEIVED = 1,
  /* The acceptance is final; the contact is created as soon as the relay can be reached. */
  NP_CONTACT_REQUEST_STATE_ACCEPTING = 2,
  /* The contact has been created. */
  NP_CONTACT_REQUEST_STATE_ACCEPTED = 3,
  /* The user rejected it. The person gets no message about it, and asking again changes nothing. Past 4,096 rejected
  persons of one address, the earliest are forgotten. */
  NP_CONTACT_REQUEST_STATE_REJECTED = 4,
  /* There is nothing left to accept. */
  NP_CONTACT_REQUEST_STATE_WITHDRAWN = 5
};

enum np_contact_request_event {
  /* An unknown person asks, and the user decides. */
  NP_CONTACT_REQUEST_EVENT_ARRIVE_UNDECIDED = 0,
  /* An unknown person asks, and the address accepts automatically. */
  NP_CONTACT_REQUEST_EVENT_ARRIVE_AUTOMATIC = 1,
  /* An unknown person asks, and the limit of waiting requests is reached. */
  NP_CONTACT_REQUEST_EVENT_ARRIVE_TOO_MANY = 2,
  /* The same person asks again. */
  NP_CONTACT_REQUEST_EVENT_REPEAT_AGAIN = 3,
  /* The same person has asked more often than the limit allows. */
  NP_CONTACT_REQUEST_EVENT_REPEAT_TOO_MANY = 4,
  /* The user accepts. */
  NP_CONTACT_REQUEST_EVENT_ACCEPT = 5,
  /* The user rejects. */
  NP_CONTACT_REQUEST_EVENT_REJECT = 6,
  /* The relay has made our mailbox for this person, and the contact is being recorded. */
  NP_CONTACT_REQUEST_EVENT_JOINED = 7,
  /* The person takes the request back, or the user deletes the address. */
  NP_CONTACT_REQUEST_EVENT_WITHDRAW = 8,
  /* The relay no longer knows the person's mailbox: there is nothing left to accept. */
  NP_CONTACT_REQUEST_EVENT_MAILBOX_GONE = 9
};

enum np_contact_request_effect {
  /* Store the person's profile and invitation. */
  NP_CONTACT_REQUEST_EFFECT_STORE_REQUEST = 0,
  /* Store the profile and the invitation that came with the repeat, and count it. */
  NP_CONTACT_REQUEST_EFFECT_REFRESH_REQUEST = 1,
  /* Enter the request in the ledger, to be shown. */
  NP_CONTACT_REQUEST_EFFECT_NOTIFY_USER = 2,
  /* Have the request's notification withdrawn, if it was shown. */
  NP_CONTACT_REQUEST_EFFECT_CLEAR_NOTIFICATION = 3,
  /* Record the contact, in the transaction that records its connection. */
  NP_CONTACT_REQUEST_EFFECT_CREATE_CONTACT = 4,
  /* Raise peerLeft at the contact's connection, which will never be answered. */
  NP_CONTACT_REQUEST_EFFECT_END_CONTACT = 5,
  /* Delete the contact, which was never connected, with its connection. */
  NP_CONTACT_REQUEST_EFFECT_DELETE_CONTACT = 6,
  /* Erase the invitation, which can no longer be used. */
  NP_CONTACT_REQUEST_EFFECT_ERASE_INVITATION = 7,
  /* Reserve the invitation and have the relay make our mailbox. An extension leaves it to the app. */
  NP_CONTACT_REQUEST_EFFECT_JOIN_INVITATION = 8
};

enum np_contact_request_reason {
  NP_CONTACT_REQUEST_REASON_ADDRESS_FULL = 0,
  NP_CONTACT_REQUEST_REASON_NO_REQUEST = 1,
  NP_CONTACT_REQUEST_REASON_NEVER_RECEIVED = 2,
  NP_CONTACT_REQUEST_REASON_ALREADY_RECEIVED = 3,
  NP_CONTACT_REQUEST_REASON_ASKED_TOO_OFTEN = 4,
  NP_CONTACT_REQUEST_REASON_NOT_ACCEPTED = 5,
  NP_CONTACT_REQUEST_REASON_ALREADY_ACCEPTING = 6,
  NP_CONTACT_REQUEST_REASON_ALREADY_ACCEPTED = 7,
  NP_CONTACT_REQUEST_REASON_ENDED = 8
};

/* The phase of a notification extension's process, as the app sees it. One process serves many pushes, one after the
other; it may be frozen between them, so it must hold nothing then (INC-01). A new process begins as created, and
repairs what a crashed one left behind (INC-17). Starting ends within the step that began it: no other event arrives in
between. */
enum np_extension_phase_state {
  /* The process has just started, and has not needed the chat yet. */
  NP_EXTENSION_PHASE_STATE_CREATED = 0,
  /* Opens the store. */
  NP_EXTENSION_PHASE_STATE_STARTING = 1,
  /* Fetches for one or more pushes. */
  NP_EXTENSION_PHASE_STATE_ACTIVE = 2,
  /* Finishes work in progress within a delay. */
  NP_EXTENSION_PHASE_STATE_SUSPENDING = 3,
  /* Holds nothing. */
  NP_EXTENSION_PHASE_STATE_SUSPENDED = 4
};

enum np_extension_phase_event {
  /* A push, or the host, needs the chat. */
  NP_EXTENSION_PHASE_EVENT_START = 0,
  /* The store is open, and the chat can fetch. */
  NP_EXTENSION_PHASE_EVENT_STARTED = 1,
  /* The chat did not start; the store is closed. */
  NP_EXTENSION_PHASE_EVENT_START_FAILED = 2,
  /* Everything must be released within a delay: the host requests it. */
  NP_EXTENSION_PHASE_EVENT_SUSPEND = 3,
  /* The app wants the store. */
  NP_EXTENSION_PHASE_EVENT_APP_RUNNING = 4,
  /* Everything must be released now: a push is about to be answered, the host requests it, or time is up. */
  NP_EXTENSION_PHASE_EVENT_SUSPEND_NOW = 5,
  /* The chat is suspended: no store file is open. */
  NP_EXTENSION_PHASE_EVENT_CHAT_SUSPENDED = 6
};

enum np_extension_phase_effect {
  /* Take the phase file's lock, and write the phase and the writing instance where the app sees them (INC-11). */
  NP_EXTENSION_PHASE_EFFECT_PUBLISH_WORKING = 0,
  /* Close the channel, write the phase, and release the phase file's lock. */
  NP_EXTENSION_PHASE_EFFECT_PUBLISH_RESTING = 1,
  /* Raise start at the chat lifecycle. Answer: started or startFailed. */
  NP_EXTENSION_PHASE_EFFECT_OPEN_CHAT = 2,
  /* Raise suspend at the chat lifecycle, with the given delay. */
  NP_EXTENSION_PHASE_EFFECT_SUSPEND_CHAT = 3,
  /* Raise suspendNow at the chat lifecycle. */
  NP_EXTENSION_PHASE_EFFECT_SUSPEND_CHAT_NOW = 4
};

enum np_extension_phase_reason {
  NP_EXTENSION_PHASE_REASON_NOT_STARTED = 0,
  NP_EXTENSION_PHASE_REASON_ALREADY_STARTING = 1,
  NP_EXTENSION_PHASE_REASON_STARTING = 2,
  NP_EXTENSION_PHASE_REASON_ALREADY_ACTIVE = 3,
  NP_EXTENSION_PHASE_REASON_ALREADY_SUSPENDING = 4,
  NP_EXTENSION_PHASE_REASON_ALREADY_SUSPENDED = 5
};

/* One ledger entry: something that may be shown. It only moves forward; each step is taken in the transaction that
changes its subject, and the badge is computed in the same transaction (INC-60). So each thing is committed once, shown
once, and withdrawn when it was read or deleted elsewhere (INC-46). A message that a push named but this process could
not fetch is announced with a placeholder, which the message replaces when it arrives (INC-47), and which is withdrawn
when the mailbox turns out to be empty. Content that did not open is tried again when the connection has changed. */
enum np_ledger_entry_state {
  /* Its identity is known, but not its content. */
  NP_LEDGER_ENTRY_STATE_SEEN = 0,
  /* A placeholder stands for it. It is not in the store, and does not count as unread. */
  NP_LEDGER_ENTRY_STATE_ANNOUNCED = 1,
  /* It is in the store and counts as unread, but has not been shown. */
  NP_LEDGER_ENTRY_STATE_COMMITTED = 2,
  /* Its content came later than a placeholder, or than the attempt to open it. It is in the store and counts as unread;
  its own notification has not been shown. */
  NP_LEDGER_ENTRY_STATE_UPGRADED = 3,
  /* It was shown. */
  NP_LEDGER_ENTRY_STATE_PRESENTED = 4,
  /* It was shown, and its content has changed since. */
  NP_LEDGER_ENTRY_STATE_OUTDATED = 5,
  /* It counts as unread but is not on screen, by the user's choice: for example a message without a mention in a chat
  that notifies of mentions only. */
  NP_LEDGER_ENTRY_STATE_SILENCED = 6,
  /* It counts as unread, and its time to be shown has passed. */
  NP_LEDGER_ENTRY_STATE_LAPSED = 7,
  /* The user has read it. */
  NP_LEDGER_ENTRY_STATE_READ = 8,
  /* It could not be decrypted or verified. It is never shown as it is, and blocks nothing else (INC-41, INC-66). */
  NP_LEDGER_ENTRY_STATE_QUARANTINED = 9,
  /* Deleted; it must not come back. */
  NP_LEDGER_ENTRY_STATE_WITHDRAWN = 10,
  /* It was announced, and its placeholder is withdrawn: nothing waits for its connection. A relay restored from a
  backup may still have it. */
  NP_LEDGER_ENTRY_STATE_VANISHED = 11
};

enum np_ledger_entry_event {
  /* It was decrypted, and is being committed. */
  NP_LEDGER_ENTRY_EVENT_COMMIT = 0,
  /* It cannot be decrypted or verified. */
  NP_LEDGER_ENTRY_EVENT_QUARANTINE = 1,
  /* A push named it, but it could not be fetched. */
  NP_LEDGER_ENTRY_EVENT_ANNOUNCE = 2,
  /* The notification is handed to the platform. */
  NP_LEDGER_ENTRY_EVENT_PRESENT = 3,
  /* The user has read it, here or elsewhere. */
  NP_LEDGER_ENTRY_EVENT_READ = 4,
  /* Its author changed its content. */
  NP_LEDGER_ENTRY_EVENT_EDIT = 5,
  /* It was deleted, by the user or by its author. */
  NP_LEDGER_ENTRY_EVENT_WITHDRAW = 6,
  /* It arrived again. */
  NP_LEDGER_ENTRY_EVENT_REPEAT = 7,
  /* What it announces, such as a call, is over: it must no longer be shown, and stays unread. */
  NP_LEDGER_ENTRY_EVENT_LAPSE = 8,
  /* By the user's choice it must not be shown as it is now. */
  NP_LEDGER_ENTRY_EVENT_SILENCE = 9,
  /* Its source has nothing for the connection any longer, asked after the entry was announced. */
  NP_LEDGER_ENTRY_EVENT_VANISH = 10
};

enum np_ledger_entry_effect {
  /* Count it as unread, and compute the badge. */
  NP_LEDGER_ENTRY_EFFECT_COUNT_UNREAD = 0,
  /* Stop counting it as unread, and compute the badge. */
  NP_LEDGER_ENTRY_EFFECT_UNCOUNT_UNREAD = 1,
  /* Show it, under its identifier. */
  NP_LEDGER_ENTRY_EFFECT_SHOW = 2,
  /* Show that something arrived, under the message's future identifier. */
  NP_LEDGER_ENTRY_EFFECT_SHOW_PLACEHOLDER = 3,
  /* Show it again under its identifier, without a sound. */
  NP_LEDGER_ENTRY_EFFECT_REPLACE = 4,
  /* Have the platform remove what was shown under its identifier. */
  NP_LEDGER_ENTRY_EFFECT_REMOVE = 5,
  /* Record why it is quarantined. */
  NP_LEDGER_ENTRY_EFFECT_RECORD_REASON = 6,
  /* Count one more attempt to open it; the number of attempts is limited. */
  NP_LEDGER_ENTRY_EFFECT_COUNT_ATTEMPT = 7,
  /* Have the platform remove the placeholder, unless the notification has the same identifier and replaces it. */
  NP_LEDGER_ENTRY_EFFECT_DROP_PLACEHOLDER = 8,
  /* Leave it waiting to be shown, although later ones have been shown. */
  NP_LEDGER_ENTRY_EFFECT_WAIT_LATE = 9,
  /* Forget a removal noted earlier: what is under its identifier now stays on screen. */
  NP_LEDGER_ENTRY_EFFECT_KEEP = 10
};

enum np_ledger_entry_reason {
  NP_LEDGER_ENTRY_REASON_NOT_COMMITTED = 0,
  NP_LEDGER_ENTRY_REASON_ALREADY_SEEN = 1,
  NP_LEDGER_ENTRY_REASON_ALREADY_ANNOUNCED = 2,
  NP_LEDGER_ENTRY_REASON_NOT_SHOWN_YET = 3,
  NP_LEDGER_ENTRY_REASON_ALREADY_COMMITTED = 4,
  NP_LEDGER_ENTRY_REASON_ALREADY_PRESENTED = 5,
  NP_LEDGER_ENTRY_REASON_ALREADY_OUTDATED = 6,
  NP_LEDGER_ENTRY_REASON_ALREADY_SILENCED = 7,
  NP_LEDGER_ENTRY_REASON_LAPSED = 8,
  NP_LEDGER_ENTRY_REASON_ALREADY_READ = 9,
  NP_LEDGER_ENTRY_REASON_ALREADY_QUARANTINED = 10,
  NP_LEDGER_ENTRY_REASON_QUARANTINED = 11,
  NP_LEDGER_ENTRY_REASON_ENDED = 12,
  NP_LEDGER_ENTRY_REASON_VANISHED = 13
};

/* Fetches one mailbox's messages one at a time: get, commit, acknowledge. The answer to an acknowledgement may carry
the next message, which stays at the relay until it is acknowledged itself. Each wait has a deadline (INC-39): of a
relay on a network the one here, which counts from when the request is handed to the transport, and again while other
requests make progress. A relay in a file bounds its requests itself, so the engine does not start this one for it. A
message that was not acknowledged is delivered again, and the ledger recognises it, so giving up is always safe. */
enum np_mailbox_fetch_state {
  /* No fetch is in progress. */
  NP_MAILBOX_FETCH_STATE_IDLE = 0,
  /* The relay has been asked. */
  NP_MAILBOX_FETCH_STATE_GETTING = 1,
  /* The message is being decrypted and committed. */
  NP_MAILBOX_FETCH_STATE_RECEIVED = 2,
  /* The relay has been asked to drop it. */
  NP_MAILBOX_FETCH_STATE_ACKNOWLEDGING = 3
};

enum np_mailbox_fetch_event {
  /* The next message is wanted. */
  NP_MAILBOX_FETCH_EVENT_GET = 0,
  /* The relay gave a message. */
  NP_MAILBOX_FETCH_EVENT_MESSAGE = 1,
  /* The mailbox is empty. */
  NP_MAILBOX_FETCH_EVENT_EMPTY = 2,
  /* The relay did not answer, or refused. */
  NP_MAILBOX_FETCH_EVENT_FAILED = 3,
  /* The message is committed, or quarantined. */
  NP_MAILBOX_FETCH_EVENT_COMMITTED = 4,
  /* The message could not be committed. */
  NP_MAILBOX_FETCH_EVENT_ABANDONED = 5,
  /* The relay has dropped the message. */
  NP_MAILBOX_FETCH_EVENT_DROPPED = 6,
  /* The relay no longer had that message. */
  NP_MAILBOX_FETCH_EVENT_NO_MESSAGE = 7,
  /* A wait took too long. */
  NP_MAILBOX_FETCH_EVENT_TIMEOUT = 8
};

enum np_mailbox_fetch_effect {
  /* Ask the relay for the first message. Answer: message, empty or failed. */
  NP_MAILBOX_FETCH_EFFECT_SEND_GET = 0,
  /* Decrypt and commit the message. Answer: committed or abandoned. */
  NP_MAILBOX_FETCH_EFFECT_DELIVER_MESSAGE = 1,
  /* Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped, noMessage or
  failed. */
  NP_MAILBOX_FETCH_EFFECT_SEND_ACKNOWLEDGE = 2,
  /* Report to the caller that nothing waits. */
  NP_MAILBOX_FETCH_EFFECT_REPORT_EMPTY = 3,
  /* Report to the caller that the relay was not reached, or refused. */
  NP_MAILBOX_FETCH_EFFECT_REPORT_FAILED = 4,
  /* Drop any answer that the relay still gives. */
  NP_MAILBOX_FETCH_EFFECT_GIVE_UP_REQUEST = 5,
  /* Emit ntfMessage if a push named the message: it is committed, and need not be delivered again. */
  NP_MAILBOX_FETCH_EFFECT_EMIT_MARKER = 6,
  /* Let the next caller ask. */
  NP_MAILBOX_FETCH_EFFECT_RELEASE_MAILBOX = 7,
  /* Starts the timer `deadline`: raise `timeout` after 10000 ms. */
  NP_MAILBOX_FETCH_EFFECT_START_DEADLINE = 8,
  /* Takes the timer `deadline` back; harmless if it does not run. */
  NP_MAILBOX_FETCH_EFFECT_CANCEL_DEADLINE = 9
};

enum np_mailbox_fetch_reason {
  NP_MAILBOX_FETCH_REASON_LATE = 0,
  NP_MAILBOX_FETCH_REASON_BUSY = 1
};

/* One message requested by a command: get, commit, acknowledge, and a look at what waits after it, which stays at the
relay. The command has one result on every path, named by the final state. Each wait has a deadline (INC-39), and ends
earlier when a push has waited for the same mailbox for a long time (INC-43). This includes the wait for the mailbox
itself, which other work of this process may hold. A message that was not acknowledged is delivered again, and the
ledger recognises it. */
enum np_message_fetch_state {
  /* Nothing has been done yet. */
  NP_MESSAGE_FETCH_STATE_IDLE = 0,
  /* The connection is being claimed. */
  NP_MESSAGE_FETCH_STATE_CLAIMING = 1,
  /* The relay has been asked. */
  NP_MESSAGE_FETCH_STATE_GETTING = 2,
  /* The message is being decrypted and committed. */
  NP_MESSAGE_FETCH_STATE_RECEIVED = 3,
  /* The relay has been asked to drop it. */
  NP_MESSAGE_FETCH_STATE_ACKNOWLEDGING = 4,
  /* The message is done, and the relay has been asked what waits after it. */
  NP_MESSAGE_FETCH_STATE_LOOKING = 5,
  /* No message was taken in, for the reason given by the result. */
  NP_MESSAGE_FETCH_STATE_UNTAKEN = 6,
  /* Nothing waited. */
  NP_MESSAGE_FETCH_STATE_NOTHING = 7,
  /* The message is committed. It is not known whether another one waits. */
  NP_MESSAGE_FETCH_STATE_TAKEN = 8,
  /* The message is committed, and nothing waits after it. */
  NP_MESSAGE_FETCH_STATE_LAST = 9,
  /* The message is committed, and another one waits after it. */
  NP_MESSAGE_FETCH_STATE_FOLLOWED = 10
};

enum np_message_fetch_event {
  /* A command asks for a message. */
  NP_MESSAGE_FETCH_EVENT_WANT = 0,
  /* The connection is ours, under a new epoch. */
  NP_MESSAGE_FETCH_EVENT_CLAIM_GRANTED = 1,
  /* The connection is not ours: another running process has it, or the store cannot be read or written. */
  NP_MESSAGE_FETCH_EVENT_CLAIM_FAILED = 2,
  /* The relay has a message. */
  NP_MESSAGE_FETCH_EVENT_MESSAGE = 3,
  /* The mailbox is empty. */
  NP_MESSAGE_FETCH_EVENT_EMPTY = 4,
  /* The relay did not answer, or refused. */
  NP_MESSAGE_FETCH_EVENT_FAILED = 5,
  /* The message is committed, or quarantined. */
  NP_MESSAGE_FETCH_EVENT_COMMITTED = 6,
  /* The message could not be committed. */
  NP_MESSAGE_FETCH_EVENT_ABANDONED = 7,
  /* The relay has dropped the message, and does not report whether the mailbox holds more. */
  NP_MESSAGE_FETCH_EVENT_DROPPED = 8,
  /* A wait took too long, or a push that waits for the mailbox asks by itself. */
  NP_MESSAGE_FETCH_EVENT_TIMEOUT = 9
};

enum np_message_fetch_effect {
  /* Claim the connection, after other work of this process. Answer: claim.granted or claim.failed. */
  NP_MESSAGE_FETCH_EFFECT_CLAIM_MAILBOX = 0,
  /* Stop waiting for the connection. */
  NP_MESSAGE_FETCH_EFFECT_WITHDRAW_CLAIM = 1,
  /* Ask the relay for the first message. Answer: message, empty or failed. */
  NP_MESSAGE_FETCH_EFFECT_SEND_GET = 2,
  /* Decrypt and commit the message. Answer: committed or abandoned. */
  NP_MESSAGE_FETCH_EFFECT_DELIVER_MESSAGE = 3,
  /* Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped or failed. */
  NP_MESSAGE_FETCH_EFFECT_SEND_ACKNOWLEDGE = 4,
  /* Drop any answer that the relay still gives. */
  NP_MESSAGE_FETCH_EFFECT_GIVE_UP_REQUEST = 5,
  /* Emit ntfMessage if a push named the message: it is committed, and need not be delivered again. */
  NP_MESSAGE_FETCH_EFFECT_EMIT_MARKER = 6,
  /* Let the next caller ask. */
  NP_MESSAGE_FETCH_EFFECT_RELEASE_MAILBOX = 7,
  /* Give the command the result named by the final state. */
  NP_MESSAGE_FETCH_EFFECT_ANSWER = 8,
  /* Starts the timer `deadline`: raise `timeout` after 10000 ms. */
  NP_MESSAGE_FETCH_EFFECT_START_DEADLINE = 9,
  /* Takes the timer `deadline` back; harmless if it does not run. */
  NP_MESSAGE_FETCH_EFFECT_CANCEL_DEADLINE = 10
};

enum np_message_fetch_reason {
  NP_MESSAGE_FETCH_REASON_EARLY = 0,
  NP_MESSAGE_FETCH_REASON_LATE = 1,
  NP_MESSAGE_FETCH_REASON_ENDED = 2
};

/* The user's response to one notification: a tap, an action, a reply. It is stored before anything is done, so a
response that reaches an extension, or an app that is not active, waits in the store until the app is active. It is
carried out once. Its effect on the store is one transaction with the step to `applied`, so a process killed before it
has done nothing, and one killed after it does nothing again. Work that another part carries out in its own
transactions, such as accepting a contact request, recognises a repeat by itself. Such an acceptance may wait for the
relay, so its profile becomes active when it begins, in the transaction that begins it, and not again when it is carried
out. */
enum np_notification_response_state {
  /* Handed over by a host; not stored yet. */
  NP_NOTIFICATION_RESPONSE_STATE_RECEIVED = 0,
  /* Stored until an app may carry it out. */
  NP_NOTIFICATION_RESPONSE_STATE_WAITING = 1,
  /* An app has begun. If its process ends here, the next one continues. The active profile is already committed, and
  the user may have changed it since. */
  NP_NOTIFICATION_RESPONSE_STATE_APPLYING = 2,
  /* It was carried out. */
  NP_NOTIFICATION_RESPONSE_STATE_APPLIED = 3,
  /* There was nothing left to act on. */
  NP_NOTIFICATION_RESPONSE_STATE_STALE = 4
};

enum np_notification_response_event {
  /* It reached an extension, or an app that must not carry it out now. */
  NP_NOTIFICATION_RESPONSE_EVENT_KEEP = 0,
  /* An app may carry it out now: it has just received it, has become active, or tries again. */
  NP_NOTIFICATION_RESPONSE_EVENT_APPLY = 1,
  /* What it requests is being committed. */
  NP_NOTIFICATION_RESPONSE_EVENT_CARRIED_OUT = 2,
  /* Its subject does not exist, belongs to another profile, or no longer allows it. */
  NP_NOTIFICATION_RESPONSE_EVENT_OBSOLETE = 3,
  /* It cannot be carried out now: the relay does not answer, or the store is busy. */
  NP_NOTIFICATION_RESPONSE_EVENT_POSTPONE = 4,
  /* The same response was received again. */
  NP_NOTIFICATION_RESPONSE_EVENT_REPEAT = 5
};

enum np_notification_response_effect {
  /* Store the response. */
  NP_NOTIFICATION_RESPONSE_EFFECT_KEEP_RESPONSE = 0,
  /* If it accepts a contact request, make the request's profile the active one. */
  NP_NOTIFICATION_RESPONSE_EFFECT_ACTIVATE_PROFILE = 1,
  /* Store the outcome, and the event for the host, which stays until the host takes it. */
  NP_NOTIFICATION_RESPONSE_EFFECT_QUEUE_EVENT = 2,
  /* Do what the user requested. Answer: carriedOut, obsolete or postpone. */
  NP_NOTIFICATION_RESPONSE_EFFECT_CARRY_OUT = 3,
  /* Raise apply after a pause. */
  NP_NOTIFICATION_RESPONSE_EFFECT_RETRY_LATER = 4,
  /* Emit the event ntfResponse, which says where to navigate. */
  NP_NOTIFICATION_RESPONSE_EFFECT_EMIT_EVENT = 5
};

enum np_notification_response_reason {
  NP_NOTIFICATION_RESPONSE_REASON_NOT_STORED = 0,
  NP_NOTIFICATION_RESPONSE_REASON_ALREADY_WAITING = 1,
  NP_NOTIFICATION_RESPONSE_REASON_NOT_BEGUN = 2,
  NP_NOTIFICATION_RESPONSE_REASON_ALREADY_APPLYING = 3,
  NP_NOTIFICATION_RESPONSE_REASON_ENDED = 4
};

/* Which kinds of work may begin, and how they come to rest. Each piece of work asks before it begins and reports its
end; the engine counts, the machine decides. A suspension ends the kinds in this order, one after the other: work of an
earlier kind may still need a later one (a received message is committed and acknowledged, and any reply to it is handed
over), and none needs an earlier one. The deadline belongs to the cycle that armed it, and so does the end of each piece
of work: neither means anything in a later one (INC-21). In quiescent no work is in progress, and no file of the store
or of the relay is open (INC-01). An app in the background stops one step before the last: the network is at rest, in
the same order, and transactions continue until a suspension follows. */
enum np_operations_state {
  /* Nothing may begin, and nothing is in progress. */
  NP_OPERATIONS_STATE_QUIESCENT = 0,
  /* The chat has not been started, or was stopped: transactions may begin, but nothing that needs the relay. */
  NP_OPERATIONS_STATE_STORE_ONLY = 1,
  /* Everything may begin. */
  NP_OPERATIONS_STATE_RUNNING = 2,
  /* Requests to notification servers end; none begins. */
  NP_OPERATIONS_STATE_DRAINING_NOTIFICATIONS = 3,
  /* Fetches end; none begins. */
  NP_OPERATIONS_STATE_DRAINING_RECEIVING = 4,
  /* Received messages are committed and acknowledged; nothing else is. */
  NP_OPERATIONS_STATE_DRAINING_DELIVERY = 5,
  /* Sends in progress reach the relay; nothing else leaves. */
  NP_OPERATIONS_STATE_DRAINING_SENDING = 6,
  /* The last transactions end. */
  NP_OPERATIONS_STATE_DRAINING_DATABASE = 7,
  /* Requests to notification servers end; none begins. */
  NP_OPERATIONS_STATE_STOPPING_NOTIFICATIONS = 8,
  /* Fetches end; none begins. */
  NP_OPERATIONS_STATE_STOPPING_RECEIVING = 9,
  /* Received messages are committed and acknowledged; nothing else is. */
  NP_OPERATIONS_STATE_STOPPING_DELIVERY = 10,
  /* Sends in progress reach the relay; nothing else leaves. */
  NP_OPERATIONS_STATE_STOPPING_SENDING = 11,
  /* The network is at rest and the relay is released. Transactions may begin. */
  NP_OPERATIONS_STATE_NETWORK_STOPPED = 12
};

enum np_operations_event {
  /* The store is open, and the chat is not at work. */
  NP_OPERATIONS_EVENT_OPEN = 0,
  /* The chat is at work: everything may begin. */
  NP_OPERATIONS_EVENT_RESUME = 1,
  /* Everything must come to rest within a delay. In a cycle that has begun: another delay, from now on. */
  NP_OPERATIONS_EVENT_SUSPEND = 2,
  /* Everything must come to rest immediately. */
  NP_OPERATIONS_EVENT_SUSPEND_NOW = 3,
  /* The delay is over. The engine drops deadlines of earlier cycles (INC-21). */
  NP_OPERATIONS_EVENT_DEADLINE = 4,
  /* Work asks to begin: requests to a notification server, and fetching its answers. */
  NP_OPERATIONS_EVENT_BEGIN_NOTIFICATIONS = 5,
  /* Work asks to begin: asking the relay for messages. */
  NP_OPERATIONS_EVENT_BEGIN_RECEIVING = 6,
  /* Work asks to begin: committing a message and acknowledging it. */
  NP_OPERATIONS_EVENT_BEGIN_DELIVERY = 7,
  /* Work asks to begin: sending to the relay. */
  NP_OPERATIONS_EVENT_BEGIN_SENDING = 8,
  /* Work asks to begin: a transaction of the store. */
  NP_OPERATIONS_EVENT_BEGIN_DATABASE = 9,
  /* No work of this kind is in progress in this cycle. */
  NP_OPERATIONS_EVENT_IDLE_NOTIFICATIONS = 10,
  /* No work of this kind is in progress in this cycle. */
  NP_OPERATIONS_EVENT_IDLE_RECEIVING = 11,
  /* No work of this kind is in progress in this cycle. */
  NP_OPERATIONS_EVENT_IDLE_DELIVERY = 12,
  /* No work of this kind is in progress in this cycle. */
  NP_OPERATIONS_EVENT_IDLE_SENDING = 13,
  /* No work of this kind is in progress in this cycle. */
  NP_OPERATIONS_EVENT_IDLE_DATABASE = 14,
  /* All work except transactions must come to rest and stay at rest. */
  NP_OPERATIONS_EVENT_STOP_NETWORK = 15
};

enum np_operations_effect {
  /* Count the work until it ends. */
  NP_OPERATIONS_EFFECT_ADMIT = 0,
  /* Answer: idle.notifications, as soon as no work of this kind is under way. */
  NP_OPERATIONS_EFFECT_AWAIT_NOTIFICATIONS = 1,
  /* Answer: idle.receiving, as soon as no work of this kind is under way. */
  NP_OPERATIONS_EFFECT_AWAIT_RECEIVING = 2,
  /* Answer: idle.delivery, as soon as no work of this kind is under way. */
  NP_OPERATIONS_EFFECT_AWAIT_DELIVERY = 3,
  /* Answer: idle.sending, as soon as no work of this kind is under way. */
  NP_OPERATIONS_EFFECT_AWAIT_SENDING = 4,
  /* Answer: idle.database, as soon as no work of this kind is under way. */
  NP_OPERATIONS_EFFECT_AWAIT_DATABASE = 5,
  /* Raise deadline after the latest delay. */
  NP_OPERATIONS_EFFECT_ARM_DEADLINE = 6,
  /* Cancel the deadline. */
  NP_OPERATIONS_EFFECT_CANCEL_DEADLINE = 7,
  /* Release the relay. Give up work still in progress: what it would have committed is not committed, and none of that
  was acknowledged. */
  NP_OPERATIONS_EFFECT_GIVE_UP_WORK = 8,
  /* Raise drained at the chat lifecycle. */
  NP_OPERATIONS_EFFECT_REPORT_QUIESCENT = 9,
  /* Release the relay. Report to callers still waiting for a notification server's answer that none will come. */
  NP_OPERATIONS_EFFECT_RELEASE_RELAY = 10
};

enum np_operations_reason {
  NP_OPERATIONS_REASON_STORE_CLOSED = 0,
  NP_OPERATIONS_REASON_QUIESCENT = 1,
  NP_OPERATIONS_REASON_ALREADY_QUIESCENT = 2,
  NP_OPERATIONS_REASON_STALE = 3,
  NP_OPERATIONS_REASON_ALREADY_OPEN = 4,
  NP_OPERATIONS_REASON_NOT_AT_WORK = 5,
  NP_OPERATIONS_REASON_ALREADY_RUNNING = 6,
  NP_OPERATIONS_REASON_DRAINING = 7,
  NP_OPERATIONS_REASON_ALREADY_DRAINING = 8,
  NP_OPERATIONS_REASON_ALREADY_STOPPING = 9,
  NP_OPERATIONS_REASON_NETWORK_STOPPED = 10,
  NP_OPERATIONS_REASON_ALREADY_STOPPED = 11
};

/* The right to advance one connection, as one process sees it. A claim is a stored epoch and nothing else: while it
lasts, no lock is held and nothing is written (INC-07, INC-20), and any other process may take it over. The store
refuses a commit under an older epoch (INC-04); this machine decides what a process does then. Only a process that is
frozen inside one of its transactions, which take a few milliseconds, keeps others from writing: the kernel holds
SQLite's lock until that process continues or ends. A host prevents this by suspending before it is frozen (INC-01). A
process that finds the lock held gives up within its deadline, and reports the holder (INC-18). */
enum np_ownership_state {
  /* This process has no work on it. */
  NP_OWNERSHIP_STATE_FREE = 0,
  /* Reads, then writes if nothing changed in between. No answer of another process is waited for; the write waits for
  the store's write lock, within the deadline of the work. */
  NP_OWNERSHIP_STATE_CLAIMING = 1,
  /* The stored epoch was ours at the last read. */
  NP_OWNERSHIP_STATE_HELD = 2,
  /* The epoch may be another process's: nothing is decided from memory until it has been read again. */
  NP_OWNERSHIP_STATE_STALE = 3,
  /* Another process owns it. Our work is discarded; the other process's commits are being read. */
  NP_OWNERSHIP_STATE_LOST = 4
};

enum np_ownership_event {
  /* Work on the connection is about to begin. */
  NP_OWNERSHIP_EVENT_WANT = 0,
  /* It has no owner, or one that gives way: this process, one that has ended, is suspended or frozen, an app at work in
  the background, and for an app any extension. */
  NP_OWNERSHIP_EVENT_OWNER_YIELDS = 1,
  /* A running app owns it, and this process is an extension. */
  NP_OWNERSHIP_EVENT_OWNER_PREVAILS = 2,
  /* The new epoch is stored, with this instance. */
  NP_OWNERSHIP_EVENT_GRANTED = 3,
  /* Another process claimed the connection between our read and our write. */
  NP_OWNERSHIP_EVENT_RACED = 4,
  /* The connection no longer exists. */
  NP_OWNERSHIP_EVENT_MISSING = 5,
  /* The store cannot be read or written. */
  NP_OWNERSHIP_EVENT_FAILED = 6,
  /* Another process reported that it has changed something. */
  NP_OWNERSHIP_EVENT_SUSPECTED = 7,
  /* The stored epoch is still ours. */
  NP_OWNERSHIP_EVENT_CONFIRMED = 8,
  /* The stored epoch is another process's: the store refused a commit, or a read showed it. */
  NP_OWNERSHIP_EVENT_DISPLACED = 9,
  /* The other process's commits have been read. */
  NP_OWNERSHIP_EVENT_RELOADED = 10,
  /* The work has ended, whatever its outcome. */
  NP_OWNERSHIP_EVENT_FINISHED = 11
};

enum np_ownership_effect {
  /* Read which process owns the connection, and whether that process is running and at work. Answer: owner, missing or
  failed. */
  NP_OWNERSHIP_EFFECT_READ_OWNER = 0,
  /* Write the next epoch and this instance, if the epoch has not changed since it was read. Answer: granted, raced,
  missing or failed. */
  NP_OWNERSHIP_EFFECT_TAKE_EPOCH = 1,
  /* Report to the requester that the work may begin, under this epoch. */
  NP_OWNERSHIP_EFFECT_BEGIN_WORK = 2,
  /* Report to the requester that the work was skipped, and which process owns the connection (INC-18, INC-19). */
  NP_OWNERSHIP_EFFECT_SKIP_WORK = 3,
  /* Report to the requester why there is no claim. */
  NP_OWNERSHIP_EFFECT_REFUSE_WORK = 4,
  /* Compare the stored epoch with ours. Answer: confirmed, displaced, missing or failed. */
  NP_OWNERSHIP_EFFECT_CHECK_EPOCH = 5,
  /* Drop what was read or computed under the old epoch (INC-05). */
  NP_OWNERSHIP_EFFECT_DISCARD_WORK = 6,
  /* Read what other processes have committed since, and nothing else. Answer: reloaded. */
  NP_OWNERSHIP_EFFECT_RELOAD = 7,
  /* Drop the claim. Nothing is written. */
  NP_OWNERSHIP_EFFECT_FORGET = 8
};

enum np_ownership_reason {
  NP_OWNERSHIP_REASON_NOT_OURS = 0,
  NP_OWNERSHIP_REASON_BUSY = 1,
  NP_OWNERSHIP_REASON_NOT_YET_OURS = 2,
  NP_OWNERSHIP_REASON_ALREADY_HELD = 3,
  NP_OWNERSHIP_REASON_ALREADY_STALE = 4,
  NP_OWNERSHIP_REASON_RELOADING = 5,
  NP_OWNERSHIP_REASON_ALREADY_LOST = 6
};

/* Whether the process of the other role is at work, as far as this one knows. The kernel answers first: a process holds
the lock on its role's phase file while it is at work and releases it before it suspends, and the lock ends with the
process, so no stale flag is left behind (INC-12, INC-13, INC-17). A process frozen without notice still holds it, so
the holder is asked too, and must answer within a time that a push can afford (INC-11, INC-32). Each question starts
afresh. What the last one found counts until then: a claim leaves a connection to a running app unless this says
`silent`, and a late answer still corrects that. */
enum np_presence_state {
  /* Not asked yet. */
  NP_PRESENCE_STATE_UNKNOWN = 0,
  /* First the kernel is asked, then the process itself. Nothing is held in the meantime. */
  NP_PRESENCE_STATE_ASKING = 1,
  /* It was at work when last asked. */
  NP_PRESENCE_STATE_ALIVE = 2,
  /* It holds its lock, but did not answer when last asked. */
  NP_PRESENCE_STATE_SILENT = 3,
  /* It was not at work when last asked. */
  NP_PRESENCE_STATE_GONE = 4
};

enum np_presence_event {
  /* A caller asks. */
  NP_PRESENCE_EVENT_QUESTION = 0,
  /* No process holds that role's lock. */
  NP_PRESENCE_EVENT_LOCK_FREE = 1,
  /* A process holds it, and listens on the channel. */
  NP_PRESENCE_EVENT_LOCK_HELD = 2,
  /* A process holds it but cannot be asked: it does not listen, or this process cannot send. */
  NP_PRESENCE_EVENT_LOCK_MUTE = 3,
  /* An authentic message from that role: the answer to our question, or the announcement that it has started. */
  NP_PRESENCE_EVENT_HERE = 4,
  /* It did not answer in time: it is frozen or hangs. */
  NP_PRESENCE_EVENT_PATIENCE_OVER = 5,
  /* This process closes its end of the channel: answers can no longer arrive. */
  NP_PRESENCE_EVENT_DEAF = 6
};

enum np_presence_effect {
  /* Ask the kernel which process holds that role's lock. Answer: lock. */
  NP_PRESENCE_EFFECT_READ_LOCK = 0,
  /* Ask "are you there?" on the channel. Answer: here, if it is. */
  NP_PRESENCE_EFFECT_SEND_ASK = 1,
  /* Report to the callers that it is at work. */
  NP_PRESENCE_EFFECT_REPORT_ALIVE = 2,
  /* Report to the callers that no process is at work, or none that answers. */
  NP_PRESENCE_EFFECT_REPORT_GONE = 3,
  /* Starts the timer `patience`: raise `patienceOver` after 600 ms. */
  NP_PRESENCE_EFFECT_START_PATIENCE = 4,
  /* Takes the timer `patience` back; harmless if it does not run. */
  NP_PRESENCE_EFFECT_CANCEL_PATIENCE = 5
};

enum np_presence_reason {
  NP_PRESENCE_REASON_NOT_ASKED = 0,
  NP_PRESENCE_REASON_ALREADY_ASKING = 1,
  NP_PRESENCE_REASON_ALREADY_KNOWN = 2,
  NP_PRESENCE_REASON_ALREADY_SILENT = 3,
  NP_PRESENCE_REASON_ALREADY_GONE = 4
};

/* One push in an extension or an app, from its arrival to its answer. It is a hint: everything that waits is fetched
(INC-38). It ends exactly once, on every path, with an outcome (INC-30, INC-31); the answer comes last, after the store
is closed (INC-48). Until its store is being released, every state has an expire edge that waits for nothing. A push
whose outcome cannot improve ends without waiting (INC-32). In an app, which receives by itself, a push goes from
claiming to presenting, and what was fetched and committed meanwhile counts for its outcome only. A message that it
names but that did not arrive is announced with a placeholder; a push that could not even read its subject gives a
notice. A round in the background, which does not know whether anything waits, gives a notice only for a store that does
not open. An app on screen gives neither. Whether a push is a call's is known only once its mailbox has been checked, so
each push has its own machine, and none waits for what another one waits for (INC-43). The outboxes are sent once the
content to show is settled, and only for a moment. What the user has muted or hidden stays so. The outcome is the first
of these that applies, when the store is released: expired, stopped, locked, wrongSchema, presented (there is something
to show), failed, quarantined (the push itself, or everything that arrived), offline, verified, yielded, unknown (unless
something arrived), nothingNew. */
enum np_push_state {
  /* Handed over by the system; its form is checked. */
  NP_PUSH_STATE_RECEIVED = 0,
  /* Which process acts: the app, or this one? */
  NP_PUSH_STATE_DECIDING = 1,
  /* Opens the store, for a bounded time. */
  NP_PUSH_STATE_OPENING_STORE = 2,
  /* Opens the sealed payload. */
  NP_PUSH_STATE_DECODING = 3,
  /* Proves the token even while the app is not running (INC-62). */
  NP_PUSH_STATE_VERIFYING = 4,
  /* Takes the next connection, or finds that none is left. */
  NP_PUSH_STATE_CLAIMING = 5,
  /* Asks the relay. No lock is held. */
  NP_PUSH_STATE_FETCHING = 6,
  /* Decrypts, and commits once. */
  NP_PUSH_STATE_COMMITTING = 7,
  /* The message is safe; the relay may drop it. */
  NP_PUSH_STATE_ACKNOWLEDGING = 8,
  /* Decides what the user sees. */
  NP_PUSH_STATE_PRESENTING = 9,
  /* What is shown is settled, and what is left in the outboxes is sent. Nothing here changes the outcome. */
  NP_PUSH_STATE_SENDING = 10,
  /* The store is being released. In an extension nothing is waited for, so running out of time changes nothing. An app
  that is not on screen is suspended, which waits for work in progress: 5 s at most, no longer than the push's time, and
  not at all if that was up before. Time that is up only now changes nothing here: the caller gets a substitute answer
  (push_answer), which does not say that the app is at rest. */
  NP_PUSH_STATE_RELEASING = 11,
  /* Something is shown. */
  NP_PUSH_STATE_PRESENTED = 12,
  /* There was nothing to show. */
  NP_PUSH_STATE_NOTHING_NEW = 13,
  /* Another process fetches. */
  NP_PUSH_STATE_YIELDED = 14,
  /* The token was verified. */
  NP_PUSH_STATE_VERIFIED = 15,
  /* The device has not been unlocked yet; the message is fetched later (INC-50). */
  NP_PUSH_STATE_LOCKED = 16,
  /* No relay was reached. */
  NP_PUSH_STATE_OFFLINE = 17,
  /* Time was up; the content is the best available. */
  NP_PUSH_STATE_EXPIRED = 18,
  /* The push is about nothing known here. */
  NP_PUSH_STATE_UNKNOWN = 19,
  /* What arrived is quarantined, and is not shown. */
  NP_PUSH_STATE_QUARANTINED = 20,
  /* The user stopped the chat. */
  NP_PUSH_STATE_STOPPED = 21,
  /* The app must be started once to migrate the store (INC-23). */
  NP_PUSH_STATE_WRONG_SCHEMA = 22,
  /* The store failed. */
  NP_PUSH_STATE_FAILED = 23
};

enum np_push_event {
  /* It is addressed to this device and has the form of a message push. */
  NP_PUSH_EVENT_PAYLOAD_MESSAGE = 0,
  /* It has the form of a verification push. */
  NP_PUSH_EVENT_PAYLOAD_VERIFICATION = 1,
  /* It is a periodic wake-up: anything may be waiting. */
  NP_PUSH_EVENT_PAYLOAD_WAKE = 2,
  /* It has no known form; it may be garbage. */
  NP_PUSH_EVENT_PAYLOAD_UNKNOWN = 3,
  /* The app is on screen, or about to be: it fetches for itself. */
  NP_PUSH_EVENT_APP_RUNNING = 4,
  /* The app is suspended, suspending or at work in the background, or its process has ended (INC-12, INC-13). */
  NP_PUSH_EVENT_APP_INACTIVE = 5,
  /* The user stopped the chat. */
  NP_PUSH_EVENT_APP_STOPPED = 6,
  /* A running app has come to the foreground, and asks this process to release the store. */
  NP_PUSH_EVENT_APP_WOKE = 7,
  /* The store is open. */
  NP_PUSH_EVENT_STORE_OPENED = 8,
  /* The keys cannot be read before the device is unlocked for the first time (INC-50). */
  NP_PUSH_EVENT_STORE_LOCKED = 9,
  /* The store is older or newer than this program; only the app migrates (INC-23). */
  NP_PUSH_EVENT_STORE_WRONG_SCHEMA = 10,
  /* Another process holds what opening needs, and does not release it in time (INC-18). */
  NP_PUSH_EVENT_STORE_BUSY = 11,
  /* The store cannot be opened, or fails. */
  NP_PUSH_EVENT_STORE_FAILED = 12,
  /* The payload decrypts, and names connections that are known. */
  NP_PUSH_EVENT_DECODED_MESSAGE = 13,
  /* The payload is a verification code. */
  NP_PUSH_EVENT_DECODED_VERIFICATION = 14,
  /* Everything it names is already recorded (INC-34, INC-36), and no notice is on screen, which might be about
  something else. */
  NP_PUSH_EVENT_DECODED_REPEAT = 15,
  /* It decrypts, but the connections it names are unknown, such as that of a deleted contact. */
  NP_PUSH_EVENT_DECODED_UNKNOWN = 16,
  /* It cannot be decrypted or verified. */
  NP_PUSH_EVENT_DECODED_UNDECRYPTABLE = 17,
  /* The token is active, or the code is recorded and will be sent again (INC-62). */
  NP_PUSH_EVENT_VERIFY_DONE = 18,
  /* The code does not open: the server did not send it. */
  NP_PUSH_EVENT_VERIFY_FORGED = 19,
  /* The code could not be used now. */
  NP_PUSH_EVENT_VERIFY_FAILED = 20,
  /* The next connection is ours, under a new epoch. */
  NP_PUSH_EVENT_CLAIM_GRANTED = 21,
  /* Another running process has claimed it, and fetches. */
  NP_PUSH_EVENT_CLAIM_BUSY = 22,
  /* It has been deleted. */
  NP_PUSH_EVENT_CLAIM_MISSING = 23,
  /* Its record is damaged; the others get their turn (INC-44). */
  NP_PUSH_EVENT_CLAIM_DAMAGED = 24,
  /* The store cannot be read or written. What is already committed is still shown. */
  NP_PUSH_EVENT_CLAIM_FAILED = 25,
  /* All connections have been checked. */
  NP_PUSH_EVENT_CLAIM_NONE_LEFT = 26,
  /* The mailbox gave a message. */
  NP_PUSH_EVENT_FETCH_MESSAGE = 27,
  /* The mailbox is empty. */
  NP_PUSH_EVENT_FETCH_EMPTY = 28,
  /* The relay cannot be reached. */
  NP_PUSH_EVENT_FETCH_OFFLINE = 29,
  /* The relay does not know the mailbox, or rejects our key. */
  NP_PUSH_EVENT_FETCH_DENIED = 30,
  /* Message, ratchet, ledger and badge are committed. */
  NP_PUSH_EVENT_COMMIT_DONE = 31,
  /* Message, ratchet, ledger and badge are committed, and a call is waiting for its user. */
  NP_PUSH_EVENT_COMMIT_CALL = 32,
  /* A call that this push did not commit is waiting for its user: the app or a command committed it, or it was recorded
  earlier and not shown. */
  NP_PUSH_EVENT_CALL_CAME = 33,
  /* A call has waited long enough; the other mailboxes are checked afterwards. */
  NP_PUSH_EVENT_CALL_WAITS = 34,
  /* A later push waits for this mailbox, which may be a call's, and the relay has not answered for a long time: the
  later push asks again. */
  NP_PUSH_EVENT_MAILBOX_TAKEN = 35,
  /* The ledger has it already; nothing changed. */
  NP_PUSH_EVENT_COMMIT_REPEAT = 36,
  /* It cannot be decrypted; it is committed as quarantined, with the reason (INC-41, INC-66). */
  NP_PUSH_EVENT_COMMIT_QUARANTINED = 37,
  /* Another process has taken the connection: our epoch is over (INC-04, INC-05). */
  NP_PUSH_EVENT_COMMIT_STALE = 38,
  /* The record of this connection is damaged. The message stays at the relay, and the other connections get their turn
  (INC-44, INC-66). */
  NP_PUSH_EVENT_COMMIT_DAMAGED = 39,
  /* The store cannot write. */
  NP_PUSH_EVENT_COMMIT_FAILED = 40,
  /* The relay has dropped the message, and does not report whether the mailbox holds more. */
  NP_PUSH_EVENT_ACKNOWLEDGED = 41,
  /* The relay did not answer. The message is committed; a repeat will be recognised. */
  NP_PUSH_EVENT_ACKNOWLEDGE_FAILED = 42,
  /* There is something to show or withdraw; it is recorded as shown. */
  NP_PUSH_EVENT_COMPOSED_SHOW = 43,
  /* Nothing that arrived should be shown, but there are placeholders for what did not arrive; they are recorded as
  announced. */
  NP_PUSH_EVENT_COMPOSED_ANNOUNCED = 44,
  /* There is nothing to show. */
  NP_PUSH_EVENT_COMPOSED_NOTHING = 45,
  /* Sending from the outboxes has ended: each entry is sent or waits for later, or the time for sending is over. */
  NP_PUSH_EVENT_SENT = 46,
  /* Time is up: the deadline is near, or the system reports it. */
  NP_PUSH_EVENT_EXPIRE = 47,
  /* The store is released. There is something to show or withdraw. */
  NP_PUSH_EVENT_RELEASED_PRESENTED = 48,
  /* The store is released. Everything is read, muted, or already recorded (INC-37). */
  NP_PUSH_EVENT_RELEASED_NOTHING_NEW = 49,
  /* The store is released. Another process fetches. */
  NP_PUSH_EVENT_RELEASED_YIELDED = 50,
  /* The store is released. The token was verified. */
  NP_PUSH_EVENT_RELEASED_VERIFIED = 51,
  /* The store is released. The device has not been unlocked yet. */
  NP_PUSH_EVENT_RELEASED_LOCKED = 52,
  /* The store is released. No relay was reached. */
  NP_PUSH_EVENT_RELEASED_OFFLINE = 53,
  /* The store is released. Time is up. */
  NP_PUSH_EVENT_RELEASED_EXPIRED = 54,
  /* The store is released. The push is about nothing known here. */
  NP_PUSH_EVENT_RELEASED_UNKNOWN = 55,
  /* The store is released. What arrived is quarantined. */
  NP_PUSH_EVENT_RELEASED_QUARANTINED = 56,
  /* The store is released. The user stopped the chat. */
  NP_PUSH_EVENT_RELEASED_STOPPED = 57,
  /* The store is released. The store is older or newer than this program. */
  NP_PUSH_EVENT_RELEASED_WRONG_SCHEMA = 58,
  /* The store is released. The store failed. */
  NP_PUSH_EVENT_RELEASED_FAILED = 59
};

enum np_push_effect {
  /* Determine which process acts. Answer: app. */
  NP_PUSH_EFFECT_READ_APP_PHASE = 0,
  /* Open the store as an extension, without migrating. Answer: store. */
  NP_PUSH_EFFECT_OPEN_STORE = 1,
  /* Decrypt the payload and look up its connections. Answer: decoded. */
  NP_PUSH_EFFECT_DECODE_PAYLOAD = 2,
  /* Record the payload with its reason. Do not show it. */
  NP_PUSH_EFFECT_QUARANTINE_PAYLOAD = 3,
  /* Raise push.verification at the token, and send the code. Answer: verify. */
  NP_PUSH_EFFECT_VERIFY_TOKEN = 4,
  /* Claim the next connection in a short transaction. Answer: claim. */
  NP_PUSH_EFFECT_CLAIM_NEXT = 5,
  /* Release the connection. */
  NP_PUSH_EFFECT_RELEASE_CLAIM = 6,
  /* Ask the relay for the next message; hold nothing in the meantime. Answer: fetch. */
  NP_PUSH_EFFECT_FETCH_MESSAGE = 7,
  /* Decrypt and commit in one transaction, under the epoch of the claim. Answer: commit. */
  NP_PUSH_EFFECT_COMMIT_MESSAGE = 8,
  /* Give the answer one second from now: raise call.waits then. */
  NP_PUSH_EFFECT_ARM_CALL_DEADLINE = 9,
  /* Drop any answer that the relay still gives, and check this mailbox again after the others. */
  NP_PUSH_EFFECT_PUT_MAILBOX_BACK = 10,
  /* Drop what was computed but could not be committed. */
  NP_PUSH_EFFECT_DISCARD_WORK = 11,
  /* Acknowledge the committed message to the relay, and have the relay report what is next if it can. Answer: fetch,
  acknowledged or acknowledgeFailed. */
  NP_PUSH_EFFECT_ACKNOWLEDGE = 12,
  /* Decide from the ledger and the policy what to show, and record it as shown in the same transaction. Answer:
  composed. */
  NP_PUSH_EFFECT_COMPOSE_CONTENT = 13,
  /* Hand the relay what waits in the outboxes, if no other push is in progress and the relay was reached; only for a
  short time. Answer: sent. */
  NP_PUSH_EFFECT_SEND_OUTBOX = 14,
  /* Like composeContent, from what is committed, without waiting and without an answer. */
  NP_PUSH_EFFECT_COMPOSE_BEST = 15,
  /* If the answer shows nothing, and it is not known what the push is about, give a notice of what is wrong and what to
  do. It contains no name. Give none on screen, where the app reports it, none for verification pushes, silent pushes
  and those of unknown form, and none for a round while one is shown. */
  NP_PUSH_EFFECT_COMPOSE_NOTICE = 16,
  /* Abandon a request, a transaction and a claim. What was not committed was not acknowledged. */
  NP_PUSH_EFFECT_CANCEL_WORK = 17,
  /* Close the store, and anything else a frozen process must not hold, unless another push is in progress; an app on
  screen keeps them. Answer: released, with the outcome. */
  NP_PUSH_EFFECT_RELEASE_STORE = 18,
  /* Give the caller content, badge, withdrawals, the outcome (the final state's name), and the trace. */
  NP_PUSH_EFFECT_ANSWER = 19
};

enum np_push_reason {
  NP_PUSH_REASON_EARLY = 0,
  NP_PUSH_REASON_LATE = 1,
  NP_PUSH_REASON_ALREADY_RELEASING = 2,
  NP_PUSH_REASON_ENDED = 3
};

/* The answer to one push, between the caller waiting for it, the deadline and the engine. Each push has its own
deadline, and is answered exactly once, even if the engine hangs in the operating system (INC-30, INC-31). What is
staged will be recorded as shown; an answer given without it leaves nothing recorded (INC-38). */
enum np_push_answer_state {
  /* The engine has not taken it up: it is busy, or everything is being released for earlier pushes. */
  NP_PUSH_ANSWER_STATE_QUEUED = 0,
  /* The engine is working on it. */
  NP_PUSH_ANSWER_STATE_RUNNING = 1,
  /* Time is up; the engine gives the best answer available. */
  NP_PUSH_ANSWER_STATE_EXPIRING = 2,
  /* What it shows is settled. The engine records it, and releases the store. */
  NP_PUSH_ANSWER_STATE_STAGED = 3,
  /* The caller has its answer. */
  NP_PUSH_ANSWER_STATE_ANSWERED = 4
};

enum np_push_answer_event {
  /* The engine takes it up: nothing is being released for earlier pushes. */
  NP_PUSH_ANSWER_EVENT_BEGIN = 0,
  /* Its time is up, by its deadline or because the host reports it. */
  NP_PUSH_ANSWER_EVENT_EXPIRE = 1,
  /* The engine has decided what the answer shows, and is about to record it as shown. */
  NP_PUSH_ANSWER_EVENT_STAGE = 2,
  /* The engine has ended the push, and has the whole answer. */
  NP_PUSH_ANSWER_EVENT_FINISH = 3,
  /* The engine has not ended the push within the time reserved for that. */
  NP_PUSH_ANSWER_EVENT_OVERDUE = 4
};

enum np_push_answer_effect {
  /* Have the engine end the push, and interrupt its waits. */
  NP_PUSH_ANSWER_EFFECT_HURRY = 0,
  /* Have the engine end the push, which has not begun. Do not interrupt other pushes. */
  NP_PUSH_ANSWER_EFFECT_WITHDRAW = 1,
  /* Keep what is staged, for an answer without the engine. */
  NP_PUSH_ANSWER_EFFECT_KEEP = 2,
  /* Answer with what was staged. */
  NP_PUSH_ANSWER_EFFECT_USE_STAGED = 3,
  /* Give the caller the answer: the engine's, the staged one, or that time was up. */
  NP_PUSH_ANSWER_EFFECT_ANSWER = 4
};

enum np_push_answer_reason {
  NP_PUSH_ANSWER_REASON_NOT_BEGUN = 0,
  NP_PUSH_ANSWER_REASON_ALREADY_BEGUN = 1,
  NP_PUSH_ANSWER_REASON_ALREADY_EXPIRING = 2,
  NP_PUSH_ANSWER_REASON_ALREADY_STAGED = 3,
  NP_PUSH_ANSWER_REASON_ENDED = 4
};

/* Work done in rounds, such as asking the relay for news: one round at a time, and one more if requested during it,
however often. What arrives after a round has looked is found by the next, and a thousand wake-ups do not cause a
thousand rounds. */
enum np_round_state {
  /* No round is in progress, and none is wanted. */
  NP_ROUND_STATE_RESTING = 0,
  /* A round is in progress. */
  NP_ROUND_STATE_GOING = 1,
  /* A round is in progress that may have looked too early. */
  NP_ROUND_STATE_GOING_AGAIN = 2
};

enum np_round_event {
  /* There may be something to do. */
  NP_ROUND_EVENT_WANTED = 0,
  /* The round has ended, whatever its result. */
  NP_ROUND_EVENT_ENDED = 1
};

enum np_round_effect {
  /* Look for work, and do it. Answer: ended. */
  NP_ROUND_EFFECT_BEGIN_ROUND = 0
};

enum np_round_reason {
  NP_ROUND_REASON_NOT_GOING = 0,
  NP_ROUND_REASON_ALREADY_WANTED = 1
};

/* A device token as the notification server knows it. A token is used only after a code pushed to it has come back, so
that no client can register another client's device. */
enum np_server_token_state {
  /* There is no such token. */
  NP_SERVER_TOKEN_STATE_NONE = 0,
  /* Stored; the code is on its way to the provider. */
  NP_SERVER_TOKEN_STATE_REGISTERED = 1,
  /* The provider accepted the code; the client has not sent it back yet. */
  NP_SERVER_TOKEN_STATE_CONFIRMED = 2,
  /* Proven: messages are pushed to it. */
  NP_SERVER_TOKEN_STATE_ACTIVE = 3,
  /* Not used for so long that its device is presumed out of use. */
  NP_SERVER_TOKEN_STATE_EXPIRED = 4,
  /* The provider reports that this is not a token. */
  NP_SERVER_TOKEN_STATE_INVALID_BAD = 5,
  /* It belongs to another app. */
  NP_SERVER_TOKEN_STATE_INVALID_TOPIC = 6,
  /* The provider reports that it has expired. */
  NP_SERVER_TOKEN_STATE_INVALID_EXPIRED = 7,
  /* The app was removed from the device. */
  NP_SERVER_TOKEN_STATE_INVALID_UNREGISTERED = 8
};

enum np_server_token_event {
  /* TNEW for a token that is not stored. */
  NP_SERVER_TOKEN_EVENT_REGISTER = 0,
  /* TNEW for a stored token, with the same keys. */
  NP_SERVER_TOKEN_EVENT_REGISTER_AGAIN = 1,
  /* TNEW for a stored token, with other keys. */
  NP_SERVER_TOKEN_EVENT_REGISTER_OTHER = 2,
  /* The provider accepted the verification push. */
  NP_SERVER_TOKEN_EVENT_PUSH_ACCEPTED = 3,
  /* The provider answers BadDeviceToken. */
  NP_SERVER_TOKEN_EVENT_PUSH_INVALID_BAD = 4,
  /* The provider answers DeviceTokenNotForTopic. */
  NP_SERVER_TOKEN_EVENT_PUSH_INVALID_TOPIC = 5,
  /* The provider answers ExpiredToken. */
  NP_SERVER_TOKEN_EVENT_PUSH_INVALID_EXPIRED = 6,
  /* The provider answers Unregistered. */
  NP_SERVER_TOKEN_EVENT_PUSH_INVALID_UNREGISTERED = 7,
  /* TVFY with the code that was sent. */
  NP_SERVER_TOKEN_EVENT_VERIFY_MATCH = 8,
  /* TVFY with another code. */
  NP_SERVER_TOKEN_EVENT_VERIFY_MISMATCH = 9,
  /* TCHK. */
  NP_SERVER_TOKEN_EVENT_CHECK = 10,
  /* TRPL with a new device token. */
  NP_SERVER_TOKEN_EVENT_REPLACE = 11,
  /* TCRN with 0, or with 20 minutes or more. */
  NP_SERVER_TOKEN_EVENT_SET_INTERVAL = 12,
  /* TCRN with 1 to 19 minutes. */
  NP_SERVER_TOKEN_EVENT_SET_INTERVAL_TOO_SHORT = 13,
  /* SNEW or SCHK. */
  NP_SERVER_TOKEN_EVENT_SUBSCRIBE = 14,
  /* A mailbox that the token watches received a message. */
  NP_SERVER_TOKEN_EVENT_MESSAGE = 15,
  /* The interval of periodic wake-ups has elapsed. */
  NP_SERVER_TOKEN_EVENT_WAKE_DUE = 16,
  /* The token has not been used for so long that its device is presumed out of use. */
  NP_SERVER_TOKEN_EVENT_STALE = 17,
  /* TDEL. */
  NP_SERVER_TOKEN_EVENT_DELETE = 18,
  /* SDEL. */
  NP_SERVER_TOKEN_EVENT_UNSUBSCRIBE = 19,
  /* TNEW for a token that is not stored, when the server has as many as it keeps. */
  NP_SERVER_TOKEN_EVENT_REGISTER_TOO_MANY = 20,
  /* The client of a token that gets no pushes has not been in contact for so long that it is given up. */
  NP_SERVER_TOKEN_EVENT_FORGET = 21
};

enum np_server_token_effect {
  /* Store the token, with a new key and a new code. */
  NP_SERVER_TOKEN_EFFECT_CREATE_TOKEN = 0,
  /* Store the new device token and a new code; subscriptions stay. */
  NP_SERVER_TOKEN_EFFECT_REPLACE_TOKEN = 1,
  /* Delete the token. */
  NP_SERVER_TOKEN_EFFECT_DELETE_TOKEN = 2,
  /* Delete other records of the same device token. */
  NP_SERVER_TOKEN_EFFECT_DELETE_OTHERS = 3,
  /* Delete the token's subscriptions. */
  NP_SERVER_TOKEN_EFFECT_DELETE_SUBSCRIPTIONS = 4,
  /* Push the code, encrypted. Answer: push. */
  NP_SERVER_TOKEN_EFFECT_SEND_VERIFICATION = 5,
  /* Push the last notifications, encrypted. Answer: push. */
  NP_SERVER_TOKEN_EFFECT_SEND_MESSAGE = 6,
  /* Push a wake-up. Answer: push. */
  NP_SERVER_TOKEN_EFFECT_SEND_WAKE = 7,
  /* Store the interval. */
  NP_SERVER_TOKEN_EFFECT_SAVE_INTERVAL = 8,
  /* Store the status. */
  NP_SERVER_TOKEN_EFFECT_SAVE_STATUS = 9,
  /* Answer with the token's id and key (IDTKN). */
  NP_SERVER_TOKEN_EFFECT_REPLY_TOKEN = 10,
  /* Answer with the status (TKN). */
  NP_SERVER_TOKEN_EFFECT_REPLY_STATUS = 11,
  /* Answer OK. */
  NP_SERVER_TOKEN_EFFECT_REPLY_OK = 12,
  /* Carry out the subscription command. */
  NP_SERVER_TOKEN_EFFECT_ADMIT_SUBSCRIPTION = 13
};

enum np_server_token_reason {
  NP_SERVER_TOKEN_REASON_AUTH = 0,
  NP_SERVER_TOKEN_REASON_NO_TOKEN = 1,
  NP_SERVER_TOKEN_REASON_QUOTA = 2,
  NP_SERVER_TOKEN_REASON_NOT_ACTIVE = 3,
  NP_SERVER_TOKEN_REASON_ALREADY_CONFIRMED = 4,
  NP_SERVER_TOKEN_REASON_ALREADY_ACTIVE = 5,
  NP_SERVER_TOKEN_REASON_LATE = 6,
  NP_SERVER_TOKEN_REASON_ALREADY_EXPIRED = 7,
  NP_SERVER_TOKEN_REASON_ALREADY_INVALID = 8
};

/* The subscription of one connection at the notification server, as the client keeps it: the relay must know a notifier
key for the mailbox, the server must watch the mailbox with it, and this is checked from time to time, since servers
forget (INC-64, INC-67). It needs an active token, the mode instant, and a chat and a profile that notify; create is
raised only then, and turnOff when one of them ends: muted or hidden chats get no push, even if the store cannot be read
when it would arrive. Each request has a state in which it is due and one in which it is in progress, so nothing is
requested twice at the same time. The state is stored with the connection, but a request ends with the relay that
carries it. A process that finds one in progress, left by another process or an earlier relay, raises the event that it
is lost: the request is then due again, and is repeated. An answer counts only for the notifier key used in its request.
*/
enum np_subscription_state {
  /* The relay must be given a notifier key. */
  NP_SUBSCRIPTION_STATE_NEW = 0,
  /* The relay is being given a notifier key. */
  NP_SUBSCRIPTION_STATE_ENABLING = 1,
  /* The relay has the key; the server must be asked to watch. */
  NP_SUBSCRIPTION_STATE_KEY = 2,
  /* The server is being asked. */
  NP_SUBSCRIPTION_STATE_SUBSCRIBING = 3,
  /* The server has it, and has not asked the relay yet. */
  NP_SUBSCRIPTION_STATE_CREATED_NEW = 4,
  /* The server is asking the relay. */
  NP_SUBSCRIPTION_STATE_CREATED_PENDING = 5,
  /* The server watches the mailbox. */
  NP_SUBSCRIPTION_STATE_CREATED_ACTIVE = 6,
  /* The server has lost the relay, and tries again. */
  NP_SUBSCRIPTION_STATE_CREATED_INACTIVE = 7,
  /* The server had it, and is being asked whether it still does. */
  NP_SUBSCRIPTION_STATE_CHECKING = 8,
  /* The server had it, and has not answered whether it still does. */
  NP_SUBSCRIPTION_STATE_UNCHECKED = 9,
  /* Turned off on purpose: the relay must drop the notifier key, which stays stored until then. */
  NP_SUBSCRIPTION_STATE_TURNING_OFF = 10,
  /* The relay is being asked to drop the key. Until then the mailbox is given no other notifier, which this request
  would remove. */
  NP_SUBSCRIPTION_STATE_RELEASING = 11,
  /* Turned off, and released by the relay. */
  NP_SUBSCRIPTION_STATE_OFF = 12,
  /* The record has been deleted. */
  NP_SUBSCRIPTION_STATE_DELETED = 13
};

enum np_subscription_event {
  /* The supervisor wants this subscription. */
  NP_SUBSCRIPTION_EVENT_CREATE = 0,
  /* The relay took the notifier key (NKEY). */
  NP_SUBSCRIPTION_EVENT_NOTIFIER_ENABLED = 1,
  /* No answer, or one that asks to try again. */
  NP_SUBSCRIPTION_EVENT_NOTIFIER_FAILED_TEMPORARY = 2,
  /* No answer will come: its relay was closed, its process ended, or its token was given up. */
  NP_SUBSCRIPTION_EVENT_NOTIFIER_LOST = 3,
  /* The relay refuses. */
  NP_SUBSCRIPTION_EVENT_NOTIFIER_FAILED_PERMANENT = 4,
  /* The server took the subscription (SNEW). */
  NP_SUBSCRIPTION_EVENT_SUBSCRIBE_OK = 5,
  /* No answer, or one that asks to try again. */
  NP_SUBSCRIPTION_EVENT_SUBSCRIBE_FAILED_TEMPORARY = 6,
  /* No answer will come. */
  NP_SUBSCRIPTION_EVENT_SUBSCRIBE_LOST = 7,
  /* The server refuses. */
  NP_SUBSCRIPTION_EVENT_SUBSCRIBE_FAILED_PERMANENT = 8,
  /* The relay or the server does not know the keys. */
  NP_SUBSCRIPTION_EVENT_SUBSCRIBE_AUTH_ERROR = 9,
  /* It is time to ask the server. */
  NP_SUBSCRIPTION_EVENT_CHECK_DUE = 10,
  /* The server reports: new. */
  NP_SUBSCRIPTION_EVENT_CHECK_NEW = 11,
  /* The server reports: it is asking the relay. */
  NP_SUBSCRIPTION_EVENT_CHECK_PENDING = 12,
  /* The server reports: it watches. */
  NP_SUBSCRIPTION_EVENT_CHECK_ACTIVE = 13,
  /* The server reports that it has lost the relay for now. */
  NP_SUBSCRIPTION_EVENT_CHECK_INACTIVE = 14,
  /* The server reports: ended, deleted, not authorised, or failed. */
  NP_SUBSCRIPTION_EVENT_CHECK_ENDED = 15,
  /* No answer, or one that asks to try again. */
  NP_SUBSCRIPTION_EVENT_CHECK_FAILED_TEMPORARY = 16,
  /* No answer will come. */
  NP_SUBSCRIPTION_EVENT_CHECK_LOST = 17,
  /* The server knows the device under a new token id. */
  NP_SUBSCRIPTION_EVENT_TOKEN_REPLACED = 18,
  /* The connection must no longer notify. */
  NP_SUBSCRIPTION_EVENT_TURN_OFF = 19,
  /* The relay must be asked to drop the notifier key, by a process that may ask. */
  NP_SUBSCRIPTION_EVENT_RELEASE_DUE = 20,
  /* The relay has dropped the notifier key; the request to the server is queued. */
  NP_SUBSCRIPTION_EVENT_TURNED_OFF = 21,
  /* No answer to the release, or one that asks to try again. */
  NP_SUBSCRIPTION_EVENT_RELEASE_FAILED_TEMPORARY = 22,
  /* No answer will come. */
  NP_SUBSCRIPTION_EVENT_RELEASE_LOST = 23,
  /* The connection was deleted; only the record is left. */
  NP_SUBSCRIPTION_EVENT_FORGET = 24
};

enum np_subscription_effect {
  /* Make keys for this mailbox, and store them. */
  NP_SUBSCRIPTION_EFFECT_MAKE_NOTIFIER_KEYS = 0,
  /* Store the notifier id and the relay's key. */
  NP_SUBSCRIPTION_EFFECT_SAVE_NOTIFIER = 1,
  /* Store the status; it is shown as the subscription's health (INC-67). */
  NP_SUBSCRIPTION_EFFECT_SAVE_STATUS = 2,
  /* Store why the subscription has to be made anew (the name of the event), and when that was noticed. */
  NP_SUBSCRIPTION_EFFECT_SAVE_REASON = 3,
  /* Queue the request that the server forget it (SDEL). */
  NP_SUBSCRIPTION_EFFECT_QUEUE_RELEASE = 4,
  /* Delete the notifier's keys. Its id stays until there is another, for a push that is still in transit. */
  NP_SUBSCRIPTION_EFFECT_FORGET_NOTIFIER = 5,
  /* Delete the record. */
  NP_SUBSCRIPTION_EFFECT_DELETE_RECORD = 6,
  /* Give the relay the notifier key (NKEY). Answer: notifier. */
  NP_SUBSCRIPTION_EFFECT_ENABLE_NOTIFIER = 7,
  /* Have the relay drop the notifier key (NDEL). Answer: turnedOff or release. */
  NP_SUBSCRIPTION_EFFECT_DISABLE_NOTIFIER = 8,
  /* Have the server watch (SNEW), together with others. Answer: subscribe. */
  NP_SUBSCRIPTION_EFFECT_SUBSCRIBE_AT_SERVER = 9,
  /* Ask the server (SCHK), together with others. Answer: check. */
  NP_SUBSCRIPTION_EFFECT_CHECK_AT_SERVER = 10,
  /* Raise release.due, if this process is the one to ask: an extension leaves it to the app. */
  NP_SUBSCRIPTION_EFFECT_REQUEST_RELEASE = 11,
  /* Offer the queued requests to the relay until it has them. */
  NP_SUBSCRIPTION_EFFECT_SEND_QUEUED = 12,
  /* Raise create, if a subscription is wanted again. */
  NP_SUBSCRIPTION_EFFECT_SUBSCRIBE_AGAIN = 13,
  /* Raise check.due in a day, within any server's expiry (INC-64). */
  NP_SUBSCRIPTION_EFFECT_SCHEDULE_CHECK = 14,
  /* Have what is due asked again later, after a growing delay. */
  NP_SUBSCRIPTION_EFFECT_SCHEDULE_RETRY = 15,
  /* Report the status (subscriptionStatus), together with others, unless it is the one last reported. */
  NP_SUBSCRIPTION_EFFECT_REPORT_STATUS = 16,
  /* Report the refusal (subscriptionStatus), and log it. */
  NP_SUBSCRIPTION_EFFECT_REPORT_ERROR = 17
};

enum np_subscription_reason {
  NP_SUBSCRIPTION_REASON_STALE = 0,
  NP_SUBSCRIPTION_REASON_UNDER_WAY = 1,
  NP_SUBSCRIPTION_REASON_ALREADY_OFF = 2,
  NP_SUBSCRIPTION_REASON_ENDED = 3
};

/* The device token as the client knows it. The app registers it; the server proves by an encrypted push that the token
and the device belong together, and only then uses it. The extension may verify as well, since the app may not be
running (INC-62). Intent is recorded and retried (INC-68), and an active token is checked, so that a token dropped by
the provider is noticed (INC-63). Such a token is registered anew automatically: after a growing delay, at each start,
and once a day. The host is notified of each status and the reason for it. The state is stored with the token, and a
step that records something is taken in the transaction that stores it. An attempt to register or replace is a
reservation in the same transaction; its answer counts only while no other process has begun one since (INC-09). */
enum np_token_status_state {
  /* There is no token. */
  NP_TOKEN_STATUS_STATE_NONE = 0,
  /* Stored, not yet known to the server. */
  NP_TOKEN_STATUS_STATE_NEW = 1,
  /* The server has it, and sends the verification push. */
  NP_TOKEN_STATUS_STATE_REGISTERED = 2,
  /* The code has arrived, and is on its way to the server. */
  NP_TOKEN_STATUS_STATE_CONFIRMED = 3,
  /* Proven: the server sends pushes to it. */
  NP_TOKEN_STATUS_STATE_ACTIVE = 4,
  /* The server gave the token up. */
  NP_TOKEN_STATUS_STATE_EXPIRED = 5,
  /* The provider refuses the token. */
  NP_TOKEN_STATUS_STATE_INVALID = 6,
  /* The provider reports that this is not a token. */
  NP_TOKEN_STATUS_STATE_INVALID_BAD = 7,
  /* The token belongs to another app. */
  NP_TOKEN_STATUS_STATE_INVALID_TOPIC = 8,
  /* The token has expired; the system has another. */
  NP_TOKEN_STATUS_STATE_INVALID_EXPIRED = 9,
  /* The app was removed, or lost its permission. */
  NP_TOKEN_STATUS_STATE_INVALID_UNREGISTERED = 10
};

enum np_token_status_event {
  /* The host registers the first device token, or one other than the stored one. */
  NP_TOKEN_STATUS_EVENT_REGISTER_NEW_TOKEN = 0,
  /* The host registers the stored token again. */
  NP_TOKEN_STATUS_EVENT_REGISTER_SAME_TOKEN = 1,
  /* The server took the token (TNEW), and is about to send the verification push. */
  NP_TOKEN_STATUS_EVENT_REGISTER_OK = 2,
  /* No answer, or one that asks to try again. */
  NP_TOKEN_STATUS_EVENT_REGISTER_FAILED_TEMPORARY = 3,
  /* The server refuses the token. */
  NP_TOKEN_STATUS_EVENT_REGISTER_FAILED_PERMANENT = 4,
  /* The server replaced the old token with the new one (TRPL). */
  NP_TOKEN_STATUS_EVENT_REPLACE_OK = 5,
  /* No answer, or one that asks to try again. */
  NP_TOKEN_STATUS_EVENT_REPLACE_FAILED_TEMPORARY = 6,
  /* The server no longer knows the old token. */
  NP_TOKEN_STATUS_EVENT_REPLACE_FAILED_PERMANENT = 7,
  /* A verification push was decrypted, and gives the code. */
  NP_TOKEN_STATUS_EVENT_PUSH_VERIFICATION = 8,
  /* The server took the code (TVFY). */
  NP_TOKEN_STATUS_EVENT_VERIFY_OK = 9,
  /* The server does not know this token, or the code is a different one. */
  NP_TOKEN_STATUS_EVENT_VERIFY_AUTH_ERROR = 10,
  /* No answer, or one that asks to try again. */
  NP_TOKEN_STATUS_EVENT_VERIFY_FAILED_TEMPORARY = 11,
  /* It is time to ask the server about the token. */
  NP_TOKEN_STATUS_EVENT_CHECK_DUE = 12,
  /* The server reports: active. */
  NP_TOKEN_STATUS_EVENT_CHECK_ACTIVE = 13,
  /* The server reports: new, registered or confirmed; it waits for a code. */
  NP_TOKEN_STATUS_EVENT_CHECK_UNVERIFIED = 14,
  /* The server reports: expired. */
  NP_TOKEN_STATUS_EVENT_CHECK_EXPIRED = 15,
  /* The provider refused the token without giving a reason. */
  NP_TOKEN_STATUS_EVENT_CHECK_INVALID_NO_REASON = 16,
  /* The provider reports that this is not a token. */
  NP_TOKEN_STATUS_EVENT_CHECK_INVALID_BAD = 17,
  /* The provider reports that the token belongs to another app. */
  NP_TOKEN_STATUS_EVENT_CHECK_INVALID_TOPIC = 18,
  /* The provider reports that the token has expired. */
  NP_TOKEN_STATUS_EVENT_CHECK_INVALID_EXPIRED = 19,
  /* The provider reports that the app was removed, or has lost its permission. */
  NP_TOKEN_STATUS_EVENT_CHECK_INVALID_UNREGISTERED = 20,
  /* The server does not know this token. */
  NP_TOKEN_STATUS_EVENT_CHECK_AUTH_ERROR = 21,
  /* No answer, or one that asks to try again. */
  NP_TOKEN_STATUS_EVENT_CHECK_FAILED_TEMPORARY = 22,
  /* The last request got no answer, and must be repeated. */
  NP_TOKEN_STATUS_EVENT_RETRY = 23,
  /* The chat starts, or a day has passed: unfinished requests must be taken up, and the server asked about what it has.
  */
  NP_TOKEN_STATUS_EVENT_TAKE_UP = 24,
  /* The user wants a push for each message. */
  NP_TOKEN_STATUS_EVENT_MODE_INSTANT = 25,
  /* The user wants a periodic wake-up only. */
  NP_TOKEN_STATUS_EVENT_MODE_PERIODIC = 26,
  /* The user turns notifications off. */
  NP_TOKEN_STATUS_EVENT_DELETE = 27
};

enum np_token_status_effect {
  /* Choose a server, make the keys, and store the token. When replacing a record that was just forgotten, keep its
  device token and mode, which may be newer than the request being answered. */
  NP_TOKEN_STATUS_EFFECT_CREATE_RECORD = 0,
  /* Delete the token, its keys and its server. */
  NP_TOKEN_STATUS_EFFECT_FORGET_RECORD = 1,
  /* Store the new device token in place of the one known to the server. */
  NP_TOKEN_STATUS_EFFECT_SAVE_DEVICE_TOKEN = 2,
  /* Begin an attempt to register: results of an earlier attempt are refused from now on (INC-09), and a process that
  finds this one open asks again. */
  NP_TOKEN_STATUS_EFFECT_RESERVE_REGISTER = 3,
  /* Begin an attempt to replace, under the same rules. */
  NP_TOKEN_STATUS_EFFECT_RESERVE_REPLACE = 4,
  /* Queue the request that the server forget the token (TDEL). */
  NP_TOKEN_STATUS_EFFECT_QUEUE_DELETE = 5,
  /* Queue the request for periodic wake-ups (TCRN), 20 minutes: the server gets it, whatever happens to this process.
  */
  NP_TOKEN_STATUS_EFFECT_QUEUE_INTERVAL = 6,
  /* Store the id and the key given by the server. Under a new id nothing is subscribed yet, so every subscription gets
  tokenReplaced. */
  NP_TOKEN_STATUS_EFFECT_SAVE_SERVER_TOKEN = 7,
  /* Store the verification code, so that it survives the process. */
  NP_TOKEN_STATUS_EFFECT_SAVE_CODE = 8,
  /* Store the mode. */
  NP_TOKEN_STATUS_EFFECT_SAVE_MODE = 9,
  /* Raise turnOff at the subscriptions of all connections. */
  NP_TOKEN_STATUS_EFFECT_TURN_OFF_SUBSCRIPTIONS = 10,
  /* Store the status. A waiting host is answered with it once no request is outstanding. */
  NP_TOKEN_STATUS_EFFECT_SAVE_STATUS = 11,
  /* Store why the token needs repair (the name of the event), and when that was noticed. */
  NP_TOKEN_STATUS_EFFECT_SAVE_REASON = 12,
  /* End the requests in progress: their answers go to a mailbox that is given up. */
  NP_TOKEN_STATUS_EFFECT_ABANDON_REQUESTS = 13,
  /* Ask the server to take the token (TNEW). Answer: register. */
  NP_TOKEN_STATUS_EFFECT_SEND_REGISTER = 14,
  /* Ask the server to replace the old token with the new one (TRPL). Answer: replace. */
  NP_TOKEN_STATUS_EFFECT_SEND_REPLACE = 15,
  /* Send the stored code (TVFY). Answer: verify. */
  NP_TOKEN_STATUS_EFFECT_SEND_VERIFY = 16,
  /* Ask for the status (TCHK). Answer: check. */
  NP_TOKEN_STATUS_EFFECT_SEND_CHECK = 17,
  /* Offer the queued requests to the relay until it has them. */
  NP_TOKEN_STATUS_EFFECT_SEND_QUEUED = 18,
  /* Subscribe all connections, if the stored status is active and the mode is instant. */
  NP_TOKEN_STATUS_EFFECT_CREATE_SUBSCRIPTIONS = 19,
  /* Raise retry later, after a growing delay (INC-65, INC-68). */
  NP_TOKEN_STATUS_EFFECT_SCHEDULE_RETRY = 20,
  /* Raise takeUp in a day (INC-63). */
  NP_TOKEN_STATUS_EFFECT_SCHEDULE_CHECK = 21,
  /* Raise retry after a delay that doubles with each repair, up to a day; an active token ends the series. A provider
  that refuses the token for good is not asked continuously. */
  NP_TOKEN_STATUS_EFFECT_SCHEDULE_REPAIR = 22,
  /* Begin the next repair with the shortest delay: the token works. */
  NP_TOKEN_STATUS_EFFECT_END_REPAIR = 23,
  /* Report the status and the reason (ntfTokenStatus), unless they are the ones last reported. */
  NP_TOKEN_STATUS_EFFECT_REPORT_STATUS = 24,
  /* Pass the server's error to the host. */
  NP_TOKEN_STATUS_EFFECT_REPORT_ERROR = 25
};

enum np_token_status_reason {
  NP_TOKEN_STATUS_REASON_NO_TOKEN = 0,
  NP_TOKEN_STATUS_REASON_STALE = 1,
  NP_TOKEN_STATUS_REASON_NO_SERVER_KEY = 2,
  NP_TOKEN_STATUS_REASON_ALREADY_ACTIVE = 3,
  NP_TOKEN_STATUS_REASON_TOKEN_UNUSABLE = 4
};

/* A single-use value: another user's invitation (INC-08), or an attempt to register the token (INC-09). It is reserved
in a transaction before the use, and marked as used in the transaction that records the result. A process that is frozen
or killed in between leaves a reservation, which the next process takes over under a new epoch. */
enum np_value_reservation_state {
  /* Not recorded. */
  NP_VALUE_RESERVATION_STATE_FREE = 0,
  /* A process has begun to use it. */
  NP_VALUE_RESERVATION_STATE_RESERVED = 1,
  /* A use failed for good; the value may be used by another attempt. */
  NP_VALUE_RESERVATION_STATE_UNDONE = 2,
  /* It can never be used again. */
  NP_VALUE_RESERVATION_STATE_USED = 3
};

enum np_value_reservation_event {
  /* A process is about to use the value. */
  NP_VALUE_RESERVATION_EVENT_WANT = 0,
  /* The value has been used, and the result is being recorded. */
  NP_VALUE_RESERVATION_EVENT_USE = 1,
  /* The value was not used, and still may be. */
  NP_VALUE_RESERVATION_EVENT_UNDO = 2
};

enum np_value_reservation_effect {
  /* Write the next epoch, the owner, and the material needed to finish the use. */
  NP_VALUE_RESERVATION_EFFECT_RESERVE = 0,
  /* Write the next epoch and the owner; keep the material of the process that first reserved the value, unless a later
  command wants something else, which replaces it afterwards. What an earlier owner still does is refused. */
  NP_VALUE_RESERVATION_EFFECT_TAKE_OVER = 1,
  /* Erase the material, which is no longer needed; the epoch stays, so an earlier owner stays out. Attempts to register
  a token draw a new value each time, and a new one deletes all earlier rows: an owner without a row is refused, too. */
  NP_VALUE_RESERVATION_EFFECT_ERASE_MATERIAL = 2
};

enum np_value_reservation_reason {
  NP_VALUE_RESERVATION_REASON_NOT_RESERVED = 0,
  NP_VALUE_RESERVATION_REASON_ENDED = 1
};

#endif /* NIGHTPORTER_MACHINES_H */
