/* An app leaves the screen: does the network come to rest before the store, and everything before the suspension is reported?
 *
 * One process, with the machines `app_phase`, `chat_lifecycle` and `operations` as compiled from spec/machines, composed as in
 * the engine: one FIFO queue; effects in the order of the files. At any moment a host may send the app to the foreground, to the
 * background, into a suspension or into a background round, or stop it. Work of each kind begins when admitted and ends at any
 * time. In every order:
 *
 *   The kinds of work come to rest in their order, and a kind that has come to rest does not begin again before the network is
 *   allowed. Transactions end last. Work is given up only at a deadline, or when everything must be released now.
 *   With the network stopped only transactions are in progress, the relay is released, and a transaction may begin.
 *   In the background the store is open, the phase file's lock is free, and the timer that suspends the app is running.
 *   A suspended process has no store, no relay, no lock and no work.
 *   No machine refuses an event that another one raises.
 *
 * BackgroundModelTests runs it, and removes the rules one at a time (BackgroundMutant). The run must find each removal.
 *
 * Simplified: the store opens, is read and closes without failure; no other process wants the phase file.
 */
#define PORTER_WORLD

/* Carried out after the step, in this order. */
chan effects = [8] of { byte };
#define app_phase_does(effect) effects!effect
#define chat_lifecycle_does(effect) effects!effect
#define operations_does(effect) effects!effect

#include "generated/app_phase.pml"
#include "generated/chat_lifecycle.pml"
#include "generated/operations.pml"

#define PHASE 0
#define CHAT 1
#define OPERATIONS 2

/* In the order of coming to rest. */
#define NOTIFICATIONS 0
#define RECEIVING 1
#define DELIVERY 2
#define SENDING 3
#define DATABASE 4
#define NONE 255

chan queue = [8] of { byte, byte };

byte phase = app_phase_initial;
byte chat = chat_lifecycle_initial;
byte operations = operations_initial;
byte work;                  /* one bit for each kind in progress */
byte rested;                /* one bit for each kind that has come to rest since work was last allowed */
byte machine, event, effect, answer, asked = NONE;
bool storeIsOpen, relayIsOpen, hasLock, isTimed, isRefreshing, isArmed, entersByStart;

#define NETWORK ((1 << NOTIFICATIONS) | (1 << RECEIVING) | (1 << DELIVERY) | (1 << SENDING))
#define isUnderWay(kind) ((work >> (kind)) & 1)

inline answerIfIdle(kind, idle) {
  if :: !isUnderWay(kind) -> queue!OPERATIONS, idle :: else fi
}

/* The effects of one step. */
inline doOperations() {
  if
  :: effect == operations_do_admit ->
     assert(asked != NONE && !((rested >> asked) & 1));
     work = work | (1 << asked)
  :: effect == operations_do_awaitNotifications -> answerIfIdle(NOTIFICATIONS, operations_on_idleNotifications)
  :: effect == operations_do_awaitReceiving -> answerIfIdle(RECEIVING, operations_on_idleReceiving)
  :: effect == operations_do_awaitDelivery -> answerIfIdle(DELIVERY, operations_on_idleDelivery)
  :: effect == operations_do_awaitSending -> answerIfIdle(SENDING, operations_on_idleSending)
  :: effect == operations_do_awaitDatabase -> answerIfIdle(DATABASE, operations_on_idleDatabase)
  :: effect == operations_do_armDeadline -> isArmed = true
  :: effect == operations_do_cancelDeadline -> isArmed = false
  :: effect == operations_do_giveUpWork ->
     assert(work == 0 || event == operations_on_deadline || event == operations_on_suspendNow);
     work = 0; relayIsOpen = false
  :: effect == operations_do_reportQuiescent -> queue!CHAT, chat_lifecycle_on_drained
  :: effect == operations_do_releaseRelay ->
     assert(!(work & NETWORK));
     relayIsOpen = false
  fi
}

/* The machine's state determines which kinds have come to rest. */
inline noteRest() {
  if
  :: operations == operations_state_running || operations == operations_state_storeOnly -> rested = 0
  :: operations == operations_state_stoppingReceiving || operations == operations_state_drainingReceiving -> rested = 1
  :: operations == operations_state_stoppingDelivery || operations == operations_state_drainingDelivery -> rested = 3
  :: operations == operations_state_stoppingSending || operations == operations_state_drainingSending -> rested = 7
  :: operations == operations_state_networkStopped || operations == operations_state_drainingDatabase -> rested = 15
  :: operations == operations_state_quiescent -> rested = 31
  :: else
  fi;
  /* No work of a resting kind is in progress. */
  assert(!(work & rested))
}

