/* Generated from spec/machines/app_phase.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and app_phase_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define app_phase_state_active 0
#define app_phase_state_activating 1
#define app_phase_state_bgRefresh 2
#define app_phase_state_suspending 3
#define app_phase_state_suspended 4
#define app_phase_state_stopped 5
#define app_phase_state_background 6

#define app_phase_on_foregroundExtensionInactive 0
#define app_phase_on_foregroundExtensionActive 1
#define app_phase_on_activated 2
#define app_phase_on_activateFailed 3
#define app_phase_on_background 4
#define app_phase_on_refreshBegan 5
#define app_phase_on_refreshOver 6
#define app_phase_on_suspendNow 7
#define app_phase_on_chatSuspended 8
#define app_phase_on_stop 9
#define app_phase_on_startConfirmed 10
#define app_phase_on_suspend 11
#define app_phase_on_backgroundOver 12

#define app_phase_do_publishWorking 0
#define app_phase_do_publishResting 1
#define app_phase_do_askExtensionToYield 2
#define app_phase_do_activateChat 3
#define app_phase_do_takeUpWork 4
#define app_phase_do_suspendChat 5
#define app_phase_do_suspendChatNow 6
#define app_phase_do_stopChat 7
#define app_phase_do_stopNetwork 8
#define app_phase_do_armBackground 9
#define app_phase_do_cancelBackground 10
#define app_phase_do_showCalls 11
#define app_phase_do_startRefresh 12
#define app_phase_do_cancelRefresh 13

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define app_phase_initial app_phase_state_suspended
#define app_phase_isFinal(s) (false)

#ifndef PORTER_WORLD
inline app_phase_does(effect) {
  skip
}
#endif

inline app_phase_step(state, event, answer) {
  if
  :: state == app_phase_state_active ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = STAYED; app_phase_does(app_phase_do_takeUpWork)
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = STAYED; app_phase_does(app_phase_do_takeUpWork)
    :: event == app_phase_on_activated ->
       answer = IGNORED
    :: event == app_phase_on_activateFailed ->
       answer = IGNORED
    :: event == app_phase_on_background ->
       answer = MOVED; state = app_phase_state_background; app_phase_does(app_phase_do_showCalls); app_phase_does(app_phase_do_stopNetwork); app_phase_does(app_phase_do_armBackground); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_refreshBegan ->
       answer = REFUSED
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_showCalls); app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == app_phase_on_stop ->
       answer = MOVED; state = app_phase_state_stopped; app_phase_does(app_phase_do_stopChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_showCalls); app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_activating ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = IGNORED
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = IGNORED
    :: event == app_phase_on_activated ->
       answer = MOVED; state = app_phase_state_active; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_takeUpWork)
    :: event == app_phase_on_activateFailed ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_background ->
       answer = REFUSED
    :: event == app_phase_on_refreshBegan ->
       answer = REFUSED
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = REFUSED
    :: event == app_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == app_phase_on_stop ->
       answer = REFUSED
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = REFUSED
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_bgRefresh ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = MOVED; state = app_phase_state_active; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_takeUpWork); app_phase_does(app_phase_do_cancelRefresh)
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = MOVED; state = app_phase_state_active; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_askExtensionToYield); app_phase_does(app_phase_do_takeUpWork); app_phase_does(app_phase_do_cancelRefresh)
    :: event == app_phase_on_activated ->
       answer = STAYED; app_phase_does(app_phase_do_takeUpWork)
    :: event == app_phase_on_activateFailed ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_suspendChatNow); app_phase_does(app_phase_do_cancelRefresh)
    :: event == app_phase_on_background ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_cancelRefresh); app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_refreshBegan ->
       answer = STAYED; app_phase_does(app_phase_do_cancelRefresh); app_phase_does(app_phase_do_startRefresh)
    :: event == app_phase_on_refreshOver ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_suspendNow ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_cancelRefresh); app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == app_phase_on_stop ->
       answer = MOVED; state = app_phase_state_stopped; app_phase_does(app_phase_do_cancelRefresh); app_phase_does(app_phase_do_stopChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_cancelRefresh); app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_suspending ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_askExtensionToYield); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_activated ->
       answer = IGNORED
    :: event == app_phase_on_activateFailed ->
       answer = IGNORED
    :: event == app_phase_on_background ->
       answer = IGNORED
    :: event == app_phase_on_refreshBegan ->
       answer = MOVED; state = app_phase_state_bgRefresh; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_activateChat); app_phase_does(app_phase_do_startRefresh)
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_stop ->
       answer = MOVED; state = app_phase_state_stopped; app_phase_does(app_phase_do_stopChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChat)
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_suspended ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_askExtensionToYield); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_activated ->
       answer = IGNORED
    :: event == app_phase_on_activateFailed ->
       answer = IGNORED
    :: event == app_phase_on_background ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChat)
    :: event == app_phase_on_refreshBegan ->
       answer = MOVED; state = app_phase_state_bgRefresh; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_activateChat); app_phase_does(app_phase_do_startRefresh)
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = STAYED; app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_stop ->
       answer = MOVED; state = app_phase_state_stopped; app_phase_does(app_phase_do_stopChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChat)
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_stopped ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = REFUSED
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = REFUSED
    :: event == app_phase_on_activated ->
       answer = IGNORED
    :: event == app_phase_on_activateFailed ->
       answer = IGNORED
    :: event == app_phase_on_background ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChat)
    :: event == app_phase_on_refreshBegan ->
       answer = REFUSED
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == app_phase_on_stop ->
       answer = IGNORED
    :: event == app_phase_on_startConfirmed ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_suspend ->
       answer = STAYED; app_phase_does(app_phase_do_suspendChat)
    :: event == app_phase_on_backgroundOver ->
       answer = IGNORED
    fi
  :: state == app_phase_state_background ->
    if
    :: event == app_phase_on_foregroundExtensionInactive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_foregroundExtensionActive ->
       answer = MOVED; state = app_phase_state_activating; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_askExtensionToYield); app_phase_does(app_phase_do_activateChat)
    :: event == app_phase_on_activated ->
       answer = IGNORED
    :: event == app_phase_on_activateFailed ->
       answer = IGNORED
    :: event == app_phase_on_background ->
       answer = IGNORED
    :: event == app_phase_on_refreshBegan ->
       answer = MOVED; state = app_phase_state_bgRefresh; app_phase_does(app_phase_do_publishWorking); app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_activateChat); app_phase_does(app_phase_do_startRefresh)
    :: event == app_phase_on_refreshOver ->
       answer = IGNORED
    :: event == app_phase_on_suspendNow ->
       answer = MOVED; state = app_phase_state_suspended; app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_suspendChatNow)
    :: event == app_phase_on_chatSuspended ->
       answer = IGNORED
    :: event == app_phase_on_stop ->
       answer = MOVED; state = app_phase_state_stopped; app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_stopChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_startConfirmed ->
       answer = IGNORED
    :: event == app_phase_on_suspend ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_cancelBackground); app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    :: event == app_phase_on_backgroundOver ->
       answer = MOVED; state = app_phase_state_suspending; app_phase_does(app_phase_do_suspendChat); app_phase_does(app_phase_do_publishResting)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype app_phase_world() {
  byte state = app_phase_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = app_phase_on_foregroundExtensionInactive
      :: event = app_phase_on_foregroundExtensionActive
      :: event = app_phase_on_activated
      :: event = app_phase_on_activateFailed
      :: event = app_phase_on_background
      :: event = app_phase_on_refreshBegan
      :: event = app_phase_on_refreshOver
      :: event = app_phase_on_suspendNow
      :: event = app_phase_on_chatSuspended
      :: event = app_phase_on_stop
      :: event = app_phase_on_startConfirmed
      :: event = app_phase_on_suspend
      :: event = app_phase_on_backgroundOver
      fi;
      answer = 0;
      app_phase_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
