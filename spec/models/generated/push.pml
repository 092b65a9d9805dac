/* Generated from spec/machines/push.scxml by porter-machines. Do not change by hand.
 *
 * Included in a model: define PORTER_WORLD and push_does(effect), a statement, before the #include.
 * Alone: every state is offered every event, and must answer. */

#define push_state_received 0
#define push_state_deciding 1
#define push_state_openingStore 2
#define push_state_decoding 3
#define push_state_verifying 4
#define push_state_claiming 5
#define push_state_fetching 6
#define push_state_committing 7
#define push_state_acknowledging 8
#define push_state_presenting 9
#define push_state_sending 10
#define push_state_releasing 11
#define push_state_presented 12
#define push_state_nothingNew 13
#define push_state_yielded 14
#define push_state_verified 15
#define push_state_locked 16
#define push_state_offline 17
#define push_state_expired 18
#define push_state_unknown 19
#define push_state_quarantined 20
#define push_state_stopped 21
#define push_state_wrongSchema 22
#define push_state_failed 23

#define push_on_payloadMessage 0
#define push_on_payloadVerification 1
#define push_on_payloadWake 2
#define push_on_payloadUnknown 3
#define push_on_appRunning 4
#define push_on_appInactive 5
#define push_on_appStopped 6
#define push_on_appWoke 7
#define push_on_storeOpened 8
#define push_on_storeLocked 9
#define push_on_storeWrongSchema 10
#define push_on_storeBusy 11
#define push_on_storeFailed 12
#define push_on_decodedMessage 13
#define push_on_decodedVerification 14
#define push_on_decodedRepeat 15
#define push_on_decodedUnknown 16
#define push_on_decodedUndecryptable 17
#define push_on_verifyDone 18
#define push_on_verifyForged 19
#define push_on_verifyFailed 20
#define push_on_claimGranted 21
#define push_on_claimBusy 22
#define push_on_claimMissing 23
#define push_on_claimDamaged 24
#define push_on_claimFailed 25
#define push_on_claimNoneLeft 26
#define push_on_fetchMessage 27
#define push_on_fetchEmpty 28
#define push_on_fetchOffline 29
#define push_on_fetchDenied 30
#define push_on_commitDone 31
#define push_on_commitCall 32
#define push_on_callCame 33
#define push_on_callWaits 34
#define push_on_mailboxTaken 35
#define push_on_commitRepeat 36
#define push_on_commitQuarantined 37
#define push_on_commitStale 38
#define push_on_commitDamaged 39
#define push_on_commitFailed 40
#define push_on_acknowledged 41
#define push_on_acknowledgeFailed 42
#define push_on_composedShow 43
#define push_on_composedAnnounced 44
#define push_on_composedNothing 45
#define push_on_sent 46
#define push_on_expire 47
#define push_on_releasedPresented 48
#define push_on_releasedNothingNew 49
#define push_on_releasedYielded 50
#define push_on_releasedVerified 51
#define push_on_releasedLocked 52
#define push_on_releasedOffline 53
#define push_on_releasedExpired 54
#define push_on_releasedUnknown 55
#define push_on_releasedQuarantined 56
#define push_on_releasedStopped 57
#define push_on_releasedWrongSchema 58
#define push_on_releasedFailed 59

#define push_do_readAppPhase 0
#define push_do_openStore 1
#define push_do_decodePayload 2
#define push_do_quarantinePayload 3
#define push_do_verifyToken 4
#define push_do_claimNext 5
#define push_do_releaseClaim 6
#define push_do_fetchMessage 7
#define push_do_commitMessage 8
#define push_do_armCallDeadline 9
#define push_do_putMailboxBack 10
#define push_do_discardWork 11
#define push_do_acknowledge 12
#define push_do_composeContent 13
#define push_do_sendOutbox 14
#define push_do_composeBest 15
#define push_do_composeNotice 16
#define push_do_cancelWork 17
#define push_do_releaseStore 18
#define push_do_answer 19

#ifndef PORTER_ANSWERS
#define PORTER_ANSWERS
#define MOVED 1
#define STAYED 2
#define IGNORED 3
#define REFUSED 4
#endif

#define push_initial push_state_received
#define push_isFinal(s) ((s) == push_state_presented || (s) == push_state_nothingNew || (s) == push_state_yielded || (s) == push_state_verified || (s) == push_state_locked || (s) == push_state_offline || (s) == push_state_expired || (s) == push_state_unknown || (s) == push_state_quarantined || (s) == push_state_stopped || (s) == push_state_wrongSchema || (s) == push_state_failed)

