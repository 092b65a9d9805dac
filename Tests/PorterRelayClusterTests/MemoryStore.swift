import Foundation
import PorterCrypto
import PorterPlatform
import PorterRelay
import Synchronization

@testable import PorterRelayCluster

/// A cluster in memory. One of its calls can fail, before or after taking effect, and its leader can lag.
final class MemoryStore: ClusterStore {
  enum Fault: CaseIterable {
    case before
    case after
  }

  private struct State {
    var records: [String: StoredRecord] = [:]
    var bodies: [UInt64: [UInt8]] = [:]
    var notifications: [String: [(number: UInt64, bytes: [UInt8], attempt: String)]] = [:]
    var next: UInt64 = 1
    var calls = 0
    var requests: [String] = []
    /// A lagging leader's answers, until it has been settled this many times.
    var lagging: (records: [String: StoredRecord], settles: Int)?
    var failing: (call: Int, fault: Fault)?
    var isOutOfReach = false
    var refusesNext = false
    var refusesAll = false
    var keepsBodies = false
    var isMute = false
    var areBodiesHidden = false
    var beforeSettling: (@Sendable () -> Void)?
    var room = Room.enough
    var unnamedBodies: [(key: String, body: StoredBody)] = []
  }

  enum Room {
    case enough
    case none
    /// On a node that no longer leads, and reports so before the leader acknowledges what it stores.
    case noneElsewhere
  }

  private let state = Mutex(State())
  let listener = Mutex<(any ClusterListener)?>(nil)
  let relays = Mutex<[any ClusterListener]>([])

  var bodyCount: Int { state.withLock { $0.bodies.count } }
  var calls: Int { state.withLock { $0.calls } }

  /// The call with this number, counted from now, fails.
  func fail(call: Int, _ fault: Fault) {
    state.withLock { state in (state.calls, state.failing) = (0, (call, fault)) }
  }

  /// Nodes undo what they have acknowledged.
  func undoBodies() { state.withLock { $0.bodies = [:] } }

  func takeBodies() -> [UInt64: [UInt8]] {
    state.withLock { state in
      defer { state.bodies = [:] }
      return state.bodies
    }
  }

  func putBack(_ bodies: [UInt64: [UInt8]]) { state.withLock { $0.bodies.merge(bodies) { _, old in old } } }

  /// Relays that do not answer each other.
  func setMute(_ isMute: Bool) { state.withLock { $0.isMute = isMute } }

  /// Whether a replica that may have it does not answer for a missing body.
  func hideBodies(_ areHidden: Bool) { state.withLock { $0.areBodiesHidden = areHidden } }

