import Dispatch
import PorterRelay
import PorterRelayCluster
public import PorterRelayServer
public import PorterTelemetry
import Synchronization

public struct JetStreamOptions: Sendable {
  public var cluster: NATSOptions
  /// The first part of the names of streams and subjects.
  public var name = "porter"
  public var replicas = 3
  /// For the mailboxes of a new cluster.
  public var partitions = 1
  /// Whether missing streams are created.
  public var isMaking = true
  /// The first part of the names of a notification server's files for records that it knows, which no other process may
  /// use; nil: it reads them from the cluster each time.
  public var files: String?
  /// How long a notification server keeps removals: longer than a scan takes, or a message can be under way.
  var removalsKept = Duration.seconds(1_800)
  /// Concurrent exchanges of a relay; further ones are refused.
  public var exchanges = RelayServerOptions().waitingRequests

  public init(cluster: NATSOptions) { self.cluster = cluster }
}

/// Mailboxes in NATS JetStream. Any number of relays serve the same ones; none holds state that the others need.
public final class JetStreamBackEnd: RelayBackEnd {
  private struct Job: Sendable {
    let exchange: RelayService.Exchange
    let done: @Sendable (RelayReply) -> Void
  }

  private struct State {
    /// Includes those that wait in `long`.
    var underWay = 0
    var long = LongExchanges<Job>()
    var overload: Overload
    var isClosed = false
    var isConnectable = false
    var problem: String? = "the cluster was not reached yet"
    var failedAt: ContinuousClock.Instant?
    /// When an exchange's own trouble was last logged.
    var ownTroubleAt: ContinuousClock.Instant?
    var restores = RestoreSchedule()
  }

  private static let probeInterval = Duration.seconds(1)
  /// How long a failure stays reported after everything works again.
  private static let memory = Duration.milliseconds(1_500)
  /// Of log lines about exchanges that failed on their own.
  private static let ownTroubleInterval = Duration.seconds(60)
  private static let openingInterval = Duration.milliseconds(250)
  /// If the cluster accepts connections, it is opened before the relay announces its address, unless opening takes
  /// longer.
  private static let openingPatience = DispatchTimeInterval.seconds(10)

  /// Available once the cluster has been reached for the first time.
  private struct Cluster: Sendable {
    let connection: NATSConnection
    let store: JetStreamStore
    let relay: ClusteredRelay
    let subscriptions: [NATSConnection.Subscription]
  }

  private let options: JetStreamOptions
  private let admit: @Sendable ([UInt8]) -> Bool
  private let onNews: @Sendable ([String]) -> Void
  private let watch: StreamWatch
  private let cluster = Mutex<Cluster?>(nil)
  private let heartbeat = Heartbeat()
  private let log: LogWriter
  private let state: Mutex<State>
  private let tasks: Mutex<[Task<Void, Never>]> = Mutex([])
  private let idle = DispatchSemaphore(value: 0)

  /// Connects, and creates what is missing in the cluster, as soon as it is reachable. Until then exchanges are
  /// answered with `unavailable`, and `problem` gives the reason.
  public init(
    _ options: JetStreamOptions, log: LogWriter, admit: @escaping @Sendable ([UInt8]) -> Bool,
    onNews: @escaping @Sendable ([String]) -> Void
  ) {
    (self.options, self.log, self.admit, self.onNews) = (options, log, admit, onNews)
    state = Mutex(State(overload: Overload(most: options.exchanges)))
    watch = StreamWatch { log(.error, "the cluster has lost messages that it had acknowledged", ["stream": $0]) }
    let known = DispatchSemaphore(value: 0)
    let opening = Task { [weak self] in
      while let self, !Task.isCancelled {
        let isOpen = await open()
        if isOpen || !isConnectable { known.signal() }
        if isOpen { return }
        try? await Task.sleep(for: Self.openingInterval)
      }
    }
    tasks.withLock { $0.append(opening) }
    _ = known.wait(timeout: .now() + Self.openingPatience)
  }

  private var isConnectable: Bool { state.withLock { $0.isConnectable } }