#ifndef PORTER_WORLD
byte push_times_answer = 0;
inline push_does(effect) {
  push_times_answer = push_times_answer + (effect == push_do_answer);
  assert(push_times_answer <= 1) /* once */
}
#endif

inline push_step(state, event, answer) {
  if
  :: state == push_state_received ->
    if
    :: event == push_on_payloadMessage ->
       answer = MOVED; state = push_state_deciding; push_does(push_do_readAppPhase)
    :: event == push_on_payloadVerification ->
       answer = MOVED; state = push_state_deciding; push_does(push_do_readAppPhase)
    :: event == push_on_payloadWake ->
       answer = MOVED; state = push_state_deciding; push_does(push_do_readAppPhase)
    :: event == push_on_payloadUnknown ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = IGNORED
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = IGNORED
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_deciding ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_appInactive ->
       answer = MOVED; state = push_state_openingStore; push_does(push_do_openStore)
    :: event == push_on_appStopped ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = IGNORED
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_openingStore ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeOpened ->
       answer = MOVED; state = push_state_decoding; push_does(push_do_decodePayload)
    :: event == push_on_storeLocked ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeWrongSchema ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeBusy ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_decoding ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_claimNext)
    :: event == push_on_decodedVerification ->
       answer = MOVED; state = push_state_verifying; push_does(push_do_verifyToken)
    :: event == push_on_decodedRepeat ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_composeContent)
    :: event == push_on_decodedUnknown ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_decodedUndecryptable ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_quarantinePayload); push_does(push_do_releaseStore)
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_verifying ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_releaseStore)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_verifyForged ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_quarantinePayload); push_does(push_do_releaseStore)
    :: event == push_on_verifyFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_claiming ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = MOVED; state = push_state_fetching; push_does(push_do_fetchMessage)
    :: event == push_on_claimBusy ->
       answer = STAYED; push_does(push_do_claimNext)
    :: event == push_on_claimMissing ->
       answer = STAYED; push_does(push_do_claimNext)
    :: event == push_on_claimDamaged ->
       answer = STAYED; push_does(push_do_claimNext)
    :: event == push_on_claimFailed ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_composeContent)
    :: event == push_on_claimNoneLeft ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_composeContent)
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = STAYED; push_does(push_do_armCallDeadline)
    :: event == push_on_callWaits ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_fetching ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = MOVED; state = push_state_committing; push_does(push_do_commitMessage)
    :: event == push_on_fetchEmpty ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_fetchOffline ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_fetchDenied ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = STAYED; push_does(push_do_armCallDeadline)
    :: event == push_on_callWaits ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_mailboxTaken ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_putMailboxBack); push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_committing ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = MOVED; state = push_state_acknowledging; push_does(push_do_acknowledge)
    :: event == push_on_commitCall ->
       answer = MOVED; state = push_state_acknowledging; push_does(push_do_acknowledge); push_does(push_do_armCallDeadline)
    :: event == push_on_callCame ->
       answer = STAYED; push_does(push_do_armCallDeadline)
    :: event == push_on_callWaits ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = MOVED; state = push_state_acknowledging; push_does(push_do_acknowledge)
    :: event == push_on_commitQuarantined ->
       answer = MOVED; state = push_state_acknowledging; push_does(push_do_acknowledge)
    :: event == push_on_commitStale ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_discardWork); push_does(push_do_claimNext)
    :: event == push_on_commitDamaged ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_discardWork); push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_commitFailed ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_acknowledging ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = MOVED; state = push_state_committing; push_does(push_do_commitMessage)
    :: event == push_on_fetchEmpty ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = STAYED; push_does(push_do_armCallDeadline)
    :: event == push_on_callWaits ->
       answer = MOVED; state = push_state_presenting; push_does(push_do_cancelWork); push_does(push_do_composeContent)
    :: event == push_on_mailboxTaken ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_putMailboxBack); push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = MOVED; state = push_state_fetching; push_does(push_do_fetchMessage)
    :: event == push_on_acknowledgeFailed ->
       answer = MOVED; state = push_state_claiming; push_does(push_do_releaseClaim); push_does(push_do_claimNext)
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_presenting ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = IGNORED
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = MOVED; state = push_state_sending; push_does(push_do_sendOutbox)
    :: event == push_on_composedAnnounced ->
       answer = MOVED; state = push_state_sending; push_does(push_do_sendOutbox)
    :: event == push_on_composedNothing ->
       answer = MOVED; state = push_state_sending; push_does(push_do_sendOutbox)
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_cancelWork); push_does(push_do_composeBest); push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_sending ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_expire ->
       answer = MOVED; state = push_state_releasing; push_does(push_do_releaseStore)
    :: event == push_on_releasedPresented ->
       answer = IGNORED
    :: event == push_on_releasedNothingNew ->
       answer = IGNORED
    :: event == push_on_releasedYielded ->
       answer = IGNORED
    :: event == push_on_releasedVerified ->
       answer = IGNORED
    :: event == push_on_releasedLocked ->
       answer = IGNORED
    :: event == push_on_releasedOffline ->
       answer = IGNORED
    :: event == push_on_releasedExpired ->
       answer = IGNORED
    :: event == push_on_releasedUnknown ->
       answer = IGNORED
    :: event == push_on_releasedQuarantined ->
       answer = IGNORED
    :: event == push_on_releasedStopped ->
       answer = IGNORED
    :: event == push_on_releasedWrongSchema ->
       answer = IGNORED
    :: event == push_on_releasedFailed ->
       answer = IGNORED
    fi
  :: state == push_state_releasing ->
    if
    :: event == push_on_payloadMessage ->
       answer = IGNORED
    :: event == push_on_payloadVerification ->
       answer = IGNORED
    :: event == push_on_payloadWake ->
       answer = IGNORED
    :: event == push_on_payloadUnknown ->
       answer = IGNORED
    :: event == push_on_appRunning ->
       answer = IGNORED
    :: event == push_on_appInactive ->
       answer = IGNORED
    :: event == push_on_appStopped ->
       answer = IGNORED
    :: event == push_on_appWoke ->
       answer = IGNORED
    :: event == push_on_storeOpened ->
       answer = IGNORED
    :: event == push_on_storeLocked ->
       answer = IGNORED
    :: event == push_on_storeWrongSchema ->
       answer = IGNORED
    :: event == push_on_storeBusy ->
       answer = IGNORED
    :: event == push_on_storeFailed ->
       answer = IGNORED
    :: event == push_on_decodedMessage ->
       answer = IGNORED
    :: event == push_on_decodedVerification ->
       answer = IGNORED
    :: event == push_on_decodedRepeat ->
       answer = IGNORED
    :: event == push_on_decodedUnknown ->
       answer = IGNORED
    :: event == push_on_decodedUndecryptable ->
       answer = IGNORED
    :: event == push_on_verifyDone ->
       answer = IGNORED
    :: event == push_on_verifyForged ->
       answer = IGNORED
    :: event == push_on_verifyFailed ->
       answer = IGNORED
    :: event == push_on_claimGranted ->
       answer = IGNORED
    :: event == push_on_claimBusy ->
       answer = IGNORED
    :: event == push_on_claimMissing ->
       answer = IGNORED
    :: event == push_on_claimDamaged ->
       answer = IGNORED
    :: event == push_on_claimFailed ->
       answer = IGNORED
    :: event == push_on_claimNoneLeft ->
       answer = IGNORED
    :: event == push_on_fetchMessage ->
       answer = IGNORED
    :: event == push_on_fetchEmpty ->
       answer = IGNORED
    :: event == push_on_fetchOffline ->
       answer = IGNORED
    :: event == push_on_fetchDenied ->
       answer = IGNORED
    :: event == push_on_commitDone ->
       answer = IGNORED
    :: event == push_on_commitCall ->
       answer = IGNORED
    :: event == push_on_callCame ->
       answer = IGNORED
    :: event == push_on_callWaits ->
       answer = IGNORED
    :: event == push_on_mailboxTaken ->
       answer = IGNORED
    :: event == push_on_commitRepeat ->
       answer = IGNORED
    :: event == push_on_commitQuarantined ->
       answer = IGNORED
    :: event == push_on_commitStale ->
       answer = IGNORED
    :: event == push_on_commitDamaged ->
       answer = IGNORED
    :: event == push_on_commitFailed ->
       answer = IGNORED
    :: event == push_on_acknowledged ->
       answer = IGNORED
    :: event == push_on_acknowledgeFailed ->
       answer = IGNORED
    :: event == push_on_composedShow ->
       answer = IGNORED
    :: event == push_on_composedAnnounced ->
       answer = IGNORED
    :: event == push_on_composedNothing ->
       answer = IGNORED
    :: event == push_on_sent ->
       answer = IGNORED
    :: event == push_on_expire ->
       answer = IGNORED
    :: event == push_on_releasedPresented ->
       answer = MOVED; state = push_state_presented; push_does(push_do_answer)
    :: event == push_on_releasedNothingNew ->
       answer = MOVED; state = push_state_nothingNew; push_does(push_do_answer)
    :: event == push_on_releasedYielded ->
       answer = MOVED; state = push_state_yielded; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedVerified ->
       answer = MOVED; state = push_state_verified; push_does(push_do_answer)
    :: event == push_on_releasedLocked ->
       answer = MOVED; state = push_state_locked; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedOffline ->
       answer = MOVED; state = push_state_offline; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedExpired ->
       answer = MOVED; state = push_state_expired; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedUnknown ->
       answer = MOVED; state = push_state_unknown; push_does(push_do_answer)
    :: event == push_on_releasedQuarantined ->
       answer = MOVED; state = push_state_quarantined; push_does(push_do_answer)
    :: event == push_on_releasedStopped ->
       answer = MOVED; state = push_state_stopped; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedWrongSchema ->
       answer = MOVED; state = push_state_wrongSchema; push_does(push_do_composeNotice); push_does(push_do_answer)
    :: event == push_on_releasedFailed ->
       answer = MOVED; state = push_state_failed; push_does(push_do_composeNotice); push_does(push_do_answer)
    fi
  :: push_isFinal(state) -> answer = IGNORED
  fi
}

