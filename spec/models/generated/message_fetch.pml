/* Generated from spec/machines/message_fetch.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and message_fetch_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define message_fetch_state_idle 0
#define message_fetch_state_claiming 1
#define message_fetch_state_getting 2
#define message_fetch_state_received 3
#define message_fetch_state_acknowledging 4
#define message_fetch_state_looking 5
#define message_fetch_state_untaken 6
#define message_fetch_state_nothing 7
#define message_fetch_state_taken 8
#define message_fetch_state_last 9
#define message_fetch_state_followed 10

#define message_fetch_on_want 0
#define message_fetch_on_claimGranted 1
#define message_fetch_on_claimFailed 2
#define message_fetch_on_message 3
#define message_fetch_on_empty 4
#define message_fetch_on_failed 5
#define message_fetch_on_committed 6
#define message_fetch_on_abandoned 7
#define message_fetch_on_dropped 8
#define message_fetch_on_timeout 9

#define message_fetch_do_claimMailbox 0
#define message_fetch_do_withdrawClaim 1
#define message_fetch_do_sendGet 2
#define message_fetch_do_deliverMessage 3
#define message_fetch_do_sendAcknowledge 4
#define message_fetch_do_giveUpRequest 5
#define message_fetch_do_emitMarker 6
#define message_fetch_do_releaseMailbox 7
#define message_fetch_do_answer 8
#define message_fetch_do_startDeadline 9
#define message_fetch_do_cancelDeadline 10

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define message_fetch_initial message_fetch_state_idle
#define message_fetch_isFinal(s) ((s) == message_fetch_state_untaken || (s) == message_fetch_state_nothing || (s) == message_fetch_state_taken || (s) == message_fetch_state_last || (s) == message_fetch_state_followed)

#ifndef PORTER_WORLD
byte message_fetch_times_answer = 0;
inline message_fetch_does(effect) {
  message_fetch_times_answer = message_fetch_times_answer + (effect == message_fetch_do_answer);
  assert(message_fetch_times_answer <= 1) /* once */
}
#endif

