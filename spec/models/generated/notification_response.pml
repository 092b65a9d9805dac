/* Generated from spec/machines/notification_response.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and notification_response_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define notification_response_state_received 0
#define notification_response_state_waiting 1
#define notification_response_state_applying 2
#define notification_response_state_applied 3
#define notification_response_state_stale 4

#define notification_response_on_keep 0
#define notification_response_on_apply 1
#define notification_response_on_carriedOut 2
#define notification_response_on_obsolete 3
#define notification_response_on_postpone 4
#define notification_response_on_repeat 5

#define notification_response_do_keepResponse 0
#define notification_response_do_activateProfile 1
#define notification_response_do_queueEvent 2
#define notification_response_do_carryOut 3
#define notification_response_do_retryLater 4
#define notification_response_do_emitEvent 5

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define notification_response_initial notification_response_state_received
#define notification_response_isFinal(s) ((s) == notification_response_state_applied || (s) == notification_response_state_stale)

#ifndef PORTER_WORLD
inline notification_response_does(effect) {
  skip
}
#endif

inline notification_response_step(state, event, answer) {
  if
  :: state == notification_response_state_received ->
    if
    :: event == notification_response_on_keep ->
       answer = MOVED; state = notification_response_state_waiting; notification_response_does(notification_response_do_keepResponse)
    :: event == notification_response_on_apply ->
       answer = MOVED; state = notification_response_state_applying; notification_response_does(notification_response_do_keepResponse); notification_response_does(notification_response_do_activateProfile); notification_response_does(notification_response_do_carryOut)
    :: event == notification_response_on_carriedOut ->
       answer = REFUSED
    :: event == notification_response_on_obsolete ->
       answer = REFUSED
    :: event == notification_response_on_postpone ->
       answer = REFUSED
    :: event == notification_response_on_repeat ->
       answer = REFUSED
    fi
  :: state == notification_response_state_waiting ->
    if
    :: event == notification_response_on_keep ->
       answer = IGNORED
    :: event == notification_response_on_apply ->
       answer = MOVED; state = notification_response_state_applying; notification_response_does(notification_response_do_activateProfile); notification_response_does(notification_response_do_carryOut)
    :: event == notification_response_on_carriedOut ->
       answer = REFUSED
    :: event == notification_response_on_obsolete ->
       answer = REFUSED
    :: event == notification_response_on_postpone ->
       answer = REFUSED
    :: event == notification_response_on_repeat ->
       answer = IGNORED
    fi
  :: state == notification_response_state_applying ->
    if
    :: event == notification_response_on_keep ->
       answer = IGNORED
    :: event == notification_response_on_apply ->
       answer = STAYED; notification_response_does(notification_response_do_carryOut)
    :: event == notification_response_on_carriedOut ->
       answer = MOVED; state = notification_response_state_applied; notification_response_does(notification_response_do_queueEvent); notification_response_does(notification_response_do_emitEvent)
    :: event == notification_response_on_obsolete ->
       answer = MOVED; state = notification_response_state_stale; notification_response_does(notification_response_do_queueEvent); notification_response_does(notification_response_do_emitEvent)
    :: event == notification_response_on_postpone ->
       answer = STAYED; notification_response_does(notification_response_do_retryLater)
    :: event == notification_response_on_repeat ->
       answer = IGNORED
    fi
  :: notification_response_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype notification_response_world() {
  byte state = notification_response_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !notification_response_isFinal(state) ->
    atomic {
      if
      :: event = notification_response_on_keep
      :: event = notification_response_on_apply
      :: event = notification_response_on_carriedOut
      :: event = notification_response_on_obsolete
      :: event = notification_response_on_postpone
      :: event = notification_response_on_repeat
      fi;
      answer = 0;
      notification_response_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: notification_response_isFinal(state) -> break
  od;
  skip
}
#endif
