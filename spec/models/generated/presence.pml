/* Generated from spec/machines/presence.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and presence_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define presence_state_unknown 0
#define presence_state_asking 1
#define presence_state_alive 2
#define presence_state_silent 3
#define presence_state_gone 4

#define presence_on_question 0
#define presence_on_lockFree 1
#define presence_on_lockHeld 2
#define presence_on_lockMute 3
#define presence_on_here 4
#define presence_on_patienceOver 5
#define presence_on_deaf 6

#define presence_do_readLock 0
#define presence_do_sendAsk 1
#define presence_do_reportAlive 2
#define presence_do_reportGone 3
#define presence_do_startPatience 4
#define presence_do_cancelPatience 5

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define presence_initial presence_state_unknown
#define presence_isFinal(s) (false)

#ifndef PORTER_WORLD
inline presence_does(effect) {
  skip
}
#endif

inline presence_step(state, event, answer) {
  if
  :: state == presence_state_unknown ->
    if
    :: event == presence_on_question ->
       answer = MOVED; state = presence_state_asking; presence_does(presence_do_readLock)
    :: event == presence_on_lockFree ->
       answer = IGNORED
    :: event == presence_on_lockHeld ->
       answer = IGNORED
    :: event == presence_on_lockMute ->
       answer = IGNORED
    :: event == presence_on_here ->
       answer = MOVED; state = presence_state_alive; presence_does(presence_do_reportAlive)
    :: event == presence_on_patienceOver ->
       answer = IGNORED
    :: event == presence_on_deaf ->
       answer = IGNORED
    fi
  :: state == presence_state_asking ->
    if
    :: event == presence_on_question ->
       answer = IGNORED
    :: event == presence_on_lockFree ->
       answer = MOVED; state = presence_state_gone; presence_does(presence_do_cancelPatience); presence_does(presence_do_reportGone)
    :: event == presence_on_lockHeld ->
       answer = STAYED; presence_does(presence_do_sendAsk); presence_does(presence_do_startPatience)
    :: event == presence_on_lockMute ->
       answer = MOVED; state = presence_state_alive; presence_does(presence_do_cancelPatience); presence_does(presence_do_reportAlive)
    :: event == presence_on_here ->
       answer = MOVED; state = presence_state_alive; presence_does(presence_do_cancelPatience); presence_does(presence_do_reportAlive)
    :: event == presence_on_patienceOver ->
       answer = MOVED; state = presence_state_silent; presence_does(presence_do_reportGone)
    :: event == presence_on_deaf ->
       answer = MOVED; state = presence_state_unknown; presence_does(presence_do_cancelPatience); presence_does(presence_do_reportAlive)
    fi
  :: state == presence_state_alive ->
    if
    :: event == presence_on_question ->
       answer = MOVED; state = presence_state_asking; presence_does(presence_do_readLock)
    :: event == presence_on_lockFree ->
       answer = MOVED; state = presence_state_gone; presence_does(presence_do_reportGone)
    :: event == presence_on_lockHeld ->
       answer = IGNORED
    :: event == presence_on_lockMute ->
       answer = IGNORED
    :: event == presence_on_here ->
       answer = IGNORED
    :: event == presence_on_patienceOver ->
       answer = IGNORED
    :: event == presence_on_deaf ->
       answer = IGNORED
    fi
  :: state == presence_state_silent ->
    if
    :: event == presence_on_question ->
       answer = MOVED; state = presence_state_asking; presence_does(presence_do_readLock)
    :: event == presence_on_lockFree ->
       answer = MOVED; state = presence_state_gone; presence_does(presence_do_reportGone)
    :: event == presence_on_lockHeld ->
       answer = IGNORED
    :: event == presence_on_lockMute ->
       answer = IGNORED
    :: event == presence_on_here ->
       answer = MOVED; state = presence_state_alive; presence_does(presence_do_reportAlive)
    :: event == presence_on_patienceOver ->
       answer = IGNORED
    :: event == presence_on_deaf ->
       answer = IGNORED
    fi
  :: state == presence_state_gone ->
    if
    :: event == presence_on_question ->
       answer = MOVED; state = presence_state_asking; presence_does(presence_do_readLock)
    :: event == presence_on_lockFree ->
       answer = IGNORED
    :: event == presence_on_lockHeld ->
       answer = IGNORED
    :: event == presence_on_lockMute ->
       answer = IGNORED
    :: event == presence_on_here ->
       answer = MOVED; state = presence_state_alive; presence_does(presence_do_reportAlive)
    :: event == presence_on_patienceOver ->
       answer = IGNORED
    :: event == presence_on_deaf ->
       answer = IGNORED
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype presence_world() {
  byte state = presence_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = presence_on_question
      :: event = presence_on_lockFree
      :: event = presence_on_lockHeld
      :: event = presence_on_lockMute
      :: event = presence_on_here
      :: event = presence_on_patienceOver
      :: event = presence_on_deaf
      fi;
      answer = 0;
      presence_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
