/* Generated from spec/machines/token_status.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and token_status_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define token_status_state_none 0
#define token_status_state_new 1
#define token_status_state_registered 2
#define token_status_state_confirmed 3
#define token_status_state_active 4
#define token_status_state_expired 5
#define token_status_state_invalid 6
#define token_status_state_invalidBad 7
#define token_status_state_invalidTopic 8
#define token_status_state_invalidExpired 9
#define token_status_state_invalidUnregistered 10

#define token_status_on_registerNewToken 0
#define token_status_on_registerSameToken 1
#define token_status_on_registerOk 2
#define token_status_on_registerFailedTemporary 3
#define token_status_on_registerFailedPermanent 4
#define token_status_on_replaceOk 5
#define token_status_on_replaceFailedTemporary 6
#define token_status_on_replaceFailedPermanent 7
#define token_status_on_pushVerification 8
#define token_status_on_verifyOk 9
#define token_status_on_verifyAuthError 10
#define token_status_on_verifyFailedTemporary 11
#define token_status_on_checkDue 12
#define token_status_on_checkActive 13
#define token_status_on_checkUnverified 14
#define token_status_on_checkExpired 15
#define token_status_on_checkInvalidNoReason 16
#define token_status_on_checkInvalidBad 17
#define token_status_on_checkInvalidTopic 18
#define token_status_on_checkInvalidExpired 19
#define token_status_on_checkInvalidUnregistered 20
#define token_status_on_checkAuthError 21
#define token_status_on_checkFailedTemporary 22
#define token_status_on_retry 23
#define token_status_on_takeUp 24
#define token_status_on_modeInstant 25
#define token_status_on_modePeriodic 26
#define token_status_on_delete 27

#define token_status_do_createRecord 0
#define token_status_do_forgetRecord 1
#define token_status_do_saveDeviceToken 2
#define token_status_do_reserveRegister 3
#define token_status_do_reserveReplace 4
#define token_status_do_queueDelete 5
#define token_status_do_queueInterval 6
#define token_status_do_saveServerToken 7
#define token_status_do_saveCode 8
#define token_status_do_saveMode 9
#define token_status_do_turnOffSubscriptions 10
#define token_status_do_saveStatus 11
#define token_status_do_saveReason 12
#define token_status_do_abandonRequests 13
#define token_status_do_sendRegister 14
#define token_status_do_sendReplace 15
#define token_status_do_sendVerify 16
#define token_status_do_sendCheck 17
#define token_status_do_sendQueued 18
#define token_status_do_createSubscriptions 19
#define token_status_do_scheduleRetry 20
#define token_status_do_scheduleCheck 21
#define token_status_do_scheduleRepair 22
#define token_status_do_endRepair 23
#define token_status_do_reportStatus 24
#define token_status_do_reportError 25

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define token_status_initial token_status_state_none
#define token_status_isFinal(s) (false)

#ifndef PORTER_WORLD
inline token_status_does(effect) {
  skip
}
#endif

inline token_status_step(state, event, answer) {
  if
  :: state == token_status_state_none ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerSameToken ->
       answer = REFUSED
    :: event == token_status_on_registerOk ->
       answer = IGNORED
    :: event == token_status_on_registerFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_registerFailedPermanent ->
       answer = IGNORED
    :: event == token_status_on_replaceOk ->
       answer = IGNORED
    :: event == token_status_on_replaceFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_replaceFailedPermanent ->
       answer = IGNORED
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = IGNORED
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = IGNORED
    :: event == token_status_on_checkActive ->
       answer = IGNORED
    :: event == token_status_on_checkUnverified ->
       answer = IGNORED
    :: event == token_status_on_checkExpired ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidNoReason ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidBad ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidTopic ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidExpired ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = IGNORED
    :: event == token_status_on_checkAuthError ->
       answer = IGNORED
    :: event == token_status_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_retry ->
       answer = IGNORED
    :: event == token_status_on_takeUp ->
       answer = IGNORED
    :: event == token_status_on_modeInstant ->
       answer = REFUSED
    :: event == token_status_on_modePeriodic ->
       answer = REFUSED
    :: event == token_status_on_delete ->
       answer = REFUSED
    fi
  :: state == token_status_state_new ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = IGNORED
    :: event == token_status_on_replaceFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_replaceFailedPermanent ->
       answer = IGNORED
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = IGNORED
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = IGNORED
    :: event == token_status_on_checkActive ->
       answer = IGNORED
    :: event == token_status_on_checkUnverified ->
       answer = IGNORED
    :: event == token_status_on_checkExpired ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidNoReason ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidBad ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidTopic ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidExpired ->
       answer = IGNORED
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = IGNORED
    :: event == token_status_on_checkAuthError ->
       answer = IGNORED
    :: event == token_status_on_checkFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests)
    fi
  :: state == token_status_state_registered ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = STAYED; token_status_does(token_status_do_saveServerToken)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = STAYED; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = MOVED; state = token_status_state_confirmed; token_status_does(token_status_do_saveCode); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendVerify); token_status_does(token_status_do_sendQueued)
    :: event == token_status_on_verifyOk ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_confirmed ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_sendVerify)
    :: event == token_status_on_registerOk ->
       answer = IGNORED
    :: event == token_status_on_registerFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_registerFailedPermanent ->
       answer = IGNORED
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = STAYED; token_status_does(token_status_do_saveCode); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_sendVerify); token_status_does(token_status_do_sendQueued)
    :: event == token_status_on_verifyOk ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = STAYED; token_status_does(token_status_do_sendVerify)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_sendVerify)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendVerify)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_active ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_registerOk ->
       answer = IGNORED
    :: event == token_status_on_registerFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_registerFailedPermanent ->
       answer = IGNORED
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = IGNORED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = STAYED; token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_createSubscriptions)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_expired ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_invalid ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_invalidBad ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_invalidTopic ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_invalidExpired ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = MOVED; state = token_status_state_invalidUnregistered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  :: state == token_status_state_invalidUnregistered ->
    if
    :: event == token_status_on_registerNewToken ->
       answer = STAYED; token_status_does(token_status_do_saveDeviceToken); token_status_does(token_status_do_reserveReplace); token_status_does(token_status_do_sendReplace)
    :: event == token_status_on_registerSameToken ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_registerOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveServerToken); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_registerFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_registerFailedPermanent ->
       answer = STAYED; token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_reportError); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceOk ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_replaceFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_replaceFailedPermanent ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_pushVerification ->
       answer = REFUSED
    :: event == token_status_on_verifyOk ->
       answer = IGNORED
    :: event == token_status_on_verifyAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_verifyFailedTemporary ->
       answer = IGNORED
    :: event == token_status_on_checkDue ->
       answer = STAYED; token_status_does(token_status_do_sendCheck)
    :: event == token_status_on_checkActive ->
       answer = MOVED; state = token_status_state_active; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_queueInterval); token_status_does(token_status_do_endRepair); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendQueued); token_status_does(token_status_do_createSubscriptions); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkUnverified ->
       answer = MOVED; state = token_status_state_registered; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkExpired ->
       answer = MOVED; state = token_status_state_expired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidNoReason ->
       answer = MOVED; state = token_status_state_invalid; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidBad ->
       answer = MOVED; state = token_status_state_invalidBad; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidTopic ->
       answer = MOVED; state = token_status_state_invalidTopic; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidExpired ->
       answer = MOVED; state = token_status_state_invalidExpired; token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_scheduleRepair); token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkInvalidUnregistered ->
       answer = STAYED; token_status_does(token_status_do_scheduleCheck)
    :: event == token_status_on_checkAuthError ->
       answer = MOVED; state = token_status_state_new; token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_createRecord); token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_saveReason); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_checkFailedTemporary ->
       answer = STAYED; token_status_does(token_status_do_scheduleRetry)
    :: event == token_status_on_retry ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_takeUp ->
       answer = STAYED; token_status_does(token_status_do_reserveRegister); token_status_does(token_status_do_reportStatus); token_status_does(token_status_do_sendRegister)
    :: event == token_status_on_modeInstant ->
       answer = STAYED; token_status_does(token_status_do_saveMode)
    :: event == token_status_on_modePeriodic ->
       answer = STAYED; token_status_does(token_status_do_saveMode); token_status_does(token_status_do_turnOffSubscriptions)
    :: event == token_status_on_delete ->
       answer = MOVED; state = token_status_state_none; token_status_does(token_status_do_queueDelete); token_status_does(token_status_do_turnOffSubscriptions); token_status_does(token_status_do_forgetRecord); token_status_does(token_status_do_saveStatus); token_status_does(token_status_do_abandonRequests); token_status_does(token_status_do_sendQueued)
    fi
  fi
}

#ifndef PORTER_WORLD
active proctype token_status_world() {
  byte state = token_status_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: true ->
    atomic {
      if
      :: event = token_status_on_registerNewToken
      :: event = token_status_on_registerSameToken
      :: event = token_status_on_registerOk
      :: event = token_status_on_registerFailedTemporary
      :: event = token_status_on_registerFailedPermanent
      :: event = token_status_on_replaceOk
      :: event = token_status_on_replaceFailedTemporary
      :: event = token_status_on_replaceFailedPermanent
      :: event = token_status_on_pushVerification
      :: event = token_status_on_verifyOk
      :: event = token_status_on_verifyAuthError
      :: event = token_status_on_verifyFailedTemporary
      :: event = token_status_on_checkDue
      :: event = token_status_on_checkActive
      :: event = token_status_on_checkUnverified
      :: event = token_status_on_checkExpired
      :: event = token_status_on_checkInvalidNoReason
      :: event = token_status_on_checkInvalidBad
      :: event = token_status_on_checkInvalidTopic
      :: event = token_status_on_checkInvalidExpired
      :: event = token_status_on_checkInvalidUnregistered
      :: event = token_status_on_checkAuthError
      :: event = token_status_on_checkFailedTemporary
      :: event = token_status_on_retry
      :: event = token_status_on_takeUp
      :: event = token_status_on_modeInstant
      :: event = token_status_on_modePeriodic
      :: event = token_status_on_delete
      fi;
      answer = 0;
      token_status_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: true -> break /* the world may end whenever it likes */
  od;
  skip
}
#endif
