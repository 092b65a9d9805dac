/* Generated from spec/machines/mailbox_fetch.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and mailbox_fetch_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define mailbox_fetch_state_idle 0
#define mailbox_fetch_state_getting 1
#define mailbox_fetch_state_received 2
#define mailbox_fetch_state_acknowledging 3

#define mailbox_fetch_on_get 0
#define mailbox_fetch_on_message 1
#define mailbox_fetch_on_empty 2
#define mailbox_fetch_on_failed 3
#define mailbox_fetch_on_committed 4
#define mailbox_fetch_on_abandoned 5
#define mailbox_fetch_on_dropped 6
#define mailbox_fetch_on_noMessage 7
#define mailbox_fetch_on_timeout 8

#define mailbox_fetch_do_sendGet 0
#define mailbox_fetch_do_deliverMessage 1
#define mailbox_fetch_do_sendAcknowledge 2
#define mailbox_fetch_do_reportEmpty 3
#define mailbox_fetch_do_reportFailed 4
#define mailbox_fetch_do_giveUpRequest 5
#define mailbox_fetch_do_emitMarker 6
#define mailbox_fetch_do_releaseMailbox 7
#define mailbox_fetch_do_startDeadline 8
#define mailbox_fetch_do_cancelDeadline 9

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define mailbox_fetch_initial mailbox_fetch_state_idle
#define mailbox_fetch_isFinal(s) (false)

#ifndef PORTER_WORLD
inline mailbox_fetch_does(effect) {
  skip
}
#endif

inline mailbox_fetch_step(state, event, answer) {
  if
  :: state == mailbox_fetch_state_idle ->
    if
    :: event == mailbox_fetch_on_get ->
       answer = MOVED; state = mailbox_fetch_state_getting; mailbox_fetch_does(mailbox_fetch_do_sendGet); mailbox_fetch_does(mailbox_fetch_do_startDeadline)
    :: event == mailbox_fetch_on_message ->
       answer = IGNORED
    :: event == mailbox_fetch_on_empty ->
       answer = IGNORED
    :: event == mailbox_fetch_on_failed ->
       answer = IGNORED
    :: event == mailbox_fetch_on_committed ->
       answer = IGNORED
    :: event == mailbox_fetch_on_abandoned ->
       answer = IGNORED
    :: event == mailbox_fetch_on_dropped ->
       answer = IGNORED
    :: event == mailbox_fetch_on_noMessage ->
       answer = IGNORED
    :: event == mailbox_fetch_on_timeout ->
       answer = IGNORED
    fi
  :: state == mailbox_fetch_state_getting ->
    if
    :: event == mailbox_fetch_on_get ->
       answer = REFUSED
    :: event == mailbox_fetch_on_message ->
       answer = MOVED; state = mailbox_fetch_state_received; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_deliverMessage); mailbox_fetch_does(mailbox_fetch_do_startDeadline)
    :: event == mailbox_fetch_on_empty ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_reportEmpty); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_failed ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_reportFailed); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_committed ->
       answer = IGNORED
    :: event == mailbox_fetch_on_abandoned ->
       answer = IGNORED
    :: event == mailbox_fetch_on_dropped ->
       answer = IGNORED
    :: event == mailbox_fetch_on_noMessage ->
       answer = IGNORED
    :: event == mailbox_fetch_on_timeout ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_giveUpRequest); mailbox_fetch_does(mailbox_fetch_do_reportFailed); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    fi
  :: state == mailbox_fetch_state_received ->
    if
    :: event == mailbox_fetch_on_get ->
       answer = REFUSED
    :: event == mailbox_fetch_on_message ->
       answer = IGNORED
    :: event == mailbox_fetch_on_empty ->
       answer = IGNORED
    :: event == mailbox_fetch_on_failed ->
       answer = IGNORED
    :: event == mailbox_fetch_on_committed ->
       answer = MOVED; state = mailbox_fetch_state_acknowledging; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_sendAcknowledge); mailbox_fetch_does(mailbox_fetch_do_startDeadline)
    :: event == mailbox_fetch_on_abandoned ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_dropped ->
       answer = IGNORED
    :: event == mailbox_fetch_on_noMessage ->
       answer = IGNORED
    :: event == mailbox_fetch_on_timeout ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_reportFailed); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    fi
  :: state == mailbox_fetch_state_acknowledging ->
    if
    :: event == mailbox_fetch_on_get ->
       answer = REFUSED
    :: event == mailbox_fetch_on_message ->
       answer = MOVED; state = mailbox_fetch_state_received; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_deliverMessage); mailbox_fetch_does(mailbox_fetch_do_startDeadline)
    :: event == mailbox_fetch_on_empty ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_reportEmpty); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_failed ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_committed ->
       answer = IGNORED
    :: event == mailbox_fetch_on_abandoned ->
       answer = IGNORED
    :: event == mailbox_fetch_on_dropped ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_noMessage ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_cancelDeadline); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    :: event == mailbox_fetch_on_timeout ->
       answer = MOVED; state = mailbox_fetch_state_idle; mailbox_fetch_does(mailbox_fetch_do_giveUpRequest); mailbox_fetch_does(mailbox_fetch_do_emitMarker); mailbox_fetch_does(mailbox_fetch_do_releaseMailbox)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype mailbox_fetch_world() {
  byte state = mailbox_fetch_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = mailbox_fetch_on_get
      :: event = mailbox_fetch_on_message
      :: event = mailbox_fetch_on_empty
      :: event = mailbox_fetch_on_failed
      :: event = mailbox_fetch_on_committed
      :: event = mailbox_fetch_on_abandoned
      :: event = mailbox_fetch_on_dropped
      :: event = mailbox_fetch_on_noMessage
      :: event = mailbox_fetch_on_timeout
      fi;
      answer = 0;
      mailbox_fetch_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
