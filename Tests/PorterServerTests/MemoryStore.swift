import PorterPlatform
import Synchronization

@testable import PorterServer

/// An in-process substitute for the cluster that servers sharing their state use. Calls can be made to fail, before or
/// after they were carried out.
final class MemoryStore: SharedStore {
  enum Failure: CaseIterable { case requestLost, answerLost }

  private struct Item {
    let queue: String
    let bytes: [UInt8]
    let addedAt: Int64
    var availableAt: Moment
    var times = 0
    var isTaken = false
  }

  private struct State {
    var records: [SharedKey: SharedRecord] = [:]
    var times: [SharedKey: Int64] = [:]
    var revision: UInt64 = 0
    /// The nodes' clock, as it was when the moments began.
    var clock: Int64 = 0
    /// How far the clock of the node that stores items is ahead of it.
    var itemClock: Int64 = 0
    var items: [Int: Item] = [:]
    /// When they were last added.
    var identifiers: [String: Moment] = [:]
    var next = 0
    var calls = 0
    var failing = Int.max
    var failure = Failure.requestLost
    /// Queues whose items cannot be taken.
    var stalled: Set<String> = []
    /// Whether the next call that adds items fails.
    var isAddFailing = false
    var isServed = false
    /// The answers of a node that no longer leads.
    var lagging: [SharedKey: SharedRecord] = [:]
    /// Called before a replacement in this bucket, so that another server can get in first.
    var interlude: (bucket: SharedKey.Bucket, body: @Sendable () -> Void)?
    var reads: [SharedKey] = []
    var lastTrouble: ContinuousClock.Instant?
  }

  static let lease = Span.seconds(6)
  /// How long identifiers are known.
  private static let memory = Span.seconds(60)
  /// The content of each store before the first server starts.
  nonisolated(unsafe) static var atFirst: [SharedKey: [UInt8]] = [:]
  private let clock: any Clock
  private let state = Mutex(State())

  init(_ clock: any Clock) {
    self.clock = clock
    let (wall, now) = (clock.wall().milliseconds, clock.now())
    let records = Self.atFirst.mapValues { SharedRecord(bytes: $0, revision: 1) }
    state.withLock {
      $0.clock = wall - (now - Moment(nanoseconds: 0)).milliseconds
      ($0.records, $0.revision) = (records, 1)
    }
  }

  /// The record for this notifier.
  func watchers(of notifier: [UInt8]) throws -> SharedKey {
    let index = try records([WatcherIndex.key])[0]
    return try WatcherIndex(decoding: index?.bytes ?? []).key(of: notifier)
  }

  func fail(call number: Int, _ failure: Failure) {
    state.withLock { ($0.calls, $0.failing, $0.failure) = (0, number, failure) }
  }

  var lastTrouble: ContinuousClock.Instant? { state.withLock { $0.lastTrouble } }
  /// Another node was elected.
  func noteTrouble() { state.withLock { $0.lastTrouble = .now } }

  func lag(as record: SharedRecord, of key: SharedKey) { state.withLock { $0.lagging[key] = record } }
  func endLag() { state.withLock { $0.lagging = [:] } }

  /// The next call that adds items fails before it is carried out.
  func failNextAdd() { state.withLock { $0.isAddFailing = true } }
  var isAddFailing: Bool { state.withLock { $0.isAddFailing } }

  /// As long as it is stalled, nothing can be taken from the queue.
  func stall(_ queue: String, _ isStalled: Bool) {
    state.withLock { state in
      if isStalled { state.stalled.insert(queue) } else { state.stalled.remove(queue) }
    }
  }

  /// Like another consumer: gives all items anew.
  func replaceConsumers() {
    let now = clock.now()
    state.withLock { state in
      for (number, _) in state.items {
        state.items[number]?.times = 0
        state.items[number]?.isTaken = false
        state.items[number]?.availableAt = now
      }
    }
  }

  /// Whether the call that was to fail has been made.
  var hasFailed: Bool { state.withLock { $0.calls >= $0.failing } }

  /// Runs once, before the next replacement of a token or of another record.
  func beforeReplacement(of bucket: SharedKey.Bucket = .tokens, _ body: @escaping @Sendable () -> Void) {
    state.withLock { $0.interlude = (bucket, body) }
  }

