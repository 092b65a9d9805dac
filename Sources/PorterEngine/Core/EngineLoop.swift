import PorterPlatform
import Synchronization

/// Work for an engine's next turn. Threads: any.
package final class EngineInbox: Sendable {
  package struct Mail {
    package var jobs: [Turns.Job] = []
    /// No more jobs will come.
    package var isClosed = false
  }

  package enum Delivery: Sendable {
    case refused
    /// The first since the inbox was emptied: the engine may need to be woken.
    case first
    case queued
  }

  private let mail = Mutex(Mail())

  package init() {}

  package func deliver(_ job: @escaping Turns.Job) -> Delivery {
    mail.withLock { mail in
      guard !mail.isClosed else { return .refused }
      mail.jobs.append(job)
      return mail.jobs.count == 1 ? .first : .queued
    }
  }

  package func close() { mail.withLock { $0.isClosed = true } }

  package var isEmpty: Bool { mail.withLock { $0.jobs.isEmpty && !$0.isClosed } }

  fileprivate func empty() -> Mail {
    mail.withLock { mail in
      defer { mail.jobs.removeAll(keepingCapacity: true) }
      return mail
    }
  }
}

/// An engine's turns, one after the other. It uses no thread and never waits: each turn says what the next one must
/// wait for.
package final class EngineLoop {
  /// Input from outside since the last turn, apart from the inbox.
  package struct News: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let channel = News(rawValue: 1)
    package static let relay = News(rawValue: 2)
  }

  /// The next turn is due as soon as one of these is readable, the inbox is not empty, or `due` is reached.
  package struct Wait: Sendable {
    package var channel: Int32?
    package var relay: Int32?
    /// Nil for no time limit.
    package var due: Moment?
  }

  package enum Next: Sendable {
    /// The next turn is due now.
    case turn
    case wait(Wait)
    /// The engine has released everything and takes no more turns.
    case ended
  }

  private let engine: Engine
  private let inbox: EngineInbox
  /// Whether this engine's state is on the status board.
  private var hasPublished = false

  package init(_ engine: Engine, inbox: EngineInbox) {
    self.engine = engine
    self.inbox = inbox
  }

  /// Handles the news and the queued jobs, fires the due timers, and runs one piece of deferred work.
  package func turn(hearing news: News) -> Next {
    engine.statusBoard.beginTurn()
    // Requests of other processes come first: they may ask for what the relay's news would begin.
    if news.contains(.channel) { engine.channelHasNews() }
    if news.contains(.relay) { engine.relayHasNews() }
    let mail = inbox.empty()
    for job in mail.jobs { job(engine) }
    if mail.isClosed, mail.jobs.isEmpty {
      engine.end()
      return .ended
    }
    let wasDue = engine.timers.runDue()
    let wasDeferred = engine.context.deferred.runNext()
    let hasEndedWork = engine.endTurn()
    if news.isEmpty, mail.jobs.isEmpty, !wasDue, !wasDeferred, !hasEndedWork, hasPublished {
      engine.statusBoard.endIdleTurn()
    } else {
      engine.statusBoard.endTurn(engine.snapshot)
      hasPublished = true
    }
    return mail.jobs.isEmpty ? .wait(wait) : .turn
  }

  private var wait: Wait {
    Wait(
      channel: engine.channelDescriptor, relay: engine.relayLink.wakeDescriptor,
      due: engine.context.deferred.isEmpty ? engine.timers.nextDue : engine.context.clock.now())
  }
}
