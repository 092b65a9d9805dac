import PorterServer
import Synchronization

/// The records of a stream that this process knows: it has read or stored their newest versions, and follows all
/// others. A record that is known costs the cluster nothing to read, and its replacement no comparison at the leader.
/// Either would take the old version from the leader's files, in which millions of others lie around it.
///
/// Knowledge ends with whatever may undo a version that was acknowledged: another leader, a lost connection, a message
/// that did not come, or a pause in which an election may have gone unnoticed (`SettledNumbers`). It then begins anew
/// with each record that is read or stored.
final class KnownRecords: Sendable {
  /// A version as it is followed.
  struct Version {
    var number: UInt64
    var subject: String
    var replaced: UInt64
    /// No other version lies between the one it replaces and this number.
    var settled: UInt64
    var writer: String
    var bytes: [UInt8]

    var start: UInt64 { settled < number ? max(replaced, settled) : replaced }
  }

  private struct State {
    /// Since when everything is known; nil: nothing is.
    var since: ContinuousClock.Instant?
  }

  private let stream: String
  private let file: RecordFile
  private let numbers: SettledNumbers
  private let versions: RecentVersions
  /// Held while a message is noted, so that records and `versions` are of the same message.
  private let state = Mutex(State())

  init(_ stream: String, in file: RecordFile, _ numbers: SettledNumbers, _ versions: RecentVersions) {
    (self.stream, self.file, self.numbers, self.versions) = (stream, file, numbers, versions)
  }

  /// Notes the stream's next message; `version` is nil if it is something else.
  func note(_ number: UInt64, _ subject: String, _ version: Version?) {
    state.withLock { state in
      let last = versions.last
      versions.note(number, subject, version.map { .init(number: number, replaced: $0.replaced, writer: $0.writer) })
      // Messages that were deleted before they came may have been versions. Numbers that come again are of others.
      if last > 0, number != last + 1 { forgetAll(&state) }
      guard number > last, let version, isKnowing(&state) else { return }
      if let known = file.revision(subject) {
        // It is the first that replaces the newest, or came late.
        if version.replaced == known { return note(version) }
        if version.replaced > known { file.forget(subject) }
      } else if versions.isOnlyNoted(
        number, of: subject, replacing: version.replaced, by: version.writer, after: version.start)
      {
        note(version)
      }
    }
  }

  private func note(_ version: Version) {
    // A removal may be deleted, and the record then made anew.
    guard !version.bytes.isEmpty else { return file.forget(version.subject) }
    file.note(version.subject, SharedRecord(bytes: version.bytes, revision: version.number))
  }

  /// The record, with everything stored before this message, which the stream has acknowledged. Nil if it is unknown,
  /// or the message does not come in time.
  func record(_ subject: String, asOf number: UInt64) async -> SharedRecord? {
    // Most records are unknown after a start, and need not wait.
    guard file.revision(subject) != nil, await versions.reach(number, from: number) else { return nil }
    return state.withLock { state in isKnowing(&state) ? file.record(subject) : nil }
  }

  /// A record that the leader returned. It was asked at that time, after it had acknowledged this message.
  func note(_ subject: String, _ record: SharedRecord, asOf number: UInt64, asked: ContinuousClock.Instant) async {
    guard await versions.reach(number, from: number) else { return }
    state.withLock { state in
      guard isKnowing(&state), let since = state.since, since <= asked,
        let last = versions.lastWithout(subject, after: number), record.revision <= last
      else { return }
      file.note(subject, record)
    }
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

  func forgetAll() { state.withLock { forgetAll(&$0) } }

  private func forgetAll(_ state: inout State) {
    state.since = nil
    file.forgetAll()
  }

  /// Whether the same node has led the stream ever since.
  private func isKnowing(_ state: inout State) -> Bool {
    if let since = state.since, numbers.isSteady(stream, since: since) { return true }
    forgetAll(&state)
    let now = ContinuousClock.now
    if numbers.isSteady(stream, since: now) { state.since = now }
    return state.since != nil
  }
}
