// Generated from spec/machines/push.scxml by porter-machines: change that file, run `make spec`.

/// One push in an extension or an app, from its arrival to its answer. It is a hint: everything that waits is fetched
/// (INC-38). It ends exactly once, on every path, with an outcome (INC-30, INC-31); the answer comes last, after the
/// store is closed (INC-48). Until its store is being released, every state has an expire edge that waits for nothing.
/// A push whose outcome cannot improve ends without waiting (INC-32). In an app, which receives by itself, a push goes
/// from claiming to presenting, and what was fetched and committed meanwhile counts for its outcome only. A message
/// that it names but that did not arrive is announced with a placeholder; a push that could not even read its subject
/// gives a notice. A round in the background, which does not know whether anything waits, gives a notice only for a
/// store that does not open. An app on screen gives neither. Whether a push is a call's is known only once its mailbox
/// has been checked, so each push has its own machine, and none waits for what another one waits for (INC-43). The
/// outboxes are sent once the content to show is settled, and only for a moment. What the user has muted or hidden
/// stays so. The outcome is the first of these that applies, when the store is released: expired, stopped, locked,
/// wrongSchema, presented (there is something to show), failed, quarantined (the push itself, or everything that
/// arrived), offline, verified, yielded, unknown (unless something arrived), nothingNew.
package enum Push: Machine {
  package enum State: UInt8, MachineCode {
    /// Handed over by the system; its form is checked.
    case received
    /// Which process acts: the app, or this one?
    case deciding
    /// Opens the store, for a bounded time.
    case openingStore
    /// Opens the sealed payload.
    case decoding
    /// Proves the token even while the app is not running (INC-62).
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
    /// What is shown is settled, and what is left in the outboxes is sent. Nothing here changes the outcome.
    case sending
    /// The store is being released. In an extension nothing is waited for, so running out of time changes nothing. An
    /// app that is not on screen is suspended, which waits for work in progress: 5 s at most, no longer than the push's
    /// time, and not at all if that was up before. Time that is up only now changes nothing here: the caller gets a
    /// substitute answer (push_answer), which does not say that the app is at rest.
    case releasing
    /// Final. Something is shown.
    case presented
    /// Final. There was nothing to show.
    case nothingNew
    /// Final. Another process fetches.
    case yielded
    /// Final. The token was verified.
    case verified
    /// Final. The device has not been unlocked yet; the message is fetched later (INC-50).
    case locked
    /// Final. No relay was reached.
    case offline
    /// Final. Time was up; the content is the best available.
    case expired
    /// Final. The push is about nothing known here.
    case unknown
    /// Final. What arrived is quarantined, and is not shown.
    case quarantined
    /// Final. The user stopped the chat.
    case stopped
    /// Final. The app must be started once to migrate the store (INC-23).
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
      case .sending: "sending"
      case .releasing: "releasing"
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
    /// It has no known form; it may be garbage.
    case payloadUnknown
    /// The app is on screen, or about to be: it fetches for itself.
    case appRunning
    /// The app is suspended, suspending or at work in the background, or its process has ended (INC-12, INC-13).
    case appInactive
    /// The user stopped the chat.
    case appStopped
    /// A running app has come to the foreground, and asks this process to release the store.
    case appWoke
    /// The store is open.
    case storeOpened
    /// The keys cannot be read before the device is unlocked for the first time (INC-50).
    case storeLocked
    /// The store is older or newer than this program; only the app migrates (INC-23).
    case storeWrongSchema
    /// Another process holds what opening needs, and does not release it in time (INC-18).
    case storeBusy
    /// The store cannot be opened, or fails.
    case storeFailed
    /// The payload decrypts, and names connections that are known.
    case decodedMessage
    /// The payload is a verification code.
    case decodedVerification
    /// Everything it names is already recorded (INC-34, INC-36), and no notice is on screen, which might be about
    /// something else.
    case decodedRepeat
    /// It decrypts, but the connections it names are unknown, such as that of a deleted contact.
    case decodedUnknown
    /// It cannot be decrypted or verified.
    case decodedUndecryptable
    /// The token is active, or the code is recorded and will be sent again (INC-62).
    case verifyDone
    /// The code does not open: the server did not send it.
    case verifyForged
    /// The code could not be used now.
    case verifyFailed
    /// The next connection is ours, under a new epoch.
    case claimGranted
    /// Another running process has claimed it, and fetches.
    case claimBusy
    /// It has been deleted.
    case claimMissing
    /// Its record is damaged; the others get their turn (INC-44).
    case claimDamaged
    /// The store cannot be read or written. What is already committed is still shown.
    case claimFailed
    /// All connections have been checked.
    case claimNoneLeft
    /// The mailbox gave a message.
    case fetchMessage
    /// The mailbox is empty.
    case fetchEmpty
    /// The relay cannot be reached.
    case fetchOffline
    /// The relay does not know the mailbox, or rejects our key.
    case fetchDenied
    /// Message, ratchet, ledger and badge are committed.
    case commitDone
    /// Message, ratchet, ledger and badge are committed, and a call is waiting for its user.
    case commitCall
    /// A call that this push did not commit is waiting for its user: the app or a command committed it, or it was
    /// recorded earlier and not shown.
    case callCame
    /// A call has waited long enough; the other mailboxes are checked afterwards.
    case callWaits
    /// A later push waits for this mailbox, which may be a call's, and the relay has not answered for a long time: the
    /// later push asks again.
    case mailboxTaken
    /// The ledger has it already; nothing changed.
    case commitRepeat
    /// It cannot be decrypted; it is committed as quarantined, with the reason (INC-41, INC-66).
    case commitQuarantined
    /// Another process has taken the connection: our epoch is over (INC-04, INC-05).
    case commitStale
    /// The record of this connection is damaged. The message stays at the relay, and the other connections get their
    /// turn (INC-44, INC-66).
    case commitDamaged
    /// The store cannot write.
    case commitFailed
    /// The relay has dropped the message, and does not report whether the mailbox holds more.
    case acknowledged
    /// The relay did not answer. The message is committed; a repeat will be recognised.
    case acknowledgeFailed
    /// There is something to show or withdraw; it is recorded as shown.
    case composedShow
    /// Nothing that arrived should be shown, but there are placeholders for what did not arrive; they are recorded as
    /// announced.
    case composedAnnounced
    /// There is nothing to show.
    case composedNothing
    /// Sending from the outboxes has ended: each entry is sent or waits for later, or the time for sending is over.
    case sent
    /// Time is up: the deadline is near, or the system reports it.
    case expire
    /// The store is released. There is something to show or withdraw.
    case releasedPresented
    /// The store is released. Everything is read, muted, or already recorded (INC-37).
    case releasedNothingNew
    /// The store is released. Another process fetches.
    case releasedYielded
    /// The store is released. The token was verified.
    case releasedVerified
    /// The store is released. The device has not been unlocked yet.
    case releasedLocked
    /// The store is released. No relay was reached.
    case releasedOffline
    /// The store is released. Time is up.
    case releasedExpired
    /// The store is released. The push is about nothing known here.
    case releasedUnknown
    /// The store is released. What arrived is quarantined.
    case releasedQuarantined
    /// The store is released. The user stopped the chat.
    case releasedStopped
    /// The store is released. The store is older or newer than this program.
    case releasedWrongSchema
    /// The store is released. The store failed.
    case releasedFailed

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
      case .verifyDone: "verify.done"
      case .verifyForged: "verify.forged"
      case .verifyFailed: "verify.failed"
      case .claimGranted: "claim.granted"
      case .claimBusy: "claim.busy"
      case .claimMissing: "claim.missing"
      case .claimDamaged: "claim.damaged"
      case .claimFailed: "claim.failed"
      case .claimNoneLeft: "claim.noneLeft"
      case .fetchMessage: "fetch.message"
      case .fetchEmpty: "fetch.empty"
      case .fetchOffline: "fetch.offline"
      case .fetchDenied: "fetch.denied"
      case .commitDone: "commit.done"
      case .commitCall: "commit.call"
      case .callCame: "call.came"
      case .callWaits: "call.waits"
      case .mailboxTaken: "mailbox.taken"
      case .commitRepeat: "commit.repeat"
      case .commitQuarantined: "commit.quarantined"
      case .commitStale: "commit.stale"
      case .commitDamaged: "commit.damaged"
      case .commitFailed: "commit.failed"
      case .acknowledged: "acknowledged"
      case .acknowledgeFailed: "acknowledgeFailed"
      case .composedShow: "composed.show"
      case .composedAnnounced: "composed.announced"
      case .composedNothing: "composed.nothing"
      case .sent: "sent"
      case .expire: "expire"
      case .releasedPresented: "released.presented"
      case .releasedNothingNew: "released.nothingNew"
      case .releasedYielded: "released.yielded"
      case .releasedVerified: "released.verified"
      case .releasedLocked: "released.locked"
      case .releasedOffline: "released.offline"
      case .releasedExpired: "released.expired"
      case .releasedUnknown: "released.unknown"
      case .releasedQuarantined: "released.quarantined"
      case .releasedStopped: "released.stopped"
      case .releasedWrongSchema: "released.wrongSchema"
      case .releasedFailed: "released.failed"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Determine which process acts. Answer: app.
    case readAppPhase
    /// Open the store as an extension, without migrating. Answer: store.
    case openStore
    /// Decrypt the payload and look up its connections. Answer: decoded.
    case decodePayload
    /// Record the payload with its reason. Do not show it.
    case quarantinePayload
    /// Raise push.verification at the token, and send the code. Answer: verify.
    case verifyToken
    /// Claim the next connection in a short transaction. Answer: claim.
    case claimNext
    /// Release the connection.
    case releaseClaim
    /// Ask the relay for the next message; hold nothing in the meantime. Answer: fetch.
    case fetchMessage
    /// Decrypt and commit in one transaction, under the epoch of the claim. Answer: commit.
    case commitMessage
    /// Give the answer one second from now: raise call.waits then.
    case armCallDeadline
    /// Drop any answer that the relay still gives, and check this mailbox again after the others.
    case putMailboxBack
    /// Drop what was computed but could not be committed.
    case discardWork
    /// Acknowledge the committed message to the relay, and have the relay report what is next if it can. Answer: fetch,
    /// acknowledged or acknowledgeFailed.
    case acknowledge
    /// Decide from the ledger and the policy what to show, and record it as shown in the same transaction. Answer:
    /// composed.
    case composeContent
    /// Hand the relay what waits in the outboxes, if no other push is in progress and the relay was reached; only for a
    /// short time. Answer: sent.
    case sendOutbox
    /// Like composeContent, from what is committed, without waiting and without an answer.
    case composeBest
    /// If the answer shows nothing, and it is not known what the push is about, give a notice of what is wrong and what
    /// to do. It contains no name. Give none on screen, where the app reports it, none for verification pushes, silent
    /// pushes and those of unknown form, and none for a round while one is shown.
    case composeNotice
    /// Abandon a request, a transaction and a claim. What was not committed was not acknowledged.
    case cancelWork
    /// Close the store, and anything else a frozen process must not hold, unless another push is in progress; an app on
    /// screen keeps them. Answer: released, with the outcome.
    case releaseStore
    /// Give the caller content, badge, withdrawals, the outcome (the final state's name), and the trace.
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
      case .armCallDeadline: "armCallDeadline"
      case .putMailboxBack: "putMailboxBack"
      case .discardWork: "discardWork"
      case .acknowledge: "acknowledge"
      case .composeContent: "composeContent"
      case .sendOutbox: "sendOutbox"
      case .composeBest: "composeBest"
      case .composeNotice: "composeNotice"
      case .cancelWork: "cancelWork"
      case .releaseStore: "releaseStore"
      case .answer: "answer"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case early
    case late
    case alreadyReleasing
    case ended

    package var name: String {
      switch self {
      case .early: "early"
      case .late: "late"
      case .alreadyReleasing: "alreadyReleasing"
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
      .committing, .acknowledging, .presenting, .sending, .releasing:
      false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .quarantinePayload, .releaseClaim, .armCallDeadline, .putMailboxBack, .discardWork,
      .composeBest, .composeNotice, .cancelWork:
      .act
    case .readAppPhase, .openStore, .decodePayload, .verifyToken, .claimNext, .fetchMessage,
      .commitMessage, .acknowledge, .composeContent, .sendOutbox, .releaseStore:
      .ask
    case .answer: .tell
    }
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
    case .sending: stepSending(event)
    case .releasing: stepReleasing(event)
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
      // The original is not passed on: nothing is known about its contents.
      MachineStep(.releasing, .moved, .releaseStore)
    case .appRunning, .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked,
      .storeWrongSchema, .storeBusy, .storeFailed, .decodedMessage, .decodedVerification,
      .decodedRepeat, .decodedUnknown, .decodedUndecryptable, .verifyDone, .verifyForged,
      .verifyFailed, .claimGranted, .claimBusy, .claimMissing, .claimDamaged, .claimFailed,
      .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone,
      .commitCall, .callCame, .callWaits, .mailboxTaken, .commitRepeat, .commitQuarantined,
      .commitStale, .commitDamaged, .commitFailed, .acknowledged, .acknowledgeFailed, .composedShow,
      .composedAnnounced, .composedNothing, .sent, .releasedPresented, .releasedNothingNew,
      .releasedYielded, .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired,
      .releasedUnknown, .releasedQuarantined, .releasedStopped, .releasedWrongSchema,
      .releasedFailed:
      MachineStep(.received, .ignored(.early))
    case .expire:
      // Also while everything is being released for earlier pushes; the store may be open.
      MachineStep(.releasing, .moved, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepDeciding(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .storeOpened,
      .storeLocked, .storeWrongSchema, .storeBusy, .storeFailed, .decodedMessage,
      .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable, .verifyDone,
      .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing, .claimDamaged,
      .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied,
      .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken, .commitRepeat,
      .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.deciding, .ignored(.early))
    case .appRunning, .appStopped, .appWoke, .expire:
      MachineStep(.releasing, .moved, .releaseStore)
    case .appInactive:
      // An app that is suspending or at work in the background is no reason to wait: claims keep the two apart
      // (INC-07).
      MachineStep(.openingStore, .moved, .openStore)
    }
  }

  @inline(__always)
  private static func stepOpeningStore(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .decodedMessage, .decodedVerification, .decodedRepeat,
      .decodedUnknown, .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed,
      .claimGranted, .claimBusy, .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame,
      .callWaits, .mailboxTaken, .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged,
      .commitFailed, .acknowledged, .acknowledgeFailed, .composedShow, .composedAnnounced,
      .composedNothing, .sent, .releasedPresented, .releasedNothingNew, .releasedYielded,
      .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired, .releasedUnknown,
      .releasedQuarantined, .releasedStopped, .releasedWrongSchema, .releasedFailed:
      MachineStep(.openingStore, .ignored(.early))
    case .appWoke, .storeLocked, .storeWrongSchema, .storeBusy, .storeFailed, .expire:
      MachineStep(.releasing, .moved, .releaseStore)
    case .storeOpened:
      MachineStep(.decoding, .moved, .decodePayload)
    }
  }

  @inline(__always)
  private static func stepDecoding(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken, .commitRepeat,
      .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.decoding, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the app fetches the rest (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .decodedMessage:
      MachineStep(.claiming, .moved, .claimNext)
    case .decodedVerification:
      MachineStep(.verifying, .moved, .verifyToken)
    case .decodedRepeat:
      // What is recorded may still have to be shown, if the process that committed it died.
      MachineStep(.presenting, .moved, .composeContent)
    case .decodedUnknown:
      MachineStep(.releasing, .moved, .releaseStore)
    case .decodedUndecryptable:
      MachineStep(.releasing, .moved, .quarantinePayload, .releaseStore)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepVerifying(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .claimGranted, .claimBusy, .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft,
      .fetchMessage, .fetchEmpty, .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame,
      .callWaits, .mailboxTaken, .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged,
      .commitFailed, .acknowledged, .acknowledgeFailed, .composedShow, .composedAnnounced,
      .composedNothing, .sent, .releasedPresented, .releasedNothingNew, .releasedYielded,
      .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired, .releasedUnknown,
      .releasedQuarantined, .releasedStopped, .releasedWrongSchema, .releasedFailed:
      MachineStep(.verifying, .ignored(.late))
    case .appWoke, .expire:
      // The code is recorded; the app sends it.
      MachineStep(.releasing, .moved, .cancelWork, .releaseStore)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .verifyDone, .verifyFailed:
      MachineStep(.releasing, .moved, .releaseStore)
    case .verifyForged:
      MachineStep(.releasing, .moved, .quarantinePayload, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepClaiming(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitCall, .mailboxTaken, .commitRepeat, .commitQuarantined,
      .commitStale, .commitDamaged, .commitFailed, .acknowledged, .acknowledgeFailed, .composedShow,
      .composedAnnounced, .composedNothing, .sent, .releasedPresented, .releasedNothingNew,
      .releasedYielded, .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired,
      .releasedUnknown, .releasedQuarantined, .releasedStopped, .releasedWrongSchema,
      .releasedFailed:
      MachineStep(.claiming, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the app fetches the rest (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .claimGranted:
      MachineStep(.fetching, .moved, .fetchMessage)
    case .claimBusy, .claimMissing, .claimDamaged:
      // One connection does not stop the others (INC-44).
      MachineStep(.claiming, .stayed, .claimNext)
    case .claimFailed, .claimNoneLeft:
      MachineStep(.presenting, .moved, .composeContent)
    case .callCame:
      // An app takes in messages by itself while its push waits for it; a command may do so while a push waits for the
      // relay.
      MachineStep(.claiming, .stayed, .armCallDeadline)
    case .callWaits:
      // A call must not wait as long as a message may.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepFetching(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .commitDone, .commitCall, .commitRepeat,
      .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.fetching, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the app fetches the rest (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .fetchMessage:
      MachineStep(.committing, .moved, .commitMessage)
    case .fetchEmpty, .fetchOffline, .fetchDenied:
      MachineStep(.claiming, .moved, .releaseClaim, .claimNext)
    case .callCame:
      // An app takes in messages by itself while its push waits for it; a command may do so while a push waits for the
      // relay.
      MachineStep(.fetching, .stayed, .armCallDeadline)
    case .callWaits:
      // A call must not wait as long as a message may.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .mailboxTaken:
      // What the later push finds counts for both.
      MachineStep(.claiming, .moved, .putMailboxBack, .releaseClaim, .claimNext)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepCommitting(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .mailboxTaken, .acknowledged, .acknowledgeFailed, .composedShow,
      .composedAnnounced, .composedNothing, .sent, .releasedPresented, .releasedNothingNew,
      .releasedYielded, .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired,
      .releasedUnknown, .releasedQuarantined, .releasedStopped, .releasedWrongSchema,
      .releasedFailed:
      MachineStep(.committing, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the app fetches the rest (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .commitDone, .commitRepeat, .commitQuarantined:
      MachineStep(.acknowledging, .moved, .acknowledge)
    case .commitCall:
      MachineStep(.acknowledging, .moved, .acknowledge, .armCallDeadline)
    case .callCame:
      // An app takes in messages by itself while its push waits for it; a command may do so while a push waits for the
      // relay.
      MachineStep(.committing, .stayed, .armCallDeadline)
    case .callWaits:
      // A call must not wait as long as a message may.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .commitStale:
      MachineStep(.claiming, .moved, .discardWork, .claimNext)
    case .commitDamaged:
      MachineStep(.claiming, .moved, .discardWork, .releaseClaim, .claimNext)
    case .commitFailed:
      // For example a full disk. What is already committed is still shown.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepAcknowledging(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .fetchOffline, .fetchDenied, .commitDone,
      .commitCall, .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed,
      .composedShow, .composedAnnounced, .composedNothing, .sent, .releasedPresented,
      .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked, .releasedOffline,
      .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.acknowledging, .ignored(.late))
    case .appWoke:
      // What is committed is shown; the app fetches the rest (INC-22).
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .fetchMessage:
      // Dropped; the answer carries the next one.
      MachineStep(.committing, .moved, .commitMessage)
    case .fetchEmpty:
      MachineStep(.claiming, .moved, .releaseClaim, .claimNext)
    case .callCame:
      // An app takes in messages by itself while its push waits for it; a command may do so while a push waits for the
      // relay.
      MachineStep(.acknowledging, .stayed, .armCallDeadline)
    case .callWaits:
      // A call must not wait as long as a message may.
      MachineStep(.presenting, .moved, .cancelWork, .composeContent)
    case .mailboxTaken:
      MachineStep(.claiming, .moved, .putMailboxBack, .releaseClaim, .claimNext)
    case .acknowledged:
      MachineStep(.fetching, .moved, .fetchMessage)
    case .acknowledgeFailed:
      MachineStep(.claiming, .moved, .releaseClaim, .claimNext)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepPresenting(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken, .commitRepeat,
      .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .sent, .releasedPresented, .releasedNothingNew, .releasedYielded,
      .releasedVerified, .releasedLocked, .releasedOffline, .releasedExpired, .releasedUnknown,
      .releasedQuarantined, .releasedStopped, .releasedWrongSchema, .releasedFailed:
      MachineStep(.presenting, .ignored(.late))
    case .appWoke:
      MachineStep(.presenting, .ignored(.late))
    case .storeFailed:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    case .composedShow, .composedAnnounced, .composedNothing:
      MachineStep(.sending, .moved, .sendOutbox)
    case .expire:
      MachineStep(.releasing, .moved, .cancelWork, .composeBest, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepSending(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown, .decodedUndecryptable,
      .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy, .claimMissing,
      .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty, .fetchOffline,
      .fetchDenied, .commitDone, .commitCall, .callCame, .mailboxTaken, .commitRepeat,
      .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .releasedPresented,
      .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked, .releasedOffline,
      .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.sending, .ignored(.late))
    case .appWoke, .storeFailed, .callWaits, .sent, .expire:
      MachineStep(.releasing, .moved, .releaseStore)
    }
  }

  @inline(__always)
  private static func stepReleasing(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent:
      MachineStep(.releasing, .ignored(.late))
    case .expire:
      MachineStep(.releasing, .ignored(.alreadyReleasing))
    case .releasedPresented:
      MachineStep(.presented, .moved, .answer)
    case .releasedNothingNew:
      MachineStep(.nothingNew, .moved, .answer)
    case .releasedYielded:
      // The process that has the store may be frozen with it, and fetch nothing.
      MachineStep(.yielded, .moved, .composeNotice, .answer)
    case .releasedVerified:
      MachineStep(.verified, .moved, .answer)
    case .releasedLocked:
      MachineStep(.locked, .moved, .composeNotice, .answer)
    case .releasedOffline:
      // A message that the push names has its placeholder; for a subscription that was turned off, it is only known
      // that something waits.
      MachineStep(.offline, .moved, .composeNotice, .answer)
    case .releasedExpired:
      MachineStep(.expired, .moved, .composeNotice, .answer)
    case .releasedUnknown:
      MachineStep(.unknown, .moved, .answer)
    case .releasedQuarantined:
      MachineStep(.quarantined, .moved, .answer)
    case .releasedStopped:
      MachineStep(.stopped, .moved, .composeNotice, .answer)
    case .releasedWrongSchema:
      MachineStep(.wrongSchema, .moved, .composeNotice, .answer)
    case .releasedFailed:
      MachineStep(.failed, .moved, .composeNotice, .answer)
    }
  }

  @inline(__always)
  private static func stepPresented(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.presented, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepNothingNew(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.nothingNew, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepYielded(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.yielded, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepVerified(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.verified, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepLocked(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.locked, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepOffline(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.offline, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepExpired(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.expired, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepUnknown(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.unknown, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepQuarantined(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.quarantined, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepStopped(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.stopped, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepWrongSchema(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
      MachineStep(.wrongSchema, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepFailed(_ event: Event) -> MachineStep<Push> {
    switch event {
    case .payloadMessage, .payloadVerification, .payloadWake, .payloadUnknown, .appRunning,
      .appInactive, .appStopped, .appWoke, .storeOpened, .storeLocked, .storeWrongSchema, .storeBusy,
      .storeFailed, .decodedMessage, .decodedVerification, .decodedRepeat, .decodedUnknown,
      .decodedUndecryptable, .verifyDone, .verifyForged, .verifyFailed, .claimGranted, .claimBusy,
      .claimMissing, .claimDamaged, .claimFailed, .claimNoneLeft, .fetchMessage, .fetchEmpty,
      .fetchOffline, .fetchDenied, .commitDone, .commitCall, .callCame, .callWaits, .mailboxTaken,
      .commitRepeat, .commitQuarantined, .commitStale, .commitDamaged, .commitFailed, .acknowledged,
      .acknowledgeFailed, .composedShow, .composedAnnounced, .composedNothing, .sent, .expire,
      .releasedPresented, .releasedNothingNew, .releasedYielded, .releasedVerified, .releasedLocked,
      .releasedOffline, .releasedExpired, .releasedUnknown, .releasedQuarantined, .releasedStopped,
      .releasedWrongSchema, .releasedFailed:
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

/// Carries out the effects of `Push`, one method for each.
package protocol PushEffects {
  /// The event's data.
  associatedtype Argument
  /// Determine which process acts. Answer: app.
  func readAppPhase(_ argument: Argument)
  /// Open the store as an extension, without migrating. Answer: store.
  func openStore(_ argument: Argument)
  /// Decrypt the payload and look up its connections. Answer: decoded.
  func decodePayload(_ argument: Argument)
  /// Record the payload with its reason. Do not show it.
  func quarantinePayload(_ argument: Argument)
  /// Raise push.verification at the token, and send the code. Answer: verify.
  func verifyToken(_ argument: Argument)
  /// Claim the next connection in a short transaction. Answer: claim.
  func claimNext(_ argument: Argument)
  /// Release the connection.
  func releaseClaim(_ argument: Argument)
  /// Ask the relay for the next message; hold nothing in the meantime. Answer: fetch.
  func fetchMessage(_ argument: Argument)
  /// Decrypt and commit in one transaction, under the epoch of the claim. Answer: commit.
  func commitMessage(_ argument: Argument)
  /// Give the answer one second from now: raise call.waits then.
  func armCallDeadline(_ argument: Argument)
  /// Drop any answer that the relay still gives, and check this mailbox again after the others.
  func putMailboxBack(_ argument: Argument)
  /// Drop what was computed but could not be committed.
  func discardWork(_ argument: Argument)
  /// Acknowledge the committed message to the relay, and have the relay report what is next if it can. Answer: fetch,
  /// acknowledged or acknowledgeFailed.
  func acknowledge(_ argument: Argument)
  /// Decide from the ledger and the policy what to show, and record it as shown in the same transaction. Answer:
  /// composed.
  func composeContent(_ argument: Argument)
  /// Hand the relay what waits in the outboxes, if no other push is in progress and the relay was reached; only for a
  /// short time. Answer: sent.
  func sendOutbox(_ argument: Argument)
  /// Like composeContent, from what is committed, without waiting and without an answer.
  func composeBest(_ argument: Argument)
  /// If the answer shows nothing, and it is not known what the push is about, give a notice of what is wrong and what
  /// to do. It contains no name. Give none on screen, where the app reports it, none for verification pushes, silent
  /// pushes and those of unknown form, and none for a round while one is shown.
  func composeNotice(_ argument: Argument)
  /// Abandon a request, a transaction and a claim. What was not committed was not acknowledged.
  func cancelWork(_ argument: Argument)
  /// Close the store, and anything else a frozen process must not hold, unless another push is in progress; an app on
  /// screen keeps them. Answer: released, with the outcome.
  func releaseStore(_ argument: Argument)
  /// Give the caller content, badge, withdrawals, the outcome (the final state's name), and the trace.
  func answer(_ argument: Argument)
}

extension Push {
  /// Calls the effect's method.
  package static func perform<Performer: PushEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .readAppPhase: performer.readAppPhase(argument)
    case .openStore: performer.openStore(argument)
    case .decodePayload: performer.decodePayload(argument)
    case .quarantinePayload: performer.quarantinePayload(argument)
    case .verifyToken: performer.verifyToken(argument)
    case .claimNext: performer.claimNext(argument)
    case .releaseClaim: performer.releaseClaim(argument)
    case .fetchMessage: performer.fetchMessage(argument)
    case .commitMessage: performer.commitMessage(argument)
    case .armCallDeadline: performer.armCallDeadline(argument)
    case .putMailboxBack: performer.putMailboxBack(argument)
    case .discardWork: performer.discardWork(argument)
    case .acknowledge: performer.acknowledge(argument)
    case .composeContent: performer.composeContent(argument)
    case .sendOutbox: performer.sendOutbox(argument)
    case .composeBest: performer.composeBest(argument)
    case .composeNotice: performer.composeNotice(argument)
    case .cancelWork: performer.cancelWork(argument)
    case .releaseStore: performer.releaseStore(argument)
    case .answer: performer.answer(argument)
    }
  }
}
