import PorterRelayCluster
import Synchronization

/// Versions of records that are not needed any more, until they are deleted.
final class OutdatedVersions: Sendable {
  struct Version: Sendable {
    let stream: String
    let subject: String
    let sequence: UInt64
    /// The version that has replaced it; nil if it never was valid.
    let replacement: UInt64?
    let notedAt: ContinuousClock.Instant

    init(
      _ stream: String, _ subject: String, _ sequence: UInt64, replacement: UInt64?,
      now: ContinuousClock.Instant = .now
    ) {
      (self.stream, self.subject, self.sequence) = (stream, subject, sequence)
      (self.replacement, notedAt) = (replacement, now)
    }
  }

  /// Longer than another relay takes to look whether its own replacement was the first.
  static let pause = Duration.seconds(5)
  /// Of a stream.
  private static let most = 65_536
  private let versions: Mutex<[String: [Version]]> = Mutex([:])

  /// One that is forgotten makes room when there are too many of its record.
  func note(_ version: Version) {
    versions.withLock { versions in
      guard versions[version.stream]?.count ?? 0 < Self.most else { return }
      versions[version.stream, default: []].append(version)
    }
  }

  /// The stream has lost messages, and its numbers may be given to others.
  func forget(_ stream: String) { versions.withLock { $0[stream] = nil } }

  /// Each is returned once.
  func due(_ stream: String, now: ContinuousClock.Instant = .now) -> [Version] {
    versions.withLock { versions in
      guard let noted = versions[stream], let first = noted.first, now - first.notedAt >= Self.pause else { return [] }
      let due = Array(noted.prefix { now - $0.notedAt >= Self.pause })
      versions[stream]?.removeFirst(due.count)
      return due
    }
  }

  /// The same of all streams.
  func due(now: ContinuousClock.Instant = .now) -> [Version] {
    versions.withLock { $0.keys.sorted() }.flatMap { due($0, now: now) }
  }
}

extension JetStream {
  /// After the stream has acknowledged a message: whoever answers for it leads. What is in doubt is looked at first.
  func deleteOutdatedSoon(_ stream: String) {
    let due = outdated.due(stream)
    guard !due.isEmpty else { return }
    let certain = due.filter { settledNumbers.hasOneLeader(stream, since: $0.notedAt) }
    for version in certain { deleteSoon(stream, version.sequence) }
    guard certain.count < due.count else { return }
    let doubtful = due.filter { version in !certain.contains { $0.sequence == version.sequence } }
    Task.detached { [self] in
      for version in doubtful {
        do throws(ClusterFailure) {
          if try await isOutdated(version) { deleteSoon(stream, version.sequence) }
        } catch {
          outdated.note(
            .init(stream, version.subject, version.sequence, replacement: version.replacement))
        }
      }
    }
  }

  /// While nothing is taken: they are part of what has the room. What is not deleted is tried again later.
  func deleteOutdated() async throws(ClusterFailure) {
    let due = outdated.due()
    for (index, version) in due.enumerated() {
      do throws(ClusterFailure) {
        if try await isOutdated(version) { _ = try await delete(version.stream, version.sequence) }
      } catch {
        for left in due[index...] { outdated.note(left) }
        throw error
      }
    }
  }

  /// A message of this subject, which is of no use any more. In doubt its number may be another subject's by now.
  func deleteSoon(_ stream: String, _ sequence: UInt64, of subject: String) {
    guard !settledNumbers.hasOneLeader(stream, since: .now - Self.doubt) else { return deleteSoon(stream, sequence) }
    Task.detached { [self] in
      guard let stored = try? await get(stream, #"{"seq":\#(sequence)}"#), stored.text("subject") == subject else {
        return
      }
      deleteSoon(stream, sequence)
    }
  }

  /// For how long numbers are in doubt after a change of the leader: what was undone by it is mostly asked for meanwhile.
  private static var doubt: Duration { .seconds(60) }
}
