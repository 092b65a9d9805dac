import PorterPlatform
import PorterRelay
import Synchronization

/// Bodies that this relay stored recently, kept in memory: nodes that were cut off from each other can undo what they
/// have acknowledged, and a body, unlike a record, is written once and never again (`spec/protocol/relay-cluster.md`,
/// What 2.9 does not keep).
final class AcceptedBodies: Sendable {
  struct Body: Sendable {
    let key: String
    let parts: ClusterKey.Parts
    let message: RelayIdentifier
    /// As stored.
    let bytes: [UInt8]
    let at: Moment
  }

  /// Longer than nodes disagree after a failure lasting seconds. In a longer one nothing is accepted.
  static let span = Span.seconds(120)
  static let mostBytes = 16 << 20
  /// Approximate overhead of each in addition to its bytes.
  private static let overhead = 384

  private struct State {
    var bodies: [Body] = []
    /// The first one kept: those before it are removed when they make up half of all.
    var start = 0
    var bytes = 0

    mutating func removeFirst() {
      bytes -= bodies[start].bytes.count + AcceptedBodies.overhead
      start += 1
      guard start * 2 > bodies.count else { return }
      bodies.removeFirst(start)
      start = 0
    }
  }

  private let state = Mutex(State())

  func note(_ body: Body) {
    state.withLock { state in
      state.bodies.append(body)
      state.bytes += body.bytes.count + Self.overhead
      while state.bytes > Self.mostBytes { state.removeFirst() }
      Self.forgetOld(&state, now: body.at)
    }
  }

  /// Oldest first.
  func all(now: Moment) -> [Body] {
    state.withLock { state in
      Self.forgetOld(&state, now: now)
      return Array(state.bodies[state.start...])
    }
  }

  /// As stored.
  func body(of message: [UInt8], _ key: String, now: Moment) -> [UInt8]? {
    state.withLock { state in
      Self.forgetOld(&state, now: now)
      return state.bodies[state.start...].last { $0.message.bytes == message && $0.key == key }?.bytes
    }
  }

  private static func forgetOld(_ state: inout State, now: Moment) {
    while state.start < state.bodies.count, now - state.bodies[state.start].at > span { state.removeFirst() }
  }
}

extension ClusteredRelay {
  /// For one exchange, which must end in time.
  private static let mostAsked = 8
  /// In milliseconds, between relays' clocks, which are kept synchronized.
  private static let clockDifference: Int64 = 10_000

  /// Among these messages, whose bodies the cluster has lost, the first whose body a relay still has. Asks for the
  /// first eight of those accepted recently.
  func firstKept(
    of lost: [MailboxRecord.Entry], _ key: String
  ) async throws(ExchangeFailure) -> (entry: MailboxRecord.Entry, bytes: [UInt8])? {
    let oldest = wall - AcceptedBodies.span.milliseconds - Self.clockDifference
    let asked = Array(lost.filter { $0.sentAt >= oldest }.prefix(Self.mostAsked))
    guard !asked.isEmpty else { return nil }
    let found = await withTaskGroup(of: (Int, [UInt8]?).self) { [store] group in
      for (index, entry) in asked.enumerated() {
        let own = accepted.body(of: entry.message.bytes, key, now: ports.clock.now())
        group.addTask {
          if let own { return (index, own) }
          return (index, await store.keptBody(key, entry.message.bytes))
        }
      }
      return await group.reduce(into: [Int: [UInt8]]()) { $0[$1.0] = $1.1 }
    }
    let kept = found.filter { index, bytes in bytes.starts(with: asked[index].message.bytes) }
    guard let first = kept.min(by: { $0.key < $1.key }) else { return nil }
    // Its body may be missing because the message has since been acknowledged.
    guard try await readSettled(key)?.record.entry(asked[first.key].message) != nil else { return nil }
    return (asked[first.key], first.value)
  }

  /// Checks whether the cluster still has the bodies of waiting messages that this relay accepted recently, and stores
  /// the missing ones. To be called some time after a failure of the cluster, when its nodes agree again. Returns how
  /// many were missing. Throws if the cluster does not answer: then some were not checked.
  public func restoreBodies() async throws(ClusterFailure) -> Int {
    var restored = 0
    let bodies = accepted.all(now: ports.clock.now())
    for (key, bodies) in Dictionary(grouping: bodies, by: \.key) {
      do throws(ExchangeFailure) { restored += try await restore(bodies, key) } catch {
        switch error {
        case .failed(let reason), .own(let reason): throw ClusterFailure(reason)
        // The mailbox no longer exists.
        case .refused, .limited, .full: break
        }
      }
    }
    return restored
  }

  private func restore(_ bodies: [AcceptedBodies.Body], _ key: String) async throws(ExchangeFailure) -> Int {
    let settled = try await bounded { () async throws(ExchangeFailure) in try await self.readSettled(key) }
    guard let (record, revision) = settled else { return 0 }
    var restored = 0
    for body in bodies where body.parts.generation == record.generation {
      guard let entry = record.entry(body.message) else { continue }
      let found = FoundMailbox(key: key, parts: body.parts, record: record, revision: revision, recency: .read)
      let isRestored = try await bounded { () async throws(ExchangeFailure) in
        try await self.restore(body, entry, in: found)
      }
      if isRestored { restored += 1 }
    }
    return restored
  }

  /// Returns false if it exists, or its message is no longer waiting.
  private func restore(
    _ body: AcceptedBodies.Body, _ entry: MailboxRecord.Entry, in mailbox: FoundMailbox
  ) async throws(ExchangeFailure) -> Bool {
    let (key, message) = (body.key, body.message)
    let stored = try await asking { [store] () async throws(ClusterFailure) in
      try await store.body(key, entry.body) { $0.starts(with: message.bytes) }
    }
    guard stored == nil else { return false }
    let number = try await asking { [store] () async throws(ClusterFailure) in
      try await store.addBody(key, body.bytes)
    }
    let isNamed = try await change(mailbox, .recipient) { (record, recency) throws(ExchangeFailure) in
      if record.entry(message)?.body == number { return .keep(true) }
      let index = record.waiting.firstIndex { $0.message == message && $0.body == entry.body }
      guard let index else { return recency == .settled ? .keep(false) : .settle }
      record.waiting[index].body = number
      return .replace(true)
    }
    if !isNamed { store.dropBodies(key, [StoredBody(number: number, message: message.bytes)]) }
    return isNamed
  }

  /// Runs `body` with the time of an exchange.
  private func bounded<Value: Sendable>(
    _ body: () async throws(ExchangeFailure) -> Value
  ) async throws(ExchangeFailure) -> Value {
    let result: Result<Value, ExchangeFailure> = await ExchangeDeadline.$current.withValue(
      .now + ExchangeDeadline.span
    ) {
      do throws(ExchangeFailure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
