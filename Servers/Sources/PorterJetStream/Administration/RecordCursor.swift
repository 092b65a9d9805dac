import PorterRelayCluster

/// Reads a stream's records, each once, as of some moment between the first call and the last. Those that exist all the
/// while are all read: one that is replaced moves to the end of the stream, and its earlier version is deleted some
/// seconds later, maybe before it was reached. So the cursor follows the stream until it has read the rest faster than
/// versions are deleted.
struct RecordCursor {
  struct Record: Sendable {
    /// The last part of its subject.
    let name: String
    let bytes: [UInt8]
  }

  private static let most = 128
  /// A version stays for longer after it was replaced.
  private static let fast = OutdatedMessages.pause / 2
  /// Each pass reads what was stored during the one before.
  private static let mostPasses = 64
  /// Relays and servers publish to this so that a leader has caught up when it answers: a thousand messages that are
  /// not versions of a record.
  private static let probe = "probe"

  private let stream: JetStream
  private let place: String
  private let subjects: String
  /// For now: messages stored later are read as the newest version of an earlier record, or after it.
  private var end: UInt64 = 0
  private var begin: ContinuousClock.Instant?
  private var passes = 0
  private var position: UInt64 = 0
  /// The records that have been read.
  private var read: Set<String> = []

  init(_ stream: JetStream, _ place: String, _ subjects: String) {
    (self.stream, self.place, self.subjects) = (stream, place, subjects)
  }

  /// Nil at the end; some batches may be empty.
  mutating func next() async throws(ClusterFailure) -> [Record]? {
    if position >= end, try await !advance() { return nil }
    var found: [(subject: String, revision: UInt64)] = []
    while found.count < Self.most, position < end {
      let (stream, place, subjects, start) = (stream, place, subjects, position)
      let next = try await patiently { () async throws(ClusterFailure) in
        try await stream.next(place, subjects, after: start)
      }
      // What comes after `end` is read after it.
      position = min(next?.revision ?? end, end)
      if let next, next.revision <= end, Self.name(next.subject) != Self.probe {
        found.append((next.subject, next.revision))
      }
    }
    // Several versions of one record need one question.
    let subjects = Array(Set(found.map(\.subject)))
    let newest = try await eachAtOnce(subjects) { [stream, place] (subject) async throws(ClusterFailure) in
      try await patiently { () async throws(ClusterFailure) in try await stream.newest(place, subject) }
    }
    let stored = Dictionary(zip(subjects, newest), uniquingKeysWith: { first, _ in first })
    var records: [Record] = []
    for (subject, revision) in found {
      guard let stored = stored[subject] ?? nil, !stored.bytes.isEmpty else { continue }
      let name = Self.name(subject)
      // Of several versions, the valid one is read at its own position.
      if stored.revision > end || stored.revision == revision, read.insert(name).inserted {
        records.append(Record(name: name, bytes: stored.bytes))
      }
    }
    return records
  }

  /// Whether there is more to read, now or later.
  private mutating func advance() async throws(ClusterFailure) -> Bool {
    let now = ContinuousClock.now
    if let begin, now - begin < Self.fast { return false }
    guard passes < Self.mostPasses else { throw ClusterFailure("\(place) changes faster than it is read") }
    let (stream, place) = (stream, place)
    let last = try await patiently { () async throws(ClusterFailure) in try await stream.lastSequence(place) }
    (begin, passes) = (now, passes + 1)
    guard last > end else { return false }
    end = last
    return true
  }

  private static func name(_ subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}
