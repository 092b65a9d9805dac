import PorterServer
import Synchronization

/// The records of a stream that this process knows: it has followed their newest versions, or found them in a scan, and
/// follows all others. A record that is known costs the cluster nothing to read, and its replacement no
/// comparison at the leader. Either would take the old version from the leader's files, in which millions of others lie
/// around it.
///
/// Knowledge ends with whatever may undo a version that was acknowledged: another leader, a lost connection, a message
/// that did not come, or a pause in which an election may have gone unnoticed (`SettledNumbers`). It then begins anew
/// with each version that is followed, and with the next scan.
final class KnownRecords: Sendable {
  /// A version as it is followed, or found.
  struct Version: Sendable {
    var number: UInt64
    var subject: String
    /// 0 if it replaces none.
    var replaced: UInt64
    /// No other version lies between the one it replaces and this number.
    var settled: UInt64
    var writer: String
    var bytes: [UInt8]

    static let headers = [JetStream.replaces, JetStream.follows, JetStream.writer]

    var start: UInt64 { settled < number ? max(replaced, settled) : replaced }
    var record: SharedRecord { SharedRecord(bytes: bytes, revision: number) }

    /// Nil if it is something else.
    init?(_ message: NATSMessage, _ delivery: Delivery) {
      func number(_ header: String) -> UInt64? {
        message.headers[header].flatMap { UInt64($0) }.flatMap { $0 <= Reply.mostNumber ? $0 : nil }
      }
      guard let replaced = number(JetStream.replaces) else { return nil }
      (self.number, subject, self.replaced) = (delivery.number, message.subject, replaced)
      settled = number(JetStream.follows) ?? 0
      writer = message.headers[JetStream.writer] ?? ""
      bytes = message.data
    }
  }

  /// What a scan has left to find.
  struct Scan: Sendable, Equatable {
    fileprivate let number: Int
    /// Everything later was followed.
    let end: UInt64
  }

  private struct State {
    /// Since when everything is known; nil: nothing is.
    var since: ContinuousClock.Instant?
    var scan: Scan?
    /// Records whose newest version neither the scan nor what was followed since its begin can tell.
    var undecided: Set<String> = []
    var scans = 0
    var mayScanAt: ContinuousClock.Instant
    var beganAt: ContinuousClock.Instant?
    /// Of the file.
    var losses = 0
    /// Records that were removed, until they are made anew.
    var removed: [String: ContinuousClock.Instant] = [:]
  }

  /// After the start, and after knowledge has ended.
  private static let pauses = (Duration.seconds(5), Duration.seconds(60))
  /// A cluster in trouble is not scanned each time.
  private static let scanInterval = Duration.seconds(600)
  private static let mostRemoved = 65_536
  private static let never = Duration.seconds(1_000_000_000)
  /// Removals are kept for longer.
  private static let longestScan = Duration.seconds(1_500)

  private let stream: String
  private let file: RecordFile
  private let numbers: SettledNumbers
  private let versions: RecentVersions
  /// Held while a message is noted, so that records and `versions` are of the same message.
  private let state: Mutex<State>

  init(_ stream: String, in file: RecordFile, _ numbers: SettledNumbers, _ versions: RecentVersions) {
    (self.stream, self.file, self.numbers, self.versions) = (stream, file, numbers, versions)
    state = Mutex(State(mayScanAt: .now + Self.pauses.0))
  }

  /// Notes the stream's next message; `version` is nil if it is something else.
  func note(_ number: UInt64, _ subject: String, _ version: Version?) {
    state.withLock { state in
      let last = versions.last
      versions.note(number, subject, version.map { .init(number: number, replaced: $0.replaced, writer: $0.writer) })
      // Messages that were deleted before they came may have been versions. Numbers that come again are of others.
      if last > 0, number != last + 1 { forgetAll(&state) }
      guard number > last, let version, isKnowing(&state) else { return }
      guard let known = file.revision(subject) else {
        let isValid = versions.isOnlyNoted(
          number, of: subject, replacing: version.replaced, by: version.writer, after: version.start)
        return isValid ? note(version, &state) : forget(subject, &state)
      }
      // It is the first that replaces the newest, or came late.
      if version.replaced == known {
        note(version, &state)
      } else if version.replaced > known {
        forget(subject, &state)
      }
    }
  }

