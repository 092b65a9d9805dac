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
#define extension_phase_on_startFailed 2
#define extension_phase_on_suspend 3
#define extension_phase_on_appRunning 4
#define extension_phase_on_suspendNow 5
#define extension_phase_on_chatSuspended 6

#define extension_phase_do_publishWorking 0
#define extension_phase_do_publishResting 1
#define extension_phase_do_openChat 2
#define extension_phase_do_suspendChat 3
#define extension_phase_do_suspendChatNow 4

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
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_publishWorking); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailed ->
       answer = IGNORED
    :: event == extension_phase_on_suspend ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChat)
    :: event == extension_phase_on_appRunning ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_starting ->
    if
    :: event == extension_phase_on_start ->
       answer = IGNORED
    :: event == extension_phase_on_started ->
       answer = MOVED; state = extension_phase_state_active; extension_phase_does(extension_phase_do_publishWorking)
    :: event == extension_phase_on_startFailed ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_publishResting)
    :: event == extension_phase_on_suspend ->
       answer = REFUSED
    :: event == extension_phase_on_appRunning ->
       answer = IGNORED
    :: event == extension_phase_on_suspendNow ->
       answer = REFUSED
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_active ->
    if
    :: event == extension_phase_on_start ->
       answer = IGNORED
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailed ->
       answer = IGNORED
    :: event == extension_phase_on_suspend ->
       answer = MOVED; state = extension_phase_state_suspending; extension_phase_does(extension_phase_do_suspendChat); extension_phase_does(extension_phase_do_publishWorking)
    :: event == extension_phase_on_appRunning ->
       answer = MOVED; state = extension_phase_state_suspending; extension_phase_does(extension_phase_do_suspendChat); extension_phase_does(extension_phase_do_publishWorking)
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_chatSuspended ->
       answer = IGNORED
    fi
  :: state == extension_phase_state_suspending ->
    if
    :: event == extension_phase_on_start ->
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_publishWorking); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailed ->
       answer = IGNORED
    :: event == extension_phase_on_suspend ->
       answer = STAYED; extension_phase_does(extension_phase_do_suspendChat)
    :: event == extension_phase_on_appRunning ->
       answer = IGNORED
    :: event == extension_phase_on_suspendNow ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_chatSuspended ->
       answer = MOVED; state = extension_phase_state_suspended; extension_phase_does(extension_phase_do_publishResting)
    fi
  :: state == extension_phase_state_suspended ->
    if
    :: event == extension_phase_on_start ->
       answer = MOVED; state = extension_phase_state_starting; extension_phase_does(extension_phase_do_publishWorking); extension_phase_does(extension_phase_do_openChat)
    :: event == extension_phase_on_started ->
       answer = IGNORED
    :: event == extension_phase_on_startFailed ->
       answer = IGNORED
    :: event == extension_phase_on_suspend ->
       answer = STAYED; extension_phase_does(extension_phase_do_suspendChat)
    :: event == extension_phase_on_appRunning ->
       answer = STAYED; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_suspendNow ->
       answer = STAYED; extension_phase_does(extension_phase_do_suspendChatNow)
    :: event == extension_phase_on_chatSuspended ->
       answer = STAYED; extension_phase_does(extension_phase_do_publishResting)
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
      :: event = extension_phase_on_startFailed
      :: event = extension_phase_on_suspend
      :: event = extension_phase_on_appRunning
      :: event = extension_phase_on_suspendNow
      :: event = extension_phase_on_chatSuspended
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
