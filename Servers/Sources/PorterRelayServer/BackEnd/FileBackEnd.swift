public import PorterRelay
public import PorterTelemetry
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A relay's file, served by one thread. Requests that arrive while a commit is being written to disk share the next
/// one. The work of a turn is bounded by counts, so that no request waits until everything has been verified for all
/// the others.
public final class FileBackEnd: RelayBackEnd {
  private enum Job: Sendable {
    case exchange(RelayService.Exchange, @Sendable (RelayReply) -> Void)
    case attach(String)
    case detach(String)
    case forget([String])
    /// Checks whether the file can be written again.
    case trial
  }

  private struct Queue {
    var jobs = TurnQueue<Job>()
    var overload: Overload
    var isClosed = false
    var hasEnded = false
    var problem: String?
  }

  private let queue: ConditionQueue<Queue>
  private let metrics: Metrics
  private let log: LogWriter
  private let onNews: @Sendable ([String]) -> Void

  /// `onNews` receives the listeners with news, before the sender has its answer. `most` requests may wait; further
  /// ones are refused.
  public init(
    _ options: RelayService.Options, most: Int = RelayServerOptions().waitingRequests, metrics: Metrics, log: LogWriter,
    admit: @escaping @Sendable ([UInt8]) -> Bool, onNews: @escaping @Sendable ([String]) -> Void
  ) throws(RelayServiceError) {
    self.metrics = metrics
    self.log = log
    self.onNews = onNews
    queue = ConditionQueue(Queue(overload: Overload(most: most)))
    let service = try RelayService(options, admit: admit) { log.line($0, $1, $2) }
    let owned = Handover(service)
    StoreThread.start { [self] in run(owned.value) }
  }

  public var waiting: Int { queue.withLock { $0.jobs.count } }
  public var problem: String? { queue.withLock { $0.problem } }
  public var isOverloaded: Bool { queue.withLock { $0.overload.isOverloaded } }

  public func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
    let signatures = RequestPeek.signatures(exchange.request)
    let source = Source(bytes: exchange.source)
    let isAccepted = queue.signal { queue in
      guard !queue.isClosed, queue.overload.hasRoom(beside: queue.jobs.count) else { return false }
      // Jobs that take long leave room for messages.
      guard
        !TurnQueue<Job>.isLong(signatures: signatures)
          || queue.jobs.hasRoomForLong(of: source, most: max(1, queue.overload.most / 4))
      else { return false }
      queue.jobs.add(.exchange(exchange, done), signatures: signatures, of: source, from: exchange.listener)
      queue.overload.note(queue.jobs.count)
      return true
    }
    if !isAccepted { done(.unavailable) }
  }

  /// Reads reveal nothing about a full disk, and a relay that is not ready may get no writes.
  public func look() { if problem != nil { add(.trial, about: nil) } }

  public func attach(_ listener: String) { add(.attach(listener), about: listener) }
  public func detach(_ listener: String) { add(.detach(listener), about: listener) }

  public func forget(_ listeners: [String]) {
    queue.signal { queue in
      guard !queue.isClosed else { return }
      // Each behind its own jobs, which may wait with different sources'.
      let (behind, free) = listeners.reduce(into: ([String](), [String]())) { parts, listener in
        if queue.jobs.isBehindLong(listener) { parts.0.append(listener) } else { parts.1.append(listener) }
      }
      if !free.isEmpty { queue.jobs.add(.forget(free), signatures: 0, of: Source(nil), from: nil) }
      for listener in behind { queue.jobs.add(.forget([listener]), signatures: 0, of: Source(nil), from: listener) }
    }
  }

  private func add(_ job: Job, about listener: String?) {
    queue.signal { queue in
      if !queue.isClosed { queue.jobs.add(job, signatures: 0, of: Source(nil), from: listener) }
    }
  }

  public func close() {
    queue.signal { $0.isClosed = true }
    queue.wait { $0.hasEnded ? true : nil }
  }

  // MARK: The thread

  private func run(_ service: RelayService) {
    while let jobs = nextJobs() { carryOut(jobs, service) }
    service.close()
    queue.signal { $0.hasEnded = true }
  }

  /// Nil at the end.
  private func nextJobs() -> [Job]? {
    queue.wait { queue -> [Job]?? in
      guard queue.jobs.count > 0 else { return queue.isClosed ? .some(nil) : nil }
      defer { queue.overload.note(queue.jobs.count) }
      return .some(queue.jobs.takeTurn())
    }
  }

  private func carryOut(_ jobs: [Job], _ service: RelayService) {
    var exchanges: [RelayService.Exchange] = []
    var ends: [@Sendable (RelayReply) -> Void] = []
    for job in jobs {
      if case .exchange(let exchange, let done) = job {
        exchanges.append(exchange)
        ends.append(done)
        continue
      }
      // Later jobs of the same client must find the exchange carried out.
      finish(&exchanges, &ends, service)
      switch job {
      case .attach(let listener): service.attach(listener)
      case .detach(let listener): tell(service.detach(listener))
      case .forget(let listeners): tell(service.forget(listeners))
      case .trial: note(service.writeFailure())
      case .exchange: break
      }
    }
    finish(&exchanges, &ends, service)
  }

  private func finish(
    _ exchanges: inout [RelayService.Exchange], _ ends: inout [@Sendable (RelayReply) -> Void], _ service: RelayService
  ) {
    guard !exchanges.isEmpty else { return }
    metrics.observe("porter_relay_batch_exchanges", Double(exchanges.count))
    var hasFailed = false
    service.carryOut(exchanges) { part in
      tell(part.news)
      // Before the answers, so that a client that has received one finds the relay's health up to date.
      noteHealth(after: part, &hasFailed, service)
      for (index, outcome) in part.outcomes {
        switch outcome {
        case .answer(let bytes, let command, let result): ends[index](.answer(bytes, command: command, result: result))
        case .limited: ends[index](.limited)
        case .failed: ends[index](.unavailable)
        }
      }
    }
    exchanges.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  /// `hasFailed`: whether an earlier part of the turn has failed.
  private func noteHealth(after part: RelayService.Part, _ hasFailed: inout Bool, _ service: RelayService) {
    var problem: String?
    var hasSent = false
    for (_, outcome) in part.outcomes {
      switch outcome {
      case .answer(_, let command, _): hasSent = hasSent || command == "send"
      case .limited: break
      case .failed(let reason, _): problem = reason
      }
    }
    // A turn reports one result.
    guard !hasFailed else { return }
    hasFailed = problem != nil
    if let problem { note(problem) } else if hasSent, self.problem != nil { note(service.writeFailure()) }
  }

  private func tell(_ news: [String]) {
    if !news.isEmpty { onNews(news) }
  }

  private func note(_ problem: String?) {
    let before = queue.withLock { queue in
      defer { queue.problem = problem }
      return queue.problem
    }
    guard before != problem else { return }
    if let problem {
      log(.error, "the relay's file failed", ["reason": problem])
    } else {
      log(.info, "the relay's file works again")
    }
  }
}

/// Hands a value used by one thread at a time over to another thread, once.
private struct Handover<Value>: @unchecked Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }
}