  private func note(_ version: Version, _ state: inout State) {
    // A removal may be deleted, and the record then made anew.
    guard !version.bytes.isEmpty else {
      if state.removed.count < Self.mostRemoved { state.removed[version.subject] = .now }
      return forget(version.subject, &state)
    }
    state.removed[version.subject] = nil
    file.note(version.subject, version.record)
  }

  private func forget(_ subject: String, _ state: inout State) {
    file.forget(subject)
    if state.scan != nil { state.undecided.insert(subject) }
  }

  /// The record, with everything stored before this message, which the stream has acknowledged. Nil if it is unknown,
  /// or the message does not come in time.
  func record(_ subject: String, asOf number: UInt64) async -> SharedRecord? {
    // Unknown ones need not wait.
    guard file.revision(subject) != nil, await versions.reach(number, from: number) else { return nil }
    return state.withLock { state in isKnowing(&state) ? file.record(subject) : nil }
  }

  /// Likewise, without waiting for the message.
  func recordNow(_ subject: String, asOf number: UInt64) -> SharedRecord? {
    guard versions.hasReached(number, from: number) else { return nil }
    return state.withLock { state in isKnowing(&state) ? file.record(subject) : nil }
  }

  /// The number up to which nothing has replaced this version of the record; nil if that is unknown.
  func settled(_ subject: String, _ revision: UInt64) -> UInt64? {
    state.withLock { state in
      guard isKnowing(&state), file.revision(subject) == revision else { return nil }
      return versions.last
    }
  }

  /// Nil if the record is unknown.
  func revision(_ subject: String) -> UInt64? {
    state.withLock { state in isKnowing(&state) ? file.revision(subject) : nil }
  }

  /// How many records were removed within this time, as far as is known.
  func removals(within span: Duration) -> Int {
    state.withLock { state in
      guard isKnowing(&state) else { return 0 }
      let oldest = ContinuousClock.now - span
      state.removed = state.removed.filter { $0.value > oldest }
      return state.removed.count
    }
  }

  func forgetAll() { state.withLock { forgetAll(&$0) } }

  private func forgetAll(_ state: inout State) {
    if state.since != nil, let began = state.beganAt {
      // Not all servers at the same time.
      let pause = Self.pauses.1 * Double.random(in: 1...2)
      state.mayScanAt = max(.now + pause, began + Self.scanInterval)
    }
    (state.since, state.scan, state.undecided, state.removed) = (nil, nil, [], [:])
    file.forgetAll()
  }

  /// Whether the same node has led the stream ever since.
  private func isKnowing(_ state: inout State) -> Bool {
    let losses = file.losses
    if let since = state.since, losses == state.losses, numbers.isSteady(stream, since: since) { return true }
    forgetAll(&state)
    state.losses = losses
    let now = ContinuousClock.now
    if numbers.isSteady(stream, since: now) { state.since = now }
    return state.since != nil
  }

  // MARK: Scans

  /// Nil if none is due. Scans find what is not read or stored by itself soon.
  func beginScan(now: ContinuousClock.Instant = .now) -> Scan? {
    state.withLock { state in
      guard now >= state.mayScanAt, isKnowing(&state), versions.last > 0 else { return nil }
      state.scans += 1
      let scan = Scan(number: state.scans, end: versions.last)
      (state.scan, state.undecided, state.beganAt) = (scan, [], now)
      state.mayScanAt = .now + Self.never
      file.beginScan()
      return scan
    }
  }

  /// Versions in the stream's order, without gaps. False if the scan is void.
  func noteScanned(_ found: [Version], by scan: Scan) -> Bool {
    state.withLock { state in
      guard isKnowing(&state), state.scan == scan, .now - (state.beganAt ?? .now) < Self.longestScan else {
        return false
      }
      for version in found where version.number <= scan.end && !state.undecided.contains(version.subject) {
        if version.bytes.isEmpty {
          forget(version.subject, &state)
        } else {
          file.noteScanned(version.subject, version.record, replaced: version.replaced)
        }
      }
      return true
    }
  }

  /// `isComplete`: it has passed its end. False if it is void.
  func endScan(_ scan: Scan, isComplete: Bool) -> Bool {
    state.withLock { state in
      guard isKnowing(&state), state.scan == scan else { return false }
      (state.scan, state.undecided) = (nil, [])
      let isComplete = isComplete && .now - (state.beganAt ?? .now) < Self.longestScan
      if isComplete { file.endScan() } else { state.mayScanAt = .now + Self.scanInterval }
      return isComplete
    }
  }
}
