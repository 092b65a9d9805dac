// Generated from spec/machines/call.scxml by porter-machines: change that file, run `make spec`.

/// One call with a contact, as seen by one side; signalling only. Each step is part of the transaction that sends or
/// receives its message, so a call is the same after a kill, and for app and extension. A contact has one call at a
/// time: the next invitation replaces it. An invitation lives for three minutes from when the relay received it; each
/// side counts by its time since boot. A call that has ended does not ring, and its notification is withdrawn.
package enum Call: Machine {
  package enum State: UInt8, MachineCode {
    /// Not stored.
    case idle
    /// Our user waits for the contact.
    case invited
    /// The contact calls; the notification may be shown.
    case ringing
    /// Our user has accepted from the notification; the host is about to offer a session.
    case accepted
    /// Our offer was sent; the contact's host must answer it.
    case offerSent
    /// The contact's offer was received; our host must answer it.
    case offerReceived
    /// Each side knows the other's session.
    case negotiated
    /// The session is connected.
    case connected
    /// Final. There was a session, or the hosts were agreeing on one.
    case ended
    /// Final. The call was never accepted.
    case missed
    /// Final. Our user rejected it.
    case rejected
    /// Final. A session could not be established.
    case failed

    package var name: String {
      switch self {
      case .idle: "idle"
      case .invited: "invited"
      case .ringing: "ringing"
      case .accepted: "accepted"
      case .offerSent: "offerSent"
      case .offerReceived: "offerReceived"
      case .negotiated: "negotiated"
      case .connected: "connected"
      case .ended: "ended"
      case .missed: "missed"
      case .rejected: "rejected"
      case .failed: "failed"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// Our user calls.
    case invite
    /// The contact calls, and the invitation is still valid.
    case peerInvited
    /// The contact called, but the invitation had expired when it arrived.
    case peerLate
    /// Our user accepts from the notification; the host makes the offer.
    case accept
    /// Our user rejects. The contact gets no message about it.
    case reject
    /// Our host offers a media session, which accepts the call.
    case offer
    /// The contact has accepted, and offers a media session.
    case peerOffered
    /// Our host answers the offer.
    case answer
    /// The contact has answered our offer.
    case peerAnswered
    /// Our host adds to the description of its session.
    case extra
    /// The contact adds to the description of its session.
    case peerExtra
    /// Our host reports that the session is connected.
    case statusConnected
    /// Our host reports that the session has ended.
    case statusDisconnected
    /// Our host reports that no session could be established.
    case statusFailed
    /// Our user hangs up.
    case end
    /// The contact has hung up, or has deleted the connection.
    case peerEnded
    /// The invitation has expired.
    case expire
    /// Another invitation replaces this call.
    case replace

    package var name: String {
      switch self {
      case .invite: "invite"
      case .peerInvited: "peer.invited"
      case .peerLate: "peer.late"
      case .accept: "accept"
      case .reject: "reject"
      case .offer: "offer"
      case .peerOffered: "peer.offered"
      case .answer: "answer"
      case .peerAnswered: "peer.answered"
      case .extra: "extra"
      case .peerExtra: "peer.extra"
      case .statusConnected: "status.connected"
      case .statusDisconnected: "status.disconnected"
      case .statusFailed: "status.failed"
      case .end: "end"
      case .peerEnded: "peer.ended"
      case .expire: "expire"
      case .replace: "replace"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Add the call to the chat.
    case addItem
    /// Update the call's status in the chat.
    case updateItem
    /// Put the invitation into the outbox.
    case sendInvitation
    /// Remove the invitation from the outbox, if the relay does not have it yet.
    case withdrawInvitation
    /// Put the offer into the outbox.
    case sendOffer
    /// Put the answer into the outbox.
    case sendAnswer
    /// Put the addition into the outbox.
    case sendExtra
    /// Put the end into the outbox.
    case sendEnd
    /// Have the notification removed or suppressed. The call stays unread.
    case stopRinging
    /// Store the event about the contact's message until the host takes it.
    case queueEvent
    /// Drop the call's events that the host has not taken: the call is answered or over, and they would be mistaken for
    /// the next call's.
    case forgetEvents
    /// Store the event callEnded, replacing those that the host has not taken.
    case queueEnd
    /// Emit the stored events and the item.
    case emitEvents

    package var name: String {
      switch self {
      case .addItem: "addItem"
      case .updateItem: "updateItem"
      case .sendInvitation: "sendInvitation"
      case .withdrawInvitation: "withdrawInvitation"
      case .sendOffer: "sendOffer"
      case .sendAnswer: "sendAnswer"
      case .sendExtra: "sendExtra"
      case .sendEnd: "sendEnd"
      case .stopRinging: "stopRinging"
      case .queueEvent: "queueEvent"
      case .forgetEvents: "forgetEvents"
      case .queueEnd: "queueEnd"
      case .emitEvents: "emitEvents"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case noCall
    case notAnswered
    case tooEarly
    case notAccepted
    case alreadyAccepted
    case inSession
    case alreadyConnected
    case ended

    package var name: String {
      switch self {
      case .noCall: "noCall"
      case .notAnswered: "notAnswered"
      case .tooEarly: "tooEarly"
      case .notAccepted: "notAccepted"
      case .alreadyAccepted: "alreadyAccepted"
      case .inSession: "inSession"
      case .alreadyConnected: "alreadyConnected"
      case .ended: "ended"
      }
    }
  }

  package static var name: String { "call" }

  package static var initial: State { .idle }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .ended, .missed, .rejected, .failed: true
    case .idle, .invited, .ringing, .accepted, .offerSent, .offerReceived, .negotiated, .connected:
      false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    nil
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .addItem, .updateItem, .sendInvitation, .withdrawInvitation, .sendOffer, .sendAnswer,
      .sendExtra, .sendEnd, .stopRinging, .queueEvent, .forgetEvents, .queueEnd:
      .record
    case .emitEvents: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<Call> {
    switch state {
    case .idle: stepIdle(event)
    case .invited: stepInvited(event)
    case .ringing: stepRinging(event)
    case .accepted: stepAccepted(event)
    case .offerSent: stepOfferSent(event)
    case .offerReceived: stepOfferReceived(event)
    case .negotiated: stepNegotiated(event)
    case .connected: stepConnected(event)
    case .ended: stepEnded(event)
    case .missed: stepMissed(event)
    case .rejected: stepRejected(event)
    case .failed: stepFailed(event)
    }
  }

  @inline(__always)
  private static func stepIdle(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite:
      MachineStep(.invited, .moved, .addItem, .sendInvitation, .emitEvents)
    case .peerInvited:
      MachineStep(.ringing, .moved, .addItem, .queueEvent, .emitEvents)
    case .peerLate:
      MachineStep(.missed, .moved, .addItem)
    case .accept, .reject, .offer, .peerOffered, .answer, .peerAnswered, .extra, .peerExtra,
      .statusConnected, .statusDisconnected, .statusFailed, .end, .peerEnded, .expire, .replace:
      MachineStep(.idle, .refused(.noCall))
    }
  }

  @inline(__always)
  private static func stepInvited(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .accept, .reject, .offer, .answer, .extra:
      MachineStep(.invited, .refused(.notAnswered))
    case .peerInvited, .peerLate, .peerAnswered, .peerExtra, .statusConnected:
      MachineStep(.invited, .ignored(.tooEarly))
    case .peerOffered:
      MachineStep(.offerReceived, .moved, .updateItem, .queueEvent, .emitEvents)
    case .statusDisconnected, .statusFailed, .end:
      MachineStep(.missed, .moved, .forgetEvents, .withdrawInvitation, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded:
      MachineStep(.missed, .moved, .updateItem, .queueEnd, .emitEvents)
    case .expire:
      // An invitation still in the outbox would ring after the call is over.
      MachineStep(.missed, .moved, .withdrawInvitation, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.missed, .moved, .forgetEvents, .withdrawInvitation, .updateItem)
    }
  }

  @inline(__always)
  private static func stepRinging(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .answer, .extra:
      MachineStep(.ringing, .refused(.notAccepted))
    case .peerInvited, .peerLate, .peerOffered, .peerAnswered, .peerExtra, .statusConnected:
      MachineStep(.ringing, .ignored(.tooEarly))
    case .accept:
      // An invitation that the user has answered does not ring in the host either.
      MachineStep(.accepted, .moved, .forgetEvents, .stopRinging)
    case .reject:
      MachineStep(.rejected, .moved, .forgetEvents, .stopRinging, .updateItem, .emitEvents)
    case .offer:
      MachineStep(.offerSent, .moved, .forgetEvents, .stopRinging, .sendOffer, .updateItem, .emitEvents)
    case .statusDisconnected, .statusFailed, .end:
      MachineStep(.rejected, .moved, .forgetEvents, .stopRinging, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded, .expire:
      MachineStep(.missed, .moved, .stopRinging, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.missed, .moved, .forgetEvents, .stopRinging, .updateItem)
    }
  }

  @inline(__always)
  private static func stepAccepted(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .answer, .extra:
      MachineStep(.accepted, .refused(.notAccepted))
    case .peerInvited, .peerLate, .peerOffered, .peerAnswered, .peerExtra, .statusConnected:
      MachineStep(.accepted, .ignored(.tooEarly))
    case .accept:
      MachineStep(.accepted, .ignored(.alreadyAccepted))
    case .reject:
      MachineStep(.rejected, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .offer:
      MachineStep(.offerSent, .moved, .sendOffer, .updateItem, .emitEvents)
    case .statusDisconnected, .statusFailed, .end:
      MachineStep(.rejected, .moved, .forgetEvents, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded, .expire:
      MachineStep(.missed, .moved, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.missed, .moved, .forgetEvents, .updateItem)
    }
  }

  @inline(__always)
  private static func stepOfferSent(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .reject, .offer, .answer:
      MachineStep(.offerSent, .refused(.inSession))
    case .peerInvited, .peerLate, .accept, .peerOffered, .expire:
      MachineStep(.offerSent, .ignored(.inSession))
    case .peerAnswered:
      MachineStep(.negotiated, .moved, .updateItem, .queueEvent, .emitEvents)
    case .extra:
      MachineStep(.offerSent, .stayed, .sendExtra)
    case .peerExtra:
      MachineStep(.offerSent, .stayed, .queueEvent, .emitEvents)
    case .statusConnected:
      MachineStep(.connected, .moved, .updateItem, .emitEvents)
    case .statusDisconnected:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .statusFailed:
      MachineStep(.failed, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .end:
      MachineStep(.ended, .moved, .forgetEvents, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded:
      MachineStep(.ended, .moved, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem)
    }
  }

  @inline(__always)
  private static func stepOfferReceived(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .reject, .offer:
      MachineStep(.offerReceived, .refused(.inSession))
    case .peerInvited, .peerLate, .accept, .peerOffered, .peerAnswered, .expire:
      MachineStep(.offerReceived, .ignored(.inSession))
    case .answer:
      MachineStep(.negotiated, .moved, .sendAnswer, .updateItem, .emitEvents)
    case .extra:
      MachineStep(.offerReceived, .stayed, .sendExtra)
    case .peerExtra:
      MachineStep(.offerReceived, .stayed, .queueEvent, .emitEvents)
    case .statusConnected:
      MachineStep(.connected, .moved, .updateItem, .emitEvents)
    case .statusDisconnected:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .statusFailed:
      MachineStep(.failed, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .end:
      MachineStep(.ended, .moved, .forgetEvents, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded:
      MachineStep(.ended, .moved, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem)
    }
  }

  @inline(__always)
  private static func stepNegotiated(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .reject, .offer, .answer:
      MachineStep(.negotiated, .refused(.inSession))
    case .peerInvited, .peerLate, .accept, .peerOffered, .peerAnswered, .expire:
      MachineStep(.negotiated, .ignored(.inSession))
    case .extra:
      MachineStep(.negotiated, .stayed, .sendExtra)
    case .peerExtra:
      MachineStep(.negotiated, .stayed, .queueEvent, .emitEvents)
    case .statusConnected:
      MachineStep(.connected, .moved, .updateItem, .emitEvents)
    case .statusDisconnected:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .statusFailed:
      MachineStep(.failed, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .end:
      MachineStep(.ended, .moved, .forgetEvents, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded:
      MachineStep(.ended, .moved, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem)
    }
  }

  @inline(__always)
  private static func stepConnected(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .reject, .offer, .answer:
      MachineStep(.connected, .refused(.inSession))
    case .peerInvited, .peerLate, .accept, .peerOffered, .peerAnswered, .expire:
      MachineStep(.connected, .ignored(.inSession))
    case .extra:
      MachineStep(.connected, .stayed, .sendExtra)
    case .peerExtra:
      MachineStep(.connected, .stayed, .queueEvent, .emitEvents)
    case .statusConnected:
      MachineStep(.connected, .ignored(.alreadyConnected))
    case .statusDisconnected:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .statusFailed:
      MachineStep(.failed, .moved, .forgetEvents, .updateItem, .emitEvents)
    case .end:
      MachineStep(.ended, .moved, .forgetEvents, .sendEnd, .updateItem, .emitEvents)
    case .peerEnded:
      MachineStep(.ended, .moved, .updateItem, .queueEnd, .emitEvents)
    case .replace:
      MachineStep(.ended, .moved, .forgetEvents, .updateItem)
    }
  }

  @inline(__always)
  private static func stepEnded(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .peerInvited, .peerLate, .accept, .reject, .offer, .peerOffered, .answer,
      .peerAnswered, .extra, .peerExtra, .statusConnected, .statusDisconnected, .statusFailed, .end,
      .peerEnded, .expire, .replace:
      MachineStep(.ended, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepMissed(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .peerInvited, .peerLate, .accept, .reject, .offer, .peerOffered, .answer,
      .peerAnswered, .extra, .peerExtra, .statusConnected, .statusDisconnected, .statusFailed, .end,
      .peerEnded, .expire, .replace:
      MachineStep(.missed, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepRejected(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .peerInvited, .peerLate, .accept, .reject, .offer, .peerOffered, .answer,
      .peerAnswered, .extra, .peerExtra, .statusConnected, .statusDisconnected, .statusFailed, .end,
      .peerEnded, .expire, .replace:
      MachineStep(.rejected, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepFailed(_ event: Event) -> MachineStep<Call> {
    switch event {
    case .invite, .peerInvited, .peerLate, .accept, .reject, .offer, .peerOffered, .answer,
      .peerAnswered, .extra, .peerExtra, .statusConnected, .statusDisconnected, .statusFailed, .end,
      .peerEnded, .expire, .replace:
      MachineStep(.failed, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == Call {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: Call.Event) -> MachineStep<Call> {
    let step = Call.step(state, event)
    state = step.next
    return step
  }
}

/// Writes the recorded effects of `Call`, one method for each, inside the transaction that takes the step.
package protocol CallRecord {
  /// The event's data, and the record being changed.
  associatedtype Argument
  associatedtype Failure: Error
  /// Add the call to the chat.
  func addItem(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Update the call's status in the chat.
  func updateItem(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Put the invitation into the outbox.
  func sendInvitation(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Remove the invitation from the outbox, if the relay does not have it yet.
  func withdrawInvitation(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Put the offer into the outbox.
  func sendOffer(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Put the answer into the outbox.
  func sendAnswer(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Put the addition into the outbox.
  func sendExtra(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Put the end into the outbox.
  func sendEnd(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Have the notification removed or suppressed. The call stays unread.
  func stopRinging(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Store the event about the contact's message until the host takes it.
  func queueEvent(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Drop the call's events that the host has not taken: the call is answered or over, and they would be mistaken for
  /// the next call's.
  func forgetEvents(_ argument: inout Argument, _ next: Call.State) throws(Failure)
  /// Store the event callEnded, replacing those that the host has not taken.
  func queueEnd(_ argument: inout Argument, _ next: Call.State) throws(Failure)
}

extension Call {
  /// Writes the step's recorded effects, in order.
  package static func record<Recorder: CallRecord>(
    _ step: MachineStep<Call>, by recorder: Recorder, _ argument: inout Recorder.Argument
  ) throws(Recorder.Failure) {
    for effect in step.effects {
      switch effect {
      case .addItem: try recorder.addItem(&argument, step.next)
      case .updateItem: try recorder.updateItem(&argument, step.next)
      case .sendInvitation: try recorder.sendInvitation(&argument, step.next)
      case .withdrawInvitation: try recorder.withdrawInvitation(&argument, step.next)
      case .sendOffer: try recorder.sendOffer(&argument, step.next)
      case .sendAnswer: try recorder.sendAnswer(&argument, step.next)
      case .sendExtra: try recorder.sendExtra(&argument, step.next)
      case .sendEnd: try recorder.sendEnd(&argument, step.next)
      case .stopRinging: try recorder.stopRinging(&argument, step.next)
      case .queueEvent: try recorder.queueEvent(&argument, step.next)
      case .forgetEvents: try recorder.forgetEvents(&argument, step.next)
      case .queueEnd: try recorder.queueEnd(&argument, step.next)
      case .emitEvents: break
      }
    }
  }
}

/// Carries out the effects of `Call`, one method for each.
package protocol CallEffects {
  /// The event's data.
  associatedtype Argument
  /// Emit the stored events and the item.
  func emitEvents(_ argument: Argument)
}

extension Call {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: CallEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .emitEvents: performer.emitEvents(argument)
    case .addItem, .updateItem, .sendInvitation, .withdrawInvitation, .sendOffer, .sendAnswer,
      .sendExtra, .sendEnd, .stopRinging, .queueEvent, .forgetEvents, .queueEnd:
      break
    }
  }
}
