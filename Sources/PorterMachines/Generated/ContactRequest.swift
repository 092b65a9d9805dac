// Generated from spec/machines/contact_request.scxml by porter-machines: change that file, run `make spec`.

/// One person's request to become a contact, received through the user's address. It is stored with the message that
/// brought it, shown once however often the same person asks, and accepted once however often the user taps. Accepting
/// it uses the invitation inside it, and survives a kill at any point.
package enum ContactRequest: Machine {
  package enum State: UInt8, MachineCode {
    /// This person has not asked yet.
    case none
    /// The user has not decided yet.
    case received
    /// The acceptance is final; the contact is created as soon as the relay can be reached.
    case accepting
    /// The contact has been created.
    case accepted
    /// Final. The user rejected it. The person gets no message about it, and asking again changes nothing. Past 4,096
    /// rejected persons of one address, the earliest are forgotten.
    case rejected
    /// Final. There is nothing left to accept.
    case withdrawn

    package var name: String {
      switch self {
      case .none: "none"
      case .received: "received"
      case .accepting: "accepting"
      case .accepted: "accepted"
      case .rejected: "rejected"
      case .withdrawn: "withdrawn"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// An unknown person asks, and the user decides.
    case arriveUndecided
    /// An unknown person asks, and the address accepts automatically.
    case arriveAutomatic
    /// An unknown person asks, and the limit of waiting requests is reached.
    case arriveTooMany
    /// The same person asks again.
    case repeatAgain
    /// The same person has asked more often than the limit allows.
    case repeatTooMany
    /// The user accepts.
    case accept
    /// The user rejects.
    case reject
    /// The relay has made our mailbox for this person, and the contact is being recorded.
    case joined
    /// The person takes the request back, or the user deletes the address.
    case withdraw
    /// The relay no longer knows the person's mailbox: there is nothing left to accept.
    case mailboxGone

    package var name: String {
      switch self {
      case .arriveUndecided: "arrive.undecided"
      case .arriveAutomatic: "arrive.automatic"
      case .arriveTooMany: "arrive.tooMany"
      case .repeatAgain: "repeat.again"
      case .repeatTooMany: "repeat.tooMany"
      case .accept: "accept"
      case .reject: "reject"
      case .joined: "joined"
      case .withdraw: "withdraw"
      case .mailboxGone: "mailboxGone"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Store the person's profile and invitation.
    case storeRequest
    /// Store the profile and the invitation that came with the repeat, and count it.
    case refreshRequest
    /// Enter the request in the ledger, to be shown.
    case notifyUser
    /// Have the request's notification withdrawn, if it was shown.
    case clearNotification
    /// Record the contact, in the transaction that records its connection.
    case createContact
    /// Raise peerLeft at the contact's connection, which will never be answered.
    case endContact
    /// Delete the contact, which was never connected, with its connection.
    case deleteContact
    /// Erase the invitation, which can no longer be used.
    case eraseInvitation
    /// Reserve the invitation and have the relay make our mailbox. An extension leaves it to the app.
    case joinInvitation

    package var name: String {
      switch self {
      case .storeRequest: "storeRequest"
      case .refreshRequest: "refreshRequest"
      case .notifyUser: "notifyUser"
      case .clearNotification: "clearNotification"
      case .createContact: "createContact"
      case .endContact: "endContact"
      case .deleteContact: "deleteContact"
      case .eraseInvitation: "eraseInvitation"
      case .joinInvitation: "joinInvitation"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case addressFull
    case noRequest
    case neverReceived
    case alreadyReceived
    case askedTooOften
    case notAccepted
    case alreadyAccepting
    case alreadyAccepted
    case ended

    package var name: String {
      switch self {
      case .addressFull: "addressFull"
      case .noRequest: "noRequest"
      case .neverReceived: "neverReceived"
      case .alreadyReceived: "alreadyReceived"
      case .askedTooOften: "askedTooOften"
      case .notAccepted: "notAccepted"
      case .alreadyAccepting: "alreadyAccepting"
      case .alreadyAccepted: "alreadyAccepted"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "contact_request" }

  package static var initial: State { .none }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .rejected, .withdrawn: true
    case .none, .received, .accepting, .accepted: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .joinInvitation: .act
    case .storeRequest, .refreshRequest, .notifyUser, .clearNotification, .createContact,
      .endContact, .deleteContact, .eraseInvitation:
      .record
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<ContactRequest> {
    switch state {
    case .none: stepNone(event)
    case .received: stepReceived(event)
    case .accepting: stepAccepting(event)
    case .accepted: stepAccepted(event)
    case .rejected: stepRejected(event)
    case .withdrawn: stepWithdrawn(event)
    }
  }

  @inline(__always)
  private static func stepNone(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided:
      MachineStep(.received, .moved, .storeRequest, .notifyUser)
    case .arriveAutomatic:
      MachineStep(.accepting, .moved, .storeRequest, .joinInvitation)
    case .arriveTooMany:
      // A flood is bounded: requests past the limit are not stored.
      MachineStep(.none, .ignored(.addressFull))
    case .repeatAgain, .repeatTooMany, .accept, .reject, .joined, .mailboxGone:
      MachineStep(.none, .refused(.noRequest))
    case .withdraw:
      MachineStep(.none, .ignored(.neverReceived))
    }
  }

  @inline(__always)
  private static func stepReceived(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided, .arriveAutomatic, .arriveTooMany:
      MachineStep(.received, .refused(.alreadyReceived))
    case .repeatAgain:
      // Already shown: there is no second notification.
      MachineStep(.received, .stayed, .refreshRequest)
    case .repeatTooMany:
      MachineStep(.received, .ignored(.askedTooOften))
    case .accept:
      MachineStep(.accepting, .moved, .clearNotification, .joinInvitation)
    case .reject:
      MachineStep(.rejected, .moved, .clearNotification, .eraseInvitation)
    case .joined:
      MachineStep(.received, .refused(.notAccepted))
    case .withdraw, .mailboxGone:
      MachineStep(.withdrawn, .moved, .clearNotification, .eraseInvitation)
    }
  }

  @inline(__always)
  private static func stepAccepting(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided, .arriveAutomatic, .arriveTooMany:
      MachineStep(.accepting, .refused(.alreadyReceived))
    case .repeatAgain, .repeatTooMany:
      MachineStep(.accepting, .ignored(.alreadyAccepting))
    case .accept:
      // The previous attempt may have failed, for example without a network.
      MachineStep(.accepting, .stayed, .joinInvitation)
    case .reject:
      MachineStep(.accepting, .refused(.alreadyAccepted))
    case .joined:
      MachineStep(.accepted, .moved, .createContact, .eraseInvitation)
    case .withdraw, .mailboxGone:
      MachineStep(.withdrawn, .moved, .eraseInvitation)
    }
  }

  @inline(__always)
  private static func stepAccepted(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided, .arriveAutomatic, .arriveTooMany:
      MachineStep(.accepted, .refused(.alreadyReceived))
    case .repeatAgain, .repeatTooMany, .accept, .joined:
      MachineStep(.accepted, .ignored(.alreadyAccepted))
    case .reject:
      MachineStep(.accepted, .refused(.alreadyAccepted))
    case .withdraw:
      MachineStep(.withdrawn, .moved, .endContact)
    case .mailboxGone:
      MachineStep(.withdrawn, .moved, .deleteContact)
    }
  }

  @inline(__always)
  private static func stepRejected(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided, .arriveAutomatic, .arriveTooMany, .repeatAgain, .repeatTooMany, .accept,
      .reject, .joined, .withdraw, .mailboxGone:
      MachineStep(.rejected, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepWithdrawn(_ event: Event) -> MachineStep<ContactRequest> {
    switch event {
    case .arriveUndecided, .arriveAutomatic, .arriveTooMany, .repeatAgain, .repeatTooMany, .accept,
      .reject, .joined, .withdraw, .mailboxGone:
      MachineStep(.withdrawn, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == ContactRequest {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: ContactRequest.Event) -> MachineStep<ContactRequest> {
    let step = ContactRequest.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `ContactRequest`, one method for each, inside the transaction that takes the step.
package protocol ContactRequestRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Store the person's profile and invitation.
  func storeRequest(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Store the profile and the invitation that came with the repeat, and count it.
  func refreshRequest(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Enter the request in the ledger, to be shown.
  func notifyUser(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Have the request's notification withdrawn, if it was shown.
  func clearNotification(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Record the contact, in the transaction that records its connection.
  func createContact(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Raise peerLeft at the contact's connection, which will never be answered.
  func endContact(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Delete the contact, which was never connected, with its connection.
  func deleteContact(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
  /// Erase the invitation, which can no longer be used.
  func eraseInvitation(_ argument: inout Argument, _ next: ContactRequest.State) throws(Failure)
}

extension ContactRequest {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: ContactRequestRecord>(
    _ step: MachineStep<ContactRequest>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .storeRequest: try recorder.storeRequest(&argument, step.next)
      case .refreshRequest: try recorder.refreshRequest(&argument, step.next)
      case .notifyUser: try recorder.notifyUser(&argument, step.next)
      case .clearNotification: try recorder.clearNotification(&argument, step.next)
      case .createContact: try recorder.createContact(&argument, step.next)
      case .endContact: try recorder.endContact(&argument, step.next)
      case .deleteContact: try recorder.deleteContact(&argument, step.next)
      case .eraseInvitation: try recorder.eraseInvitation(&argument, step.next)
      case .joinInvitation: break
      }
    }
  }
}

/// Carries out the effects of `ContactRequest`, one method for each.
package protocol ContactRequestEffects {
  /// The event's data.
  associatedtype Argument
  /// Reserve the invitation and have the relay make our mailbox. An extension leaves it to the app.
  func joinInvitation(_ argument: Argument)
}

extension ContactRequest {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: ContactRequestEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .joinInvitation: performer.joinInvitation(argument)
    case .storeRequest, .refreshRequest, .notifyUser, .clearNotification, .createContact,
      .endContact, .deleteContact, .eraseInvitation:
      break
    }
  }
}
