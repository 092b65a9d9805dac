/* Generated from spec/machines/server_token.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and server_token_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define server_token_state_none 0
#define server_token_state_registered 1
#define server_token_state_confirmed 2
#define server_token_state_active 3
#define server_token_state_expired 4
#define server_token_state_invalidBad 5
#define server_token_state_invalidTopic 6
#define server_token_state_invalidExpired 7
#define server_token_state_invalidUnregistered 8

#define server_token_on_register 0
#define server_token_on_registerAgain 1
#define server_token_on_registerOther 2
#define server_token_on_pushAccepted 3
#define server_token_on_pushInvalidBad 4
#define server_token_on_pushInvalidTopic 5
#define server_token_on_pushInvalidExpired 6
#define server_token_on_pushInvalidUnregistered 7
#define server_token_on_verifyMatch 8
#define server_token_on_verifyMismatch 9
#define server_token_on_check 10
#define server_token_on_replace 11
#define server_token_on_setInterval 12
#define server_token_on_setIntervalTooShort 13
#define server_token_on_subscribe 14
#define server_token_on_message 15
#define server_token_on_wakeDue 16
#define server_token_on_stale 17
#define server_token_on_delete 18
#define server_token_on_unsubscribe 19
#define server_token_on_registerTooMany 20
#define server_token_on_forget 21

#define server_token_do_createToken 0
#define server_token_do_replaceToken 1
#define server_token_do_deleteToken 2
#define server_token_do_deleteOthers 3
#define server_token_do_deleteSubscriptions 4
#define server_token_do_sendVerification 5
#define server_token_do_sendMessage 6
#define server_token_do_sendWake 7
#define server_token_do_saveInterval 8
#define server_token_do_saveStatus 9
#define server_token_do_replyToken 10
#define server_token_do_replyStatus 11
#define server_token_do_replyOk 12
#define server_token_do_admitSubscription 13

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define server_token_initial server_token_state_none
#define server_token_isFinal(s) (false)

#ifndef PORTER_WORLD
inline server_token_does(effect) {
  skip
}
#endif

inline server_token_step(state, event, answer) {
  if
  :: state == server_token_state_none ->
    if
    :: event == server_token_on_register ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_createToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerAgain ->
       answer = REFUSED
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidTopic ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidExpired ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = IGNORED
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = REFUSED
    :: event == server_token_on_replace ->
       answer = REFUSED
    :: event == server_token_on_setInterval ->
       answer = REFUSED
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = REFUSED
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = IGNORED
    :: event == server_token_on_delete ->
       answer = REFUSED
    :: event == server_token_on_unsubscribe ->
       answer = REFUSED
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = IGNORED
    fi
  :: state == server_token_state_registered ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = STAYED; server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = MOVED; state = server_token_state_confirmed; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = MOVED; state = server_token_state_active; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_deleteOthers); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = STAYED; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = REFUSED
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_confirmed ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = STAYED; server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = MOVED; state = server_token_state_active; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_deleteOthers); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = REFUSED
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_active ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = STAYED; server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = STAYED; server_token_does(server_token_do_replyOk)
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = STAYED; server_token_does(server_token_do_sendMessage)
    :: event == server_token_on_wakeDue ->
       answer = STAYED; server_token_does(server_token_do_sendWake)
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = IGNORED
    fi
  :: state == server_token_state_expired ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = IGNORED
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_invalidBad ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_invalidTopic ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_invalidExpired ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = MOVED; state = server_token_state_invalidUnregistered; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  :: state == server_token_state_invalidUnregistered ->
    if
    :: event == server_token_on_register ->
       answer = REFUSED
    :: event == server_token_on_registerAgain ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_saveStatus); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_registerOther ->
       answer = REFUSED
    :: event == server_token_on_pushAccepted ->
       answer = IGNORED
    :: event == server_token_on_pushInvalidBad ->
       answer = MOVED; state = server_token_state_invalidBad; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidTopic ->
       answer = MOVED; state = server_token_state_invalidTopic; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidExpired ->
       answer = MOVED; state = server_token_state_invalidExpired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_pushInvalidUnregistered ->
       answer = IGNORED
    :: event == server_token_on_verifyMatch ->
       answer = REFUSED
    :: event == server_token_on_verifyMismatch ->
       answer = REFUSED
    :: event == server_token_on_check ->
       answer = STAYED; server_token_does(server_token_do_replyStatus)
    :: event == server_token_on_replace ->
       answer = MOVED; state = server_token_state_registered; server_token_does(server_token_do_replaceToken); server_token_does(server_token_do_sendVerification); server_token_does(server_token_do_replyToken)
    :: event == server_token_on_setInterval ->
       answer = STAYED; server_token_does(server_token_do_saveInterval); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_setIntervalTooShort ->
       answer = REFUSED
    :: event == server_token_on_subscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_message ->
       answer = IGNORED
    :: event == server_token_on_wakeDue ->
       answer = IGNORED
    :: event == server_token_on_stale ->
       answer = MOVED; state = server_token_state_expired; server_token_does(server_token_do_saveStatus)
    :: event == server_token_on_delete ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken); server_token_does(server_token_do_replyOk)
    :: event == server_token_on_unsubscribe ->
       answer = STAYED; server_token_does(server_token_do_admitSubscription)
    :: event == server_token_on_registerTooMany ->
       answer = REFUSED
    :: event == server_token_on_forget ->
       answer = MOVED; state = server_token_state_none; server_token_does(server_token_do_deleteSubscriptions); server_token_does(server_token_do_deleteToken)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype server_token_world() {
  byte state = server_token_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = server_token_on_register
      :: event = server_token_on_registerAgain
      :: event = server_token_on_registerOther
      :: event = server_token_on_pushAccepted
      :: event = server_token_on_pushInvalidBad
      :: event = server_token_on_pushInvalidTopic
      :: event = server_token_on_pushInvalidExpired
      :: event = server_token_on_pushInvalidUnregistered
      :: event = server_token_on_verifyMatch
      :: event = server_token_on_verifyMismatch
      :: event = server_token_on_check
      :: event = server_token_on_replace
      :: event = server_token_on_setInterval
      :: event = server_token_on_setIntervalTooShort
      :: event = server_token_on_subscribe
      :: event = server_token_on_message
      :: event = server_token_on_wakeDue
      :: event = server_token_on_stale
      :: event = server_token_on_delete
      :: event = server_token_on_unsubscribe
      :: event = server_token_on_registerTooMany
      :: event = server_token_on_forget
      fi;
      answer = 0;
      server_token_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
