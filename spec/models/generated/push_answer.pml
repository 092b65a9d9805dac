/* Generated from spec/machines/push_answer.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and push_answer_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define push_answer_state_queued 0
#define push_answer_state_running 1
#define push_answer_state_expiring 2
#define push_answer_state_staged 3
#define push_answer_state_answered 4

#define push_answer_on_begin 0
#define push_answer_on_expire 1
#define push_answer_on_stage 2
#define push_answer_on_finish 3
#define push_answer_on_overdue 4

#define push_answer_do_hurry 0
#define push_answer_do_withdraw 1
#define push_answer_do_keep 2
#define push_answer_do_useStaged 3
#define push_answer_do_answer 4

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define push_answer_initial push_answer_state_queued
#define push_answer_isFinal(s) ((s) == push_answer_state_answered)

#ifndef PORTER_WORLD
byte push_answer_times_answer = 0;
inline push_answer_does(effect) {
  push_answer_times_answer = push_answer_times_answer + (effect == push_answer_do_answer);
  assert(push_answer_times_answer <= 1) /* once */
}
#endif

inline push_answer_step(state, event, answer) {
  if
  :: state == push_answer_state_queued ->
    if
    :: event == push_answer_on_begin ->
       answer = MOVED; state = push_answer_state_running
    :: event == push_answer_on_expire ->
       answer = MOVED; state = push_answer_state_expiring; push_answer_does(push_answer_do_withdraw)
    :: event == push_answer_on_stage ->
       answer = REFUSED
    :: event == push_answer_on_finish ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    :: event == push_answer_on_overdue ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    fi
  :: state == push_answer_state_running ->
    if
    :: event == push_answer_on_begin ->
       answer = IGNORED
    :: event == push_answer_on_expire ->
       answer = MOVED; state = push_answer_state_expiring; push_answer_does(push_answer_do_hurry)
    :: event == push_answer_on_stage ->
       answer = MOVED; state = push_answer_state_staged; push_answer_does(push_answer_do_keep)
    :: event == push_answer_on_finish ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    :: event == push_answer_on_overdue ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    fi
  :: state == push_answer_state_expiring ->
    if
    :: event == push_answer_on_begin ->
       answer = IGNORED
    :: event == push_answer_on_expire ->
       answer = IGNORED
    :: event == push_answer_on_stage ->
       answer = MOVED; state = push_answer_state_staged; push_answer_does(push_answer_do_keep)
    :: event == push_answer_on_finish ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    :: event == push_answer_on_overdue ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    fi
  :: state == push_answer_state_staged ->
    if
    :: event == push_answer_on_begin ->
       answer = IGNORED
    :: event == push_answer_on_expire ->
       answer = STAYED; push_answer_does(push_answer_do_hurry)
    :: event == push_answer_on_stage ->
       answer = IGNORED
    :: event == push_answer_on_finish ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_answer)
    :: event == push_answer_on_overdue ->
       answer = MOVED; state = push_answer_state_answered; push_answer_does(push_answer_do_useStaged); push_answer_does(push_answer_do_answer)
    fi
  :: push_answer_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype push_answer_world() {
  byte state = push_answer_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !push_answer_isFinal(state) ->
    atomic {
      if
      :: event = push_answer_on_begin
      :: event = push_answer_on_expire
      :: event = push_answer_on_stage
      :: event = push_answer_on_finish
      :: event = push_answer_on_overdue
      fi;
      answer = 0;
      push_answer_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: push_answer_isFinal(state) -> break
  od;
  assert(push_answer_times_answer == 1); /* not left out */
  skip
}
#endif
