// Generated from spec/machines/subscription.scxml by porter-machines: change that file, run `make spec`.

/// The subscription of one connection at the notification server, as the client keeps it: the relay must know a
/// notifier key for the mailbox, the server must watch the mailbox with it, and that is checked from time to time,
/// since servers forget (INC-64, INC-67). It needs an active token and the mode instant; whoever raises create sees to
/// that.
package enum Subscription: Machine {
  package enum State: UInt8, MachineCode {
    /// The relay is to be given a notifier key.
    case new
    /// The relay has the key; the server is to be told.
    case key
    /// The server has it on record.
    case createdNew
    /// The server is asking the relay.
    case createdPending
    /// The server watches the mailbox.
    case createdActive
    /// The server has lost the relay, and tries again.
    case createdInactive
    /// Turned off on purpose. The relay and the server are told until they have let go; the keys stay on record until
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
    /// The connection shall not notify any more.
    case turnOff
    /// The relay has let go of it; what the server is told is on its way.
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
    /// Make keys for this mailbox, and put them on record.
    case makeNotifierKeys
    /// Give the relay the notifier key (NKEY). Answer: notifier.
    case enableNotifier
    /// Put the notifier id and the relay's key on record.
    case saveNotifier
    /// Have the server watch (SNEW). Answer: subscribe.
    case subscribeAtServer
    /// Ask the server (SCHK). Answer: check.
    case checkAtServer
    /// Have the server forget it (SDEL): the request waits in the store until the relay has it.
    case releaseAtServer
    /// Have the relay drop the notifier key (NDEL), asked again until it did. Answer: turnedOff.
    case disableNotifier
    /// Take the notifier's id and its keys off the record.
    case forgetNotifier
    /// Raise check.due in a day, within every expiry that a server may have (INC-64).
    case scheduleCheck
    /// Repeat the last request later, after a growing delay.
    case scheduleRetry
    /// Put the status on record; it is shown as the subscription's health (INC-67).
    case saveStatus
    /// Tell the host what was answered.
    case reportError
    /// Delete the record.
    case deleteRecord

    package var name: String {
      switch self {
      case .makeNotifierKeys: "makeNotifierKeys"
      case .enableNotifier: "enableNotifier"
      case .saveNotifier: "saveNotifier"
      case .subscribeAtServer: "subscribeAtServer"
      case .checkAtServer: "checkAtServer"
      case .releaseAtServer: "releaseAtServer"
      case .disableNotifier: "disableNotifier"
      case .forgetNotifier: "forgetNotifier"
      case .scheduleCheck: "scheduleCheck"
      case .scheduleRetry: "scheduleRetry"
      case .saveStatus: "saveStatus"
      case .reportError: "reportError"
      case .deleteRecord: "deleteRecord"
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
    .act
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .moved, .saveStatus, .releaseAtServer, .disableNotifier)
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
      MachineStep(.off, .stayed, .forgetNotifier)
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

/// Carries out the effects of `Subscription`, one method for each.
package protocol SubscriptionEffects {
  /// What the event came with.
  associatedtype Argument
  /// Make keys for this mailbox, and put them on record.
  func makeNotifierKeys(_ argument: Argument)
  /// Give the relay the notifier key (NKEY). Answer: notifier.
  func enableNotifier(_ argument: Argument)
  /// Put the notifier id and the relay's key on record.
  func saveNotifier(_ argument: Argument)
  /// Have the server watch (SNEW). Answer: subscribe.
  func subscribeAtServer(_ argument: Argument)
  /// Ask the server (SCHK). Answer: check.
  func checkAtServer(_ argument: Argument)
  /// Have the server forget it (SDEL): the request waits in the store until the relay has it.
  func releaseAtServer(_ argument: Argument)
  /// Have the relay drop the notifier key (NDEL), asked again until it did. Answer: turnedOff.
  func disableNotifier(_ argument: Argument)
  /// Take the notifier's id and its keys off the record.
  func forgetNotifier(_ argument: Argument)
  /// Raise check.due in a day, within every expiry that a server may have (INC-64).
  func scheduleCheck(_ argument: Argument)
  /// Repeat the last request later, after a growing delay.
  func scheduleRetry(_ argument: Argument)
  /// Put the status on record; it is shown as the subscription's health (INC-67).
  func saveStatus(_ argument: Argument)
  /// Tell the host what was answered.
  func reportError(_ argument: Argument)
  /// Delete the record.
  func deleteRecord(_ argument: Argument)
}

extension Subscription {
  /// Calls the effect's method.
  package static func perform<Performer: SubscriptionEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .makeNotifierKeys: performer.makeNotifierKeys(argument)
    case .enableNotifier: performer.enableNotifier(argument)
    case .saveNotifier: performer.saveNotifier(argument)
    case .subscribeAtServer: performer.subscribeAtServer(argument)
    case .checkAtServer: performer.checkAtServer(argument)
    case .releaseAtServer: performer.releaseAtServer(argument)
    case .disableNotifier: performer.disableNotifier(argument)
    case .forgetNotifier: performer.forgetNotifier(argument)
    case .scheduleCheck: performer.scheduleCheck(argument)
    case .scheduleRetry: performer.scheduleRetry(argument)
    case .saveStatus: performer.saveStatus(argument)
    case .reportError: performer.reportError(argument)
    case .deleteRecord: performer.deleteRecord(argument)
    }
  }
}
