/* Generated from spec/machines/application_push.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and application_push_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define application_push_state_none 0
#define application_push_state_waiting 1
#define application_push_state_offered 2
#define application_push_state_handed 3
#define application_push_state_settled 4

#define application_push_on_arrive 0
#define application_push_on_repeat 1
#define application_push_on_hand 2
#define application_push_on_offer 3
#define application_push_on_settle 4

#define application_push_do_storeEnvelope 0
#define application_push_do_eraseEnvelope 1
#define application_push_do_emitApplicationPush 2

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define application_push_initial application_push_state_none
#define application_push_isFinal(s) ((s) == application_push_state_settled)

#ifndef PORTER_WORLD
inline application_push_does(effect) {
  skip
}
#endif

inline application_push_step(state, event, answer) {
  if
  :: state == application_push_state_none ->
    if
    :: event == application_push_on_arrive ->
       answer = MOVED; state = application_push_state_waiting; application_push_does(application_push_do_storeEnvelope)
    :: event == application_push_on_repeat ->
       answer = REFUSED
    :: event == application_push_on_hand ->
       answer = REFUSED
    :: event == application_push_on_offer ->
       answer = REFUSED
    :: event == application_push_on_settle ->
       answer = REFUSED
    fi
  :: state == application_push_state_waiting ->
    if
    :: event == application_push_on_arrive ->
       answer = IGNORED
    :: event == application_push_on_repeat ->
       answer = IGNORED
    :: event == application_push_on_hand ->
       answer = MOVED; state = application_push_state_handed
    :: event == application_push_on_offer ->
       answer = MOVED; state = application_push_state_offered; application_push_does(application_push_do_emitApplicationPush)
    :: event == application_push_on_settle ->
       answer = MOVED; state = application_push_state_settled; application_push_does(application_push_do_eraseEnvelope)
    fi
  :: state == application_push_state_offered ->
    if
    :: event == application_push_on_arrive ->
       answer = IGNORED
    :: event == application_push_on_repeat ->
       answer = IGNORED
    :: event == application_push_on_hand ->
       answer = IGNORED
    :: event == application_push_on_offer ->
       answer = STAYED; application_push_does(application_push_do_emitApplicationPush)
    :: event == application_push_on_settle ->
       answer = MOVED; state = application_push_state_settled; application_push_does(application_push_do_eraseEnvelope)
    fi
  :: state == application_push_state_handed ->
    if
    :: event == application_push_on_arrive ->
       answer = IGNORED
    :: event == application_push_on_repeat ->
       answer = IGNORED
    :: event == application_push_on_hand ->
       answer = IGNORED
    :: event == application_push_on_offer ->
       answer = IGNORED
    :: event == application_push_on_settle ->
       answer = MOVED; state = application_push_state_settled; application_push_does(application_push_do_eraseEnvelope)
    fi
  :: application_push_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype application_push_world() {
  byte state = application_push_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !application_push_isFinal(state) ->
    atomic {
      if
      :: event = application_push_on_arrive
      :: event = application_push_on_repeat
      :: event = application_push_on_hand
      :: event = application_push_on_offer
      :: event = application_push_on_settle
      fi;
      answer = 0;
      application_push_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: application_push_isFinal(state) -> break
  od;
  skip
}
#endif
