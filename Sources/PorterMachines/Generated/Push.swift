// Generated from spec/machines/push.scxml by porter-machines: change that file, run `make spec`.

/// One push in an extension, from its arrival to its answer. It is a hint: whatever waits is fetched (INC-38). It ends
/// exactly once, on every path, with an outcome (INC-30, INC-31); the answer is the last thing that happens, after the
/// store is closed (INC-48); every state has an expire edge that answers at once. What cannot improve ends without
/// waiting (INC-32).
package enum Push: Machine {
  package enum State: UInt8, MachineCode {
    /// Handed over by the system; its form is looked at.
    case received
    /// Who acts: the app, or this process?
    case deciding
    /// Opens the store, for a bounded time.
    case openingStore
    /// Opens the sealed payload.
    case decoding
    /// Proves the token, although the app does not run (INC-62).
    case verifying
    /// Takes the next connection, or finds that none is left.
    case claiming
    /// Asks the relay. No lock is held.
    case fetching
    /// Decrypts, and commits once.
    case committing
    /// The message is safe; the relay may drop it.
    case acknowledging
    /// Decides what the user sees.
    case presenting
    /// There is something to show.
    case quiescingPresented
    /// There is nothing to show.
    case quiescingNothingNew
    /// Another process fetches.
    case quiescingYielded
    /// The token was verified.
    case quiescingVerified
    /// No relay was reached.
    case quiescingOffline
    /// The push was for nobody.
    case quiescingUnknown
    /// What came is quarantined.
    case quiescingQuarantined
    /// The store failed.
    case quiescingFailed
    /// Final. Something is shown.
    case presented
    /// Final. There was nothing to show.
    case nothingNew
    /// Final. Another process does it.
    case yielded
    /// Final. The token was verified.
    case verified
    /// Final. The device has not been unlocked yet; the message is fetched later (INC-50).
    case locked
    /// Final. No relay was reached.
    case offline
    /// Final. Time was up; the content is the best there was.
    case expired
    /// Final. The push was for nobody here.
    case unknown
    /// Final. What came is quarantined, and is not shown.
    case quarantined
    /// Final. The user stopped the chat.
    case stopped
    /// Final. The app must be started once, to migrate the store (INC-23).
    case wrongSchema
    /// Final. The store failed.
    case failed

    package var name: String {
      switch self {
      case .received: "received"
      case .deciding: "deciding"
      case .openingStore: "openingStore"
      case .decoding: "decoding"
      case .verifying: "verifying"
      case .claiming: "claiming"
      case .fetching: "fetching"
      case .committing: "committing"
      case .acknowledging: "acknowledging"
      case .presenting: "presenting"
      case .quiescingPresented: "quiescingPresented"
      case .quiescingNothingNew: "quiescingNothingNew"
      case .quiescingYielded: "quiescingYielded"
      case .quiescingVerified: "quiescingVerified"
      case .quiescingOffline: "quiescingOffline"
      case .quiescingUnknown: "quiescingUnknown"
      case .quiescingQuarantined: "quiescingQuarantined"
      case .quiescingFailed: "quiescingFailed"
      case .presented: "presented"
      case .nothingNew: "nothingNew"
      case .yielded: "yielded"
      case .verified: "verified"
      case .locked: "locked"
      case .offline: "offline"
      case .expired: "expired"
      case .unknown: "unknown"
      case .quarantined: "quarantined"
      case .stopped: "stopped"
      case .wrongSchema: "wrongSchema"
      case .failed: "failed"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// It is addressed to this device and has the form of a message push.
    case payloadMessage
    /// It has the form of a verification push.
    case payloadVerification
    /// It is a periodic wake-up: anything may be waiting.
    case payloadWake
    /// It is nothing that we know; it may be garbage.
    case payloadUnknown
    /// The app lives and runs: it will fetch by itself.
    case appRunning
    /// The app is suspended or suspending, or its process is gone (INC-12, INC-13).
    case appInactive
    /// The user stopped the chat.
    case appStopped
    /// An app that lives has come to the front, and asks this process to let go.
    case appWoke
    /// The store is open.
    case storeOpened
    /// The keys cannot be read before the device is unlocked for the first time (INC-50).
    case storeLocked
    /// The store is older or newer than this program; only the app migrates (INC-23).
    case storeWrongSchema
    /// Another process holds what opening needs, and does not let go in time (INC-18).
    case storeBusy
    /// The store cannot be opened, or fails.
    case storeFailed
    /// The payload decrypts, and names connections that we know.
    case decodedMessage
    /// The payload decrypts to a verification code.
    case decodedVerification
    /// Everything it names is on record already (INC-34, INC-36).
    case decodedRepeat
    /// It decrypts, but names no connection that we know, such as one of a deleted contact.
    case decodedUnknown
    /// It does not decrypt or does not verify.
    case decodedUndecryptable
    /// The token is active, or the code is on record and will be sent again (INC-62).
    case verified
    /// The code could not be used now.
    case verifyFailed
    /// The next connection is ours, under a new epoch.
    case claimGranted
    /// Another living process has claimed it, and fetches.
    case claimBusy
    /// All connections have been seen to.
    case claimNoneLeft
    /// The mailbox gave a message.
    case fetchMessage
    /// The mailbox is empty.
    case fetchEmpty
    /// The relay cannot be reached.
    case fetchOffline
    /// The relay does not know the mailbox, or not our key.
    case fetchDenied
    /// Message, ratchet, ledger and badge are committed.
    case commitDone
    /// The ledger has it already; nothing changed.
    case commitRepeat
    /// It does not decrypt; it is committed as quarantined, with the reason (INC-41, INC-66).
    case commitQuarantined
    /// Another process has taken the connection: our epoch is over (INC-04, INC-05).
    case commitStale
    /// The store cannot write.
    case commitFailed
    /// The relay has dropped the message; the mailbox may hold more.
    case acknowledged
    /// The relay did not answer. The message is committed; a repeat will be recognised.
    case acknowledgeFailed
    /// There is something to show, or to withdraw.
    case contentShow
    /// Nothing is to be shown: all is read, muted, or on record (INC-37).
    case contentNothing
    /// Nothing is to be shown here, since another process fetches.
    case contentYielded
    /// Nothing could be fetched, since no relay was reached.
    case contentOffline
    /// No mailbox is known any more.
    case contentUnknown
    /// All that came is quarantined.
    case contentQuarantined
    /// No file of the store is open or locked.
    case quiescent
    /// Time is up: the deadline is near, or the system says so.
    case expire
    /// What is on record of this connection is damaged. The message stays at the relay, and the other connections have
    /// their turn (INC-44, INC-66).
    case commitDamaged

    package var name: String {
      switch self {
      case .payloadMessage: "payload.message"
      case .payloadVerification: "payload.verification"
      case .payloadWake: "payload.wake"
      case .payloadUnknown: "payload.unknown"
      case .appRunning: "app.running"
      case .appInactive: "app.inactive"
      case .appStopped: "app.stopped"
      case .appWoke: "app.woke"
      case .storeOpened: "store.opened"
      case .storeLocked: "store.locked"
      case .storeWrongSchema: "store.wrongSchema"
      case .storeBusy: "store.busy"
      case .storeFailed: "store.failed"
      case .decodedMessage: "decoded.message"
      case .decodedVerification: "decoded.verification"
      case .decodedRepeat: "decoded.repeat"
      case .decodedUnknown: "decoded.unknown"
      case .decodedUndecryptable: "decoded.undecryptable"
      case .verified: "verified"
      case .verifyFailed: "verifyFailed"
      case .claimGranted: "claim.granted"
      case .claimBusy: "claim.busy"
      case .claimNoneLeft: "claim.noneLeft"
      case .fetchMessage: "fetch.message"
      case .fetchEmpty: "fetch.empty"
      case .fetchOffline: "fetch.offline"
      case .fetchDenied: "fetch.denied"
      case .commitDone: "commit.done"
      case .commitRepeat: "commit.repeat"
      case .commitQuarantined: "commit.quarantined"
      case .commitStale: "commit.stale"
      case .commitFailed: "commit.failed"
      case .acknowledged: "acknowledged"
      case .acknowledgeFailed: "acknowledgeFailed"
      case .contentShow: "content.show"
      case .contentNothing: "content.nothing"
      case .contentYielded: "content.yielded"
      case .contentOffline: "content.offline"
      case .contentUnknown: "content.unknown"
      case .contentQuarantined: "content.quarantined"
      case .quiescent: "quiescent"
      case .expire: "expire"
      case .commitDamaged: "commit.damaged"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Find out who acts. Answer: app.
    case readAppPhase
    /// Open the store as an extension, without migrating. Answer: store.
    case openStore
    /// Decrypt the payload and look its connections up. Answer: decoded.
    case decodePayload
    /// Put the payload on record with its reason. It is not shown.
    case quarantinePayload
    /// Raise push.verification at the token, and send the code. Answer: verified or verifyFailed.
    case verifyToken
    /// Claim the next connection in a short transaction. Answer: claim.
    case claimNext
    /// Give the connection back.
    case releaseClaim
    /// Ask the relay for the next message; nothing is held meanwhile. Answer: fetch.
    case fetchMessage
    /// Decrypt and commit in one transaction, under the epoch of the claim. Answer: commit.
    case commitMessage
    /// Drop what was computed and could not be committed.
    case discardWork
    /// Tell the relay that the message is committed. Answer: acknowledged or acknowledgeFailed.
    case acknowledge
    /// Remember for the outcome that another process fetches.
    case noteYielded
    /// Remember for the outcome that a relay was not reached.
    case noteOffline
    /// Remember for the outcome that a mailbox is not known.
    case noteUnknown
    /// Decide from the ledger and the policy what to show, and put on record in the same transaction that it is shown.
    /// Answer: content.
    case composeContent
    /// As composeContent, at once and without waiting, from what is committed.
    case composeBest
    /// Abandon a request, a transaction and a claim. What was not committed was not acknowledged.
    case cancelWork
    /// Let go of the store. Answer: quiescent.
    case closeStore
    /// Let go of the store at once, without an answer.
    case closeStoreNow
    /// Give the caller content, badge, withdrawals, the outcome, which is the final state's name, and the trace.
    case answer

    package var name: String {
      switch self {
      case .readAppPhase: "readAppPhase"
      case .openStore: "openStore"
      case .decodePayload: "decodePayload"
      case .quarantinePayload: "quarantinePayload"
      case .verifyToken: "verifyToken"
      case .claimNext: "claimNext"
      case .releaseClaim: "releaseClaim"
      case .fetchMessage: "fetchMessage"
      case .commitMessage: "commitMessage"
      case .discardWork: "discardWork"
      case .acknowledge: "acknowledge"
      case .noteYielded: "noteYielded"
      case .noteOffline: "noteOffline"
      case .noteUnknown: "noteUnknown"
      case .composeContent: "composeContent"
      case .composeBest: "composeBest"
      case .cancelWork: "cancelWork"
      case .closeStore: "closeStore"
      case .closeStoreNow: "closeStoreNow"
      case .answer: "answer"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case early
    case late
    case ended

    package var name: String {
      switch self {
      case .early: "early"
      case .late: "late"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "push" }

  package static var initial: State { .received }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .presented, .nothingNew, .yielded, .verified, .locked, .offline, .expired, .unknown,
      .quarantined, .stopped, .wrongSchema, .failed:
      true
    case .received, .deciding, .openingStore, .decoding, .verifying, .claiming, .fetching,
      .committing, .acknowledging, .presenting, .quiescingPresented, .quiescingNothingNew,
      .quiescingYielded, .quiescingVerified, .quiescingOffline, .quiescingUnknown,
      .quiescingQuarantined, .quiescingFailed:
      false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Push> {
    switch state {
    case .received: stepReceived(event)
    case .deciding: stepDeciding(event)
    case .openingStore: stepOpeningStore(event)
    case .decoding: stepDecoding(event)
    case .verifying: stepVerifying(event)
    case .claiming: stepClaiming(event)
    case .fetching: stepFetching(event)
    case .committing: stepCommitting(event)
    case .acknowledging: stepAcknowledging(event)
    case .presenting: stepPresenting(event)
    case .quiescingPresented: stepQuiescingPresented(event)
    case .quiescingNothingNew: stepQuiescingNothingNew(event)
    case .quiescingYielded: stepQuiescingYielded(event)
    case .quiescingVerified: stepQuiescingVerified(event)
    case .quiescingOffline: stepQuiescingOffline(event)
    case .quiescingUnknown: stepQuiescingUnknown(event)
    case .quiescingQuarantined: stepQuiescingQuarantined(event)
    case .quiescingFailed: stepQuiescingFailed(event)
    case .presented: stepPresented(event)
    case .nothingNew: stepNothingNew(event)
    case .yielded: stepYielded(event)
    case .verified: stepVerified(event)
    case .locked: stepLocked(event)
    case .offline: stepOffline(event)
    case .expired: stepExpired(event)
    case .unknown: stepUnknown(event)
    case .quarantined: stepQuarantined(event)
    case .stopped: stepStopped(event)
    case .wrongSchema: stepWrongSchema(event)
    case .failed: stepFailed(event)
    }
  }

  @inline(__always)
  private static func stepReceived(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake:
      MachineStep(.deciding, .moved, .readAppPhase)
    case .payloadUnknown:
      // The original is not passed on: nobody knows what is in it.
      MachineStep(.unknown, .moved, .answer)
    case .appRunning, .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked,
      .storeWrongSchema, .storeBusy, .storeFailed, .decodedMessage, .decodedVerification,
      .decodedRepeat, .decodedUnknown, .decodedUndecryptable, .verified, .verifyFailed,
      .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined, .commitStale, .commitFailed,
      .acknowledged, .acknowledgeFailed, .contentShow, .contentNothing, .contentYielded,
      .contentOffline, .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.received, .ignored(.early))
    case .expire:
      MachineStep(.expired, .moved, .answer)
    }
  }

  @inline(__always)
  private static func stepDeciding(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .storeOpened,
      .storeLocked, .storeWrongSchema, .storeBusy, .storeFailed, .decodedMessage,
      .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable, .verified,
      .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined, .commitStale,
      .commitFailed, .acknowledged, .acknowledgeFailed, .contentShow, .contentNothing,
      .contentYielded, .contentOffline, .contentUnknown, .contentQuarantined, .quiescent,
      .commitDamaged:
      MachineStep(.deciding, .ignored(.early))
    case .appRunning, .appWoke:
      MachineStep(.yielded, .moved, .answer)
    case .appInactive:
      // A suspending app is no reason to wait: claims keep the two apart (INC-07).
      MachineStep(.openingStore, .moved, .openStore)
    case .appStopped:
      MachineStep(.stopped, .moved, .answer)
    case .expire:
      MachineStep(.expired, .moved, .answer)
    }
  }

  @inline(__always)
  private static func stepOpeningStore(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .decodedMessage, .decodedVerification, .decodedRepeat,
      .decodedUnknown, .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy,
      .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone,
      .commitRepeat, .commitQuarantined, .commitStale, .commitFailed, .acknowledged,
      .acknowledgeFailed, .contentShow, .contentNothing, .contentYielded, .contentOffline,
      .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.openingStore, .ignored(.early))
    case .storeOpened:
      MachineStep(.decoding, .moved, .decodePayload)
    case .storeLocked:
      MachineStep(.locked, .moved, .closeStoreNow, .answer)
    case .storeWrongSchema:
      MachineStep(.wrongSchema, .moved, .closeStoreNow, .answer)
    case .storeBusy:
      MachineStep(.yielded, .moved, .closeStoreNow, .answer)
    case .storeFailed:
      MachineStep(.failed, .moved, .closeStoreNow, .answer)
    case .expire:
      MachineStep(.expired, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepDecoding(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage,
      .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined,
      .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed, .contentShow, .contentNothing,
      .contentYielded, .contentOffline, .contentUnknown, .contentQuarantined, .quiescent,
      .commitDamaged:
      MachineStep(.decoding, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the rest is the app's, which fetches it already (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .noteYielded, .composeContent)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .decodedMessage:
      MachineStep(.claiming, .moved, .claimNext)
    case .decodedVerification:
      MachineStep(.verifying, .moved, .verifyToken)
    case .decodedRepeat:
      // What is on record may still have to be shown, if the process that committed it died.
      MachineStep(.presenting, .moved, .composeContent)
    case .decodedUnknown:
      MachineStep(.quiescingUnknown, .moved, .closeStore)
    case .decodedUndecryptable:
      MachineStep(.quiescingQuarantined, .moved, .quarantinePayload, .closeStore)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepVerifying(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined, .commitStale, .commitFailed,
      .acknowledged, .acknowledgeFailed, .contentShow, .contentNothing, .contentYielded,
      .contentOffline, .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.verifying, .ignored(.late))
    case .appWoke:
      // The code is on record; the app sends it.
      MachineStep(.quiescingYielded, .moved, .cancelWork, .closeStore)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .verified:
      MachineStep(.quiescingVerified, .moved, .closeStore)
    case .verifyFailed:
      MachineStep(.quiescingOffline, .moved, .closeStore)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepClaiming(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verified, .verifyFailed, .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone,
      .commitRepeat, .commitQuarantined, .commitStale, .commitFailed, .acknowledged,
      .acknowledgeFailed, .contentShow, .contentNothing, .contentYielded, .contentOffline,
      .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.claiming, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the rest is the app's, which fetches it already (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .noteYielded, .composeContent)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .claimGranted:
      MachineStep(.fetching, .moved, .fetchMessage)
    case .claimBusy:
      // One busy connection does not stop the others (INC-44).
      MachineStep(.claiming, .stayed, .noteYielded, .claimNext)
    case .claimNoneLeft:
      MachineStep(.presenting, .moved, .composeContent)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .composeBest, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepFetching(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .commitDone,
      .commitRepeat, .commitQuarantined, .commitStale, .commitFailed, .acknowledged,
      .acknowledgeFailed, .contentShow, .contentNothing, .contentYielded, .contentOffline,
      .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.fetching, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the rest is the app's, which fetches it already (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .noteYielded, .composeContent)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .fetchMessage:
      MachineStep(.committing, .moved, .commitMessage)
    case .fetchEmpty:
      MachineStep(.claiming, .moved, .releaseClaim, .claimNext)
    case .fetchOffline:
      MachineStep(.claiming, .moved, .noteOffline, .releaseClaim, .claimNext)
    case .fetchDenied:
      MachineStep(.claiming, .moved, .noteUnknown, .releaseClaim, .claimNext)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .composeBest, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepCommitting(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage,
      .fetchEmpty, .fetchOffline, .fetchDenied, .acknowledged, .acknowledgeFailed, .contentShow,
      .contentNothing, .contentYielded, .contentOffline, .contentUnknown, .contentQuarantined,
      .quiescent:
      MachineStep(.committing, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the rest is the app's, which fetches it already (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .noteYielded, .composeContent)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .commitDone, .commitRepeat, .commitQuarantined:
      MachineStep(.acknowledging, .moved, .acknowledge)
    case .commitStale:
      MachineStep(.claiming, .moved, .discardWork, .noteYielded, .claimNext)
    case .commitFailed:
      // Such as a full disk. What is committed already is shown all the same.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .composeBest, .closeStoreNow, .answer)
    case .commitDamaged:
      MachineStep(.claiming, .moved, .discardWork, .releaseClaim, .claimNext)
    }
  }

  @inline(__always)
  private static func stepAcknowledging(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage,
      .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined,
      .commitStale, .commitFailed, .contentShow, .contentNothing, .contentYielded, .contentOffline,
      .contentUnknown, .contentQuarantined, .quiescent, .commitDamaged:
      MachineStep(.acknowledging, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the rest is the app's, which fetches it already (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .noteYielded, .composeContent)
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .acknowledged:
      MachineStep(.fetching, .moved, .fetchMessage)
    case .acknowledgeFailed:
      MachineStep(.claiming, .moved, .noteOffline, .releaseClaim, .claimNext)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .composeBest, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepPresenting(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft, .fetchMessage,
      .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat, .commitQuarantined,
      .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed, .quiescent, .commitDamaged:
      MachineStep(.presenting, .ignored(.late))
    case .appWoke:
      MachineStep(.presenting, .ignored(.late))
    case .storeFailed:
      MachineStep(.quiescingFailed, .moved, .cancelWork, .closeStore)
    case .contentShow:
      MachineStep(.quiescingPresented, .moved, .closeStore)
    case .contentNothing:
      MachineStep(.quiescingNothingNew, .moved, .closeStore)
    case .contentYielded:
      MachineStep(.quiescingYielded, .moved, .closeStore)
    case .contentOffline:
      MachineStep(.quiescingOffline, .moved, .closeStore)
    case .contentUnknown:
      MachineStep(.quiescingUnknown, .moved, .closeStore)
    case .contentQuarantined:
      MachineStep(.quiescingQuarantined, .moved, .closeStore)
    case .expire:
      MachineStep(.expired, .moved, .cancelWork, .composeBest, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingPresented(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingPresented, .ignored(.late))
    case .quiescent:
      MachineStep(.presented, .moved, .answer)
    case .expire:
      MachineStep(.presented, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingNothingNew(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingNothingNew, .ignored(.late))
    case .quiescent:
      MachineStep(.nothingNew, .moved, .answer)
    case .expire:
      MachineStep(.nothingNew, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingYielded(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingYielded, .ignored(.late))
    case .quiescent:
      MachineStep(.yielded, .moved, .answer)
    case .expire:
      MachineStep(.yielded, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingVerified(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingVerified, .ignored(.late))
    case .quiescent:
      MachineStep(.verified, .moved, .answer)
    case .expire:
      MachineStep(.verified, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingOffline(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingOffline, .ignored(.late))
    case .quiescent:
      MachineStep(.offline, .moved, .answer)
    case .expire:
      MachineStep(.offline, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingUnknown(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingUnknown, .ignored(.late))
    case .quiescent:
      MachineStep(.unknown, .moved, .answer)
    case .expire:
      MachineStep(.unknown, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingQuarantined(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingQuarantined, .ignored(.late))
    case .quiescent:
      MachineStep(.quarantined, .moved, .answer)
    case .expire:
      MachineStep(.quarantined, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepQuiescingFailed(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .commitDamaged:
      MachineStep(.quiescingFailed, .ignored(.late))
    case .quiescent:
      MachineStep(.failed, .moved, .answer)
    case .expire:
      MachineStep(.failed, .moved, .closeStoreNow, .answer)
    }
  }

  @inline(__always)
  private static func stepPresented(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.presented, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepNothingNew(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.nothingNew, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepYielded(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.yielded, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepVerified(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.verified, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepLocked(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.locked, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepOffline(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.offline, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.expired, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepUnknown(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.unknown, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepQuarantined(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.quarantined, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepStopped(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.stopped, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepWrongSchema(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.wrongSchema, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepFailed(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verified, .verifyFailed, .claimGranted, .claimBusy, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitRepeat,
      .commitQuarantined, .commitStale, .commitFailed, .acknowledged, .acknowledgeFailed,
      .contentShow, .contentNothing, .contentYielded, .contentOffline, .contentUnknown,
      .contentQuarantined, .quiescent, .expire, .commitDamaged:
      MachineStep(.failed, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == Push {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Push.Event) -> MachineStep<Push> {
    let step = Push.step(state, event)
    state = step.next
    return step
  }
}
