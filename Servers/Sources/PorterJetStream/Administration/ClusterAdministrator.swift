public import PorterRelay
public import PorterRelayCluster
public import PorterServer
import PorterTelemetry

/// An operator's actions on mailboxes and tokens in a cluster, whether or not relays and notification servers are using
/// them. Creates streams only when it restores.
///
/// Calls block, and retry while the cluster has no leader to answer: for `Patience.longest` in all.
public final class ClusterAdministrator: Sendable {
  /// The parts a cluster can have under one name.
  public struct Parts: Sendable, Equatable {
    public var mailboxes = false
    public var tokens = false
  }

  let options: JetStreamOptions
  let connection: NATSConnection
  let stream: JetStream
  private let store: JetStreamPushStore
  private let patience = Patience()
  var name: String { options.name }

  public init(_ options: JetStreamOptions) throws(ClusterFailure) {
    self.options = options
    var looking = options
    looking.isMaking = false
    store = JetStreamPushStore(looking, log: LogWriter(minimum: .error, form: .logfmt))
    connection = try NATSConnection(options.cluster, name: "porter-admin")
    stream = JetStream(connection: connection, watch: StreamWatch { _ in })
  }

  public func close() {
    store.close()
    connection.close()
  }

  /// An operator's actions on tokens.
  public var tokens: SharedAdministration { SharedAdministration(store) }

  /// Throws if there is neither.
  public func parts() throws(ClusterFailure) -> Parts {
    try blocking { [self] () async throws(ClusterFailure) in try await present() }
  }

  func present() async throws(ClusterFailure) -> Parts {
    let parts = Parts(
      mailboxes: try await mailboxes() != nil,
      tokens: try await patiently { () async throws(ClusterFailure) in
        try await stream.replicas(of: JetStreamPushStore.bucket(.settings, name)) != nil
      })
    guard parts != Parts() else { throw ClusterFailure("the cluster has neither mailboxes nor tokens of \(name)") }
    return parts
  }

  /// The used part of this mailbox's quota; nil if there is no such mailbox.
  public func usage(of identifier: String) throws(ClusterFailure) -> RelayAdministration.Usage? {
    try blocking { [self] () async throws(ClusterFailure) in
      guard let (_, administration) = try await mailboxes() else {
        throw ClusterFailure("the cluster has no mailboxes of \(name)")
      }
      return try await administration.usage(of: identifier)
    }
  }

  /// Problems with the contents of the cluster; empty if there are none.
  public func problems() throws -> [String] {
    let parts = try parts()
    let ofMailboxes =
      try parts.mailboxes ? blocking { [self] () async throws(ClusterFailure) in try await mailboxProblems() } : []
    return try ofMailboxes + (parts.tokens ? tokens.problems() : [])
  }

  private func mailboxProblems() async throws(ClusterFailure) -> [String] {
    guard let (store, administration) = try await mailboxes() else { return [] }
    var (damaged, missing) = (0, 0)
    for partition in 0..<store.settings.partitions {
      var cursor = RecordCursor(stream, "\(name)_mailboxes_\(partition)", "\(name).mailbox.\(partition).*")
      while let records = try await cursor.next() {
        let findings = try await eachAtOnce(records) { (record) async throws(ClusterFailure) in
          try await patiently { () async throws(ClusterFailure) in
            try await administration.finding(record.name, record.bytes)
          }
        }
        for finding in findings {
          switch finding {
          case .whole: break
          case .damaged: damaged += 1
          case .withoutBody(let count): missing += count
          }
        }
      }
    }
    return [("damaged mailboxes", damaged), ("messages without their bodies", missing)]
      .filter { $1 > 0 }.map { "\($0): \($1)" }
  }

  /// Nil if the cluster has none.
  func mailboxes() async throws(ClusterFailure) -> (JetStreamStore, ClusterAdministration)? {
    let store = try await patiently { () async throws(ClusterFailure) in
      try await JetStreamStore.existing(connection, name: name, watch: stream.watch)
    }
    guard let store else { return nil }
    guard let administration = ClusterAdministration(store, secret: store.settings.secret) else {
      throw ClusterFailure("the cluster's settings do not read")
    }
    return (store, administration)
  }

  func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () async throws(ClusterFailure) -> Value
  ) throws(ClusterFailure) -> Value {
    let patience = patience
    return try JetStreamPushStore.blocking { () async throws(ClusterFailure) in
      // `withValue` throws whatever its operation may throw.
      let result = await Patience.$current.withValue(patience) { () async -> Result<Value, ClusterFailure> in
        do throws(ClusterFailure) { return .success(try await body()) } catch { return .failure(error) }
      }
      return try result.get()
    }
  }
}