#ifndef PORTER_WORLD
active proctype push_world() {
  byte state = push_initial;
  byte event = 0;
  byte answer = 0;
  do
  :: !push_isFinal(state) ->
    atomic {
      if
      :: event = push_on_payloadMessage
      :: event = push_on_payloadVerification
      :: event = push_on_payloadWake
      :: event = push_on_payloadUnknown
      :: event = push_on_appRunning
      :: event = push_on_appInactive
      :: event = push_on_appStopped
      :: event = push_on_appWoke
      :: event = push_on_storeOpened
      :: event = push_on_storeLocked
      :: event = push_on_storeWrongSchema
      :: event = push_on_storeBusy
      :: event = push_on_storeFailed
      :: event = push_on_decodedMessage
      :: event = push_on_decodedVerification
      :: event = push_on_decodedRepeat
      :: event = push_on_decodedUnknown
      :: event = push_on_decodedUndecryptable
      :: event = push_on_verifyDone
      :: event = push_on_verifyForged
      :: event = push_on_verifyFailed
      :: event = push_on_claimGranted
      :: event = push_on_claimBusy
      :: event = push_on_claimMissing
      :: event = push_on_claimDamaged
      :: event = push_on_claimFailed
      :: event = push_on_claimNoneLeft
      :: event = push_on_fetchMessage
      :: event = push_on_fetchEmpty
      :: event = push_on_fetchOffline
      :: event = push_on_fetchDenied
      :: event = push_on_commitDone
      :: event = push_on_commitCall
      :: event = push_on_callCame
      :: event = push_on_callWaits
      :: event = push_on_mailboxTaken
      :: event = push_on_commitRepeat
      :: event = push_on_commitQuarantined
      :: event = push_on_commitStale
      :: event = push_on_commitDamaged
      :: event = push_on_commitFailed
      :: event = push_on_acknowledged
      :: event = push_on_acknowledgeFailed
      :: event = push_on_composedShow
      :: event = push_on_composedAnnounced
      :: event = push_on_composedNothing
      :: event = push_on_sent
      :: event = push_on_expire
      :: event = push_on_releasedPresented
      :: event = push_on_releasedNothingNew
      :: event = push_on_releasedYielded
      :: event = push_on_releasedVerified
      :: event = push_on_releasedLocked
      :: event = push_on_releasedOffline
      :: event = push_on_releasedExpired
      :: event = push_on_releasedUnknown
      :: event = push_on_releasedQuarantined
      :: event = push_on_releasedStopped
      :: event = push_on_releasedWrongSchema
      :: event = push_on_releasedFailed
      fi;
      answer = 0;
      push_step(state, event, answer);
      assert(answer != 0); /* answered */
      event = 0
    }
  :: push_isFinal(state) -> break
  od;
  assert(push_times_answer == 1); /* not left out */
  skip
}
#endif
