// Generated from spec/machines/message_fetch.scxml by porter-machines: change that file, run `make spec`.

/// One message requested by a command: get, commit, acknowledge, and a look at what waits after it, which stays at the
/// relay. The command has one result on every path, named by the final state. Each wait has a deadline (INC-39), and
/// ends earlier when a push has waited for the same mailbox for a long time (INC-43). This includes the wait for the
/// mailbox itself, which other work of this process may hold. A message that was not acknowledged is delivered again,
/// and the ledger recognises it.
package enum MessageFetch: Machine {
  package enum State: UInt8, MachineCode {
    /// Nothing has been done yet.
    case idle
    /// The connection is being claimed.
    case claiming
    /// The relay has been asked.
    case getting
    /// The message is being decrypted and committed.
    case received
    /// The relay has been asked to drop it.
    case acknowledging
    /// The message is done, and the relay has been asked what waits after it.
    case looking
    /// Final. No message was taken in, for the reason given by the result.
    case untaken
    /// Final. Nothing waited.
    case nothing
    /// Final. The message is committed. It is not known whether another one waits.
    case taken
    /// Final. The message is committed, and nothing waits after it.
    case last
    /// Final. The message is committed, and another one waits after it.
    case followed

    package var name: String {
      switch self {
      case .idle: "idle"
      case .claiming: "claiming"
      case .getting: "getting"
      case .received: "received"
      case .acknowledging: "acknowledging"
      case .looking: "looking"
      case .untaken: "untaken"
      case .nothing: "nothing"
      case .taken: "taken"
      case .last: "last"
      case .followed: "followed"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// A command asks for a message.
    case want
    /// The connection is ours, under a new epoch.
    case claimGranted
    /// The connection is not ours: another running process has it, or the store cannot be read or written.
    case claimFailed
    /// The relay has a message.
    case message
    /// The mailbox is empty.
    case empty
    /// The relay did not answer, or refused.
    case failed
    /// The message is committed, or quarantined.
    case committed
    /// The message could not be committed.
    case abandoned
    /// The relay has dropped the message, and does not report whether the mailbox holds more.
    case dropped
    /// A wait took too long, or a push that waits for the mailbox asks by itself.
    case timeout

    package var name: String {
      switch self {
      case .want: "want"
      case .claimGranted: "claim.granted"
      case .claimFailed: "claim.failed"
      case .message: "message"
      case .empty: "empty"
      case .failed: "failed"
      case .committed: "committed"
      case .abandoned: "abandoned"
      case .dropped: "dropped"
      case .timeout: "timeout"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Claim the connection, after other work of this process. Answer: claim.granted or claim.failed.
    case claimMailbox
    /// Stop waiting for the connection.
    case withdrawClaim
    /// Ask the relay for the first message. Answer: message, empty or failed.
    case sendGet
    /// Decrypt and commit the message. Answer: committed or abandoned.
    case deliverMessage
    /// Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped or failed.
    case sendAcknowledge
    /// Drop any answer that the relay still gives.
    case giveUpRequest
    /// Emit ntfMessage if a push named the message: it is committed, and need not be delivered again.
    case emitMarker
    /// Let the next caller ask.
    case releaseMailbox
    /// Give the command the result named by the final state.
    case answer
    /// Starts the timer `deadline`: raise `timeout` after 10000 ms.
    case startDeadline
    /// Takes the timer `deadline` back; harmless if it does not run.
    case cancelDeadline

    package var name: String {
      switch self {
      case .claimMailbox: "claimMailbox"
      case .withdrawClaim: "withdrawClaim"
      case .sendGet: "sendGet"
      case .deliverMessage: "deliverMessage"
      case .sendAcknowledge: "sendAcknowledge"
      case .giveUpRequest: "giveUpRequest"
      case .emitMarker: "emitMarker"
      case .releaseMailbox: "releaseMailbox"
      case .answer: "answer"
      case .startDeadline: "startDeadline"
      case .cancelDeadline: "cancelDeadline"
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

  package static var name: String { "message_fetch" }

  package static var initial: State { .idle }

  package static func isFinal(_ state: State) -> Bool {
    switch state {
    case .untaken, .nothing, .taken, .last, .followed: true
    case .idle, .claiming, .getting, .received, .acknowledging, .looking: false
    }
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    switch effect {
    case .startDeadline: .start("deadline", milliseconds: 10000, raise: .timeout)
    case .cancelDeadline: .cancel("deadline")
    case .claimMailbox, .withdrawClaim, .sendGet, .deliverMessage, .sendAcknowledge, .giveUpRequest,
      .emitMarker, .releaseMailbox, .answer:
      nil
    }
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .withdrawClaim, .giveUpRequest, .releaseMailbox, .startDeadline, .cancelDeadline: .act
    case .claimMailbox, .sendGet, .deliverMessage, .sendAcknowledge: .ask
    case .emitMarker, .answer: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<MessageFetch> {
    switch state {
    case .idle: stepIdle(event)
    case .claiming: stepClaiming(event)
    case .getting: stepGetting(event)
    case .received: stepReceived(event)
    case .acknowledging: stepAcknowledging(event)
    case .looking: stepLooking(event)
    case .untaken: stepUntaken(event)
    case .nothing: stepNothing(event)
    case .taken: stepTaken(event)
    case .last: stepLast(event)
    case .followed: stepFollowed(event)
    }
  }

  @inline(__always)
  private static func stepIdle(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want:
      MachineStep(.claiming, .moved, .claimMailbox, .startDeadline)
    case .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned, .dropped,
      .timeout:
      MachineStep(.idle, .ignored(.early))
    }
  }

  @inline(__always)
  private static func stepClaiming(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .message, .empty, .failed, .committed, .abandoned, .dropped:
      MachineStep(.claiming, .ignored(.early))
    case .claimGranted:
      MachineStep(.getting, .moved, .cancelDeadline, .sendGet, .startDeadline)
    case .claimFailed:
      MachineStep(.untaken, .moved, .cancelDeadline, .answer)
    case .timeout:
      // Other work of this process still has it.
      MachineStep(.untaken, .moved, .cancelDeadline, .withdrawClaim, .answer)
    }
  }

  @inline(__always)
  private static func stepGetting(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .committed, .abandoned, .dropped:
      MachineStep(.getting, .ignored(.late))
    case .message:
      MachineStep(.received, .moved, .cancelDeadline, .deliverMessage)
    case .empty:
      MachineStep(.nothing, .moved, .cancelDeadline, .releaseMailbox, .answer)
    case .failed:
      MachineStep(.untaken, .moved, .cancelDeadline, .releaseMailbox, .answer)
    case .timeout:
      MachineStep(.untaken, .moved, .cancelDeadline, .giveUpRequest, .releaseMailbox, .answer)
    }
  }

  @inline(__always)
  private static func stepReceived(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .dropped, .timeout:
      MachineStep(.received, .ignored(.late))
    case .committed:
      MachineStep(.acknowledging, .moved, .sendAcknowledge, .startDeadline)
    case .abandoned:
      MachineStep(.untaken, .moved, .releaseMailbox, .answer)
    }
  }

  @inline(__always)
  private static func stepAcknowledging(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .committed, .abandoned:
      MachineStep(.acknowledging, .ignored(.late))
    case .message:
      // Dropped; another one waits, which the relay delivers again until it is acknowledged.
      MachineStep(.followed, .moved, .cancelDeadline, .emitMarker, .releaseMailbox, .answer)
    case .empty:
      // Dropped; nothing else waits.
      MachineStep(.last, .moved, .cancelDeadline, .emitMarker, .releaseMailbox, .answer)
    case .failed:
      // The message is committed. If the relay has dropped it, it is not delivered again, and this is the only moment
      // for its marker; otherwise the relay delivers it again, and the ledger recognises it.
      MachineStep(.taken, .moved, .cancelDeadline, .emitMarker, .releaseMailbox, .answer)
    case .dropped:
      // Dropped; the relay must be asked what waits.
      MachineStep(.looking, .moved, .cancelDeadline, .emitMarker, .sendGet, .startDeadline)
    case .timeout:
      MachineStep(.taken, .moved, .cancelDeadline, .giveUpRequest, .emitMarker, .releaseMailbox, .answer)
    }
  }

  @inline(__always)
  private static func stepLooking(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .committed, .abandoned, .dropped:
      MachineStep(.looking, .ignored(.late))
    case .message:
      MachineStep(.followed, .moved, .cancelDeadline, .releaseMailbox, .answer)
    case .empty:
      MachineStep(.last, .moved, .cancelDeadline, .releaseMailbox, .answer)
    case .failed:
      MachineStep(.taken, .moved, .cancelDeadline, .releaseMailbox, .answer)
    case .timeout:
      MachineStep(.taken, .moved, .cancelDeadline, .giveUpRequest, .releaseMailbox, .answer)
    }
  }

  @inline(__always)
  private static func stepUntaken(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned,
      .dropped, .timeout:
      MachineStep(.untaken, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepNothing(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned,
      .dropped, .timeout:
      MachineStep(.nothing, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepTaken(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned,
      .dropped, .timeout:
      MachineStep(.taken, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepLast(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned,
      .dropped, .timeout:
      MachineStep(.last, .ignored(.ended))
    }
  }

  @inline(__always)
  private static func stepFollowed(_ event: Event) -> MachineStep<MessageFetch> {
    switch event {
    case .want, .claimGranted, .claimFailed, .message, .empty, .failed, .committed, .abandoned,
      .dropped, .timeout:
      MachineStep(.followed, .ignored(.ended))
    }
  }
}

extension MachineRunner where M == MessageFetch {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: MessageFetch.Event) -> MachineStep<MessageFetch> {
    let step = MessageFetch.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `MessageFetch`, one method for each.
package protocol MessageFetchEffects {
  /// The event's data.
  associatedtype Argument
  /// Claim the connection, after other work of this process. Answer: claim.granted or claim.failed.
  func claimMailbox(_ argument: Argument)
  /// Stop waiting for the connection.
  func withdrawClaim(_ argument: Argument)
  /// Ask the relay for the first message. Answer: message, empty or failed.
  func sendGet(_ argument: Argument)
  /// Decrypt and commit the message. Answer: committed or abandoned.
  func deliverMessage(_ argument: Argument)
  /// Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped or failed.
  func sendAcknowledge(_ argument: Argument)
  /// Drop any answer that the relay still gives.
  func giveUpRequest(_ argument: Argument)
  /// Emit ntfMessage if a push named the message: it is committed, and need not be delivered again.
  func emitMarker(_ argument: Argument)
  /// Let the next caller ask.
  func releaseMailbox(_ argument: Argument)
  /// Give the command the result named by the final state.
  func answer(_ argument: Argument)
}

extension MessageFetch {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: MessageFetchEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .claimMailbox: performer.claimMailbox(argument)
    case .withdrawClaim: performer.withdrawClaim(argument)
    case .sendGet: performer.sendGet(argument)
    case .deliverMessage: performer.deliverMessage(argument)
    case .sendAcknowledge: performer.sendAcknowledge(argument)
    case .giveUpRequest: performer.giveUpRequest(argument)
    case .emitMarker: performer.emitMarker(argument)
    case .releaseMailbox: performer.releaseMailbox(argument)
    case .answer: performer.answer(argument)
    case .startDeadline, .cancelDeadline: break
    }
  }
}
