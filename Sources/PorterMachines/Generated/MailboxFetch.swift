// Generated from spec/machines/mailbox_fetch.scxml by porter-machines: change that file, run `make spec`.

/// Fetches one mailbox's messages one at a time: get, commit, acknowledge. The answer to an acknowledgement may carry
/// the next message, which stays at the relay until it is acknowledged itself. Each wait has a deadline (INC-39): of a
/// relay on a network the one here, which counts from when the request is handed to the transport, and again while
/// other requests make progress. A relay in a file bounds its requests itself, so the engine does not start this one
/// for it. A message that was not acknowledged is delivered again, and the ledger recognises it, so giving up is always
/// safe.
package enum MailboxFetch: Machine {
  package enum State: UInt8, MachineCode {
    /// No fetch is in progress.
    case idle
    /// The relay has been asked.
    case getting
    /// The message is being decrypted and committed.
    case received
    /// The relay has been asked to drop it.
    case acknowledging

    package var name: String {
      switch self {
      case .idle: "idle"
      case .getting: "getting"
      case .received: "received"
      case .acknowledging: "acknowledging"
      }
    }
  }

  package enum Event: UInt8, MachineCode {
    /// The next message is wanted.
    case get
    /// The relay gave a message.
    case message
    /// The mailbox is empty.
    case empty
    /// The relay did not answer, or refused.
    case failed
    /// The message is committed, or quarantined.
    case committed
    /// The message could not be committed.
    case abandoned
    /// The relay has dropped the message.
    case dropped
    /// The relay no longer had that message.
    case noMessage
    /// A wait took too long.
    case timeout

    package var name: String {
      switch self {
      case .get: "get"
      case .message: "message"
      case .empty: "empty"
      case .failed: "failed"
      case .committed: "committed"
      case .abandoned: "abandoned"
      case .dropped: "dropped"
      case .noMessage: "noMessage"
      case .timeout: "timeout"
      }
    }
  }

  package enum Effect: UInt8, MachineCode {
    /// Ask the relay for the first message. Answer: message, empty or failed.
    case sendGet
    /// Decrypt and commit the message. Answer: committed or abandoned.
    case deliverMessage
    /// Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped, noMessage or
    /// failed.
    case sendAcknowledge
    /// Report to the caller that nothing waits.
    case reportEmpty
    /// Report to the caller that the relay was not reached, or refused.
    case reportFailed
    /// Drop any answer that the relay still gives.
    case giveUpRequest
    /// Emit ntfMessage if a push named the message: it is committed, and need not be delivered again.
    case emitMarker
    /// Let the next caller ask.
    case releaseMailbox
    /// Starts the timer `deadline`: raise `timeout` after 10000 ms.
    case startDeadline
    /// Takes the timer `deadline` back; harmless if it does not run.
    case cancelDeadline

    package var name: String {
      switch self {
      case .sendGet: "sendGet"
      case .deliverMessage: "deliverMessage"
      case .sendAcknowledge: "sendAcknowledge"
      case .reportEmpty: "reportEmpty"
      case .reportFailed: "reportFailed"
      case .giveUpRequest: "giveUpRequest"
      case .emitMarker: "emitMarker"
      case .releaseMailbox: "releaseMailbox"
      case .startDeadline: "startDeadline"
      case .cancelDeadline: "cancelDeadline"
      }
    }
  }

  package enum Reason: UInt8, MachineCode {
    case late
    case busy

    package var name: String {
      switch self {
      case .late: "late"
      case .busy: "busy"
      }
    }
  }

  package static var name: String { "mailbox_fetch" }

  package static var initial: State { .idle }

  package static func isFinal(_ state: State) -> Bool {
    false
  }

  package static func timer(_ effect: Effect) -> MachineTimer<Event>? {
    switch effect {
    case .startDeadline: .start("deadline", milliseconds: 10000, raise: .timeout)
    case .cancelDeadline: .cancel("deadline")
    case .sendGet, .deliverMessage, .sendAcknowledge, .reportEmpty, .reportFailed, .giveUpRequest,
      .emitMarker, .releaseMailbox:
      nil
    }
  }

  package static func kind(_ effect: Effect) -> MachineEffectKind {
    switch effect {
    case .giveUpRequest, .releaseMailbox, .startDeadline, .cancelDeadline: .act
    case .sendGet, .deliverMessage, .sendAcknowledge: .ask
    case .reportEmpty, .reportFailed, .emitMarker: .tell
    }
  }

  @inline(__always)
  package static func step(_ state: State, _ event: Event) -> MachineStep<MailboxFetch> {
    switch state {
    case .idle: stepIdle(event)
    case .getting: stepGetting(event)
    case .received: stepReceived(event)
    case .acknowledging: stepAcknowledging(event)
    }
  }

  @inline(__always)
  private static func stepIdle(_ event: Event) -> MachineStep<MailboxFetch> {
    switch event {
    case .get:
      MachineStep(.getting, .moved, .sendGet, .startDeadline)
    case .message, .empty, .failed, .committed, .abandoned, .dropped, .noMessage, .timeout:
      MachineStep(.idle, .ignored(.late))
    }
  }

  @inline(__always)
  private static func stepGetting(_ event: Event) -> MachineStep<MailboxFetch> {
    switch event {
    case .get:
      MachineStep(.getting, .refused(.busy))
    case .message:
      MachineStep(.received, .moved, .cancelDeadline, .deliverMessage, .startDeadline)
    case .empty:
      MachineStep(.idle, .moved, .cancelDeadline, .reportEmpty, .releaseMailbox)
    case .failed:
      MachineStep(.idle, .moved, .cancelDeadline, .reportFailed, .releaseMailbox)
    case .committed, .abandoned, .dropped, .noMessage:
      MachineStep(.getting, .ignored(.late))
    case .timeout:
      MachineStep(.idle, .moved, .giveUpRequest, .reportFailed, .releaseMailbox)
    }
  }

  @inline(__always)
  private static func stepReceived(_ event: Event) -> MachineStep<MailboxFetch> {
    switch event {
    case .get:
      MachineStep(.received, .refused(.busy))
    case .message, .empty, .failed, .dropped, .noMessage:
      MachineStep(.received, .ignored(.late))
    case .committed:
      MachineStep(.acknowledging, .moved, .cancelDeadline, .sendAcknowledge, .startDeadline)
    case .abandoned:
      MachineStep(.idle, .moved, .cancelDeadline, .releaseMailbox)
    case .timeout:
      MachineStep(.idle, .moved, .reportFailed, .releaseMailbox)
    }
  }

  @inline(__always)
  private static func stepAcknowledging(_ event: Event) -> MachineStep<MailboxFetch> {
    switch event {
    case .get:
      MachineStep(.acknowledging, .refused(.busy))
    case .message:
      // Dropped; the answer carries the next message.
      MachineStep(.received, .moved, .cancelDeadline, .emitMarker, .deliverMessage, .startDeadline)
    case .empty:
      // Dropped; nothing else waits.
      MachineStep(.idle, .moved, .cancelDeadline, .emitMarker, .reportEmpty, .releaseMailbox)
    case .failed:
      // The message is committed. If the relay has dropped it, it is not delivered again, and this is the only moment
      // for its marker; otherwise the relay delivers it again, and the ledger recognises it.
      MachineStep(.idle, .moved, .cancelDeadline, .emitMarker, .releaseMailbox)
    case .committed, .abandoned:
      MachineStep(.acknowledging, .ignored(.late))
    case .dropped, .noMessage:
      // The relay does not report what waits.
      MachineStep(.idle, .moved, .cancelDeadline, .emitMarker, .releaseMailbox)
    case .timeout:
      MachineStep(.idle, .moved, .giveUpRequest, .emitMarker, .releaseMailbox)
    }
  }
}

