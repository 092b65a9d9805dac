// Generated from spec/machines/subscription.scxml by porter-machines: change that file, run `make spec`.

/// The subscription of one connection at the notification server, as the client keeps it: the relay must know a
/// notifier key for the mailbox, the server must watch the mailbox with it, and that is checked from time to time,
/// since servers forget (INC-64, INC-67). It needs an active token and the mode instant; create is raised only then.
/// Whether a request is under way is not a state here. A request ends with the relay that carries it, so a stored state
/// would still wait for an answer after a restart. The process keeps the requests under way in memory, one a
/// connection, and gives them up with the relay; each stored state says what is to be asked next, and a start asks.
package enum Subscription: Machine {
  package enum State: UInt8, MachineCode {
    /// The relay is to be given a notifier key.
    case new
    /// The relay has the key; the server is to be told.
    case key
    /// The server has it, and has not asked the relay yet.
    case createdNew
    /// The server is asking the relay.
    case createdPending
    /// The server watches the mailbox.
    case createdActive
    /// The server has lost the relay, and tries again.
    case createdInactive
    /// Turned off on purpose. The relay and the server are asked until they have dropped it; the keys stay stored until
    /// then.
    case off
    /// Final. There is no record any more.
    case deleted

    package var name: String {
      switch self {
      case .new: "new"
      case .key: "key"
      case .createdNew: "createdNew"
      case .createdPending: "createdPending"
      case .createdActive: "createdActive"
      case .createdInactive: "createdInactive"
      case .off: "off"
      case .deleted: "deleted"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The supervisor wants this subscription.
    case create
    /// The relay took the notifier key (NKEY).
    case notifierEnabled
    /// No answer, or one that says to try again.
    case notifierFailedTemporary
    /// The relay will not.
    case notifierFailedPermanent
    /// The server took the subscription (SNEW).
    case subscribeOk
    /// No answer, or one that says to try again.
    case subscribeFailedTemporary
    /// The server will not.
    case subscribeFailedPermanent
    /// The relay or the server does not know the keys.
    case subscribeAuthError
    /// It is time to ask the server.
    case checkDue
    /// The server says: new.
    case checkNew
    /// The server says: it is asking the relay.
    case checkPending
    /// The server says: it watches.
    case checkActive
    /// The server says: it has lost the relay for now.
    case checkInactive
    /// The server says: ended, deleted, not authorised, or failed.
    case checkEnded
    /// No answer, or one that says to try again.
    case checkFailedTemporary
    /// The server knows the device under a new token id.
    case tokenReplaced
    /// The connection must not notify any more.
    case turnOff
    /// The relay has dropped the notifier key; the request to the server is queued.
    case turnedOff
    /// The connection is gone; only the record is left.
    case forget

    package var name: String {
      switch self {
      case .create: "create"
      case .notifierEnabled: "notifier.enabled"
      case .notifierFailedTemporary: "notifier.failedTemporary"
      case .notifierFailedPermanent: "notifier.failedPermanent"
      case .subscribeOk: "subscribe.ok"
      case .subscribeFailedTemporary: "subscribe.failedTemporary"
      case .subscribeFailedPermanent: "subscribe.failedPermanent"
      case .subscribeAuthError: "subscribe.authError"
      case .checkDue: "check.due"
      case .checkNew: "check.new"
      case .checkPending: "check.pending"
      case .checkActive: "check.active"
      case .checkInactive: "check.inactive"
      case .checkEnded: "check.ended"
      case .checkFailedTemporary: "check.failedTemporary"
      case .tokenReplaced: "tokenReplaced"
      case .turnOff: "turnOff"
      case .turnedOff: "turnedOff"
      case .forget: "forget"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Make keys for this mailbox, and store them.
    case makeNotifierKeys
    /// Store the notifier id and the relay's key.
    case saveNotifier
    /// Store the status; it is shown as the subscription's health (INC-67).
    case saveStatus
    /// Queue the request that the server forget it (SDEL).
    case queueRelease
    /// Delete the notifier's id and its keys.
    case forgetNotifier
    /// Delete the record.
    case deleteRecord
    /// Give the relay the notifier key (NKEY). Answer: notifier.
    case enableNotifier
    /// Have the relay drop the notifier key (NDEL), asked again until it did. Answer: turnedOff.
    case disableNotifier
    /// Have the server watch (SNEW), together with all others in this state. Answer: subscribe.
    case subscribeAtServer
    /// Ask the server (SCHK), together with others. Answer: check.
    case checkAtServer
    /// Offer the relay the queued requests, until it has them.
    case sendQueued
    /// Raise create, if a subscription is wanted again.
    case subscribeAgain
    /// Raise check.due in a day, within every expiry that a server may have (INC-64).
    case scheduleCheck
    /// Repeat the last request later, after a growing delay: create where the server has nothing yet, else check.due.
    case scheduleRetry
    /// Log what was answered. The host sees the status.
    case reportError

    package var name: String {
      switch self {
      case .makeNotifierKeys: "makeNotifierKeys"
      case .saveNotifier: "saveNotifier"
      case .saveStatus: "saveStatus"
      case .queueRelease: "queueRelease"
      case .forgetNotifier: "forgetNotifier"
      case .deleteRecord: "deleteRecord"
      case .enableNotifier: "enableNotifier"
      case .disableNotifier: "disableNotifier"
      case .subscribeAtServer: "subscribeAtServer"
      case .checkAtServer: "checkAtServer"
      case .sendQueued: "sendQueued"
      case .subscribeAgain: "subscribeAgain"
      case .scheduleCheck: "scheduleCheck"
      case .scheduleRetry: "scheduleRetry"
      case .reportError: "reportError"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case stale
    case alreadyOff
    case ended

    package var name: String {
      switch self {
      case .stale: "stale"
      case .alreadyOff: "alreadyOff"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "subscription" }

  package static var initial: State { .new }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .deleted: true
    case .new, .key, .createdNew, .createdPending, .createdActive, .createdInactive, .off: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .sendQueued, .subscribeAgain, .scheduleCheck, .scheduleRetry, .reportError: .act
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .queueRelease, .forgetNotifier,
      .deleteRecord:
      .record
    case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer: .ask
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Subscription> {
    switch state {
    case .new: stepNew(event)
    case .key: stepKey(event)
    case .createdNew: stepCreatedNew(event)
    case .createdPending: stepCreatedPending(event)
    case .createdActive: stepCreatedActive(event)
    case .createdInactive: stepCreatedInactive(event)
    case .off: stepOff(event)
    case .deleted: stepDeleted(event)
    }
  }

  @inline(__always)
  private static func stepNew(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.new, .stayed, .makeNotifierKeys, .enableNotifier)
    case .notifierEnabled:
      MachineStep(.key, .moved, .saveNotifier, .saveStatus, .subscribeAtServer)
    case .notifierFailedTemporary:
      MachineStep(.new, .stayed, .scheduleRetry)
    case .notifierFailedPermanent:
      // The record stays, and the next create repairs it.
      MachineStep(.new, .stayed, .reportError)
    case .subscribeOk, .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError,
      .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .tokenReplaced, .turnedOff:
      MachineStep(.new, .ignored(.stale))
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepKey(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .tokenReplaced:
      MachineStep(.key, .stayed, .subscribeAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .checkDue, .checkNew,
      .checkPending, .checkActive, .checkInactive, .checkEnded, .checkFailedTemporary, .turnedOff:
      MachineStep(.key, .ignored(.stale))
    case .subscribeOk:
      MachineStep(.createdNew, .moved, .saveStatus, .scheduleCheck)
    case .subscribeFailedTemporary:
      MachineStep(.key, .stayed, .scheduleRetry)
    case .subscribeFailedPermanent:
      MachineStep(.key, .stayed, .reportError)
    case .subscribeAuthError:
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedNew(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.createdNew, .stayed, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .turnedOff:
      MachineStep(.createdNew, .ignored(.stale))
    case .checkNew:
      MachineStep(.createdNew, .stayed, .scheduleCheck)
    case .checkPending:
      MachineStep(.createdPending, .moved, .saveStatus, .scheduleCheck)
    case .checkActive:
      MachineStep(.createdActive, .moved, .saveStatus, .scheduleCheck)
    case .checkInactive:
      MachineStep(.createdInactive, .moved, .saveStatus, .scheduleCheck)
    case .checkEnded:
      // Made again from the beginning (INC-67).
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .checkFailedTemporary:
      MachineStep(.createdNew, .stayed, .scheduleRetry)
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .subscribeAtServer)
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedPending(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.createdPending, .stayed, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .turnedOff:
      MachineStep(.createdPending, .ignored(.stale))
    case .checkNew:
      MachineStep(.createdNew, .moved, .saveStatus, .scheduleCheck)
    case .checkPending:
      MachineStep(.createdPending, .stayed, .scheduleCheck)
    case .checkActive:
      MachineStep(.createdActive, .moved, .saveStatus, .scheduleCheck)
    case .checkInactive:
      MachineStep(.createdInactive, .moved, .saveStatus, .scheduleCheck)
    case .checkEnded:
      // Made again from the beginning (INC-67).
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .checkFailedTemporary:
      MachineStep(.createdPending, .stayed, .scheduleRetry)
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .subscribeAtServer)
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedActive(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.createdActive, .stayed, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .turnedOff:
      MachineStep(.createdActive, .ignored(.stale))
    case .checkNew:
      MachineStep(.createdNew, .moved, .saveStatus, .scheduleCheck)
    case .checkPending:
      MachineStep(.createdPending, .moved, .saveStatus, .scheduleCheck)
    case .checkActive:
      MachineStep(.createdActive, .stayed, .scheduleCheck)
    case .checkInactive:
      MachineStep(.createdInactive, .moved, .saveStatus, .scheduleCheck)
    case .checkEnded:
      // Made again from the beginning (INC-67).
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .checkFailedTemporary:
      MachineStep(.createdActive, .stayed, .scheduleRetry)
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .subscribeAtServer)
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedInactive(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.createdInactive, .stayed, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .turnedOff:
      MachineStep(.createdInactive, .ignored(.stale))
    case .checkNew:
      MachineStep(.createdNew, .moved, .saveStatus, .scheduleCheck)
    case .checkPending:
      MachineStep(.createdPending, .moved, .saveStatus, .scheduleCheck)
    case .checkActive:
      MachineStep(.createdActive, .moved, .saveStatus, .scheduleCheck)
    case .checkInactive:
      MachineStep(.createdInactive, .stayed, .scheduleCheck)
    case .checkEnded:
      // Made again from the beginning (INC-67).
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .checkFailedTemporary:
      MachineStep(.createdInactive, .stayed, .scheduleRetry)
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .subscribeAtServer)
    case .turnOff:
      MachineStep(.off, .moved, .saveStatus, .queueRelease, .disableNotifier, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepOff(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.new, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .checkDue,
      .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded, .checkFailedTemporary,
      .tokenReplaced:
      MachineStep(.off, .ignored(.stale))
    case .turnOff:
      MachineStep(.off, .ignored(.alreadyOff))
    case .turnedOff:
      MachineStep(.off, .stayed, .forgetNotifier, .subscribeAgain)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepDeleted(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .notifierEnabled, .notifierFailedTemporary, .notifierFailedPermanent, .subscribeOk,
      .subscribeFailedTemporary, .subscribeFailedPermanent, .subscribeAuthError, .checkDue,
      .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded, .checkFailedTemporary,
      .tokenReplaced, .turnOff, .turnedOff, .forget:
      MachineStep(.deleted, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == Subscription {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Subscription.Event) -> MachineStep<Subscription> {
    let step = Subscription.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `Subscription`, one method for each, inside the transaction that takes the step.
package protocol SubscriptionRecord {
  /// What the event came with, and what is being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Make keys for this mailbox, and store them.
  func makeNotifierKeys(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Store the notifier id and the relay's key.
  func saveNotifier(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Store the status; it is shown as the subscription's health (INC-67).
  func saveStatus(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Queue the request that the server forget it (SDEL).
  func queueRelease(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Delete the notifier's id and its keys.
  func forgetNotifier(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Delete the record.
  func deleteRecord(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
}

extension Subscription {
  /// Writes what of the step is recorded, in order.
  package static func record<Recorder: SubscriptionRecord>(
    _ step: MachineStep<Subscription>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .makeNotifierKeys: try recorder.makeNotifierKeys(&argument, step.next)
      case .saveNotifier: try recorder.saveNotifier(&argument, step.next)
      case .saveStatus: try recorder.saveStatus(&argument, step.next)
      case .queueRelease: try recorder.queueRelease(&argument, step.next)
      case .forgetNotifier: try recorder.forgetNotifier(&argument, step.next)
      case .deleteRecord: try recorder.deleteRecord(&argument, step.next)
      case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer, .sendQueued,
        .subscribeAgain, .scheduleCheck, .scheduleRetry, .reportError:
        break
      }
    }
  }
}

/// Carries out the effects of `Subscription`, one method for each.
package protocol SubscriptionEffects {
  /// What the event came with.
  associatedtype Argument
  /// Give the relay the notifier key (NKEY). Answer: notifier.
  func enableNotifier(_ argument: Argument)
  /// Have the relay drop the notifier key (NDEL), asked again until it did. Answer: turnedOff.
  func disableNotifier(_ argument: Argument)
  /// Have the server watch (SNEW), together with all others in this state. Answer: subscribe.
  func subscribeAtServer(_ argument: Argument)
  /// Ask the server (SCHK), together with others. Answer: check.
  func checkAtServer(_ argument: Argument)
  /// Offer the relay the queued requests, until it has them.
  func sendQueued(_ argument: Argument)
  /// Raise create, if a subscription is wanted again.
  func subscribeAgain(_ argument: Argument)
  /// Raise check.due in a day, within every expiry that a server may have (INC-64).
  func scheduleCheck(_ argument: Argument)
  /// Repeat the last request later, after a growing delay: create where the server has nothing yet, else check.due.
  func scheduleRetry(_ argument: Argument)
  /// Log what was answered. The host sees the status.
  func reportError(_ argument: Argument)
}

extension Subscription {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: SubscriptionEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .enableNotifier: performer.enableNotifier(argument)
    case .disableNotifier: performer.disableNotifier(argument)
    case .subscribeAtServer: performer.subscribeAtServer(argument)
    case .checkAtServer: performer.checkAtServer(argument)
    case .sendQueued: performer.sendQueued(argument)
    case .subscribeAgain: performer.subscribeAgain(argument)
    case .scheduleCheck: performer.scheduleCheck(argument)
    case .scheduleRetry: performer.scheduleRetry(argument)
    case .reportError: performer.reportError(argument)
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .queueRelease, .forgetNotifier,
      .deleteRecord:
      break
    }
  }
}