inline beginWork() {
  storeIsOpen = true; relayIsOpen = true;
  queue!OPERATIONS, operations_on_open;
  queue!OPERATIONS, operations_on_resume
}

inline doChat() {
  if
  :: effect == chat_lifecycle_do_openStore -> storeIsOpen = true; queue!OPERATIONS, operations_on_open
  :: effect == chat_lifecycle_do_closeStore ->
     storeIsOpen = false
  :: effect == chat_lifecycle_do_startWork -> beginWork(); queue!CHAT, chat_lifecycle_on_started
  :: effect == chat_lifecycle_do_resumeWork -> beginWork(); queue!CHAT, chat_lifecycle_on_activated
  :: effect == chat_lifecycle_do_drainWork -> queue!OPERATIONS, operations_on_suspend
  :: effect == chat_lifecycle_do_cancelWork -> queue!OPERATIONS, operations_on_suspendNow
  :: effect == chat_lifecycle_do_allowStore -> queue!OPERATIONS, operations_on_open
  :: effect == chat_lifecycle_do_stopNetwork -> queue!OPERATIONS, operations_on_stopNetwork
  :: effect == chat_lifecycle_do_reportActive -> queue!PHASE, app_phase_on_activated
  :: effect == chat_lifecycle_do_reportInactive -> queue!PHASE, app_phase_on_activateFailed
  :: effect == chat_lifecycle_do_reportSuspended -> queue!PHASE, app_phase_on_chatSuspended
  :: effect == chat_lifecycle_do_stopReceiving || effect == chat_lifecycle_do_emitChatSuspended
  fi
}

inline doPhase() {
  if
  :: effect == app_phase_do_publishWorking -> hasLock = true
  :: effect == app_phase_do_publishResting -> hasLock = false
  :: effect == app_phase_do_activateChat ->
     queue!CHAT, (entersByStart -> chat_lifecycle_on_start : chat_lifecycle_on_activate)
  :: effect == app_phase_do_suspendChat -> queue!CHAT, chat_lifecycle_on_suspend
  :: effect == app_phase_do_suspendChatNow -> queue!CHAT, chat_lifecycle_on_suspendNow
  :: effect == app_phase_do_stopChat -> queue!CHAT, chat_lifecycle_on_stop
  :: effect == app_phase_do_stopNetwork -> queue!CHAT, chat_lifecycle_on_background
  :: effect == app_phase_do_armBackground -> isTimed = true
  :: effect == app_phase_do_cancelBackground -> isTimed = false
  :: effect == app_phase_do_startRefresh -> isRefreshing = true
  :: effect == app_phase_do_cancelRefresh -> isRefreshing = false
  :: effect == app_phase_do_askExtensionToYield || effect == app_phase_do_takeUpWork ||
     effect == app_phase_do_showCalls
  fi
}

/* Processes all consequences of one call, and then the end of the turn, in which the engine notices ended work. */
inline settle() {
  do
  :: nempty(queue) ->
     queue?machine, event;
     answer = 0;
     if
     :: machine == PHASE ->
        app_phase_step(phase, event, answer);
        do :: effects?effect -> doPhase() :: empty(effects) -> break od
     :: machine == CHAT ->
        chat_lifecycle_step(chat, event, answer);
        do :: effects?effect -> doChat() :: empty(effects) -> break od
     :: machine == OPERATIONS ->
        operations_step(operations, event, answer);
        do :: effects?effect -> doOperations() :: empty(effects) -> break od;
        noteRest()
     fi;
     if
     :: asked == NONE -> assert(answer != 0 && answer != REFUSED)
     :: else ->
        /* A request to begin work changes no state. In the background a transaction may begin. */
        assert(answer == STAYED || answer == REFUSED);
        assert(answer == STAYED || asked != DATABASE || phase != app_phase_state_background)
     fi;
     asked = NONE
  :: empty(queue) ->
     if
     :: ((operations == operations_state_stoppingNotifications || operations == operations_state_drainingNotifications)
         && !isUnderWay(NOTIFICATIONS)) -> queue!OPERATIONS, operations_on_idleNotifications
     :: ((operations == operations_state_stoppingReceiving || operations == operations_state_drainingReceiving)
         && !isUnderWay(RECEIVING)) -> queue!OPERATIONS, operations_on_idleReceiving
     :: ((operations == operations_state_stoppingDelivery || operations == operations_state_drainingDelivery)
         && !isUnderWay(DELIVERY)) -> queue!OPERATIONS, operations_on_idleDelivery
     :: ((operations == operations_state_stoppingSending || operations == operations_state_drainingSending)
         && !isUnderWay(SENDING)) -> queue!OPERATIONS, operations_on_idleSending
     :: (operations == operations_state_drainingDatabase && !isUnderWay(DATABASE)) ->
        queue!OPERATIONS, operations_on_idleDatabase
     :: else -> break
     fi
  od;
  machine = 0; event = 0; effect = 0; answer = 0
}