  /// Whether nothing is left to do.
  private func open() async -> Bool {
    do throws(ClusterFailure) {
      state.withLock { $0.isConnectable = false }
      let connection = try NATSConnection(options.cluster, name: "porter-relay")
      state.withLock { $0.isConnectable = true }
      let made: Cluster
      do throws(ClusterFailure) { made = try await begin(connection) } catch {
        connection.close()
        throw error
      }
      let isWanted = state.withLock { state in
        guard !state.isClosed else { return false }
        cluster.withLock { $0 = made }
        state.problem = made.relay.clockProblem
        return true
      }
      guard isWanted else {
        end(made)
        return true
      }
      startTasks(made)
      log(
        .info, "mailboxes are in JetStream",
        ["partitions": String(made.store.settings.partitions), "relay": heartbeat.name])
      return true
    } catch {
      let isNew = state.withLock { state in
        defer { state.problem = error.description }
        return state.problem != error.description
      }
      if isNew { log(.warning, "the cluster cannot be used yet", ["reason": error.description]) }
      return false
    }
  }

  private func begin(_ connection: NATSConnection) async throws(ClusterFailure) -> Cluster {
    let store = try await JetStreamStore.open(
      connection, name: options.name, replicas: options.replicas, partitions: options.partitions, watch: watch)
    let relay = ClusteredRelay(store, secret: store.settings.secret, admit: admit, onNews: onNews) { [log] ended in
      let number = String(JetStreamStore.sequence(ofNotification: ended.number))
      log(
        .debug, "a notification comes to no service",
        ["number": number, "reason": ended.reason.rawValue, "revision": String(ended.revision)])
    }
    guard let relay else { throw ClusterFailure("no randomness") }
    relay.note(time: try await store.probe())
    let signals = try store.start(relay)
    let beats = try connection.subscribe(options.name + ".beat") { [heartbeat] message in
      if heartbeat.hear(message.data) { relay.missed() }
    }
    connection.setReconnectHandler { [log, heartbeat] in
      log(.warning, "connected to the cluster again")
      store.stream.noteReconnect()
      relay.missed()
      // Signals of this relay that were on their way may be lost: others see a gap.
      _ = heartbeat.next()
    }
    return Cluster(connection: connection, store: store, relay: relay, subscriptions: signals + [beats])
  }