  /// The number of records of the bucket that are read during the call.
  func reads(of bucket: SharedKey.Bucket, _ body: () throws -> Void) rethrows -> Int {
    state.withLock { $0.reads = [] }
    try body()
    return state.withLock { state in state.reads.count { $0.bucket == bucket } }
  }

  func count(_ bucket: SharedKey.Bucket) -> Int {
    state.withLock { state in state.records.keys.count { $0.bucket == bucket } }
  }

  /// As if the servers that had taken items had ended long ago.
  func endLeases() {
    let now = clock.now()
    state.withLock { state in
      for (number, item) in state.items where item.isTaken { state.items[number]?.availableAt = now }
    }
  }

  /// Like a cluster that forgets them, a minute after they were added.
  func lose(_ queue: String) {
    state.withLock { state in
      state.items = state.items.filter { $0.value.queue != queue }
      state.identifiers = [:]
    }
  }

  func loseWakes() { for queue in WakeQueue.all { lose(queue.name) } }

  /// Items for wake-ups that have not been ended.
  var waitingWakes: Int { WakeQueue.all.map { waiting($0.name) }.reduce(0, +) }
  /// Items that were postponed and are not available yet.
  func postponed(_ queue: String) -> Int {
    let now = clock.now()
    return state.withLock { state in
      state.items.values.count { $0.queue == queue && $0.times > 0 && !$0.isTaken && $0.availableAt > now }
    }
  }

  /// Items of the queue that have not been ended.
  func waiting(_ queue: String) -> Int { state.withLock { state in state.items.values.count { $0.queue == queue } } }

  private func call<Value: Sendable>(
    _ body: (inout State) -> Value
  ) throws(SharedStoreFailure) -> Value {
    let (value, failure): (Value?, Failure?) = state.withLock { state in
      state.calls += 1
      let failure = state.calls == state.failing ? state.failure : nil
      return (failure == .requestLost ? nil : body(&state), failure)
    }
    guard failure == nil, let value else { throw SharedStoreFailure("failed") }
    return value
  }

  func records(_ keys: [SharedKey]) throws(SharedStoreFailure) -> [SharedRecord?] {
    let oldest = clock.wall().milliseconds - Span.days(30).milliseconds
    guard keys.allSatisfy({ !$0.name.isEmpty }) else { throw SharedStoreFailure("a key has no name") }
    return try call { state in
      state.reads += keys
      return keys.map {
        $0.bucket == .answers && (state.times[$0] ?? 0) < oldest ? nil : state.lagging[$0] ?? state.records[$0]
      }
    }
  }

  /// Everything is read from one place.
  func probe(_ buckets: Set<SharedKey.Bucket>) throws(SharedStoreFailure) -> SharedProbe {
    try call { _ in SharedProbe(ends: [:]) }
  }

  func records(_ keys: [SharedKey], asOf probe: SharedProbe) throws(SharedStoreFailure) -> [SharedRecord?] {
    try records(keys)
  }

  func replace(_ changes: [SharedChange]) throws(SharedStoreFailure) -> [UInt64?] {
    let interlude = state.withLock { state -> (@Sendable () -> Void)? in
      guard let (bucket, body) = state.interlude, changes.contains(where: { $0.key.bucket == bucket }) else {
        return nil
      }
      state.interlude = nil
      return body
    }
    interlude?()
    let wall = clock.wall().milliseconds
    return try call { state in
      changes.map { change in
        guard (state.records[change.key]?.revision ?? 0) == change.revision else { return nil }
        state.revision += 1
        state.times[change.key] = wall
        state.records[change.key] =
          change.bytes.isEmpty ? nil : SharedRecord(bytes: change.bytes, revision: state.revision)
        return state.revision
      }
    }
  }

  private struct Replacement: SharedReplacement {
    let result: Result<[UInt64?], SharedStoreFailure>
    func wait() throws(SharedStoreFailure) -> [UInt64?] { try result.get() }
  }