/* Must hold whenever the engine is idle. */
inline check() {
  assert((phase == app_phase_state_background) == (chat == chat_lifecycle_state_background));
  assert((phase == app_phase_state_background) == isTimed);
  assert((phase == app_phase_state_bgRefresh) == isRefreshing);
  if
  :: phase == app_phase_state_background -> assert(storeIsOpen && !hasLock)
  :: phase == app_phase_state_suspended && chat != chat_lifecycle_state_opened ->
     assert(!storeIsOpen && !relayIsOpen && !hasLock && work == 0)
  :: else
  fi;
  assert(chat != chat_lifecycle_state_suspending || isArmed);
  if
  :: operations == operations_state_networkStopped -> assert(!(work & NETWORK) && !relayIsOpen)
  :: operations == operations_state_running -> assert(relayIsOpen && storeIsOpen)
  :: operations == operations_state_quiescent -> assert(work == 0 && !relayIsOpen)
  :: else
  fi
}

inline begin(kind, begins) { asked = kind; queue!OPERATIONS, begins }

active proctype app() {
  do
  :: atomic {
       if
       /* The host, unless the machine refuses it. */
       :: entersByStart = (chat == chat_lifecycle_state_closed || chat == chat_lifecycle_state_opened
            || chat == chat_lifecycle_state_stopped || chat == chat_lifecycle_state_stopping);
          if
          :: phase == app_phase_state_stopped -> queue!PHASE, app_phase_on_startConfirmed
          :: else ->
             if
             :: queue!PHASE, app_phase_on_foregroundExtensionInactive
             :: queue!PHASE, app_phase_on_foregroundExtensionActive
             fi
          fi
       :: queue!PHASE, app_phase_on_background
       :: queue!PHASE, app_phase_on_suspend
       :: queue!PHASE, app_phase_on_suspendNow
       :: queue!PHASE, app_phase_on_stop
       :: queue!CHAT, chat_lifecycle_on_open
       :: (chat == chat_lifecycle_state_closed || chat == chat_lifecycle_state_opened || chat == chat_lifecycle_state_stopped) ->
          queue!CHAT, chat_lifecycle_on_close
       :: phase != app_phase_state_active && phase != app_phase_state_stopped ->
          entersByStart = true; queue!PHASE, app_phase_on_refreshBegan
       :: isTimed -> isTimed = false; queue!PHASE, app_phase_on_backgroundOver
       :: isRefreshing -> isRefreshing = false; queue!PHASE, app_phase_on_refreshOver
       :: isArmed -> isArmed = false; queue!OPERATIONS, operations_on_deadline
       /* Work. */
       :: !isUnderWay(NOTIFICATIONS) -> begin(NOTIFICATIONS, operations_on_beginNotifications)
       :: !isUnderWay(RECEIVING) -> begin(RECEIVING, operations_on_beginReceiving)
       :: !isUnderWay(DELIVERY) -> begin(DELIVERY, operations_on_beginDelivery)
       :: !isUnderWay(SENDING) -> begin(SENDING, operations_on_beginSending)
       :: !isUnderWay(DATABASE) -> begin(DATABASE, operations_on_beginDatabase)
       :: isUnderWay(NOTIFICATIONS) -> work = work - (1 << NOTIFICATIONS)
       :: isUnderWay(RECEIVING) -> work = work - (1 << RECEIVING)
       :: isUnderWay(DELIVERY) -> work = work - (1 << DELIVERY)
       :: isUnderWay(SENDING) -> work = work - (1 << SENDING)
       :: isUnderWay(DATABASE) -> work = work - (1 << DATABASE)
       fi;
       settle();
       check()
     }
  od
}
