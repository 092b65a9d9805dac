// Generated from spec/machines/connection.scxml by porter-machines: change that file, run `make spec`.

/// One connection to a contact: from an invitation or a request to a channel on which messages pass. Both sides run
/// this machine: the one that made the invitation waits, the other one accepts it.
package enum Connection: Machine {
  package enum State: UInt8, MachineCode {
    /// There is an invitation or a request, and one side only.
    case requested
    /// Both sides have keys of the other; it is not proven yet that the channel works.
    case accepted
    /// Messages pass.
    case ready
    /// Final. It is gone.
    case deleted

    package var name: String {
      switch self {
      case .requested: "requested"
      case .accepted: "accepted"
      case .ready: "ready"
      case .deleted: "deleted"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// Our user follows an invitation, or accepts a request.
    case accept
    /// Our user declines a request.
    case reject
    /// The other side followed our invitation: its keys and its mailbox are known.
    case peerConfirmed
    /// The other side, whose invitation we followed, says hello.
    case peerGreeted
    /// The other side, which followed our invitation, answered our hello.
    case peerAnswered
    /// Our user sends a message.
    case messageGiven
    /// A message of the other side was decrypted.
    case messageArrived
    /// The other side has deleted the connection.
    case peerLeft
    /// Our user deletes the contact, or the invitation.
    case delete

    package var name: String {
      switch self {
      case .accept: "accept"
      case .reject: "reject"
      case .peerConfirmed: "peerConfirmed"
      case .peerGreeted: "peerGreeted"
      case .peerAnswered: "peerAnswered"
      case .messageGiven: "messageGiven"
      case .messageArrived: "messageArrived"
      case .peerLeft: "peerLeft"
      case .delete: "delete"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Send our keys, our profile and our mailbox to the mailbox of the invitation.
    case sendConfirmation
    /// Have the relay accept nobody else's messages in our mailbox.
    case secureMailbox
    /// Say hello: the first message under the ratchet.
    case sendGreeting
    /// Answer the hello.
    case sendAnswer
    /// Emit contactConnected.
    case emitContactConnected
    /// Emit contactDeletedByContact.
    case emitContactLeft
    /// Raise create at the connection's notification subscription.
    case createSubscription
    /// Raise turnOff at it.
    case deleteSubscription
    /// Encrypt and send.
    case sendMessage
    /// Keep the message until the connection is ready.
    case queueMessage
    /// Send what was kept.
    case sendQueued
    /// Commit the message.
    case deliverMessage
    /// Have the relay delete the mailbox.
    case deleteMailbox
    /// Delete the keys and the ratchet.
    case forgetKeys

    package var name: String {
      switch self {
      case .sendConfirmation: "sendConfirmation"
      case .secureMailbox: "secureMailbox"
      case .sendGreeting: "sendGreeting"
      case .sendAnswer: "sendAnswer"
      case .emitContactConnected: "emitContactConnected"
      case .emitContactLeft: "emitContactLeft"
      case .createSubscription: "createSubscription"
      case .deleteSubscription: "deleteSubscription"
      case .sendMessage: "sendMessage"
      case .queueMessage: "queueMessage"
      case .sendQueued: "sendQueued"
      case .deliverMessage: "deliverMessage"
      case .deleteMailbox: "deleteMailbox"
      case .forgetKeys: "forgetKeys"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case notAccepted
    case notReady
    case alreadyAccepted
    case alreadyUsed
    case alreadyReady
    case ended

    package var name: String {
      switch self {
      case .notAccepted: "notAccepted"
      case .notReady: "notReady"
      case .alreadyAccepted: "alreadyAccepted"
      case .alreadyUsed: "alreadyUsed"
      case .alreadyReady: "alreadyReady"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "connection" }

  package static var initial: State { .requested }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .deleted: true
    case .requested, .accepted, .ready: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Connection> {
    switch state {
    case .requested: stepRequested(event)
    case .accepted: stepAccepted(event)
    case .ready: stepReady(event)
    case .deleted: stepDeleted(event)
    }
  }

  @inline(__always)
  private static func stepRequested(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .accept:
      MachineStep(.accepted, .moved, .sendConfirmation)
    case .reject, .delete:
      MachineStep(.deleted, .moved, .deleteMailbox, .forgetKeys)
    case .peerConfirmed:
      MachineStep(.accepted, .moved, .secureMailbox, .sendGreeting)
    case .peerGreeted, .peerAnswered, .messageArrived, .peerLeft:
      MachineStep(.requested, .refused(.notAccepted))
    case .messageGiven:
      MachineStep(.requested, .refused(.notReady))
    }
  }

  @inline(__always)
  private static func stepAccepted(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .accept:
      MachineStep(.accepted, .ignored(.alreadyAccepted))
    case .reject:
      MachineStep(.accepted, .refused(.alreadyAccepted))
    case .peerConfirmed:
      // An invitation is good for one contact.
      MachineStep(.accepted, .refused(.alreadyUsed))
    case .peerGreeted:
      MachineStep(.ready, .moved, .secureMailbox, .sendAnswer, .sendQueued, .createSubscription, .emitContactConnected)
    case .peerAnswered:
      MachineStep(.ready, .moved, .sendQueued, .createSubscription, .emitContactConnected)
    case .messageGiven:
      MachineStep(.accepted, .stayed, .queueMessage)
    case .messageArrived:
      // The hello was overtaken.
      MachineStep(.accepted, .stayed, .deliverMessage)
    case .peerLeft:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys, .emitContactLeft)
    case .delete:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepReady(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .accept, .peerGreeted, .peerAnswered:
      MachineStep(.ready, .ignored(.alreadyReady))
    case .reject:
      MachineStep(.ready, .refused(.alreadyAccepted))
    case .peerConfirmed:
      MachineStep(.ready, .refused(.alreadyUsed))
    case .messageGiven:
      MachineStep(.ready, .stayed, .sendMessage)
    case .messageArrived:
      MachineStep(.ready, .stayed, .deliverMessage)
    case .peerLeft:
      // What was said stays until our user deletes it.
      MachineStep(.ready, .stayed, .deleteSubscription, .emitContactLeft)
    case .delete:
      MachineStep(.deleted, .moved, .deleteSubscription, .deleteMailbox, .forgetKeys)
    }
  }

  @inline(__always)
  private static func stepDeleted(_ event: Event) -> MachineStep<Connection> {
    switch event {
    case .accept, .reject, .peerConfirmed, .peerGreeted, .peerAnswered, .messageGiven,
      .messageArrived, .peerLeft, .delete:
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