  func beginReplacing(_ changes: [SharedChange]) -> any SharedReplacement {
    do throws(SharedStoreFailure) { return Replacement(result: .success(try replace(changes))) } catch {
      return Replacement(result: .failure(error))
    }
  }

  func token(after revision: UInt64) throws(SharedStoreFailure) -> (key: String, revision: UInt64)? {
    try call { state in
      state.records.filter { $0.key.bucket == .tokens && $0.value.revision > revision }
        .min { $0.value.revision < $1.value.revision }.map { ($0.key.name, $0.value.revision) }
    }
  }

  /// The nodes' clocks, which a test sets only explicitly.
  func time() throws(SharedStoreFailure) -> Int64 {
    let now = clock.now()
    return try call { state in state.clock + (now - Moment(nanoseconds: 0)).milliseconds }
  }

  func stepItemClock(by span: Span) { state.withLock { $0.itemClock += span.milliseconds } }
  func stepClock(by span: Span) { state.withLock { $0.clock += span.milliseconds } }

  func newestToken() throws(SharedStoreFailure) -> UInt64 {
    try call { state in state.records.filter { $0.key.bucket == .tokens }.map(\.value.revision).max() ?? 0 }
  }

  func tokenCount() throws(SharedStoreFailure) -> Int {
    try call { state in state.records.keys.count { $0.bucket == .tokens } }
  }

  func add(_ items: [SharedWork]) throws(SharedStoreFailure) {
    let now = clock.now()
    let isFailing = state.withLock { state in
      defer { state.isAddFailing = false }
      return state.isAddFailing
    }
    guard !isFailing else { throw SharedStoreFailure("failed") }
    try call { state in
      for item in items {
        if let identifier = item.identifier {
          let name = item.queue + identifier
          if let added = state.identifiers[name], now - added < Self.memory { continue }
          state.identifiers[name] = now
        }
        state.next += 1
        let time = state.clock + state.itemClock + (now - Moment(nanoseconds: 0)).milliseconds
        state.items[state.next] = Item(queue: item.queue, bytes: item.bytes, addedAt: time, availableAt: now)
      }
    }
  }

  func take(_ queue: String, limit: Int) throws(SharedStoreFailure) -> [TakenWork] {
    let now = clock.now()
    let (isStalled, isIdle) = state.withLock { state in
      (state.stalled.contains(queue), !state.items.values.contains { $0.queue == queue && $0.availableAt <= now })
    }
    guard !isStalled else { throw SharedStoreFailure("stalled") }
    // Looks at queues where there is nothing are not counted: tests choose the call that fails by its number.
    if isIdle, queue != WakeQueue.due.name, queue.hasPrefix(WakeQueue.due.name) { return [] }
    return try call { state in
      let due = state.items.filter { $0.value.queue == queue && $0.value.availableAt <= now }.keys.sorted()
      return due.prefix(limit).compactMap { number in
        guard var item = state.items[number] else { return nil }
        item.times += 1
        item.isTaken = true
        item.availableAt = now + Self.lease
        state.items[number] = item
        return TakenWork(
          number: UInt64(number), bytes: item.bytes, handle: String(number), times: item.times, addedAt: item.addedAt)
      }
    }
  }

  func end(_ work: [TakenWork]) throws(SharedStoreFailure) {
    try call { state in for each in work { state.items[Int(each.handle) ?? 0] = nil } }
  }

  func endSoon(_ work: [TakenWork]) { try? end(work) }

  func postpone(_ work: TakenWork, milliseconds: Int64) {
    let time = clock.now() + .milliseconds(milliseconds)
    state.withLock { state in
      state.items[Int(work.handle) ?? 0]?.availableAt = time
      state.items[Int(work.handle) ?? 0]?.isTaken = false
    }
  }

  func extend(_ work: [TakenWork]) {
    let time = clock.now() + Self.lease
    state.withLock { state in for each in work { state.items[Int(each.handle) ?? 0]?.availableAt = time } }
  }

  /// Whether a server of an earlier version is heard.
  func isServed() throws(SharedStoreFailure) -> Bool { state.withLock { $0.isServed } }
  func serve(_ isServed: Bool) { state.withLock { $0.isServed = isServed } }

  func close() {}
}
