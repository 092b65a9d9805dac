import Dispatch
import NIOCore
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
///
/// Each exchange is answered in time, whatever the file does: if its turn has not come by then, it is not carried out;
/// if the thread is waiting for the disk, it may be, as with a cluster (`ExchangeDeadline`). Its client repeats it.
public final class FileBackEnd: RelayBackEnd {
  private typealias Answer = @Sendable (RelayReply) -> Void

  private enum Job: Sendable {
    case exchange(RelayService.Exchange, Answer)
    case change(ListenerChanges.Change, of: String)
    case forget([String])
    /// Checks whether the file can be written again, and records what it owes.
    case look
  }

  private struct Waiting: Sendable {
    let job: Job
    let signatures: Int
    /// Nil for what must be done however late.
    let deadline: NIODeadline?

    func isOver(_ now: NIODeadline) -> Bool { deadline.map { $0 <= now } ?? false }
  }

  /// What the thread is carrying out.
  private struct Turn {
    let began: NIODeadline
    /// Its exchanges, with nil for each that has been answered.
    var answers: [(deadline: NIODeadline, answer: Answer)?] = []
    /// When this turn was first found to last too long: a frozen process finds out only once it runs again.
    var overdueSince: NIODeadline?

    /// The exchange is answered now, and by nothing else.
    mutating func take(_ index: Int) -> Answer? {
      defer { answers[index] = nil }
      return answers[index]?.answer
    }

    mutating func expire(_ now: NIODeadline) -> [Answer] {
      answers.indices.compactMap { index in
        guard let deadline = answers[index]?.deadline, deadline <= now else { return nil }
        return take(index)
      }
    }
  }

  private struct Queue {
    var jobs = TurnQueue<Waiting>()
    var overload: Overload
    var turn: Turn?
    /// Whether a check of the deadlines is scheduled.
    var isWatched = false
    /// Whether the turn's duration has been reported.
    var isStalled = false
    /// The time that a signature takes, with everything else in a turn.
    var signatureTime = FileBackEnd.signatureTimes.lowerBound * 10
    var isLooking = false
    /// The waiting jobs about listeners.
    var changesWaiting = 0
    var changeNumber: UInt64 = 0
    var owed = ListenerChanges()
    var isClosed = false
    var hasEnded = false
    var problem: String?
  }

  /// Clients get an answer within a second, of which this much is the file's.
  public static let answerTime = TimeAmount.milliseconds(900)
  /// A turn that lasts for this much longer is reported as a failure.
  private static let stallTime = TimeAmount.seconds(1)
  private static let signatureTimes = 20_000...20_000_000
  /// More jobs about listeners are owed, of which only the latest of each listener counts.
  private static let mostChangesWaiting = 4_096

  private let queue: ConditionQueue<Queue>
  private let answerTime: TimeAmount
  private let deadlines = DispatchQueue(label: "porter-relay.deadlines")
  private let metrics: Metrics
  private let log: LogWriter
  private let onNews: @Sendable ([String]) -> Void

  /// `onNews` receives the listeners with news, before the sender has its answer. `most` requests may wait; further
  /// ones are refused.
  public init(
    _ options: RelayService.Options, most: Int = RelayServerOptions().waitingRequests,
    answerTime: TimeAmount = FileBackEnd.answerTime, metrics: Metrics, log: LogWriter,
    admit: @escaping @Sendable ([UInt8]) -> Bool, onNews: @escaping @Sendable ([String]) -> Void
  ) throws(RelayServiceError) {
    self.answerTime = answerTime
    self.metrics = metrics
    self.log = log
    self.onNews = onNews
    queue = ConditionQueue(Queue(overload: Overload(most: most)))
    let service = try RelayService(options, admit: admit) { log.line($0, $1, $2) }
    let owned = Handover(service)
    StoreThread.start { [self] in run(owned.value) }
  }

  public var waiting: Int { queue.withLock { $0.jobs.count } }
  public var isOverloaded: Bool { queue.withLock { $0.overload.isOverloaded } }

