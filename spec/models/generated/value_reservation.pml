/* Generated from spec/machines/value_reservation.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and value_reservation_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define value_reservation_state_free 0
#define value_reservation_state_reserved 1
#define value_reservation_state_undone 2
#define value_reservation_state_used 3

#define value_reservation_on_want 0
#define value_reservation_on_use 1
#define value_reservation_on_undo 2

#define value_reservation_do_reserve 0
#define value_reservation_do_takeOver 1
#define value_reservation_do_eraseMaterial 2

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define value_reservation_initial value_reservation_state_free
#define value_reservation_isFinal(s) ((s) == value_reservation_state_used)

#ifndef PORTER_WORLD
inline value_reservation_does(effect) {
  skip
}
#endif

inline value_reservation_step(state, event, answer) {
  if
  :: state == value_reservation_state_free ->
    if
    :: event == value_reservation_on_want ->
       answer = MOVED; state = value_reservation_state_reserved; value_reservation_does(value_reservation_do_reserve)
    :: event == value_reservation_on_use ->
       answer = REFUSED
    :: event == value_reservation_on_undo ->
       answer = REFUSED
    fi
  :: state == value_reservation_state_reserved ->
    if
    :: event == value_reservation_on_want ->
       answer = STAYED; value_reservation_does(value_reservation_do_takeOver)
    :: event == value_reservation_on_use ->
       answer = MOVED; state = value_reservation_state_used; value_reservation_does(value_reservation_do_eraseMaterial)
    :: event == value_reservation_on_undo ->
       answer = MOVED; state = value_reservation_state_undone; value_reservation_does(value_reservation_do_eraseMaterial)
    fi
  :: state == value_reservation_state_undone ->
    if
    :: event == value_reservation_on_want ->
       answer = MOVED; state = value_reservation_state_reserved; value_reservation_does(value_reservation_do_reserve)
    :: event == value_reservation_on_use ->
       answer = REFUSED
    :: event == value_reservation_on_undo ->
       answer = REFUSED
    fi
  :: value_reservation_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype value_reservation_world() {
  byte state = value_reservation_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !value_reservation_isFinal(state) ->
    atomic {
      if
      :: event = value_reservation_on_want
      :: event = value_reservation_on_use
      :: event = value_reservation_on_undo
      fi;
      answer = 0;
      value_reservation_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: value_reservation_isFinal(state) -> break
  od;
  skip
}
#endif
