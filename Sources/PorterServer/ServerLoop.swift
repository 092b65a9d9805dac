import PorterPlatform
import PorterRelay

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A notification server as the loop sees it: one with its own state, or one that shares it.
protocol LoopedServer: AnyObject {
  var port: any RelayPort { get }
  var log: Log { get }
  var problems: [ServerProblem] { get }
  var nextProviderAttempt: Moment? { get }
  /// Does everything that pushes wait for. `settle` follows, after they have been handed over. `room`: how many pushes
  /// each provider takes in this turn.
  func takePushes(isWoken: Bool, room: [String: Int]) throws(ServerError)
  func settle() throws(ServerError)
  func nextDeadline() throws(ServerError) -> Moment
  /// Replaces both once the server is about to end.
  func drain()
  /// Called once, when the loop ends and before it drains: sends the relay any acknowledgements it still lacks.
  func leave()
  func nextPushes(for provider: String, count: Int, underWay: Set<Int64>) throws(ServerError) -> [PendingPush]
  func finish(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) throws(ServerError)
}

extension NotificationServer: LoopedServer {
  func drain() {}

  func takePushes(isWoken: Bool, room: [String: Int]) throws(ServerError) { try takePushes(isWoken: isWoken) }
}

/// Runs a notification server: waits for the relay, for deadlines, and for the outcomes of pushes.
///
/// The server belongs to the thread that calls `run`. Each provider has its own threads, so an unresponsive one delays
/// neither clients nor other providers. Outcomes that arrive while the loop is busy are stored together.
package final class ServerLoop {
  /// From one wait of the loop to the next: how long new events go unnoticed.
  package struct Turns: Sendable {
    package var count = 0
    package var longest = Span.zero
    /// The longest by processor time of the loop's thread: time spent working, not waiting.
    package var longestAtWork = Span.zero
  }

  private struct Delivery: Sendable {
    let pending: PendingPush
    let outcome: PushOutcome
  }

  /// For a server's embedded relay, which has all its clients' mailboxes.
  package static let relayCacheKibibytes = 16 << 10

  private let server: any LoopedServer
  private let workers: [String: any Worker]
  private let deliveries = Monitor<[Delivery]>([])
  /// Deliveries whose outcomes are not stored yet. Their pushes still count as under way, so that none is sent again.
  private var unstored: [Delivery] = []
  /// Raised when a delivery ends.
  private let delivered: WakeDescriptor
  private let stop: WakeDescriptor
  private let drains: @Sendable () -> Bool
  private let clock: any Clock
  private let processorTime: () -> Span
  private let turns = Monitor(Turns())
  private let status: ServerStatus
  /// Why pushes wait, until `pausedUntil`.
  private var stateFailure: ServerError?
  private static let pause = Span.seconds(1)
  private var pausedUntil: Moment

  /// Ends when `stop` is raised, which any thread or signal handler may do. `drains` then says whether to send the due
  /// pushes first, and is asked again if `stop` is raised while draining. `processorTime` is that of the calling
  /// thread, for `takeTurns`.
  package convenience init(
    server: NotificationServer, providers: [String: any PushProvider], senders: [String: any PushSender] = [:],
    status: ServerStatus = ServerStatus(), stop: WakeDescriptor, drains: @escaping @Sendable () -> Bool = { false },
    clock: any Clock = SystemClock(), processorTime: @escaping () -> Span = { .zero }
  ) throws(ServerError) {
    try self.init(
      any: server, providers: providers, senders: senders, status: status, stop: stop, drains: drains, clock: clock,
      processorTime: processorTime)
  }

  init(
    any server: any LoopedServer, providers: [String: any PushProvider], senders: [String: any PushSender],
    status: ServerStatus, stop: WakeDescriptor, drains: @escaping @Sendable () -> Bool,
    clock: any Clock = SystemClock(),
    processorTime: @escaping () -> Span = { .zero }
  ) throws(ServerError) {
    guard let delivered = WakeDescriptor() else { throw .noResources }
    self.server = server
    self.status = status
    self.stop = stop
    self.drains = drains
    self.clock = clock
    self.processorTime = processorTime
    self.delivered = delivered
    pausedUntil = clock.now()
    let deliveries = deliveries
    let then: Worker.Then = { pending, outcome in
      let isFirst = deliveries.withLock { deliveries in
        deliveries.append(Delivery(pending: pending, outcome: outcome))
        return deliveries.count == 1
      }
      // The loop takes all available deliveries when woken.
      if isFirst { delivered.raise() }
    }
    var workers: [String: any Worker] = senders.mapValues { SenderWorker($0, then: then) }
    for (name, provider) in providers {
      guard let worker = ProviderWorker(provider, then: then) else { throw .noResources }
      workers[name] = worker
    }
    self.workers = workers
  }

  deinit { for worker in workers.values { worker.close() } }

  /// Returns when `stop` is raised. Pushes in progress at that time are sent again after the next start.
  package func run() throws(ServerError) {
    try serveUntilStopped()
    if drains() { try finishPushes() }
  }

  private func serveUntilStopped() throws(ServerError) {
    defer { server.leave() }
    var isWoken = true
    var began = (clock.now(), processorTime())
    while true {
      try server.takePushes(isWoken: isWoken, room: room())
      try toleratingTransientErrors { () throws(ServerError) in try handOver() }
      try server.settle()
      let deadline = try nextDeadline()
      report()
      note(clock.now() - began.0, processorTime() - began.1)
      let end = wait(until: deadline)
      began = (clock.now(), processorTime())
      switch end {
      case .stop: return
      case .delivery: isWoken = false
      case .other: isWoken = true
      }
      if isWoken { server.port.drainWake() }
      try storeOutcomes()
    }
  }

  /// Takes nothing more from the relay, and sends the due pushes to the providers that can be reached, until that is
  /// done or a stop is ordered after all.
  private func finishPushes() throws(ServerError) {
    status.update(server.problems, isServing: false)
    server.log(.info, "draining")
    while true {
      // Before asking: an order that follows ends the wait.
      stop.lower()
      guard drains() else { return }
      server.drain()
      try storeOutcomes()
      try toleratingTransientErrors { () throws(ServerError) in try handOver() }
      // Each push ends within a bounded time. What cannot be stored, as on a full disk, is not waited for: it is sent
      // once more by the next process.
      guard workers.values.reduce(0, { $0 + $1.underWay.count }) > unstored.count else { return }
      var waiting = [stop.descriptor, delivered.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      _ = poll(&waiting, nfds_t(waiting.count), Int32(clamping: Self.pause.milliseconds))
    }
  }

  private func storeOutcomes() throws(ServerError) {
    delivered.lower()
    let ended = takeDeliveries()
    for delivery in ended { status.count(delivery.outcome, of: delivery.pending.provider) }
    unstored += ended
    guard !unstored.isEmpty else { return }
    try toleratingTransientErrors { () throws(ServerError) in
      try server.finish(unstored.map { ($0.pending, $0.outcome) })
      for delivery in unstored { workers[delivery.pending.provider]?.underWay.remove(delivery.pending.sequence) }
      unstored = []
    }
  }

  /// The turns since the last call, from any thread.
  package func takeTurns() -> Turns {
    turns.withLock { turns in
      defer { turns = Turns() }
      return turns
    }
  }

  private func report() {
    if clock.now() >= pausedUntil { stateFailure = nil }
    let state = stateFailure.map { ServerProblem($0) }
    status.update(server.problems + (state.map { [$0] } ?? []), isServing: true)
  }

  private func note(_ turn: Span, _ work: Span) {
    turns.withLock { turns in
      turns.count += 1
      turns.longest = max(turns.longest, turn)
      turns.longestAtWork = max(turns.longestAtWork, work)
    }
  }

  /// Runs `body`, and tolerates state file failures that may pass, such as a full disk: pushes are then paused for a
  /// short time.
  private func toleratingTransientErrors(_ body: () throws(ServerError) -> Void) throws(ServerError) {
    do throws(ServerError) { try body() } catch {
      guard error.isTemporary else { throw error }
      server.log(.warning, "pushes wait", ["reason": "\(error)"])
      pausedUntil = clock.now() + Self.pause
      stateFailure = error
    }
  }

  private func takeDeliveries() -> [Delivery] {
    deliveries.withLock { deliveries in
      defer { deliveries.removeAll() }
      return deliveries
    }
  }

  /// How many pushes each provider takes now: none unless it has little left to do.
  private func room() -> [String: Int] {
    guard clock.now() >= pausedUntil else { return [:] }
    return workers.mapValues { worker in
      let (most, underWay) = (worker.capacity, worker.underWay.count)
      return underWay <= most / 2 ? most - underWay : 0
    }
  }

  private func handOver() throws(ServerError) {
    for (name, count) in room().sorted(by: { $0.key < $1.key }) {
      guard count > 0, let worker = workers[name] else { continue }
      let next = try server.nextPushes(for: name, count: count, underWay: worker.underWay)
      worker.underWay.formUnion(next.map(\.sequence))
      worker.deliver(next)
    }
  }

  private func nextDeadline() throws(ServerError) -> Moment {
    let now = clock.now()
    var deadline = now + Self.pause
    try toleratingTransientErrors { () throws(ServerError) in deadline = try server.nextDeadline() }
    if let attempt = server.nextProviderAttempt { deadline = min(deadline, attempt) }
    return pausedUntil > now ? min(deadline, pausedUntil) : deadline
  }

  private enum End {
    case stop
    /// Pushes have ended, and the relay has raised no wake-up.
    case delivery
    /// The relay, or the deadline.
    case other
  }

  private func wait(until deadline: Moment) -> End {
    let wake = server.port.wakeDescriptor ?? -1
    var waiting = [stop.descriptor, delivered.descriptor, wake].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let left = deadline - clock.now()
    // Rounded up, so that it does not wake repeatedly just before the deadline.
    let milliseconds = Int32(clamping: max(0, left.milliseconds &+ 1))
    _ = poll(&waiting, nfds_t(waiting.count), left > .zero ? milliseconds : 0)
    if waiting[0].revents != 0 { return .stop }
    return waiting[1].revents != 0 && waiting[2].revents == 0 ? .delivery : .other
  }
}