  public var problem: String? {
    queue.withLock { queue in
      guard queue.isStalled, let turn = queue.turn else { return queue.problem }
      return "the file has not answered for \(Self.seconds(since: turn.began)) s"
    }
  }

  public func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
    let signatures = RequestPeek.signatures(exchange.request)
    let source = Source(bytes: exchange.source)
    let now = NIODeadline.now()
    let waiting = Waiting(job: .exchange(exchange, done), signatures: signatures, deadline: now + answerTime)
    let (isAccepted, startsWatch) = queue.signal { queue in
      guard !queue.isClosed, queue.overload.hasRoom(beside: queue.jobs.count) else { return (false, false) }
      // What came before it is late already.
      if let turn = queue.turn, now - turn.began >= answerTime { return (false, false) }
      guard !TurnQueue<Waiting>.isLong(signatures: signatures) || hasRoomForLong(of: source, queue) else {
        return (false, false)
      }
      queue.jobs.add(waiting, signatures: signatures, of: source, from: exchange.listener)
      queue.overload.note(queue.jobs.count)
      defer { queue.isWatched = true }
      return (true, !queue.isWatched)
    }
    if startsWatch { watch(in: answerTime) }
    if !isAccepted { done(.unavailable) }
  }

  /// Jobs that take long leave room for messages, and time for each other.
  private func hasRoomForLong(of source: Source, _ queue: Queue) -> Bool {
    // The rest of the time is for what comes between them.
    let signatures = Int(answerTime.nanoseconds / 3 * 2) / queue.signatureTime
    return queue.jobs.hasRoomForLong(of: source, most: max(1, queue.overload.most / 4))
      && queue.jobs.hasTimeForLong(of: source, most: signatures)
  }

  /// Reads reveal nothing about a full disk, and a relay that is not ready may get no writes.
  public func look() {
    queue.signal { queue in
      guard !queue.isClosed, !queue.isLooking, queue.problem != nil || !queue.owed.isEmpty else { return }
      queue.isLooking = true
      add(.look, about: nil, &queue)
    }
  }

  public func attach(_ listener: String) { change(listener, isAttached: true) }
  public func detach(_ listener: String) { change(listener, isAttached: false) }

  private func change(_ listener: String, isAttached: Bool) {
    queue.signal { queue in
      guard !queue.isClosed else { return }
      queue.changeNumber += 1
      let change = ListenerChanges.Change(isAttached: isAttached, number: queue.changeNumber)
      guard queue.owed.isEmpty, queue.changesWaiting < Self.mostChangesWaiting else {
        return queue.owed.note(change, of: listener)
      }
      queue.changesWaiting += 1
      add(.change(change, of: listener), about: listener, &queue)
    }
  }

  public func forget(_ listeners: [String]) {
    queue.signal { queue in
      for listener in listeners { queue.owed.forget(listener) }
      // The file forgets all listeners at the next start.
      guard !queue.isClosed, queue.changesWaiting < Self.mostChangesWaiting else { return }
      // Each behind its own jobs, which may wait with different sources'.
      let (behind, free) = listeners.reduce(into: ([String](), [String]())) { parts, listener in
        if queue.jobs.isBehindLong(listener) { parts.0.append(listener) } else { parts.1.append(listener) }
      }
      queue.changesWaiting += behind.count + (free.isEmpty ? 0 : 1)
      if !free.isEmpty { add(.forget(free), about: nil, &queue) }
      for listener in behind { add(.forget([listener]), about: listener, &queue) }
    }
  }

  private func add(_ job: Job, about listener: String?, _ queue: inout Queue) {
    queue.jobs.add(Waiting(job: job, signatures: 0, deadline: nil), signatures: 0, of: Source(nil), from: listener)
  }

  public func close() {
    queue.signal { $0.isClosed = true }
    queue.wait { $0.hasEnded ? true : nil }
  }

  // MARK: Deadlines

  /// Checks often enough: an answer is late by a fraction of its time.
  private func watch(in time: TimeAmount) {
    deadlines.asyncAfter(deadline: .now() + .nanoseconds(Int(time.nanoseconds))) { [weak self] in self?.expire() }
  }

  /// Answers what has waited for too long, and reports a thread that does nothing.
  private func expire() {
    let now = NIODeadline.now()
    let (late, stalled, continues) = queue.withLock { queue in
      var late = queue.jobs.remove { $0.isOver(now) }.compactMap(Self.answer)
      queue.overload.note(queue.jobs.count)
      late += queue.turn?.expire(now) ?? []
      let stalled = noteDuration(now, &queue)
      // As long as none waits, the next exchange starts the watch again.
      queue.isWatched = queue.turn != nil || queue.jobs.count > 0
      return (late, stalled, queue.isWatched)
    }
    for answer in late { answer(.unavailable) }
    if let stalled { log(.error, "the relay's file does not answer", ["seconds": String(stalled)]) }
    if continues { watch(in: .nanoseconds(answerTime.nanoseconds / 16)) }
  }

  /// Returns for how many seconds the file has not answered if that is to be reported.
  private func noteDuration(_ now: NIODeadline, _ queue: inout Queue) -> Int64? {
    guard let turn = queue.turn, now - turn.began >= answerTime else { return nil }
    guard let since = turn.overdueSince else {
      queue.turn?.overdueSince = now
      return nil
    }
    guard now - since >= Self.stallTime, !queue.isStalled else { return nil }
    queue.isStalled = true
    return Self.seconds(since: turn.began)
  }

  private static func answer(_ waiting: Waiting) -> Answer? {
    guard case .exchange(_, let answer) = waiting.job else { return nil }
    return answer
  }

  private static func seconds(since moment: NIODeadline) -> Int64 { (.now() - moment).nanoseconds / 1_000_000_000 }

  // MARK: The thread

  private func run(_ service: RelayService) {
    while let jobs = beginTurn() {
      carryOut(jobs, service)
      endTurn(jobs)
    }
    service.close()
    queue.signal { $0.hasEnded = true }
  }

  /// Nil at the end.
  private func beginTurn() -> [Waiting]? {
    let begun = queue.wait { queue -> (jobs: [Waiting], late: [Answer])?? in
      guard queue.jobs.count > 0 else { return queue.isClosed ? .some(nil) : nil }
      let now = NIODeadline.now()
      var (jobs, late, turn) = ([Waiting](), [Answer](), Turn(began: now))
      for waiting in queue.jobs.takeTurn() {
        guard !waiting.isOver(now) else {
          late += Self.answer(waiting).map { [$0] } ?? []
          continue
        }
        jobs.append(waiting)
        if let answer = Self.answer(waiting), let deadline = waiting.deadline {
          turn.answers.append((deadline, answer))
        }
      }
      queue.overload.note(queue.jobs.count)
      queue.turn = turn
      return .some((jobs, late))
    }
    guard let begun else { return nil }
    for answer in begun.late { answer(.unavailable) }
    return begun.jobs
  }

  private func endTurn(_ jobs: [Waiting]) {
    let signatures = jobs.reduce(0) { $0 + (TurnQueue<Waiting>.isLong(signatures: $1.signatures) ? $1.signatures : 0) }
    let stalled = queue.withLock { queue -> Int64? in
      defer { (queue.turn, queue.isStalled) = (nil, false) }
      guard let turn = queue.turn else { return nil }
      if signatures > 0 {
        let time = Int((NIODeadline.now() - turn.began).nanoseconds) / signatures
        let (least, most) = (Self.signatureTimes.lowerBound, Self.signatureTimes.upperBound)
        queue.signatureTime = (7 * queue.signatureTime + min(most, max(least, time))) / 8
      }
      return queue.isStalled ? Self.seconds(since: turn.began) : nil
    }
    guard let stalled else { return }
    // After the line that says that it does not.
    deadlines.async { [log] in log(.info, "the relay's file answers again", ["seconds": String(stalled)]) }
  }

  private func carryOut(_ jobs: [Waiting], _ service: RelayService) {
    var exchanges: [RelayService.Exchange] = []
    var deadlines: [NIODeadline] = []
    var (first, changes, isFailing) = (0, 0, false)
    for waiting in jobs {
      if case .exchange(let exchange, _) = waiting.job, let deadline = waiting.deadline {
        exchanges.append(exchange)
        deadlines.append(deadline)
        continue
      }
      // Later jobs of the same client must find the exchange carried out.
      finish(&exchanges, &deadlines, &first, service)
      switch waiting.job {
      case .change(let change, let listener):
        changes += 1
        record(change, of: listener, &isFailing, service)
      case .forget(let listeners):
        changes += 1
        tell(service.forget(listeners) ?? [])
      case .look: look(service)
      case .exchange: break
      }
    }
    finish(&exchanges, &deadlines, &first, service)
    if changes > 0 { queue.withLock { $0.changesWaiting -= changes } }
  }

  /// `first`: the place of these exchanges among the turn's.
  private func finish(
    _ exchanges: inout [RelayService.Exchange], _ deadlines: inout [NIODeadline], _ first: inout Int,
    _ service: RelayService
  ) {
    guard !exchanges.isEmpty else { return }
    metrics.observe("porter_relay_batch_exchanges", Double(exchanges.count))
    var hasFailed = false
    service.carryOut(exchanges, except: { deadlines[$0] <= .now() }) { part in
      tell(part.news)
      // Before the answers, so that a client that has received one finds the relay's health up to date.
      noteHealth(after: part, &hasFailed, service)
      let answers = queue.withLock { queue in part.outcomes.map { queue.turn?.take(first + $0.index) } }
      for ((_, outcome), answer) in zip(part.outcomes, answers) {
        switch outcome {
        case .answer(let bytes, let command, let result, let refuses):
          answer?(.answer(bytes, command: command, result: result, refuses: refuses))
        case .limited: answer?(.limited)
        case .failed: answer?(.unavailable)
        }
      }
    }
    first += exchanges.count
    exchanges.removeAll(keepingCapacity: true)
    deadlines.removeAll(keepingCapacity: true)
  }

  /// What the file does not take is owed. `isFailing`: it has failed in this turn, and is not waited for again.
  private func record(
    _ change: ListenerChanges.Change, of listener: String, _ isFailing: inout Bool, _ service: RelayService
  ) {
    if !isFailing, !queue.withLock({ $0.owed.contains(listener) }) {
      if change.isAttached {
        if service.attach(listener) { return }
      } else if let news = service.detach(listener) {
        return tell(news)
      }
      isFailing = true
    }
    queue.withLock { $0.owed.note(change, of: listener) }
  }

  private func look(_ service: RelayService) {
    if queue.withLock({ $0.problem }) != nil { note(service.writeFailure()) }
    var isFailing = queue.withLock { $0.problem } != nil
    let owed = isFailing ? [] : queue.withLock { $0.owed.take(atMost: TurnQueue<Waiting>.most) }
    for (listener, change) in owed { record(change, of: listener, &isFailing, service) }
    queue.withLock { queue in
      queue.isLooking = !isFailing && !queue.owed.isEmpty && !queue.isClosed
      if queue.isLooking { add(.look, about: nil, &queue) }
    }
  }

  /// `hasFailed`: whether an earlier part of the turn has failed.
  private func noteHealth(after part: RelayService.Part, _ hasFailed: inout Bool, _ service: RelayService) {
    var problem: String?
    var hasSent = false
    for (_, outcome) in part.outcomes {
      switch outcome {
      case .answer(_, let command, _, _): hasSent = hasSent || command == "send"
      case .limited: break
      case .failed(let reason, let isOwn): if !isOwn { problem = reason }
      }
    }
    // A turn reports one result.
    guard !hasFailed else { return }
    hasFailed = problem != nil
    if let problem {
      note(problem)
    } else if hasSent, queue.withLock({ $0.problem }) != nil {
      note(service.writeFailure())
    }
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