  /// Runs once, before the next `settle`.
  func beforeSettling(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.beforeSettling = body } }

  /// Deletions of bodies, which have no answer, have no effect.
  func keepBodies() { state.withLock { $0.keepsBodies = true } }

  /// The next replacement is carried out, but reported as refused.
  func refuseNext() { state.withLock { $0.refusesNext = true } }

  /// As if another relay were always faster.
  func refuseAll() { state.withLock { $0.refusesAll = true } }

  /// Records that do not read.
  func damageRecords(where isMeant: (String) -> Bool = { _ in true }) {
    state.withLock { state in for key in state.records.keys where isMeant(key) { state.records[key]?.bytes = [7] } }
  }

  /// Applies to the next replacement.
  func setRoom(_ room: Room) { state.withLock { $0.room = room } }

  /// What a cluster does some seconds later.
  func dropUnnamedBodies() {
    state.withLock { state in
      for (key, body) in state.unnamedBodies where state.records[key]?.bytes.contains(body.message) != true {
        state.bodies[body.number] = nil
      }
      state.unnamedBodies = []
    }
  }

  func setOutOfReach(_ isOutOfReach: Bool) { state.withLock { $0.isOutOfReach = isOutOfReach } }

  /// From now on records are read as these are, or as they are now, until they are settled; more than once if another
  /// leader takes over after the first.
  func lag(as records: [String: StoredRecord]? = nil, untilSettled settles: Int = 1) {
    state.withLock { $0.lagging = (records ?? $0.records, settles) }
  }

  /// The records as they are now.
  var records: [String: StoredRecord] { state.withLock { $0.records } }

  /// Like nodes that do not keep what they have acknowledged.
  func undo(to records: [String: StoredRecord]) { state.withLock { $0.records = records } }

  /// The requests made to the cluster during the call.
  func requests(_ body: () throws -> Void) rethrows -> [String] {
    state.withLock { $0.requests = [] }
    try body()
    return state.withLock { $0.requests }
  }

  private func call<Value>(
    _ name: String = #function, _ body: (inout State) -> sending Value
  ) throws(ClusterFailure) -> sending Value {
    let value = state.withLock { state -> Value? in
      state.calls += 1
      state.requests.append(String(name.prefix { $0 != "(" }))
      guard !state.isOutOfReach else { return nil }
      guard let failing = state.failing, failing.call == state.calls else { return body(&state) }
      if failing.fault == .after { _ = body(&state) }
      return nil
    }
    guard let value else { throw ClusterFailure("no answer") }
    return value
  }

  func settle(_ keys: [String]) async throws(ClusterFailure) {
    let before = state.withLock { state in
      defer { state.beforeSettling = nil }
      return state.beforeSettling
    }
    before?()
    try call { state in
      state.lagging?.settles -= 1
      if state.lagging?.settles == 0 { state.lagging = nil }
    }
  }

  func record(_ key: String) async throws(ClusterFailure) -> StoredRecord? {
    try call { ($0.lagging?.records ?? $0.records)[key] }
  }

  func replace(_ key: String, _ bytes: [UInt8], revision: UInt64) async throws(ClusterFailure) -> UInt64? {
    let (stored, hasRoom) = try call { state -> (UInt64?, Bool) in
      let room = state.room
      state.room = .enough
      guard room != .none, state.records[key]?.revision ?? 0 == revision else { return (nil, room != .none) }
      state.next += 1
      if state.refusesAll {
        state.records[key]?.revision = state.next
        return (nil, true)
      }
      state.records[key] = StoredRecord(bytes: bytes, revision: state.next)
      defer { state.refusesNext = false }
      return (state.refusesNext ? nil : state.next, room == .enough)
    }
    guard hasRoom else { throw ClusterFailure("no room", lacksRoom: true) }
    return stored
  }

  func remove(_ key: String, revision: UInt64) async throws(ClusterFailure) -> Bool {
    try call { state in
      guard state.records[key]?.revision == revision else { return false }
      state.records[key] = nil
      return true
    }
  }

  func addBody(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> UInt64 {
    try call { state in
      state.next += 1
      state.bodies[state.next] = bytes
      return state.next
    }
  }

  func body(
    _ key: String, _ number: UInt64, isRight: @Sendable ([UInt8]) -> Bool
  ) async throws(ClusterFailure) -> [UInt8]? {
    let (found, isHidden) = try call { ($0.bodies[number], $0.areBodiesHidden) }
    if let found, isRight(found) { return found }
    guard !isHidden else { throw ClusterFailure("a replica does not answer", isOwn: true) }
    return nil
  }

  func dropBodies(_ key: String, _ bodies: [StoredBody]) {
    state.withLock { state in
      for body in bodies where !state.keepsBodies && state.bodies[body.number]?.starts(with: body.message) == true {
        state.bodies[body.number] = nil
      }
    }
  }

  func dropUnnamedBody(_ key: String, _ body: StoredBody) {
    state.withLock { $0.unnamedBodies.append((key, body)) }
  }

  func keptBody(_ key: String, _ message: [UInt8]) async -> [UInt8]? {
    guard !state.withLock({ $0.isMute }) else { return nil }
    return relays.withLock { $0 }.lazy.compactMap { $0.keptBody(key, message) }.first
  }

  func addNotification(_ service: String, _ bytes: [UInt8], attempt: String) async throws(ClusterFailure) {
    try call { state in
      guard state.notifications[service]?.contains(where: { $0.attempt == attempt }) != true else { return }
      state.next += 1
      state.notifications[service, default: []].append((state.next, bytes, attempt))
    }
  }

  func takeNotifications(_ service: String, limit: Int) async throws(ClusterFailure) -> TakenNotifications {
    try call { state in
      TakenNotifications(
        items: (state.notifications[service] ?? []).prefix(limit).map {
          TakenNotifications.Item(number: $0.number, bytes: $0.bytes, handle: "")
        }, hasOthers: false)
    }
  }

  func acknowledgeNotifications(_ service: String, _ numbers: [UInt64]) async throws(ClusterFailure) {
    try call { state in
      state.notifications[service]?.removeAll { numbers.contains($0.number) }
    }
  }

  /// The services that have a queue.
  var services: [String] { state.withLock { Array($0.notifications.keys) } }
  func items(of service: String) -> [[UInt8]] { state.withLock { ($0.notifications[service] ?? []).map(\.bytes) } }

  /// Replaces what is in a queue.
  func setItems(of service: String, _ items: [[UInt8]]) {
    state.withLock { state in
      state.notifications[service] = items.map { bytes in
        state.next += 1
        return (state.next, bytes, "\(state.next)")
      }
    }
  }

  func postponeNotification(_ service: String, _ taken: TakenNotifications.Item, milliseconds: Int64) {}

  func signal(_ signal: ClusterSignal) { listener.withLock { $0 }?.received(signal) }
  func hold(_ key: String) async -> Int64 { listener.withLock { $0 }?.hold(key) ?? 0 }
  func answersHold(_ key: String, _ answers: Bool) {}
}

/// The relay, as a client's transport sees it.
final class ClusterPort: RelayPort {
  let relay: ClusteredRelay
  private let listener: String?

  init(_ relay: ClusteredRelay, listener: String? = nil) { (self.relay, self.listener) = (relay, listener) }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    guard case .answer(let bytes, _, _, _)? = outcome(of: request) else { throw .unavailable }
    return bytes
  }

  func outcome(of request: [UInt8]) -> RelayService.Outcome? {
    let outcome = Mutex<RelayService.Outcome?>(nil)
    let done = DispatchSemaphore(value: 0)
    let (relay, listener) = (relay, listener)
    Task {
      let result = await relay.exchange(request, listener: listener)
      outcome.withLock { $0 = result }
      done.signal()
    }
    done.wait()
    return outcome.withLock { $0 }
  }

  var isLocal: Bool { false }
  var wakeDescriptor: Int32? { nil }
  func drainWake() {}
  func close() {}
}
