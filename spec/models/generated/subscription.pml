/* Generated from spec/machines/subscription.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and subscription_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define subscription_state_new 0
#define subscription_state_enabling 1
#define subscription_state_key 2
#define subscription_state_subscribing 3
#define subscription_state_createdNew 4
#define subscription_state_createdPending 5
#define subscription_state_createdActive 6
#define subscription_state_createdInactive 7
#define subscription_state_checking 8
#define subscription_state_unchecked 9
#define subscription_state_turningOff 10
#define subscription_state_releasing 11
#define subscription_state_off 12
#define subscription_state_deleted 13

#define subscription_on_create 0
#define subscription_on_notifierEnabled 1
#define subscription_on_notifierFailedTemporary 2
#define subscription_on_notifierLost 3
#define subscription_on_notifierFailedPermanent 4
#define subscription_on_subscribeOk 5
#define subscription_on_subscribeFailedTemporary 6
#define subscription_on_subscribeLost 7
#define subscription_on_subscribeFailedPermanent 8
#define subscription_on_subscribeAuthError 9
#define subscription_on_checkDue 10
#define subscription_on_checkNew 11
#define subscription_on_checkPending 12
#define subscription_on_checkActive 13
#define subscription_on_checkInactive 14
#define subscription_on_checkEnded 15
#define subscription_on_checkFailedTemporary 16
#define subscription_on_checkLost 17
#define subscription_on_tokenReplaced 18
#define subscription_on_turnOff 19
#define subscription_on_releaseDue 20
#define subscription_on_turnedOff 21
#define subscription_on_releaseFailedTemporary 22
#define subscription_on_releaseLost 23
#define subscription_on_forget 24

#define subscription_do_makeNotifierKeys 0
#define subscription_do_saveNotifier 1
#define subscription_do_saveStatus 2
#define subscription_do_saveReason 3
#define subscription_do_queueRelease 4
#define subscription_do_forgetNotifier 5
#define subscription_do_deleteRecord 6
#define subscription_do_enableNotifier 7
#define subscription_do_disableNotifier 8
#define subscription_do_subscribeAtServer 9
#define subscription_do_checkAtServer 10
#define subscription_do_requestRelease 11
#define subscription_do_sendQueued 12
#define subscription_do_subscribeAgain 13
#define subscription_do_scheduleCheck 14
#define subscription_do_scheduleRetry 15
#define subscription_do_reportStatus 16
#define subscription_do_reportError 17

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define subscription_initial subscription_state_new
#define subscription_isFinal(s) ((s) == subscription_state_deleted)

#ifndef PORTER_WORLD
inline subscription_does(effect) {
  skip
}
#endif

inline subscription_step(state, event, answer) {
  if
  :: state == subscription_state_new ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_enabling; subscription_does(subscription_do_makeNotifierKeys); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_enableNotifier)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_enabling ->
    if
    :: event == subscription_on_create ->
       answer = IGNORED
    :: event == subscription_on_notifierEnabled ->
       answer = MOVED; state = subscription_state_subscribing; subscription_does(subscription_do_saveNotifier); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_subscribeAtServer)
    :: event == subscription_on_notifierFailedTemporary ->
       answer = MOVED; state = subscription_state_new; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_scheduleRetry)
    :: event == subscription_on_notifierLost ->
       answer = MOVED; state = subscription_state_new; subscription_does(subscription_do_saveStatus)
    :: event == subscription_on_notifierFailedPermanent ->
       answer = MOVED; state = subscription_state_new; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportError)
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_key ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_subscribing; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_subscribeAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_subscribing ->
    if
    :: event == subscription_on_create ->
       answer = IGNORED
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = MOVED; state = subscription_state_createdNew; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_scheduleCheck)
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_scheduleRetry)
    :: event == subscription_on_subscribeLost ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus)
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportError)
    :: event == subscription_on_subscribeAuthError ->
       answer = MOVED; state = subscription_state_new; subscription_does(subscription_do_saveReason); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_scheduleRetry)
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_createdNew ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_createdPending ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_createdActive ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_createdInactive ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_checking ->
    if
    :: event == subscription_on_create ->
       answer = IGNORED
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = MOVED; state = subscription_state_createdNew; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_scheduleCheck)
    :: event == subscription_on_checkPending ->
       answer = MOVED; state = subscription_state_createdPending; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_scheduleCheck)
    :: event == subscription_on_checkActive ->
       answer = MOVED; state = subscription_state_createdActive; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_scheduleCheck)
    :: event == subscription_on_checkInactive ->
       answer = MOVED; state = subscription_state_createdInactive; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_scheduleCheck)
    :: event == subscription_on_checkEnded ->
       answer = MOVED; state = subscription_state_enabling; subscription_does(subscription_do_saveReason); subscription_does(subscription_do_makeNotifierKeys); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_enableNotifier)
    :: event == subscription_on_checkFailedTemporary ->
       answer = MOVED; state = subscription_state_unchecked; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_scheduleRetry)
    :: event == subscription_on_checkLost ->
       answer = MOVED; state = subscription_state_unchecked; subscription_does(subscription_do_saveStatus)
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_unchecked ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = MOVED; state = subscription_state_checking; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_checkAtServer)
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = MOVED; state = subscription_state_key; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_reportStatus)
    :: event == subscription_on_turnOff ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_queueRelease); subscription_does(subscription_do_reportStatus); subscription_does(subscription_do_requestRelease); subscription_does(subscription_do_sendQueued)
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_turningOff ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_enabling; subscription_does(subscription_do_makeNotifierKeys); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_enableNotifier)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = IGNORED
    :: event == subscription_on_releaseDue ->
       answer = MOVED; state = subscription_state_releasing; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_disableNotifier)
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_releasing ->
    if
    :: event == subscription_on_create ->
       answer = IGNORED
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = IGNORED
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = MOVED; state = subscription_state_off; subscription_does(subscription_do_forgetNotifier); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_subscribeAgain)
    :: event == subscription_on_releaseFailedTemporary ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_scheduleRetry)
    :: event == subscription_on_releaseLost ->
       answer = MOVED; state = subscription_state_turningOff; subscription_does(subscription_do_saveStatus)
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: state == subscription_state_off ->
    if
    :: event == subscription_on_create ->
       answer = MOVED; state = subscription_state_enabling; subscription_does(subscription_do_makeNotifierKeys); subscription_does(subscription_do_saveStatus); subscription_does(subscription_do_enableNotifier)
    :: event == subscription_on_notifierEnabled ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_notifierLost ->
       answer = IGNORED
    :: event == subscription_on_notifierFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeOk ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_subscribeLost ->
       answer = IGNORED
    :: event == subscription_on_subscribeFailedPermanent ->
       answer = IGNORED
    :: event == subscription_on_subscribeAuthError ->
       answer = IGNORED
    :: event == subscription_on_checkDue ->
       answer = IGNORED
    :: event == subscription_on_checkNew ->
       answer = IGNORED
    :: event == subscription_on_checkPending ->
       answer = IGNORED
    :: event == subscription_on_checkActive ->
       answer = IGNORED
    :: event == subscription_on_checkInactive ->
       answer = IGNORED
    :: event == subscription_on_checkEnded ->
       answer = IGNORED
    :: event == subscription_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_checkLost ->
       answer = IGNORED
    :: event == subscription_on_tokenReplaced ->
       answer = IGNORED
    :: event == subscription_on_turnOff ->
       answer = IGNORED
    :: event == subscription_on_releaseDue ->
       answer = IGNORED
    :: event == subscription_on_turnedOff ->
       answer = IGNORED
    :: event == subscription_on_releaseFailedTemporary ->
       answer = IGNORED
    :: event == subscription_on_releaseLost ->
       answer = IGNORED
    :: event == subscription_on_forget ->
       answer = MOVED; state = subscription_state_deleted; subscription_does(subscription_do_deleteRecord)
    fi
  :: subscription_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype subscription_world() {
  byte state = subscription_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !subscription_isFinal(state) ->
    atomic {
      if
      :: event = subscription_on_create
      :: event = subscription_on_notifierEnabled
      :: event = subscription_on_notifierFailedTemporary
      :: event = subscription_on_notifierLost
      :: event = subscription_on_notifierFailedPermanent
      :: event = subscription_on_subscribeOk
      :: event = subscription_on_subscribeFailedTemporary
      :: event = subscription_on_subscribeLost
      :: event = subscription_on_subscribeFailedPermanent
      :: event = subscription_on_subscribeAuthError
      :: event = subscription_on_checkDue
      :: event = subscription_on_checkNew
      :: event = subscription_on_checkPending
      :: event = subscription_on_checkActive
      :: event = subscription_on_checkInactive
      :: event = subscription_on_checkEnded
      :: event = subscription_on_checkFailedTemporary
      :: event = subscription_on_checkLost
      :: event = subscription_on_tokenReplaced
      :: event = subscription_on_turnOff
      :: event = subscription_on_releaseDue
      :: event = subscription_on_turnedOff
      :: event = subscription_on_releaseFailedTemporary
      :: event = subscription_on_releaseLost
      :: event = subscription_on_forget
      fi;
      answer = 0;
      subscription_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: subscription_isFinal(state) -> break
  od;
  skip
}
#endif