inline message_fetch_step(state, event, answer) {
  if
  :: state == message_fetch_state_idle ->
    if
    :: event == message_fetch_on_want ->
       answer = MOVED; state = message_fetch_state_claiming; message_fetch_does(message_fetch_do_claimMailbox); message_fetch_does(message_fetch_do_startDeadline)
    :: event == message_fetch_on_claimGranted ->
       answer = IGNORED
    :: event == message_fetch_on_claimFailed ->
       answer = IGNORED
    :: event == message_fetch_on_message ->
       answer = IGNORED
    :: event == message_fetch_on_empty ->
       answer = IGNORED
    :: event == message_fetch_on_failed ->
       answer = IGNORED
    :: event == message_fetch_on_committed ->
       answer = IGNORED
    :: event == message_fetch_on_abandoned ->
       answer = IGNORED
    :: event == message_fetch_on_dropped ->
       answer = IGNORED
    :: event == message_fetch_on_timeout ->
       answer = IGNORED
    fi
  :: state == message_fetch_state_claiming ->
    if
    :: event == message_fetch_on_want ->
       answer = IGNORED
    :: event == message_fetch_on_claimGranted ->
       answer = MOVED; state = message_fetch_state_getting; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_sendGet); message_fetch_does(message_fetch_do_startDeadline)
    :: event == message_fetch_on_claimFailed ->
       answer = MOVED; state = message_fetch_state_untaken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_message ->
       answer = IGNORED
    :: event == message_fetch_on_empty ->
       answer = IGNORED
    :: event == message_fetch_on_failed ->
       answer = IGNORED
    :: event == message_fetch_on_committed ->
       answer = IGNORED
    :: event == message_fetch_on_abandoned ->
       answer = IGNORED
    :: event == message_fetch_on_dropped ->
       answer = IGNORED
    :: event == message_fetch_on_timeout ->
       answer = MOVED; state = message_fetch_state_untaken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_withdrawClaim); message_fetch_does(message_fetch_do_answer)
    fi
  :: state == message_fetch_state_getting ->
    if
    :: event == message_fetch_on_want ->
       answer = IGNORED
    :: event == message_fetch_on_claimGranted ->
       answer = IGNORED
    :: event == message_fetch_on_claimFailed ->
       answer = IGNORED
    :: event == message_fetch_on_message ->
       answer = MOVED; state = message_fetch_state_received; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_deliverMessage)
    :: event == message_fetch_on_empty ->
       answer = MOVED; state = message_fetch_state_nothing; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_failed ->
       answer = MOVED; state = message_fetch_state_untaken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_committed ->
       answer = IGNORED
    :: event == message_fetch_on_abandoned ->
       answer = IGNORED
    :: event == message_fetch_on_dropped ->
       answer = IGNORED
    :: event == message_fetch_on_timeout ->
       answer = MOVED; state = message_fetch_state_untaken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_giveUpRequest); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    fi
  :: state == message_fetch_state_received ->
    if
    :: event == message_fetch_on_want ->
       answer = IGNORED
    :: event == message_fetch_on_claimGranted ->
       answer = IGNORED
    :: event == message_fetch_on_claimFailed ->
       answer = IGNORED
    :: event == message_fetch_on_message ->
       answer = IGNORED
    :: event == message_fetch_on_empty ->
       answer = IGNORED
    :: event == message_fetch_on_failed ->
       answer = IGNORED
    :: event == message_fetch_on_committed ->
       answer = MOVED; state = message_fetch_state_acknowledging; message_fetch_does(message_fetch_do_sendAcknowledge); message_fetch_does(message_fetch_do_startDeadline)
    :: event == message_fetch_on_abandoned ->
       answer = MOVED; state = message_fetch_state_untaken; message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_dropped ->
       answer = IGNORED
    :: event == message_fetch_on_timeout ->
       answer = IGNORED
    fi
  :: state == message_fetch_state_acknowledging ->
    if
    :: event == message_fetch_on_want ->
       answer = IGNORED
    :: event == message_fetch_on_claimGranted ->
       answer = IGNORED
    :: event == message_fetch_on_claimFailed ->
       answer = IGNORED
    :: event == message_fetch_on_message ->
       answer = MOVED; state = message_fetch_state_followed; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_emitMarker); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_empty ->
       answer = MOVED; state = message_fetch_state_last; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_emitMarker); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_failed ->
       answer = MOVED; state = message_fetch_state_taken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_emitMarker); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_committed ->
       answer = IGNORED
    :: event == message_fetch_on_abandoned ->
       answer = IGNORED
    :: event == message_fetch_on_dropped ->
       answer = MOVED; state = message_fetch_state_looking; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_emitMarker); message_fetch_does(message_fetch_do_sendGet); message_fetch_does(message_fetch_do_startDeadline)
    :: event == message_fetch_on_timeout ->
       answer = MOVED; state = message_fetch_state_taken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_giveUpRequest); message_fetch_does(message_fetch_do_emitMarker); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    fi
  :: state == message_fetch_state_looking ->
    if
    :: event == message_fetch_on_want ->
       answer = IGNORED
    :: event == message_fetch_on_claimGranted ->
       answer = IGNORED
    :: event == message_fetch_on_claimFailed ->
       answer = IGNORED
    :: event == message_fetch_on_message ->
       answer = MOVED; state = message_fetch_state_followed; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_empty ->
       answer = MOVED; state = message_fetch_state_last; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_failed ->
       answer = MOVED; state = message_fetch_state_taken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    :: event == message_fetch_on_committed ->
       answer = IGNORED
    :: event == message_fetch_on_abandoned ->
       answer = IGNORED
    :: event == message_fetch_on_dropped ->
       answer = IGNORED
    :: event == message_fetch_on_timeout ->
       answer = MOVED; state = message_fetch_state_taken; message_fetch_does(message_fetch_do_cancelDeadline); message_fetch_does(message_fetch_do_giveUpRequest); message_fetch_does(message_fetch_do_releaseMailbox); message_fetch_does(message_fetch_do_answer)
    fi
  :: message_fetch_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype message_fetch_world() {
  byte state = message_fetch_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !message_fetch_isFinal(state) ->
    atomic {
      if
      :: event = message_fetch_on_want
      :: event = message_fetch_on_claimGranted
      :: event = message_fetch_on_claimFailed
      :: event = message_fetch_on_message
      :: event = message_fetch_on_empty
      :: event = message_fetch_on_failed
      :: event = message_fetch_on_committed
      :: event = message_fetch_on_abandoned
      :: event = message_fetch_on_dropped
      :: event = message_fetch_on_timeout
      fi;
      answer = 0;
      message_fetch_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: message_fetch_isFinal(state) -> break
  od;
  assert(message_fetch_times_answer == 1); /* not left out */
  skip
}
#endif
