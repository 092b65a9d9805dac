/* Generated from spec/machines/contact_request.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and contact_request_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define contact_request_state_none 0
#define contact_request_state_received 1
#define contact_request_state_accepting 2
#define contact_request_state_accepted 3
#define contact_request_state_rejected 4
#define contact_request_state_withdrawn 5

#define contact_request_on_arriveUndecided 0
#define contact_request_on_arriveAutomatic 1
#define contact_request_on_arriveTooMany 2
#define contact_request_on_repeatAgain 3
#define contact_request_on_repeatTooMany 4
#define contact_request_on_accept 5
#define contact_request_on_reject 6
#define contact_request_on_joined 7
#define contact_request_on_withdraw 8
#define contact_request_on_mailboxGone 9

#define contact_request_do_storeRequest 0
#define contact_request_do_refreshRequest 1
#define contact_request_do_notifyUser 2
#define contact_request_do_clearNotification 3
#define contact_request_do_createContact 4
#define contact_request_do_endContact 5
#define contact_request_do_deleteContact 6
#define contact_request_do_eraseInvitation 7
#define contact_request_do_joinInvitation 8

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define contact_request_initial contact_request_state_none
#define contact_request_isFinal(s) ((s) == contact_request_state_rejected || (s) == contact_request_state_withdrawn)

#ifndef PORTER_WORLD
inline contact_request_does(effect) {
  skip
}
#endif

inline contact_request_step(state, event, answer) {
  if
  :: state == contact_request_state_none ->
    if
    :: event == contact_request_on_arriveUndecided ->
       answer = MOVED; state = contact_request_state_received; contact_request_does(contact_request_do_storeRequest); contact_request_does(contact_request_do_notifyUser)
    :: event == contact_request_on_arriveAutomatic ->
       answer = MOVED; state = contact_request_state_accepting; contact_request_does(contact_request_do_storeRequest); contact_request_does(contact_request_do_joinInvitation)
    :: event == contact_request_on_arriveTooMany ->
       answer = IGNORED
    :: event == contact_request_on_repeatAgain ->
       answer = REFUSED
    :: event == contact_request_on_repeatTooMany ->
       answer = REFUSED
    :: event == contact_request_on_accept ->
       answer = REFUSED
    :: event == contact_request_on_reject ->
       answer = REFUSED
    :: event == contact_request_on_joined ->
       answer = REFUSED
    :: event == contact_request_on_withdraw ->
       answer = IGNORED
    :: event == contact_request_on_mailboxGone ->
       answer = REFUSED
    fi
  :: state == contact_request_state_received ->
    if
    :: event == contact_request_on_arriveUndecided ->
       answer = REFUSED
    :: event == contact_request_on_arriveAutomatic ->
       answer = REFUSED
    :: event == contact_request_on_arriveTooMany ->
       answer = REFUSED
    :: event == contact_request_on_repeatAgain ->
       answer = STAYED; contact_request_does(contact_request_do_refreshRequest)
    :: event == contact_request_on_repeatTooMany ->
       answer = IGNORED
    :: event == contact_request_on_accept ->
       answer = MOVED; state = contact_request_state_accepting; contact_request_does(contact_request_do_clearNotification); contact_request_does(contact_request_do_joinInvitation)
    :: event == contact_request_on_reject ->
       answer = MOVED; state = contact_request_state_rejected; contact_request_does(contact_request_do_clearNotification); contact_request_does(contact_request_do_eraseInvitation)
    :: event == contact_request_on_joined ->
       answer = REFUSED
    :: event == contact_request_on_withdraw ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_clearNotification); contact_request_does(contact_request_do_eraseInvitation)
    :: event == contact_request_on_mailboxGone ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_clearNotification); contact_request_does(contact_request_do_eraseInvitation)
    fi
  :: state == contact_request_state_accepting ->
    if
    :: event == contact_request_on_arriveUndecided ->
       answer = REFUSED
    :: event == contact_request_on_arriveAutomatic ->
       answer = REFUSED
    :: event == contact_request_on_arriveTooMany ->
       answer = REFUSED
    :: event == contact_request_on_repeatAgain ->
       answer = IGNORED
    :: event == contact_request_on_repeatTooMany ->
       answer = IGNORED
    :: event == contact_request_on_accept ->
       answer = STAYED; contact_request_does(contact_request_do_joinInvitation)
    :: event == contact_request_on_reject ->
       answer = REFUSED
    :: event == contact_request_on_joined ->
       answer = MOVED; state = contact_request_state_accepted; contact_request_does(contact_request_do_createContact); contact_request_does(contact_request_do_eraseInvitation)
    :: event == contact_request_on_withdraw ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_eraseInvitation)
    :: event == contact_request_on_mailboxGone ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_eraseInvitation)
    fi
  :: state == contact_request_state_accepted ->
    if
    :: event == contact_request_on_arriveUndecided ->
       answer = REFUSED
    :: event == contact_request_on_arriveAutomatic ->
       answer = REFUSED
    :: event == contact_request_on_arriveTooMany ->
       answer = REFUSED
    :: event == contact_request_on_repeatAgain ->
       answer = IGNORED
    :: event == contact_request_on_repeatTooMany ->
       answer = IGNORED
    :: event == contact_request_on_accept ->
       answer = IGNORED
    :: event == contact_request_on_reject ->
       answer = REFUSED
    :: event == contact_request_on_joined ->
       answer = IGNORED
    :: event == contact_request_on_withdraw ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_endContact)
    :: event == contact_request_on_mailboxGone ->
       answer = MOVED; state = contact_request_state_withdrawn; contact_request_does(contact_request_do_deleteContact)
    fi
  :: contact_request_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype contact_request_world() {
  byte state = contact_request_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !contact_request_isFinal(state) ->
    atomic {
      if
      :: event = contact_request_on_arriveUndecided
      :: event = contact_request_on_arriveAutomatic
      :: event = contact_request_on_arriveTooMany
      :: event = contact_request_on_repeatAgain
      :: event = contact_request_on_repeatTooMany
      :: event = contact_request_on_accept
      :: event = contact_request_on_reject
      :: event = contact_request_on_joined
      :: event = contact_request_on_withdraw
      :: event = contact_request_on_mailboxGone
      fi;
      answer = 0;
      contact_request_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: contact_request_isFinal(state) -> break
  od;
  skip
}
#endif