  private func startTasks(_ cluster: Cluster) {
    let beat = Task { [heartbeat, options] in
      while !Task.isCancelled {
        cluster.connection.publish(options.name + ".beat", heartbeat.next())
        try? await Task.sleep(for: Heartbeat.interval)
      }
    }
    let probe = Task { [weak self] in
      var isFull = false
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.probeInterval)
        guard let self, !Task.isCancelled else { return }
        do throws(ClusterFailure) {
          // Before anything is written: a leader without room for it stops leading.
          if !isServing { try await cluster.store.makeRoom(isFull: isFull) }
          cluster.relay.note(time: try await cluster.store.probe())
          if isServing { try await cluster.store.deleteOutdatedWhereIdle() } else { try await cluster.store.trial() }
          note(cluster.relay.clockProblem)
          isFull = false
        } catch {
          note(error.description)
          isFull = error.lacksRoom
        }
      }
    }
    // Beside the probes: with many mailboxes a check takes longer than the time between two.
    let restoring = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.probeInterval)
        guard let self, !Task.isCancelled else { return }
        await restoreIfDue(cluster)
      }
    }
    let following = Task { [log] in await cluster.store.follow(log) }
    let isClosed = state.withLock { $0.isClosed }
    let all = [beat, probe, restoring, following]
    tasks.withLock { $0 += all }
    if isClosed { for task in all { task.cancel() } }
  }

  /// `settledNumbers` knows what else may precede a loss: an election, a lost connection, a request without an answer.
  private func restoreIfDue(_ cluster: Cluster) async {
    let trouble = cluster.store.stream.settledNumbers.lastTrouble
    let isDue = state.withLock { state in
      state.restores.note(trouble: trouble)
      return state.restores.takeDue(at: .now)
    }
    guard isDue else { return }
    let (restored, isComplete) = await cluster.relay.restoreBodies()
    if restored > 0 {
      log(.error, "the cluster had lost messages, which are there again", ["messages": String(restored)])
    }
    if !isComplete { state.withLock { $0.restores.noteUnfinished(at: .now) } }
  }

  // MARK: Exchanges

  public func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
    let job = Job(exchange: exchange, done: done)
    let signatures = RequestPeek.signatures(exchange.request)
    let isLong = LongExchanges<Job>.isLong(signatures: signatures)
    let source = Source(bytes: exchange.source)
    let cluster = cluster.withLock { $0 }
    let accepting = state.withLock { state -> ClusteredRelay? in
      guard !state.isClosed, state.overload.hasRoom(beside: state.underWay), let relay = cluster?.relay else {
        return nil
      }
      guard !isLong || state.long.hasRoom(for: source, of: state.overload.most) else { return nil }
      if isLong { state.long.add(job, signatures: signatures, of: source, deadline: .now + ExchangeDeadline.span) }
      state.underWay += 1
      state.overload.note(state.underWay)
      return relay
    }
    guard let relay = accepting else { return done(.unavailable) }
    if isLong {
      beginTurns(relay)
    } else {
      let begin = {
        _ = Task(executorPreference: InPlaceExecutor.shared) { [self] in await carryOut(job, relay) }
      }
      // Up to its first question on the caller's thread, which takes less than waking another. A node that is frozen
      // would hold that thread as soon as its buffers are full.
      if cluster?.connection.isHeard == true { InPlaceExecutor.run(begin) } else { begin() }
    }
  }

  private func beginTurns(_ relay: ClusteredRelay) {
    while let turn = state.withLock({ $0.long.begin(now: .now) }) {
      for job in turn.late {
        job.done(.unavailable)
        ended()
      }
      guard !turn.jobs.isEmpty else { continue }
      Task { [self] in
        await withDiscardingTaskGroup { group in
          for (job, deadline) in turn.jobs {
            group.addTask { [self] in
              await ExchangeDeadline.$current.withValue(deadline) { await carryOut(job, relay) }
            }
          }
        }
        state.withLock { $0.long.end() }
        beginTurns(relay)
      }
    }
  }

  private func carryOut(_ job: Job, _ relay: ClusteredRelay) async {
    switch await relay.exchange(job.exchange) {
    case .answer(let bytes, let command, let result, let refuses):
      job.done(.answer(bytes, command: command, result: result, refuses: refuses))
    case .limited: job.done(.limited)
    case .failed(let reason, let isOwn):
      if isOwn { noteOwn(reason) } else { note(reason) }
      job.done(.unavailable)
    }
    ended()
  }

  private func ended() {
    let isLast = state.withLock { state in
      state.underWay -= 1
      state.overload.note(state.underWay)
      return state.isClosed && state.underWay == 0
    }
    if isLast { idle.signal() }
  }

  private var relay: ClusteredRelay? { cluster.withLock { $0 }?.relay }

  public func attach(_ listener: String) { relay?.attach(listener) }
  public func detach(_ listener: String) { relay?.detach(listener) }
  public func forget(_ listeners: [String]) { relay?.forget(listeners) }
  public var waiting: Int { state.withLock { $0.underWay } }
  public var problem: String? { state.withLock { $0.problem } ?? watch.problem() }
  public var isServing: Bool { state.withLock { $0.problem == nil } }
  public var isOverloaded: Bool { state.withLock { $0.overload.isOverloaded } }

  /// A failure stays reported until a probe finds nothing wrong and nothing has failed for a while.
  private func note(_ problem: String?) {
    let now = ContinuousClock.now
    let (before, after) = state.withLock { state in
      let before = state.problem
      if let problem {
        (state.problem, state.failedAt) = (problem, now)
        state.restores.note(trouble: now)
      } else if state.failedAt.map({ now - $0 >= Self.memory }) ?? true {
        (state.problem, state.failedAt) = (nil, nil)
      }
      return (before, state.problem)
    }
    guard (before == nil) != (after == nil) else { return }
    if let after { log(.error, "the cluster failed", ["reason": after]) } else { log(.info, "the cluster works again") }
  }

  /// One mailbox or one request says nothing about the cluster: the probe alone decides, and clients cannot make the
  /// relay unready, nor fill the log.
  private func noteOwn(_ trouble: String) {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      guard state.ownTroubleAt.map({ now - $0 >= Self.ownTroubleInterval }) ?? true else { return false }
      state.ownTroubleAt = now
      return true
    }
    if isDue { log(.warning, "an exchange failed, which concerns only its mailbox or its time", ["reason": trouble]) }
  }

  public func close() {
    let isIdle = state.withLock { state in
      state.isClosed = true
      return state.underWay == 0
    }
    if !isIdle { idle.wait() }
    for task in tasks.withLock({ $0 }) { task.cancel() }
    if let cluster = cluster.withLock({ $0 }) { end(cluster) }
  }

  private func end(_ cluster: Cluster) {
    cluster.store.stop()
    cluster.connection.close()
  }
}
