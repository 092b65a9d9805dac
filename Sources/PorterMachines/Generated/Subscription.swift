// Generated from spec/machines/subscription.scxml by porter-machines: change that file, run `make spec`.

/// The subscription of one connection at the notification server, as the client keeps it: the relay must know a
/// notifier key for the mailbox, the server must watch the mailbox with it, and this is checked from time to time,
/// since servers forget (INC-64, INC-67). It needs an active token, the mode instant, and a chat and a profile that
/// notify; create is raised only then, and turnOff when one of them ends: muted or hidden chats get no push, even if
/// the store cannot be read when it would arrive. Each request has a state in which it is due and one in which it is in
/// progress, so nothing is requested twice at the same time. The state is stored with the connection, but a request
/// ends with the relay that carries it. A process that finds one in progress, left by another process or an earlier
/// relay, raises the event that it is lost: the request is then due again, and is repeated. An answer counts only for
/// the notifier key used in its request.
package enum Subscription: Machine {
  package enum State: UInt8, MachineCode {
    /// The relay must be given a notifier key.
    case new
    /// The relay is being given a notifier key.
    case enabling
    /// The relay has the key; the server must be asked to watch.
    case key
    /// The server is being asked.
    case subscribing
    /// The server has it, and has not asked the relay yet.
    case createdNew
    /// The server is asking the relay.
    case createdPending
    /// The server watches the mailbox.
    case createdActive
    /// The server has lost the relay, and tries again.
    case createdInactive
    /// The server had it, and is being asked whether it still does.
    case checking
    /// The server had it, and has not answered whether it still does.
    case unchecked
    /// Turned off on purpose: the relay must drop the notifier key, which stays stored until then.
    case turningOff
    /// The relay is being asked to drop the key. Until then the mailbox is given no other notifier, which this request
    /// would remove.
    case releasing
    /// Turned off, and released by the relay.
    case off
    /// Final. The record has been deleted.
    case deleted

    package var name: String {
      switch self {
      case .new: "new"
      case .enabling: "enabling"
      case .key: "key"
      case .subscribing: "subscribing"
      case .createdNew: "createdNew"
      case .createdPending: "createdPending"
      case .createdActive: "createdActive"
      case .createdInactive: "createdInactive"
      case .checking: "checking"
      case .unchecked: "unchecked"
      case .turningOff: "turningOff"
      case .releasing: "releasing"
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
    /// No answer, or one that asks to try again.
    case notifierFailedTemporary
    /// No answer will come: its relay was closed, its process ended, or its token was given up.
    case notifierLost
    /// The relay refuses.
    case notifierFailedPermanent
    /// The server took the subscription (SNEW).
    case subscribeOk
    /// No answer, or one that asks to try again.
    case subscribeFailedTemporary
    /// No answer will come.
    case subscribeLost
    /// The server refuses.
    case subscribeFailedPermanent
    /// The relay or the server does not know the keys.
    case subscribeAuthError
    /// It is time to ask the server.
    case checkDue
    /// The server reports: new.
    case checkNew
    /// The server reports: it is asking the relay.
    case checkPending
    /// The server reports: it watches.
    case checkActive
    /// The server reports that it has lost the relay for now.
    case checkInactive
    /// The server reports: ended, deleted, not authorised, or failed.
    case checkEnded
    /// No answer, or one that asks to try again.
    case checkFailedTemporary
    /// No answer will come.
    case checkLost
    /// The server knows the device under a new token id.
    case tokenReplaced
    /// The connection must no longer notify.
    case turnOff
    /// The relay must be asked to drop the notifier key, by a process that may ask.
    case releaseDue
    /// The relay has dropped the notifier key; the request to the server is queued.
    case turnedOff
    /// No answer to the release, or one that asks to try again.
    case releaseFailedTemporary
    /// No answer will come.
    case releaseLost
    /// The connection was deleted; only the record is left.
    case forget

    package var name: String {
      switch self {
      case .create: "create"
      case .notifierEnabled: "notifier.enabled"
      case .notifierFailedTemporary: "notifier.failedTemporary"
      case .notifierLost: "notifier.lost"
      case .notifierFailedPermanent: "notifier.failedPermanent"
      case .subscribeOk: "subscribe.ok"
      case .subscribeFailedTemporary: "subscribe.failedTemporary"
      case .subscribeLost: "subscribe.lost"
      case .subscribeFailedPermanent: "subscribe.failedPermanent"
      case .subscribeAuthError: "subscribe.authError"
      case .checkDue: "check.due"
      case .checkNew: "check.new"
      case .checkPending: "check.pending"
      case .checkActive: "check.active"
      case .checkInactive: "check.inactive"
      case .checkEnded: "check.ended"
      case .checkFailedTemporary: "check.failedTemporary"
      case .checkLost: "check.lost"
      case .tokenReplaced: "tokenReplaced"
      case .turnOff: "turnOff"
      case .releaseDue: "release.due"
      case .turnedOff: "turnedOff"
      case .releaseFailedTemporary: "release.failedTemporary"
      case .releaseLost: "release.lost"
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
    /// Store why the subscription has to be made anew (the name of the event), and when that was noticed.
    case saveReason
    /// Queue the request that the server forget it (SDEL).
    case queueRelease
    /// Delete the notifier's keys. Its id stays until there is another, for a push that is still in transit.
    case forgetNotifier
    /// Delete the record.
    case deleteRecord
    /// Give the relay the notifier key (NKEY). Answer: notifier.
    case enableNotifier
    /// Have the relay drop the notifier key (NDEL). Answer: turnedOff or release.
    case disableNotifier
    /// Have the server watch (SNEW), together with others. Answer: subscribe.
    case subscribeAtServer
    /// Ask the server (SCHK), together with others. Answer: check.
    case checkAtServer
    /// Raise release.due, if this process is the one to ask: an extension leaves it to the app.
    case requestRelease
    /// Offer the queued requests to the relay until it has them.
    case sendQueued
    /// Raise create, if a subscription is wanted again.
    case subscribeAgain
    /// Raise check.due in a day, within any server's expiry (INC-64).
    case scheduleCheck
    /// Have what is due asked again later, after a growing delay.
    case scheduleRetry
    /// Report the status (subscriptionStatus), together with others, unless it is the one last reported.
    case reportStatus
    /// Report the refusal (subscriptionStatus), and log it.
    case reportError

    package var name: String {
      switch self {
      case .makeNotifierKeys: "makeNotifierKeys"
      case .saveNotifier: "saveNotifier"
      case .saveStatus: "saveStatus"
      case .saveReason: "saveReason"
      case .queueRelease: "queueRelease"
      case .forgetNotifier: "forgetNotifier"
      case .deleteRecord: "deleteRecord"
      case .enableNotifier: "enableNotifier"
      case .disableNotifier: "disableNotifier"
      case .subscribeAtServer: "subscribeAtServer"
      case .checkAtServer: "checkAtServer"
      case .requestRelease: "requestRelease"
      case .sendQueued: "sendQueued"
      case .subscribeAgain: "subscribeAgain"
      case .scheduleCheck: "scheduleCheck"
      case .scheduleRetry: "scheduleRetry"
      case .reportStatus: "reportStatus"
      case .reportError: "reportError"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case stale
    case underWay
    case alreadyOff
    case ended

    package var name: String {
      switch self {
      case .stale: "stale"
      case .underWay: "underWay"
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
    case .new, .enabling, .key, .subscribing, .createdNew, .createdPending, .createdActive,
      .createdInactive, .checking, .unchecked, .turningOff, .releasing, .off:
      false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .requestRelease, .sendQueued, .subscribeAgain, .scheduleCheck, .scheduleRetry: .act
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .saveReason, .queueRelease, .forgetNotifier,
      .deleteRecord:
      .record
    case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer: .ask
    case .reportStatus, .reportError: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Subscription> {
    switch state {
    case .new: stepNew(event)
    case .enabling: stepEnabling(event)
    case .key: stepKey(event)
    case .subscribing: stepSubscribing(event)
    case .createdNew: stepCreatedNew(event)
    case .createdPending: stepCreatedPending(event)
    case .createdActive: stepCreatedActive(event)
    case .createdInactive: stepCreatedInactive(event)
    case .checking: stepChecking(event)
    case .unchecked: stepUnchecked(event)
    case .turningOff: stepTurningOff(event)
    case .releasing: stepReleasing(event)
    case .off: stepOff(event)
    case .deleted: stepDeleted(event)
    }
  }

  @inline(__always)
  private static func stepNew(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.enabling, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced, .releaseDue, .turnedOff,
      .releaseFailedTemporary, .releaseLost:
      MachineStep(.new, .ignored(.stale))
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepEnabling(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.enabling, .ignored(.underWay))
    case .notifierEnabled:
      MachineStep(.subscribing, .moved, .saveNotifier, .saveStatus, .subscribeAtServer)
    case .notifierFailedTemporary:
      MachineStep(.new, .moved, .saveStatus, .scheduleRetry)
    case .notifierLost:
      MachineStep(.new, .moved, .saveStatus)
    case .notifierFailedPermanent:
      // The record stays, and the next create repairs it.
      MachineStep(.new, .moved, .saveStatus, .reportError)
    case .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced, .releaseDue, .turnedOff,
      .releaseFailedTemporary, .releaseLost:
      MachineStep(.enabling, .ignored(.stale))
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepKey(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.subscribing, .moved, .saveStatus, .subscribeAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced, .releaseDue, .turnedOff,
      .releaseFailedTemporary, .releaseLost:
      MachineStep(.key, .ignored(.stale))
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepSubscribing(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.subscribing, .ignored(.underWay))
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.subscribing, .ignored(.stale))
    case .subscribeOk:
      MachineStep(.createdNew, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .subscribeFailedTemporary:
      MachineStep(.key, .moved, .saveStatus, .scheduleRetry)
    case .subscribeLost, .tokenReplaced:
      // The request in progress names a token that the server may no longer have.
      MachineStep(.key, .moved, .saveStatus)
    case .subscribeFailedPermanent:
      MachineStep(.key, .moved, .saveStatus, .reportError)
    case .subscribeAuthError:
      // Other keys are made, but only after a pause: a relay may refuse these too.
      MachineStep(.new, .moved, .saveReason, .saveStatus, .scheduleRetry)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedNew(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .moved, .saveStatus, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.createdNew, .ignored(.stale))
    case .tokenReplaced:
      // Asked again once the new token is active.
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedPending(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .moved, .saveStatus, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.createdPending, .ignored(.stale))
    case .tokenReplaced:
      // Asked again once the new token is active.
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedActive(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .moved, .saveStatus, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.createdActive, .ignored(.stale))
    case .tokenReplaced:
      // Asked again once the new token is active.
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepCreatedInactive(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .moved, .saveStatus, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.createdInactive, .ignored(.stale))
    case .tokenReplaced:
      // Asked again once the new token is active.
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepChecking(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .ignored(.underWay))
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .releaseDue, .turnedOff, .releaseFailedTemporary, .releaseLost:
      MachineStep(.checking, .ignored(.stale))
    case .checkNew:
      MachineStep(.createdNew, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkPending:
      MachineStep(.createdPending, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkActive:
      MachineStep(.createdActive, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkInactive:
      MachineStep(.createdInactive, .moved, .saveStatus, .reportStatus, .scheduleCheck)
    case .checkEnded:
      // Made anew from the beginning (INC-67).
      MachineStep(.enabling, .moved, .saveReason, .makeNotifierKeys, .saveStatus, .reportStatus, .enableNotifier)
    case .checkFailedTemporary:
      MachineStep(.unchecked, .moved, .saveStatus, .scheduleRetry)
    case .checkLost:
      MachineStep(.unchecked, .moved, .saveStatus)
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepUnchecked(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .checkDue:
      MachineStep(.checking, .moved, .saveStatus, .checkAtServer)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkNew, .checkPending, .checkActive, .checkInactive, .checkEnded,
      .checkFailedTemporary, .checkLost, .releaseDue, .turnedOff, .releaseFailedTemporary,
      .releaseLost:
      MachineStep(.unchecked, .ignored(.stale))
    case .tokenReplaced:
      MachineStep(.key, .moved, .saveStatus, .reportStatus)
    case .turnOff:
      MachineStep(.turningOff, .moved, .saveStatus, .queueRelease, .reportStatus, .requestRelease, .sendQueued)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepTurningOff(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.enabling, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced, .turnedOff,
      .releaseFailedTemporary, .releaseLost:
      MachineStep(.turningOff, .ignored(.stale))
    case .turnOff:
      MachineStep(.turningOff, .ignored(.alreadyOff))
    case .releaseDue:
      MachineStep(.releasing, .moved, .saveStatus, .disableNotifier)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepReleasing(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .releaseDue:
      MachineStep(.releasing, .ignored(.underWay))
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced:
      MachineStep(.releasing, .ignored(.stale))
    case .turnOff:
      MachineStep(.releasing, .ignored(.alreadyOff))
    case .turnedOff:
      MachineStep(.off, .moved, .forgetNotifier, .saveStatus, .subscribeAgain)
    case .releaseFailedTemporary:
      MachineStep(.turningOff, .moved, .saveStatus, .scheduleRetry)
    case .releaseLost:
      MachineStep(.turningOff, .moved, .saveStatus)
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepOff(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create:
      MachineStep(.enabling, .moved, .makeNotifierKeys, .saveStatus, .enableNotifier)
    case .notifierEnabled, .notifierFailedTemporary, .notifierLost, .notifierFailedPermanent,
      .subscribeOk, .subscribeFailedTemporary, .subscribeLost, .subscribeFailedPermanent,
      .subscribeAuthError, .checkDue, .checkNew, .checkPending, .checkActive, .checkInactive,
      .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced, .releaseDue, .turnedOff,
      .releaseFailedTemporary, .releaseLost:
      MachineStep(.off, .ignored(.stale))
    case .turnOff:
      MachineStep(.off, .ignored(.alreadyOff))
    case .forget:
      MachineStep(.deleted, .moved, .deleteRecord)
    }
  }

  @inline(__always)
  private static func stepDeleted(_ event: Event) -> MachineStep<Subscription> {
    switch event {
    case .create, .notifierEnabled, .notifierFailedTemporary, .notifierLost,
      .notifierFailedPermanent, .subscribeOk, .subscribeFailedTemporary, .subscribeLost,
      .subscribeFailedPermanent, .subscribeAuthError, .checkDue, .checkNew, .checkPending,
      .checkActive, .checkInactive, .checkEnded, .checkFailedTemporary, .checkLost, .tokenReplaced,
      .turnOff, .releaseDue, .turnedOff, .releaseFailedTemporary, .releaseLost, .forget:
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
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Make keys for this mailbox, and store them.
  func makeNotifierKeys(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Store the notifier id and the relay's key.
  func saveNotifier(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Store the status; it is shown as the subscription's health (INC-67).
  func saveStatus(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Store why the subscription has to be made anew (the name of the event), and when that was noticed.
  func saveReason(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Queue the request that the server forget it (SDEL).
  func queueRelease(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Delete the notifier's keys. Its id stays until there is another, for a push that is still in transit.
  func forgetNotifier(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
  /// Delete the record.
  func deleteRecord(_ argument: inout Argument, _ next: Subscription.State) throws(Failure)
}

extension Subscription {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: SubscriptionRecord>(
    _ step: MachineStep<Subscription>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .makeNotifierKeys: try recorder.makeNotifierKeys(&argument, step.next)
      case .saveNotifier: try recorder.saveNotifier(&argument, step.next)
      case .saveStatus: try recorder.saveStatus(&argument, step.next)
      case .saveReason: try recorder.saveReason(&argument, step.next)
      case .queueRelease: try recorder.queueRelease(&argument, step.next)
      case .forgetNotifier: try recorder.forgetNotifier(&argument, step.next)
      case .deleteRecord: try recorder.deleteRecord(&argument, step.next)
      case .enableNotifier, .disableNotifier, .subscribeAtServer, .checkAtServer, .requestRelease,
        .sendQueued, .subscribeAgain, .scheduleCheck, .scheduleRetry, .reportStatus, .reportError:
        break
      }
    }
  }
}

/// Carries out the effects of `Subscription`, one method for each.
package protocol SubscriptionEffects {
  /// The event's data.
  associatedtype Argument
  /// Give the relay the notifier key (NKEY). Answer: notifier.
  func enableNotifier(_ argument: Argument)
  /// Have the relay drop the notifier key (NDEL). Answer: turnedOff or release.
  func disableNotifier(_ argument: Argument)
  /// Have the server watch (SNEW), together with others. Answer: subscribe.
  func subscribeAtServer(_ argument: Argument)
  /// Ask the server (SCHK), together with others. Answer: check.
  func checkAtServer(_ argument: Argument)
  /// Raise release.due, if this process is the one to ask: an extension leaves it to the app.
  func requestRelease(_ argument: Argument)
  /// Offer the queued requests to the relay until it has them.
  func sendQueued(_ argument: Argument)
  /// Raise create, if a subscription is wanted again.
  func subscribeAgain(_ argument: Argument)
  /// Raise check.due in a day, within any server's expiry (INC-64).
  func scheduleCheck(_ argument: Argument)
  /// Have what is due asked again later, after a growing delay.
  func scheduleRetry(_ argument: Argument)
  /// Report the status (subscriptionStatus), together with others, unless it is the one last reported.
  func reportStatus(_ argument: Argument)
  /// Report the refusal (subscriptionStatus), and log it.
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
    case .requestRelease: performer.requestRelease(argument)
    case .sendQueued: performer.sendQueued(argument)
    case .subscribeAgain: performer.subscribeAgain(argument)
    case .scheduleCheck: performer.scheduleCheck(argument)
    case .scheduleRetry: performer.scheduleRetry(argument)
    case .reportStatus: performer.reportStatus(argument)
    case .reportError: performer.reportError(argument)
    case .makeNotifierKeys, .saveNotifier, .saveStatus, .saveReason, .queueRelease, .forgetNotifier,
      .deleteRecord:
      break
    }
  }
}
