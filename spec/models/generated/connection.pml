/* Generated from spec/machines/connection.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and connection_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define connection_state_none 0
#define connection_state_requested 1
#define connection_state_accepted 2
#define connection_state_ready 3
#define connection_state_left 4
#define connection_state_published 5
#define connection_state_deleted 6

#define connection_on_invite 0
#define connection_on_accept 1
#define connection_on_peerConfirmed 2
#define connection_on_peerGreeted 3
#define connection_on_peerAnswered 4
#define connection_on_messageGiven 5
#define connection_on_messageArrived 6
#define connection_on_peerLeft 7
#define connection_on_delete 8
#define connection_on_deleteSilently 9
#define connection_on_publish 10
#define connection_on_requestArrived 11
#define connection_on_abandon 12

#define connection_do_sendConfirmation 0
#define connection_do_secureMailbox 1
#define connection_do_sendGreeting 2
#define connection_do_sendAnswer 3
#define connection_do_sendLeft 4
#define connection_do_withdrawRequest 5
#define connection_do_emitContactConnected 6
#define connection_do_emitContactLeft 7
#define connection_do_createSubscription 8
#define connection_do_deleteSubscription 9
#define connection_do_sendMessage 10
#define connection_do_deliverMessage 11
#define connection_do_deliverRequest 12
#define connection_do_deleteMailbox 13
#define connection_do_forgetKeys 14

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define connection_initial connection_state_none
#define connection_isFinal(s) ((s) == connection_state_deleted)

#ifndef PORTER_WORLD
inline connection_does(effect) {
  skip
}
#endif

inline connection_step(state, event, answer) {
  if
  :: state == connection_state_none ->
    if
    :: event == connection_on_invite ->
       answer = MOVED; state = connection_state_requested; connection_does(connection_do_createSubscription)
    :: event == connection_on_accept ->
       answer = MOVED; state = connection_state_accepted; connection_does(connection_do_sendConfirmation); connection_does(connection_do_createSubscription)
    :: event == connection_on_peerConfirmed ->
       answer = REFUSED
    :: event == connection_on_peerGreeted ->
       answer = REFUSED
    :: event == connection_on_peerAnswered ->
       answer = REFUSED
    :: event == connection_on_messageGiven ->
       answer = REFUSED
    :: event == connection_on_messageArrived ->
       answer = REFUSED
    :: event == connection_on_peerLeft ->
       answer = REFUSED
    :: event == connection_on_delete ->
       answer = REFUSED
    :: event == connection_on_deleteSilently ->
       answer = REFUSED
    :: event == connection_on_publish ->
       answer = MOVED; state = connection_state_published; connection_does(connection_do_createSubscription)
    :: event == connection_on_requestArrived ->
       answer = REFUSED
    :: event == connection_on_abandon ->
       answer = REFUSED
    fi
  :: state == connection_state_requested ->
    if
    :: event == connection_on_invite ->
       answer = REFUSED
    :: event == connection_on_accept ->
       answer = REFUSED
    :: event == connection_on_peerConfirmed ->
       answer = MOVED; state = connection_state_accepted; connection_does(connection_do_secureMailbox); connection_does(connection_do_sendGreeting)
    :: event == connection_on_peerGreeted ->
       answer = REFUSED
    :: event == connection_on_peerAnswered ->
       answer = REFUSED
    :: event == connection_on_messageGiven ->
       answer = REFUSED
    :: event == connection_on_messageArrived ->
       answer = REFUSED
    :: event == connection_on_peerLeft ->
       answer = REFUSED
    :: event == connection_on_delete ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_withdrawRequest); connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_deleteSilently ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_publish ->
       answer = REFUSED
    :: event == connection_on_requestArrived ->
       answer = REFUSED
    :: event == connection_on_abandon ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_forgetKeys)
    fi
  :: state == connection_state_accepted ->
    if
    :: event == connection_on_invite ->
       answer = REFUSED
    :: event == connection_on_accept ->
       answer = REFUSED
    :: event == connection_on_peerConfirmed ->
       answer = REFUSED
    :: event == connection_on_peerGreeted ->
       answer = MOVED; state = connection_state_ready; connection_does(connection_do_sendAnswer); connection_does(connection_do_emitContactConnected)
    :: event == connection_on_peerAnswered ->
       answer = MOVED; state = connection_state_ready; connection_does(connection_do_emitContactConnected)
    :: event == connection_on_messageGiven ->
       answer = STAYED; connection_does(connection_do_sendMessage)
    :: event == connection_on_messageArrived ->
       answer = STAYED; connection_does(connection_do_deliverMessage)
    :: event == connection_on_peerLeft ->
       answer = MOVED; state = connection_state_left; connection_does(connection_do_deleteSubscription); connection_does(connection_do_emitContactLeft)
    :: event == connection_on_delete ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_sendLeft); connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_deleteSilently ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_publish ->
       answer = REFUSED
    :: event == connection_on_requestArrived ->
       answer = REFUSED
    :: event == connection_on_abandon ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_forgetKeys)
    fi
  :: state == connection_state_ready ->
    if
    :: event == connection_on_invite ->
       answer = REFUSED
    :: event == connection_on_accept ->
       answer = REFUSED
    :: event == connection_on_peerConfirmed ->
       answer = REFUSED
    :: event == connection_on_peerGreeted ->
       answer = IGNORED
    :: event == connection_on_peerAnswered ->
       answer = IGNORED
    :: event == connection_on_messageGiven ->
       answer = STAYED; connection_does(connection_do_sendMessage)
    :: event == connection_on_messageArrived ->
       answer = STAYED; connection_does(connection_do_deliverMessage)
    :: event == connection_on_peerLeft ->
       answer = MOVED; state = connection_state_left; connection_does(connection_do_deleteSubscription); connection_does(connection_do_emitContactLeft)
    :: event == connection_on_delete ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_sendLeft); connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_deleteSilently ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_publish ->
       answer = REFUSED
    :: event == connection_on_requestArrived ->
       answer = REFUSED
    :: event == connection_on_abandon ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_forgetKeys)
    fi
  :: state == connection_state_left ->
    if
    :: event == connection_on_invite ->
       answer = REFUSED
    :: event == connection_on_accept ->
       answer = REFUSED
    :: event == connection_on_peerConfirmed ->
       answer = REFUSED
    :: event == connection_on_peerGreeted ->
       answer = IGNORED
    :: event == connection_on_peerAnswered ->
       answer = IGNORED
    :: event == connection_on_messageGiven ->
       answer = REFUSED
    :: event == connection_on_messageArrived ->
       answer = REFUSED
    :: event == connection_on_peerLeft ->
       answer = IGNORED
    :: event == connection_on_delete ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_deleteSilently ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_publish ->
       answer = REFUSED
    :: event == connection_on_requestArrived ->
       answer = REFUSED
    :: event == connection_on_abandon ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_forgetKeys)
    fi
  :: state == connection_state_published ->
    if
    :: event == connection_on_invite ->
       answer = REFUSED
    :: event == connection_on_accept ->
       answer = REFUSED
    :: event == connection_on_peerConfirmed ->
       answer = REFUSED
    :: event == connection_on_peerGreeted ->
       answer = REFUSED
    :: event == connection_on_peerAnswered ->
       answer = REFUSED
    :: event == connection_on_messageGiven ->
       answer = REFUSED
    :: event == connection_on_messageArrived ->
       answer = REFUSED
    :: event == connection_on_peerLeft ->
       answer = REFUSED
    :: event == connection_on_delete ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_deleteSilently ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_deleteMailbox); connection_does(connection_do_forgetKeys)
    :: event == connection_on_publish ->
       answer = REFUSED
    :: event == connection_on_requestArrived ->
       answer = STAYED; connection_does(connection_do_deliverRequest)
    :: event == connection_on_abandon ->
       answer = MOVED; state = connection_state_deleted; connection_does(connection_do_deleteSubscription); connection_does(connection_do_forgetKeys)
    fi
  :: connection_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype connection_world() {
  byte state = connection_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !connection_isFinal(state) ->
    atomic {
      if
      :: event = connection_on_invite
      :: event = connection_on_accept
      :: event = connection_on_peerConfirmed
      :: event = connection_on_peerGreeted
      :: event = connection_on_peerAnswered
      :: event = connection_on_messageGiven
      :: event = connection_on_messageArrived
      :: event = connection_on_peerLeft
      :: event = connection_on_delete
      :: event = connection_on_deleteSilently
      :: event = connection_on_publish
      :: event = connection_on_requestArrived
      :: event = connection_on_abandon
      fi;
      answer = 0;
      connection_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: connection_isFinal(state) -> break
  od;
  skip
}
#endif
