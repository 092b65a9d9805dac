/* Generated from spec/machines/background_refresh.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and background_refresh_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define background_refresh_state_idle 0
#define background_refresh_state_scheduled 1
#define background_refresh_state_running 2
#define background_refresh_state_suspending 3
#define background_refresh_state_done 4
#define background_refresh_state_expired 5

#define background_refresh_on_left 0
#define background_refresh_on_entered 1
#define background_refresh_on_stopped 2
#define background_refresh_on_begin 3
#define background_refresh_on_receivingOver 4
#define background_refresh_on_ended 5
#define background_refresh_on_releasedDone 6
#define background_refresh_on_releasedCut 7

#define background_refresh_do_planNext 0
#define background_refresh_do_planSoon 1
#define background_refresh_do_cancelPlan 2
#define background_refresh_do_endReceiving 3
#define background_refresh_do_releaseApp 4
#define background_refresh_do_reportRefreshed 5
#define background_refresh_do_startReceiving 6
#define background_refresh_do_cancelReceiving 7

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define background_refresh_initial background_refresh_state_idle
#define background_refresh_isFinal(s) (false)

#ifndef PORTER_WORLD
inline background_refresh_does(effect) {
  skip
}
#endif

inline background_refresh_step(state, event, answer) {
  if
  :: state == background_refresh_state_idle ->
    if
    :: event == background_refresh_on_left ->
       answer = MOVED; state = background_refresh_state_scheduled; background_refresh_does(background_refresh_do_planNext)
    :: event == background_refresh_on_entered ->
       answer = IGNORED
    :: event == background_refresh_on_stopped ->
       answer = IGNORED
    :: event == background_refresh_on_begin ->
       answer = MOVED; state = background_refresh_state_running; background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = IGNORED
    :: event == background_refresh_on_ended ->
       answer = STAYED; background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_releasedDone ->
       answer = IGNORED
    :: event == background_refresh_on_releasedCut ->
       answer = IGNORED
    fi
  :: state == background_refresh_state_scheduled ->
    if
    :: event == background_refresh_on_left ->
       answer = IGNORED
    :: event == background_refresh_on_entered ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_stopped ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_begin ->
       answer = MOVED; state = background_refresh_state_running; background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = IGNORED
    :: event == background_refresh_on_ended ->
       answer = STAYED; background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_releasedDone ->
       answer = IGNORED
    :: event == background_refresh_on_releasedCut ->
       answer = IGNORED
    fi
  :: state == background_refresh_state_running ->
    if
    :: event == background_refresh_on_left ->
       answer = STAYED; background_refresh_does(background_refresh_do_endReceiving)
    :: event == background_refresh_on_entered ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelReceiving); background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_stopped ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelReceiving); background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_begin ->
       answer = STAYED; background_refresh_does(background_refresh_do_cancelReceiving); background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = STAYED; background_refresh_does(background_refresh_do_endReceiving)
    :: event == background_refresh_on_ended ->
       answer = MOVED; state = background_refresh_state_suspending; background_refresh_does(background_refresh_do_cancelReceiving); background_refresh_does(background_refresh_do_releaseApp)
    :: event == background_refresh_on_releasedDone ->
       answer = IGNORED
    :: event == background_refresh_on_releasedCut ->
       answer = IGNORED
    fi
  :: state == background_refresh_state_suspending ->
    if
    :: event == background_refresh_on_left ->
       answer = IGNORED
    :: event == background_refresh_on_entered ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan); background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_stopped ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan); background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_begin ->
       answer = MOVED; state = background_refresh_state_running; background_refresh_does(background_refresh_do_reportRefreshed); background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = IGNORED
    :: event == background_refresh_on_ended ->
       answer = IGNORED
    :: event == background_refresh_on_releasedDone ->
       answer = MOVED; state = background_refresh_state_done; background_refresh_does(background_refresh_do_planNext); background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_releasedCut ->
       answer = MOVED; state = background_refresh_state_expired; background_refresh_does(background_refresh_do_planSoon); background_refresh_does(background_refresh_do_reportRefreshed)
    fi
  :: state == background_refresh_state_done ->
    if
    :: event == background_refresh_on_left ->
       answer = IGNORED
    :: event == background_refresh_on_entered ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_stopped ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_begin ->
       answer = MOVED; state = background_refresh_state_running; background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = IGNORED
    :: event == background_refresh_on_ended ->
       answer = STAYED; background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_releasedDone ->
       answer = IGNORED
    :: event == background_refresh_on_releasedCut ->
       answer = IGNORED
    fi
  :: state == background_refresh_state_expired ->
    if
    :: event == background_refresh_on_left ->
       answer = IGNORED
    :: event == background_refresh_on_entered ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_stopped ->
       answer = MOVED; state = background_refresh_state_idle; background_refresh_does(background_refresh_do_cancelPlan)
    :: event == background_refresh_on_begin ->
       answer = MOVED; state = background_refresh_state_running; background_refresh_does(background_refresh_do_startReceiving)
    :: event == background_refresh_on_receivingOver ->
       answer = IGNORED
    :: event == background_refresh_on_ended ->
       answer = STAYED; background_refresh_does(background_refresh_do_reportRefreshed)
    :: event == background_refresh_on_releasedDone ->
       answer = IGNORED
    :: event == background_refresh_on_releasedCut ->
       answer = IGNORED
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype background_refresh_world() {
  byte state = background_refresh_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = background_refresh_on_left
      :: event = background_refresh_on_entered
      :: event = background_refresh_on_stopped
      :: event = background_refresh_on_begin
      :: event = background_refresh_on_receivingOver
      :: event = background_refresh_on_ended
      :: event = background_refresh_on_releasedDone
      :: event = background_refresh_on_releasedCut
      fi;
      answer = 0;
      background_refresh_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
