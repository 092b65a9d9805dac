/* Generated from spec/machines/extension_phase.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and extension_phase_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define extension_phase_state_created 0
#define extension_phase_state_starting 1
#define extension_phase_state_active 2
#define extension_phase_state_suspending 3
#define extension_phase_state_suspended 4

#define extension_phase_on_start 0
#define extension_phase_on_started 1
#define extension_phase_on_startFailedNoStore 2
#define extension_phase_on_startFailedOther 3
#define extension_phase_on_lastPushEnded 4
#define extension_phase_on_appRunning 5
#define extension_phase_on_suspendNow 6
#define extension_phase_on_chatSuspended 7
#define extension_phase_on_timeout 8

#define extension_phase_do_publishPhase 0
#define extension_phase_do_openChat 1
#define extension_phase_do_suspendChat 2
#define extension_phase_do_suspendChatNow 3
#define extension_phase_do_armSuspendTimer 4
#define extension_phase_do_cancelSuspendTimer 5

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define extension_phase_initial extension_phase_state_created
#define extension_phase_isFinal(s) (false)

#ifndef PORTER_WORLD
inline extension_phase_does(effect) {
  skip
}
#endif

inline extension_phase_step(state, event, answer) {
  if
  :: state == extension_phase_state_created ->
    if
    :: event == extension_phase_on_start ->
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_publishPhase); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedNoStore ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedOther ->
       answer = IGNORED
    :: event == extension_phase_on_lastPushEnded ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_appRunning ->
       answer = IGNORED
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == extension_phase_on_timeout ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_starting ->
    if
    :: event == extension_phase_on_start ->
       answer = IGNORED
    :: event == extension_phase_on_started ->
       answer = MOVED; state = extension_phase_state_active; extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_startFailedNoStore ->
       answer = MOVED; state = extension_phase_state_created; extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_startFailedOther ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_lastPushEnded ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_appRunning ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == extension_phase_on_timeout ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_active ->
    if
    :: event == extension_phase_on_start ->
       answer = IGNORED
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedNoStore ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedOther ->
       answer = IGNORED
    :: event == extension_phase_on_lastPushEnded ->
       answer = MOVED; state = extension_phase_state_suspending; extension_phase_does(extension_phase_do_suspendChat); extension_phase_does(extension_phase_do_armSuspendTimer); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_appRunning ->
       answer = MOVED; state = extension_phase_state_suspending; extension_phase_does(extension_phase_do_suspendChat); extension_phase_does(extension_phase_do_armSuspendTimer); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == extension_phase_on_timeout ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_suspending ->
    if
    :: event == extension_phase_on_start ->
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_cancelSuspendTimer); extension_phase_does(extension_phase_do_publishPhase); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedNoStore ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedOther ->
       answer = IGNORED
    :: event == extension_phase_on_lastPushEnded ->
       answer = STAYED; extension_phase_does(extension_phase_do_suspendChat); extension_phase_does(extension_phase_do_armSuspendTimer)
    :: event == extension_phase_on_appRunning ->
       answer = IGNORED
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_cancelSuspendTimer); extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_chatSuspended ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_cancelSuspendTimer); extension_phase_does(extension_phase_do_publishPhase)
    :: event == extension_phase_on_timeout ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_cancelSuspendTimer); extension_phase_does(extension_phase_do_suspendChatNow); extension_phase_does(extension_phase_do_publishPhase)
    fi
  :: state == extension_phase_state_suspended ->
    if
    :: event == extension_phase_on_start ->
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_publishPhase); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedNoStore ->
       answer = IGNORED
    :: event == extension_phase_on_startFailedOther ->
       answer = IGNORED
    :: event == extension_phase_on_lastPushEnded ->
       answer = IGNORED
    :: event == extension_phase_on_appRunning ->
       answer = IGNORED
    :: event == extension_phase_on_suspendNow ->
       answer = IGNORED
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == extension_phase_on_timeout ->
       answer = IGNORED
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype extension_phase_world() {
  byte state = extension_phase_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = extension_phase_on_start
      :: event = extension_phase_on_started
      :: event = extension_phase_on_startFailedNoStore
      :: event = extension_phase_on_startFailedOther
      :: event = extension_phase_on_lastPushEnded
      :: event = extension_phase_on_appRunning
      :: event = extension_phase_on_suspendNow
      :: event = extension_phase_on_chatSuspended
      :: event = extension_phase_on_timeout
      fi;
      answer = 0;
      extension_phase_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
