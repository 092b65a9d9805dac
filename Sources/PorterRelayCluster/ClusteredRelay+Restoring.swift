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
  static let mostBytes = 64 << 20
  /// Approximate overhead of each in addition to its bytes.
  private static let overhead = 384

  private struct State {
    var bodies: [Body] = []
    /// The first one kept: those before it are removed when they make up half of all.
    var start = 0
    var bytes = 0
    /// Stored once more, and not announced yet.
    var restored: [Body] = []

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

  var restored: [Body] { state.withLock { $0.restored } }

  func noteRestored(_ body: Body) {
    state.withLock { state in
      state.restored.removeAll { $0.message == body.message }
      state.restored.append(body)
    }
  }

  func noteAnnounced(_ body: Body) { state.withLock { $0.restored.removeAll { $0.message == body.message } } }

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
  /// The cluster's, before a check ends: others would take as long.
  private static let mostFailures = 3
  /// In milliseconds, between relays' clocks, which are kept synchronized.
  private static let clockDifference: Int64 = 10_000

  /// Messages whose bodies the cluster has lost.
  enum Kept {
    /// The first that a relay still has.
    case found(MailboxRecord.Entry, [UInt8])
    /// One that waits was accepted recently: a relay that does not answer now may have it.
    case late
    case gone
  }

  /// Asks for the first eight of those accepted recently.
  func kept(of lost: [MailboxRecord.Entry], _ key: String) async throws(ExchangeFailure) -> Kept {
    let oldest = wall - AcceptedBodies.span.milliseconds - Self.clockDifference
    let recent = lost.filter { $0.sentAt >= oldest }
    guard !recent.isEmpty else { return .gone }
    let asked = Array(recent.prefix(Self.mostAsked))
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
    // A body may be missing because its message has since been acknowledged.
    guard let record = try await readSettled(key)?.record else { return .gone }
    for (index, entry) in asked.enumerated() where record.entry(entry.message) != nil {
      if let bytes = found[index], bytes.starts(with: entry.message.bytes) { return .found(entry, bytes) }
    }
    return recent.contains { record.entry($0.message) != nil } ? .late : .gone
  }

  /// Checks whether the cluster still has the bodies of waiting messages that this relay accepted recently, and stores
  /// the missing ones. To be called some time after a failure of the cluster, when its nodes agree again. Returns how
  /// many were missing, and whether all were checked.
  public func restoreBodies() async -> (restored: Int, isComplete: Bool) {
    var (restored, failures, isComplete) = (0, 0, true)
    let bodies = Dictionary(grouping: accepted.all(now: ports.clock.now()), by: \.key)
    // In another order each time, so that mailboxes behind those that fail are reached as well.
    for (key, bodies) in bodies.shuffled() where failures < Self.mostFailures {
      do throws(ExchangeFailure) { try await restore(bodies, key, &restored) } catch {
        switch error {
        case .failed: (failures, isComplete) = (failures + 1, false)
        case .own: isComplete = false
        // The mailbox no longer exists.
        case .refused, .limited, .full: break
        }
      }
    }
    let isAnnounced = await announceRestored()
    return (restored, isComplete && isAnnounced)
  }

  private func restore(
    _ bodies: [AcceptedBodies.Body], _ key: String, _ restored: inout Int
  ) async throws(ExchangeFailure) {
    let settled = try await bounded { () async throws(ExchangeFailure) in try await self.readSettled(key) }
    guard let (record, revision) = settled else { return }
    for body in bodies where body.parts.generation == record.generation {
      guard let entry = record.entry(body.message) else { continue }
      let found = FoundMailbox(key: key, parts: body.parts, record: record, revision: revision, recency: .read)
      let isRestored = try await bounded { () async throws(ExchangeFailure) in
        try await self.restore(body, entry, in: found)
      }
      if isRestored { restored += 1 }
    }
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
    // Also if the outcome is unknown.
    accepted.noteRestored(body)
    let isNamed = try await change(mailbox, .recipient) { (record, recency) throws(ExchangeFailure) in
      if record.entry(message)?.body == number { return .keep(true) }
      let index = record.waiting.firstIndex { $0.message == message && $0.body == entry.body }
      guard let index else { return recency == .settled ? .keep(false) : .settle }
      record.waiting[index].body = number
      return .replace(true)
    }
    if !isNamed { store.dropUnnamedBody(key, StoredBody(number: number, message: message.bytes)) }
    return isNamed
  }

  /// Clients may have asked while the bodies were missing, and the pushes of their messages had nothing to give. Returns
  /// false if some have not been announced; the next check does that.
  private func announceRestored() async -> Bool {
    for body in accepted.restored {
      do throws(ExchangeFailure) {
        try await bounded { () async throws(ExchangeFailure) in
          guard let record = try await self.readSettled(body.key)?.record, record.generation == body.parts.generation,
            let entry = record.entry(body.message)
          else { return }
          try await self.announce(
            body.message, in: body.parts, body.key, to: entry.hasNotification ? record.notifier?.service : nil,
            attempt: try self.randomIdentifier())
        }
      } catch {
        return false
      }
      accepted.noteAnnounced(body)
    }
    return true
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
