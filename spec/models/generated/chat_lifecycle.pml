/* Generated from spec/machines/chat_lifecycle.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and chat_lifecycle_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define chat_lifecycle_state_closed 0
#define chat_lifecycle_state_stillOpen 1
#define chat_lifecycle_state_opened 2
#define chat_lifecycle_state_starting 3
#define chat_lifecycle_state_active 4
#define chat_lifecycle_state_suspending 5
#define chat_lifecycle_state_suspended 6
#define chat_lifecycle_state_suspendedStillOpen 7
#define chat_lifecycle_state_activating 8
#define chat_lifecycle_state_stopping 9
#define chat_lifecycle_state_stopped 10
#define chat_lifecycle_state_background 11
#define chat_lifecycle_state_dozing 12

#define chat_lifecycle_on_open 0
#define chat_lifecycle_on_openFailed 1
#define chat_lifecycle_on_close 2
#define chat_lifecycle_on_closeFailed 3
#define chat_lifecycle_on_start 4
#define chat_lifecycle_on_started 5
#define chat_lifecycle_on_startFailedClosed 6
#define chat_lifecycle_on_startFailedUnreadable 7
#define chat_lifecycle_on_activate 8
#define chat_lifecycle_on_activated 9
#define chat_lifecycle_on_activateFailed 10
#define chat_lifecycle_on_suspend 11
#define chat_lifecycle_on_suspendNow 12
#define chat_lifecycle_on_doze 13
#define chat_lifecycle_on_dozeFailed 14
#define chat_lifecycle_on_drained 15
#define chat_lifecycle_on_stop 16
#define chat_lifecycle_on_background 17

#define chat_lifecycle_do_openStore 0
#define chat_lifecycle_do_closeStore 1
#define chat_lifecycle_do_dozeStore 2
#define chat_lifecycle_do_startWork 3
#define chat_lifecycle_do_resumeWork 4
#define chat_lifecycle_do_stopReceiving 5
#define chat_lifecycle_do_drainWork 6
#define chat_lifecycle_do_cancelWork 7
#define chat_lifecycle_do_allowStore 8
#define chat_lifecycle_do_reportActive 9
#define chat_lifecycle_do_reportInactive 10
#define chat_lifecycle_do_reportSuspended 11
#define chat_lifecycle_do_emitChatSuspended 12
#define chat_lifecycle_do_stopNetwork 13

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define chat_lifecycle_initial chat_lifecycle_state_closed
#define chat_lifecycle_isFinal(s) (false)

#ifndef PORTER_WORLD
inline chat_lifecycle_does(effect) {
  skip
}
#endif

inline chat_lifecycle_step(state, event, answer) {
  if
  :: state == chat_lifecycle_state_closed ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = MOVED; state = chat_lifecycle_state_opened; chat_lifecycle_does(chat_lifecycle_do_openStore)
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = IGNORED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = MOVED; state = chat_lifecycle_state_stillOpen
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_starting; chat_lifecycle_does(chat_lifecycle_do_startWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = REFUSED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_stillOpen ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = MOVED; state = chat_lifecycle_state_opened; chat_lifecycle_does(chat_lifecycle_do_openStore)
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_starting; chat_lifecycle_does(chat_lifecycle_do_startWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = REFUSED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_opened ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = MOVED; state = chat_lifecycle_state_closed
    :: event == chat_lifecycle_on_close ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_starting; chat_lifecycle_does(chat_lifecycle_do_startWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = REFUSED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_starting ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = IGNORED
    :: event == chat_lifecycle_on_started ->
       answer = MOVED; state = chat_lifecycle_state_active; chat_lifecycle_does(chat_lifecycle_do_reportActive)
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_reportInactive)
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportInactive)
    :: event == chat_lifecycle_on_activate ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = REFUSED
    :: event == chat_lifecycle_on_suspendNow ->
       answer = REFUSED
    :: event == chat_lifecycle_on_doze ->
       answer = REFUSED
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = REFUSED
    :: event == chat_lifecycle_on_background ->
       answer = REFUSED
    fi
  :: state == chat_lifecycle_state_active ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = IGNORED
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_suspending; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = MOVED; state = chat_lifecycle_state_dozing; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_dozeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = MOVED; state = chat_lifecycle_state_stopping; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_background ->
       answer = MOVED; state = chat_lifecycle_state_background; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_stopNetwork)
    fi
  :: state == chat_lifecycle_state_suspending ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_stop ->
       answer = MOVED; state = chat_lifecycle_state_stopping; chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_suspended ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = IGNORED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = MOVED; state = chat_lifecycle_state_suspendedStillOpen
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = MOVED; state = chat_lifecycle_state_stopped; chat_lifecycle_does(chat_lifecycle_do_openStore)
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_suspendedStillOpen ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = MOVED; state = chat_lifecycle_state_stopped; chat_lifecycle_does(chat_lifecycle_do_openStore)
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_activating ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = IGNORED
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activated ->
       answer = MOVED; state = chat_lifecycle_state_active; chat_lifecycle_does(chat_lifecycle_do_reportActive)
    :: event == chat_lifecycle_on_activateFailed ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportInactive)
    :: event == chat_lifecycle_on_suspend ->
       answer = REFUSED
    :: event == chat_lifecycle_on_suspendNow ->
       answer = REFUSED
    :: event == chat_lifecycle_on_doze ->
       answer = REFUSED
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = REFUSED
    :: event == chat_lifecycle_on_background ->
       answer = REFUSED
    fi
  :: state == chat_lifecycle_state_stopping ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportInactive)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = REFUSED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = IGNORED
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = MOVED; state = chat_lifecycle_state_stopped; chat_lifecycle_does(chat_lifecycle_do_allowStore)
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_stopped ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = MOVED; state = chat_lifecycle_state_closed
    :: event == chat_lifecycle_on_close ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_starting; chat_lifecycle_does(chat_lifecycle_do_startWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = REFUSED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_closed; chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = IGNORED
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_background ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = REFUSED
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_suspending; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_cancelWork); chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = IGNORED
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = MOVED; state = chat_lifecycle_state_stopping; chat_lifecycle_does(chat_lifecycle_do_stopReceiving); chat_lifecycle_does(chat_lifecycle_do_drainWork)
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  :: state == chat_lifecycle_state_dozing ->
    if
    :: event == chat_lifecycle_on_open ->
       answer = IGNORED
    :: event == chat_lifecycle_on_openFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_close ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_closeFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_start ->
       answer = MOVED; state = chat_lifecycle_state_activating; chat_lifecycle_does(chat_lifecycle_do_resumeWork)
    :: event == chat_lifecycle_on_started ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedClosed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_startFailedUnreadable ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activate ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activated ->
       answer = IGNORED
    :: event == chat_lifecycle_on_activateFailed ->
       answer = IGNORED
    :: event == chat_lifecycle_on_suspend ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended); chat_lifecycle_does(chat_lifecycle_do_emitChatSuspended)
    :: event == chat_lifecycle_on_suspendNow ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore); chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_doze ->
       answer = STAYED; chat_lifecycle_does(chat_lifecycle_do_reportSuspended)
    :: event == chat_lifecycle_on_dozeFailed ->
       answer = MOVED; state = chat_lifecycle_state_suspended; chat_lifecycle_does(chat_lifecycle_do_closeStore)
    :: event == chat_lifecycle_on_drained ->
       answer = IGNORED
    :: event == chat_lifecycle_on_stop ->
       answer = IGNORED
    :: event == chat_lifecycle_on_background ->
       answer = IGNORED
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype chat_lifecycle_world() {
  byte state = chat_lifecycle_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = chat_lifecycle_on_open
      :: event = chat_lifecycle_on_openFailed
      :: event = chat_lifecycle_on_close
      :: event = chat_lifecycle_on_closeFailed
      :: event = chat_lifecycle_on_start
      :: event = chat_lifecycle_on_started
      :: event = chat_lifecycle_on_startFailedClosed
      :: event = chat_lifecycle_on_startFailedUnreadable
      :: event = chat_lifecycle_on_activate
      :: event = chat_lifecycle_on_activated
      :: event = chat_lifecycle_on_activateFailed
      :: event = chat_lifecycle_on_suspend
      :: event = chat_lifecycle_on_suspendNow
      :: event = chat_lifecycle_on_doze
      :: event = chat_lifecycle_on_dozeFailed
      :: event = chat_lifecycle_on_drained
      :: event = chat_lifecycle_on_stop
      :: event = chat_lifecycle_on_background
      fi;
      answer = 0;
      chat_lifecycle_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
