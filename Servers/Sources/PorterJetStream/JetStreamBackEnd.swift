import Dispatch
import PorterRelay
import PorterRelayCluster
public import PorterRelayServer
public import PorterTelemetry
import Synchronization

public struct JetStreamOptions: Sendable {
  public var cluster: NATSOptions
  /// First part of the names of streams and subjects.
  public var name = "porter"
  public var replicas = 3
  /// Of a new cluster's mailboxes.
  public var partitions = 1

  public init(cluster: NATSOptions) { self.cluster = cluster }
}

/// Mailboxes in NATS JetStream. Any number of relays serve the same ones; none has a state that the others need.
public final class JetStreamBackEnd: RelayBackEnd {
  private struct State {
    var underWay = 0
    var isClosed = false
    var problem: String?
    var failedAt: ContinuousClock.Instant?
  }

  /// Exchanges at the same time; a further one is refused.
  private static let most = 8_192
  private static let probeInterval = Duration.seconds(1)
  /// How long what failed is said after nothing fails any more.
  private static let memory = Duration.milliseconds(1_500)
  private static let patience = Duration.seconds(15)

  private let connection: NATSConnection
  private let store: JetStreamStore
  private let relay: ClusteredRelay
  private let heartbeat = Heartbeat()
  private let log: LogWriter
  private let state = Mutex(State())
  private let subscriptions: Mutex<[NATSConnection.Subscription]> = Mutex([])
  private let tasks: Mutex<[Task<Void, Never>]> = Mutex([])
  private let idle = DispatchSemaphore(value: 0)

  /// Connects, and makes what is missing in the cluster. Blocks.
  public init(
    _ options: JetStreamOptions, log: LogWriter, admit: @escaping @Sendable ([UInt8]) -> Bool,
    onNews: @escaping @Sendable ([String]) -> Void
  ) throws(JetStreamError) {
    self.log = log
    let opened = try Self.open(options)
    (connection, store) = (opened.connection, opened.store)
    guard let relay = ClusteredRelay(opened.store, secret: opened.store.settings.secret, admit: admit, onNews: onNews)
    else { throw JetStreamError("no randomness") }
    self.relay = relay
    do throws(ClusterFailure) {
      let signals = try store.start(relay)
      let beats = try connection.subscribe(options.name + ".beat") { [heartbeat] message in
        if heartbeat.hear(message.data) { relay.missed() }
      }
      subscriptions.withLock { $0 = signals + [beats] }
    } catch {
      throw JetStreamError(error.description)
    }
    connection.setReconnectHandler { [log] in
      log(.warning, "connected to the cluster again")
      relay.missed()
    }
    startTasks(options.name)
    log(
      .info, "mailboxes are in JetStream",
      ["partitions": String(store.settings.partitions), "relay": heartbeat.name])
  }

  /// A cluster that is about to start has no leader yet.
  private static func open(
    _ options: JetStreamOptions
  ) throws(JetStreamError) -> (connection: NATSConnection, store: JetStreamStore) {
    let result = Mutex<Result<(NATSConnection, JetStreamStore), ClusterFailure>?>(nil)
    let done = DispatchSemaphore(value: 0)
    let task = Task {
      let opened = await Result<(NATSConnection, JetStreamStore), ClusterFailure>.repeating(for: patience) {
        () async throws(ClusterFailure) in
        let connection = try NATSConnection(options.cluster, name: "porter-relay")
        do throws(ClusterFailure) {
          return (
            connection,
            try await JetStreamStore.open(
              connection, name: options.name, replicas: options.replicas, partitions: options.partitions)
          )
        } catch {
          connection.close()
          throw error
        }
      }
      result.withLock { $0 = opened }
      done.signal()
    }
    done.wait()
    _ = task
    switch result.withLock({ $0 }) {
    case .success(let opened): return opened
    case .failure(let failure): throw JetStreamError(failure.description)
    case nil: throw JetStreamError("not opened")
    }
  }

  private func startTasks(_ name: String) {
    let beat = Task { [connection, heartbeat] in
      while !Task.isCancelled {
        connection.publish(name + ".beat", heartbeat.next())
        try? await Task.sleep(for: Heartbeat.interval)
      }
    }
    let probe = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: Self.probeInterval)
        guard let self, !Task.isCancelled else { return }
        do throws(ClusterFailure) {
          try await store.probe()
          note(nil)
        } catch {
          note(error.description)
        }
      }
    }
    tasks.withLock { $0 = [beat, probe] }
  }

  // MARK: Exchanges

  public func exchange(_ exchange: RelayService.Exchange, done: @escaping @Sendable (RelayReply) -> Void) {
    let isAccepted = state.withLock { state in
      guard !state.isClosed, state.underWay < Self.most else { return false }
      state.underWay += 1
      return true
    }
    guard isAccepted else { return done(.unavailable) }
    Task { [self] in
      switch await relay.exchange(exchange) {
      case .answer(let bytes, let command, let result): done(.answer(bytes, command: command, result: result))
      case .limited: done(.limited)
      case .failed(let reason):
        note(reason)
        done(.unavailable)
      }
      ended()
    }
  }

  private func ended() {
    let isLast = state.withLock { state in
      state.underWay -= 1
      return state.isClosed && state.underWay == 0
    }
    if isLast { idle.signal() }
  }

  public func attach(_ listener: String) { relay.attach(listener) }
  public func detach(_ listener: String) { relay.detach(listener) }
  public func forget(_ listeners: [String]) { relay.forget(listeners) }
  public var waiting: Int { state.withLock { $0.underWay } }
  public var problem: String? { state.withLock { $0.problem } }

  /// What failed stays said until a probe finds nothing wrong, and nothing has failed for a while.
  private func note(_ problem: String?) {
    let now = ContinuousClock.now
    let (before, after) = state.withLock { state in
      let before = state.problem
      if let problem {
        (state.problem, state.failedAt) = (problem, now)
      } else if state.failedAt.map({ now - $0 >= Self.memory }) ?? true {
        (state.problem, state.failedAt) = (nil, nil)
      }
      return (before, state.problem)
    }
    guard (before == nil) != (after == nil) else { return }
    if let after { log(.error, "the cluster failed", ["reason": after]) } else { log(.info, "the cluster works again") }
  }

  public func close() {
    let isIdle = state.withLock { state in
      state.isClosed = true
      return state.underWay == 0
    }
    if !isIdle { idle.wait() }
    for task in tasks.withLock({ $0 }) { task.cancel() }
    subscriptions.withLock { $0 = [] }
    store.stop()
    connection.close()
  }
}

/// Why a cluster cannot be used.
public struct JetStreamError: Error, Equatable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = "JetStream: " + description }
}

extension Result where Success: Sendable, Failure == ClusterFailure {
  /// Tries again for as long as this while it fails.
  static func repeating(
    for span: Duration, _ body: () async throws(ClusterFailure) -> Success
  ) async -> Result {
    let end = ContinuousClock.now + span
    while true {
      do throws(ClusterFailure) { return .success(try await body()) } catch {
        if ContinuousClock.now >= end { return .failure(error) }
      }
      try? await Task.sleep(for: .milliseconds(200))
    }
  }
}
