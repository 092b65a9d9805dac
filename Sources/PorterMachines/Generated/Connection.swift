// Generated from spec/machines/connection.scxml by porter-machines: change that file, run `make spec`.

/// One connection to a contact: from an invitation to a channel that carries messages. Both sides run this machine: the
/// one that made the invitation waits, the other accepts it. A user's address is such a mailbox too: it takes requests,
/// and never becomes a channel. So is a scope, which takes the host's own pushes.
package enum Connection: Machine {
  package enum State: UInt8, MachineCode {
    /// Nothing exists yet.
    case none
    /// An invitation exists, but only one side.
    case requested
    /// Each side has the other's keys; the channel is not yet proven to work.
    case accepted
    /// Messages pass.
    case ready
    /// The other side has deleted the connection. The conversation stays until our user deletes it.
    case left
    /// It is an address, which takes any number of requests from anyone with its link, or a scope.
    case published
    /// Final. Deleted.
    case deleted

    package var name: String {
      switch self {
      case .none: "none"
      case .requested: "requested"
      case .accepted: "accepted"
      case .ready: "ready"
      case .left: "left"
      case .published: "published"
      case .deleted: "deleted"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// Our user makes an invitation, and the relay has made its mailbox.
    case invite
    /// Our user follows an invitation, and the relay has made our mailbox.
    case accept
    /// The other side followed our invitation: its keys and its mailbox are known.
    case peerConfirmed
    /// The other side, whose invitation we followed, says hello.
    case peerGreeted
    /// The other side, which followed our invitation, answered our hello.
    case peerAnswered
    /// Our user sends a message.
    case messageGiven
    /// A message from the other side was decrypted.
    case messageArrived
    /// The other side reports that it has deleted the connection.
    case peerLeft
    /// Our user deletes the contact, or the invitation.
    case delete
    /// Our user deletes it without a message to the other side.
    case deleteSilently
    /// Our user makes an address, or the host a scope, and the relay has made its mailbox.
    case publish
    /// A person asks, through our address, to become a contact; or a service has sent a push through our scope.
    case requestArrived
    /// Our user deletes the profile, and leaves its mailboxes at the relay.
    case abandon

    package var name: String {
      switch self {
      case .invite: "invite"
      case .accept: "accept"
      case .peerConfirmed: "peerConfirmed"
      case .peerGreeted: "peerGreeted"
      case .peerAnswered: "peerAnswered"
      case .messageGiven: "messageGiven"
      case .messageArrived: "messageArrived"
      case .peerLeft: "peerLeft"
      case .delete: "delete"
      case .deleteSilently: "deleteSilently"
      case .publish: "publish"
      case .requestArrived: "requestArrived"
      case .abandon: "abandon"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Send our keys, our profile and our mailbox to the mailbox of the invitation.
    case sendConfirmation
    /// Record the only key whose messages the relay may accept in our mailbox; the relay is asked before the message is
    /// acknowledged.
    case secureMailbox
    /// Say hello: the first message under the ratchet.
    case sendGreeting
    /// Answer the hello.
    case sendAnswer
    /// Send the other side, if there is one yet, a message that this side has left.
    case sendLeft
    /// Take the request back, if the connection was requested through an address. For an invitation there is no one to
    /// notify yet.
    case withdrawRequest
    /// Record that the contact is connected; contactConnected is emitted after the commit.
    case emitContactConnected
    /// Record that the contact has left; contactDeletedByContact is emitted after the commit.
    case emitContactLeft
    /// Listen to the mailbox, and raise create at the connection's notification subscription.
    case createSubscription
    /// Raise turnOff at the notification subscription.
    case deleteSubscription
    /// Encrypt the message, and put it into the outbox.
    case sendMessage
    /// Commit the message.
    case deliverMessage
    /// Commit the request, as in contact_request, or the push, as in application_push.
    case deliverRequest
    /// Have the relay delete the mailbox.
    case deleteMailbox
    /// Delete the keys and the ratchet, and raise forget at the notification subscription.
    case forgetKeys

    package var name: String {
      switch self {
      case .sendConfirmation: "sendConfirmation"
      case .secureMailbox: "secureMailbox"
      case .sendGreeting: "sendGreeting"
      case .sendAnswer: "sendAnswer"
      case .sendLeft: "sendLeft"
      case .withdrawRequest: "withdrawRequest"
      case .emitContactConnected: "emitContactConnected"
      case .emitContactLeft: "emitContactLeft"
      case .createSubscription: "createSubscription"
      case .deleteSubscription: "deleteSubscription"
      case .sendMessage: "sendMessage"
      case .deliverMessage: "deliverMessage"
      case .deliverRequest: "deliverRequest"
      case .deleteMailbox: "deleteMailbox"
      case .forgetKeys: "forgetKeys"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case noConnection
    case notAccepted
    case alreadyAccepted
    case alreadyUsed
    case noAddress
    case alreadyReady
    case alreadyLeft
    case contactLeft
    case isAddress
    case ended

    package var name: String {
      switch self {
      case .noConnection: "noConnection"
      case .notAccepted: "notAccepted"
      case .alreadyAccepted: "alreadyAccepted"
      case .alreadyUsed: "alreadyUsed"
      case .noAddress: "noAddress"
      case .alreadyReady: "alreadyReady"
      case .alreadyLeft: "alreadyLeft"
      case .contactLeft: "contactLeft"
      case .isAddress: "isAddress"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "connection" }

  package static var initial: State { .none }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .deleted: true
    case .none, .requested, .accepted, .ready, .left, .published: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .createSubscription: .act
    case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .withdrawRequest,
      .emitContactConnected, .emitContactLeft, .deleteSubscription, .sendMessage, .deliverMessage,
      .deliverRequest, .deleteMailbox, .forgetKeys:
      .record
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Connection> {
    switch state {
    case .none: stepNone(event)
    case .requested: stepRequested(event)
    case .accepted: stepAccepted(event)
    case .ready: stepReady(event)
    case .left: stepLeft(event)
    case .published: stepPublished(event)
    case .deleted: stepDeleted(event)
    }
  }

  @inline(__always)
  private static func stepNone(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite:
      MachineStep(.requested, .moved, .createSubscription)
    case .accept:
      MachineStep(.accepted, .moved, .sendConfirmation, .createSubscription)
    case .peerConfirmed, .peerGreeted, .peerAnswered, .messageGiven, .messageArrived, .peerLeft,
      .delete, .deleteSilently, .requestArrived, .abandon:
      MachineStep(.none, .refused(.noConnection))
    case .publish:
      MachineStep(.published, .moved, .createSubscription)
    }
  }

  @inline(__always)
  private static func stepRequested(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .peerGreeted, .peerAnswered, .messageGiven, .messageArrived, .peerLeft,
      .publish, .requestArrived:
      MachineStep(.requested, .refused(.notAccepted))
    case .peerConfirmed:
      MachineStep(.accepted, .moved, .secureMailbox, .sendGreeting)
    case .delete:
      MachineStep(.deleted, .moved, .withdrawRequest, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .deleteSilently:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .abandon:
      MachineStep(.deleted, .moved, .deleteSubscription, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepAccepted(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .publish:
      MachineStep(.accepted, .refused(.alreadyAccepted))
    case .peerConfirmed:
      // An invitation is good for one contact.
      MachineStep(.accepted, .refused(.alreadyUsed))
    case .peerGreeted:
      MachineStep(.ready, .moved, .sendAnswer, .emitContactConnected)
    case .peerAnswered:
      MachineStep(.ready, .moved, .emitContactConnected)
    case .messageGiven:
      // It waits in the outbox behind the hello.
      MachineStep(.accepted, .stayed, .sendMessage)
    case .messageArrived:
      // The hello was overtaken.
      MachineStep(.accepted, .stayed, .deliverMessage)
    case .peerLeft:
      MachineStep(.left, .moved, .deleteSubscription, .emitContactLeft)
    case .delete:
      MachineStep(.deleted, .moved, .sendLeft, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .deleteSilently:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .requestArrived:
      MachineStep(.accepted, .refused(.noAddress))
    case .abandon:
      MachineStep(.deleted, .moved, .deleteSubscription, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepReady(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .publish:
      MachineStep(.ready, .refused(.alreadyAccepted))
    case .peerConfirmed:
      MachineStep(.ready, .refused(.alreadyUsed))
    case .peerGreeted, .peerAnswered:
      MachineStep(.ready, .ignored(.alreadyReady))
    case .messageGiven:
      MachineStep(.ready, .stayed, .sendMessage)
    case .messageArrived:
      MachineStep(.ready, .stayed, .deliverMessage)
    case .peerLeft:
      MachineStep(.left, .moved, .deleteSubscription, .emitContactLeft)
    case .delete:
      MachineStep(.deleted, .moved, .sendLeft, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .deleteSilently:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .requestArrived:
      MachineStep(.ready, .refused(.noAddress))
    case .abandon:
      MachineStep(.deleted, .moved, .deleteSubscription, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepLeft(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .publish:
      MachineStep(.left, .refused(.alreadyAccepted))
    case .peerConfirmed:
      MachineStep(.left, .refused(.alreadyUsed))
    case .peerGreeted, .peerAnswered, .peerLeft:
      MachineStep(.left, .ignored(.alreadyLeft))
    case .messageGiven, .messageArrived:
      MachineStep(.left, .refused(.contactLeft))
    case .delete, .deleteSilently:
      MachineStep(.deleted, .moved, .deleteMailbox, .forgetKeys)
    case .requestArrived:
      MachineStep(.left, .refused(.noAddress))
    case .abandon:
      MachineStep(.deleted, .moved, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepPublished(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .peerConfirmed, .peerGreeted, .peerAnswered, .messageGiven,
      .messageArrived, .peerLeft, .publish:
      MachineStep(.published, .refused(.isAddress))
    case .delete, .deleteSilently:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    case .requestArrived:
      MachineStep(.published, .stayed, .deliverRequest)
    case .abandon:
      MachineStep(.deleted, .moved, .deleteSubscription, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepDeleted(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .invite, .accept, .peerConfirmed, .peerGreeted, .peerAnswered, .messageGiven,
      .messageArrived, .peerLeft, .delete, .deleteSilently, .publish, .requestArrived, .abandon:
      MachineStep(.deleted, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == Connection {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Connection.Event) -> MachineStep<Connection> {
    let step = Connection.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `Connection`, one method for each, inside the transaction that takes the step.
package protocol ConnectionRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Send our keys, our profile and our mailbox to the mailbox of the invitation.
  func sendConfirmation(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Record the only key whose messages the relay may accept in our mailbox; the relay is asked before the message is
  /// acknowledged.
  func secureMailbox(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Say hello: the first message under the ratchet.
  func sendGreeting(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Answer the hello.
  func sendAnswer(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Send the other side, if there is one yet, a message that this side has left.
  func sendLeft(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Take the request back, if the connection was requested through an address. For an invitation there is no one to
  /// notify yet.
  func withdrawRequest(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Record that the contact is connected; contactConnected is emitted after the commit.
  func emitContactConnected(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Record that the contact has left; contactDeletedByContact is emitted after the commit.
  func emitContactLeft(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Raise turnOff at the notification subscription.
  func deleteSubscription(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Encrypt the message, and put it into the outbox.
  func sendMessage(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Commit the message.
  func deliverMessage(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Commit the request, as in contact_request, or the push, as in application_push.
  func deliverRequest(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Have the relay delete the mailbox.
  func deleteMailbox(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
  /// Delete the keys and the ratchet, and raise forget at the notification subscription.
  func forgetKeys(_ argument: inout Argument, _ next: Connection.State) throws(Failure)
}

extension Connection {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: ConnectionRecord>(
    _ step: MachineStep<Connection>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .sendConfirmation: try recorder.sendConfirmation(&argument, step.next)
      case .secureMailbox: try recorder.secureMailbox(&argument, step.next)
      case .sendGreeting: try recorder.sendGreeting(&argument, step.next)
      case .sendAnswer: try recorder.sendAnswer(&argument, step.next)
      case .sendLeft: try recorder.sendLeft(&argument, step.next)
      case .withdrawRequest: try recorder.withdrawRequest(&argument, step.next)
      case .emitContactConnected: try recorder.emitContactConnected(&argument, step.next)
      case .emitContactLeft: try recorder.emitContactLeft(&argument, step.next)
      case .deleteSubscription: try recorder.deleteSubscription(&argument, step.next)
      case .sendMessage: try recorder.sendMessage(&argument, step.next)
      case .deliverMessage: try recorder.deliverMessage(&argument, step.next)
      case .deliverRequest: try recorder.deliverRequest(&argument, step.next)
      case .deleteMailbox: try recorder.deleteMailbox(&argument, step.next)
      case .forgetKeys: try recorder.forgetKeys(&argument, step.next)
      case .createSubscription: break
      }
    }
  }
}

/// Carries out the effects of `Connection`, one method for each.
package protocol ConnectionEffects {
  /// The event's data.
  associatedtype Argument
  /// Listen to the mailbox, and raise create at the connection's notification subscription.
  func createSubscription(_ argument: Argument)
}

extension Connection {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: ConnectionEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .createSubscription: performer.createSubscription(argument)
    case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .withdrawRequest,
      .emitContactConnected, .emitContactLeft, .deleteSubscription, .sendMessage, .deliverMessage,
      .deliverRequest, .deleteMailbox, .forgetKeys:
      break
    }
  }
}
