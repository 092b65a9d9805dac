/* Generated from spec/machines/call.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and call_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define call_state_idle 0
#define call_state_invited 1
#define call_state_ringing 2
#define call_state_accepted 3
#define call_state_offerSent 4
#define call_state_offerReceived 5
#define call_state_negotiated 6
#define call_state_connected 7
#define call_state_ended 8
#define call_state_missed 9
#define call_state_rejected 10
#define call_state_failed 11

#define call_on_invite 0
#define call_on_peerInvited 1
#define call_on_peerLate 2
#define call_on_accept 3
#define call_on_reject 4
#define call_on_offer 5
#define call_on_peerOffered 6
#define call_on_answer 7
#define call_on_peerAnswered 8
#define call_on_extra 9
#define call_on_peerExtra 10
#define call_on_statusConnected 11
#define call_on_statusDisconnected 12
#define call_on_statusFailed 13
#define call_on_end 14
#define call_on_peerEnded 15
#define call_on_expire 16
#define call_on_replace 17

#define call_do_addItem 0
#define call_do_updateItem 1
#define call_do_sendInvitation 2
#define call_do_withdrawInvitation 3
#define call_do_sendOffer 4
#define call_do_sendAnswer 5
#define call_do_sendExtra 6
#define call_do_sendEnd 7
#define call_do_stopRinging 8
#define call_do_queueEvent 9
#define call_do_forgetEvents 10
#define call_do_queueEnd 11
#define call_do_emitEvents 12

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define call_initial call_state_idle
#define call_isFinal(s) ((s) == call_state_ended || (s) == call_state_missed || (s) == call_state_rejected || (s) == call_state_failed)

#ifndef PORTER_WORLD
inline call_does(effect) {
  skip
}
#endif

inline call_step(state, event, answer) {
  if
  :: state == call_state_idle ->
    if
    :: event == call_on_invite ->
       answer = MOVED; state = call_state_invited; call_does(call_do_addItem); call_does(call_do_sendInvitation); call_does(call_do_emitEvents)
    :: event == call_on_peerInvited ->
       answer = MOVED; state = call_state_ringing; call_does(call_do_addItem); call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_peerLate ->
       answer = MOVED; state = call_state_missed; call_does(call_do_addItem)
    :: event == call_on_accept ->
       answer = REFUSED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = REFUSED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = REFUSED
    :: event == call_on_extra ->
       answer = REFUSED
    :: event == call_on_peerExtra ->
       answer = REFUSED
    :: event == call_on_statusConnected ->
       answer = REFUSED
    :: event == call_on_statusDisconnected ->
       answer = REFUSED
    :: event == call_on_statusFailed ->
       answer = REFUSED
    :: event == call_on_end ->
       answer = REFUSED
    :: event == call_on_peerEnded ->
       answer = REFUSED
    :: event == call_on_expire ->
       answer = REFUSED
    :: event == call_on_replace ->
       answer = REFUSED
    fi
  :: state == call_state_invited ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = REFUSED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = MOVED; state = call_state_offerReceived; call_does(call_do_updateItem); call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = REFUSED
    :: event == call_on_peerExtra ->
       answer = IGNORED
    :: event == call_on_statusConnected ->
       answer = IGNORED
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_withdrawInvitation); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_withdrawInvitation); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_withdrawInvitation); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_missed; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = MOVED; state = call_state_missed; call_does(call_do_withdrawInvitation); call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_withdrawInvitation); call_does(call_do_updateItem)
    fi
  :: state == call_state_ringing ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = MOVED; state = call_state_accepted; call_does(call_do_forgetEvents); call_does(call_do_stopRinging)
    :: event == call_on_reject ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_offer ->
       answer = MOVED; state = call_state_offerSent; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_sendOffer); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = REFUSED
    :: event == call_on_peerExtra ->
       answer = IGNORED
    :: event == call_on_statusConnected ->
       answer = IGNORED
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_missed; call_does(call_do_stopRinging); call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = MOVED; state = call_state_missed; call_does(call_do_stopRinging); call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_stopRinging); call_does(call_do_updateItem)
    fi
  :: state == call_state_accepted ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = IGNORED
    :: event == call_on_reject ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_offer ->
       answer = MOVED; state = call_state_offerSent; call_does(call_do_sendOffer); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = REFUSED
    :: event == call_on_peerExtra ->
       answer = IGNORED
    :: event == call_on_statusConnected ->
       answer = IGNORED
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_rejected; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_missed; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = MOVED; state = call_state_missed; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_missed; call_does(call_do_forgetEvents); call_does(call_do_updateItem)
    fi
  :: state == call_state_offerSent ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = IGNORED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = MOVED; state = call_state_negotiated; call_does(call_do_updateItem); call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_extra ->
       answer = STAYED; call_does(call_do_sendExtra)
    :: event == call_on_peerExtra ->
       answer = STAYED; call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_statusConnected ->
       answer = MOVED; state = call_state_connected; call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_failed; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_ended; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = IGNORED
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem)
    fi
  :: state == call_state_offerReceived ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = IGNORED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = MOVED; state = call_state_negotiated; call_does(call_do_sendAnswer); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = STAYED; call_does(call_do_sendExtra)
    :: event == call_on_peerExtra ->
       answer = STAYED; call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_statusConnected ->
       answer = MOVED; state = call_state_connected; call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_failed; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_ended; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = IGNORED
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem)
    fi
  :: state == call_state_negotiated ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = IGNORED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = STAYED; call_does(call_do_sendExtra)
    :: event == call_on_peerExtra ->
       answer = STAYED; call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_statusConnected ->
       answer = MOVED; state = call_state_connected; call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_failed; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_ended; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = IGNORED
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem)
    fi
  :: state == call_state_connected ->
    if
    :: event == call_on_invite ->
       answer = REFUSED
    :: event == call_on_peerInvited ->
       answer = IGNORED
    :: event == call_on_peerLate ->
       answer = IGNORED
    :: event == call_on_accept ->
       answer = IGNORED
    :: event == call_on_reject ->
       answer = REFUSED
    :: event == call_on_offer ->
       answer = REFUSED
    :: event == call_on_peerOffered ->
       answer = IGNORED
    :: event == call_on_answer ->
       answer = REFUSED
    :: event == call_on_peerAnswered ->
       answer = IGNORED
    :: event == call_on_extra ->
       answer = STAYED; call_does(call_do_sendExtra)
    :: event == call_on_peerExtra ->
       answer = STAYED; call_does(call_do_queueEvent); call_does(call_do_emitEvents)
    :: event == call_on_statusConnected ->
       answer = IGNORED
    :: event == call_on_statusDisconnected ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_statusFailed ->
       answer = MOVED; state = call_state_failed; call_does(call_do_forgetEvents); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_end ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_sendEnd); call_does(call_do_updateItem); call_does(call_do_emitEvents)
    :: event == call_on_peerEnded ->
       answer = MOVED; state = call_state_ended; call_does(call_do_updateItem); call_does(call_do_queueEnd); call_does(call_do_emitEvents)
    :: event == call_on_expire ->
       answer = IGNORED
    :: event == call_on_replace ->
       answer = MOVED; state = call_state_ended; call_does(call_do_forgetEvents); call_does(call_do_updateItem)
    fi
  :: call_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype call_world() {
  byte state = call_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !call_isFinal(state) ->
    atomic {
      if
      :: event = call_on_invite
      :: event = call_on_peerInvited
      :: event = call_on_peerLate
      :: event = call_on_accept
      :: event = call_on_reject
      :: event = call_on_offer
      :: event = call_on_peerOffered
      :: event = call_on_answer
      :: event = call_on_peerAnswered
      :: event = call_on_extra
      :: event = call_on_peerExtra
      :: event = call_on_statusConnected
      :: event = call_on_statusDisconnected
      :: event = call_on_statusFailed
      :: event = call_on_end
      :: event = call_on_peerEnded
      :: event = call_on_expire
      :: event = call_on_replace
      fi;
      answer = 0;
      call_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: call_isFinal(state) -> break
  od;
  skip
}
#endif
