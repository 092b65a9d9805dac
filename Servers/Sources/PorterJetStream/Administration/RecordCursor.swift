import PorterRelayCluster

/// Reads a stream's records, each once, as of some moment between the first call and the last.
struct RecordCursor {
  struct Record: Sendable {
    /// The last part of its subject.
    let name: String
    let bytes: [UInt8]
  }

  private static let most = 128
  /// Relays and servers publish to this so that a leader has caught up when it answers: a thousand messages that are
  /// not versions of a record.
  private static let probe = "probe"

  private let stream: JetStream
  private let place: String
  private let subjects: String
  /// Messages stored later are read as the newest version of an earlier record, or not at all.
  private let end: UInt64
  private var position: UInt64 = 0
  /// Records that were replaced after `end` and have been read.
  private var late: Set<String> = []

  init(_ stream: JetStream, _ place: String, _ subjects: String) async throws(ClusterFailure) {
    (self.stream, self.place, self.subjects) = (stream, place, subjects)
    end = try await patiently { () async throws(ClusterFailure) in try await stream.lastSequence(place) }
  }

  /// Nil at the end; some batches may be empty.
  mutating func next() async throws(ClusterFailure) -> [Record]? {
    guard position < end else { return nil }
    var found: [(subject: String, revision: UInt64)] = []
    while found.count < Self.most, position < end {
      let (stream, place, subjects, start) = (stream, place, subjects, position)
      let next = try await patiently { () async throws(ClusterFailure) in
        try await stream.next(place, subjects, after: start)
      }
      position = next?.revision ?? end
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
      if stored.revision > end ? late.insert(name).inserted : stored.revision == revision {
        records.append(Record(name: name, bytes: stored.bytes))
      }
    }
    return records
  }

  private static func name(_ subject: String) -> String { String(subject.split(separator: ".").last ?? "") }
}
