/* Generated from spec/machines/round.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and round_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define round_state_resting 0
#define round_state_going 1
#define round_state_goingAgain 2

#define round_on_wanted 0
#define round_on_ended 1

#define round_do_beginRound 0

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define round_initial round_state_resting
#define round_isFinal(s) (false)

#ifndef PORTER_WORLD
inline round_does(effect) {
  skip
}
#endif

inline round_step(state, event, answer) {
  if
  :: state == round_state_resting ->
    if
    :: event == round_on_wanted ->
       answer = MOVED; state = round_state_going; round_does(round_do_beginRound)
    :: event == round_on_ended ->
       answer = REFUSED
    fi
  :: state == round_state_going ->
    if
    :: event == round_on_wanted ->
       answer = MOVED; state = round_state_goingAgain
    :: event == round_on_ended ->
       answer = MOVED; state = round_state_resting
    fi
  :: state == round_state_goingAgain ->
    if
    :: event == round_on_wanted ->
       answer = IGNORED
    :: event == round_on_ended ->
       answer = MOVED; state = round_state_going; round_does(round_do_beginRound)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype round_world() {
  byte state = round_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = round_on_wanted
      :: event = round_on_ended
      fi;
      answer = 0;
      round_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