extension MachineRunner where M == MailboxFetch {
  /// Takes the step. The caller carries out its effects, in order.
  package mutating func handle(_ event: MailboxFetch.Event) -> MachineStep<MailboxFetch> {
    let step = MailboxFetch.step(state, event)
    state = step.next
    return step
  }
}

/// Carries out the effects of `MailboxFetch`, one method for each.
package protocol MailboxFetchEffects {
  /// The event's data.
  associatedtype Argument
  /// Ask the relay for the first message. Answer: message, empty or failed.
  func sendGet(_ argument: Argument)
  /// Decrypt and commit the message. Answer: committed or abandoned.
  func deliverMessage(_ argument: Argument)
  /// Have the relay drop it, and report what waits after it if it can. Answer: message, empty, dropped, noMessage or
  /// failed.
  func sendAcknowledge(_ argument: Argument)
  /// Report to the caller that nothing waits.
  func reportEmpty(_ argument: Argument)
  /// Report to the caller that the relay was not reached, or refused.
  func reportFailed(_ argument: Argument)
  /// Drop any answer that the relay still gives.
  func giveUpRequest(_ argument: Argument)
  /// Emit ntfMessage if a push named the message: it is committed, and need not be delivered again.
  func emitMarker(_ argument: Argument)
  /// Let the next caller ask.
  func releaseMailbox(_ argument: Argument)
}

extension MailboxFetch {
  /// Calls the effect's method; recorded effects and timers have none here.
  package static func perform<Performer: MailboxFetchEffects>(
    _ effect: Effect, by performer: Performer, _ argument: Performer.Argument
  ) {
    switch effect {
    case .sendGet: performer.sendGet(argument)
    case .deliverMessage: performer.deliverMessage(argument)
    case .sendAcknowledge: performer.sendAcknowledge(argument)
    case .reportEmpty: performer.reportEmpty(argument)
    case .reportFailed: performer.reportFailed(argument)
    case .giveUpRequest: performer.giveUpRequest(argument)
    case .emitMarker: performer.emitMarker(argument)
    case .releaseMailbox: performer.releaseMailbox(argument)
    case .startDeadline, .cancelDeadline: break
    }
  }
}
