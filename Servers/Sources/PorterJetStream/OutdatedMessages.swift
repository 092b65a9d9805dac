import PorterRelayCluster
import Synchronization

/// Messages that are not needed any more, until they are deleted: versions of records, and bodies.
final class OutdatedVersions: Sendable {
  struct Version: Sendable, Equatable {
    enum Reason: Sendable, Equatable {
      /// A version of a record that this one has replaced.
      case replaced(by: UInt64)
      /// A version that never was valid: another one had replaced the same before.
      case late(replacing: UInt64)
      /// The body of a message that is gone.
      case dropped
    }

    let stream: String
    let subject: String
    let sequence: UInt64
    let reason: Reason
    /// From when on its number is known to have been its own.
    let notedAt: ContinuousClock.Instant
    var dueAt: ContinuousClock.Instant

    init(
      _ stream: String, _ subject: String, _ sequence: UInt64, _ reason: Reason, now: ContinuousClock.Instant = .now
    ) {
      (self.stream, self.subject, self.sequence, self.reason) = (stream, subject, sequence, reason)
      (notedAt, dueAt) = (now, now + OutdatedVersions.pause)
    }
  }

  private struct State {
    var versions: [String: [Version]] = [:]
    /// Streams whose versions are being looked at.
    var looking: Set<String> = []
  }

  /// Longer than another relay takes to look whether its own replacement was the first.
  static let pause = Duration.seconds(5)
  /// Of a stream.
  private static let most = 65_536
  private let state = Mutex(State())

  /// One that is forgotten makes room when there are too many of its record.
  func note(_ version: Version) { note([version]) }

  func note(_ versions: [Version]) {
    state.withLock { state in
      for version in versions where state.versions[version.stream]?.count ?? 0 < Self.most {
        state.versions[version.stream, default: []].append(version)
      }
    }
  }

  /// They are looked at again at that time.
  func postpone(_ versions: [Version], until time: ContinuousClock.Instant) {
    note(
      versions.map { version in
        var version = version
        version.dueAt = time
        return version
      })
  }

  /// The stream has lost messages, and its numbers may be given to others.
  func forget(_ stream: String) { state.withLock { $0.versions[stream] = nil } }

  /// Each is returned once.
  func due(_ stream: String, now: ContinuousClock.Instant = .now) -> [Version] {
    state.withLock { state in
      guard let noted = state.versions[stream], let first = noted.first, first.dueAt <= now else { return [] }
      let due = Array(noted.prefix { $0.dueAt <= now })
      state.versions[stream]?.removeFirst(due.count)
      return due
    }
  }

  /// The same of all streams.
  func due(now: ContinuousClock.Instant = .now) -> [Version] {
    state.withLock { $0.versions.keys.sorted() }.flatMap { due($0, now: now) }
  }

  /// False if someone looks at the stream's already.
  func beginLooking(_ stream: String) -> Bool { state.withLock { $0.looking.insert(stream).inserted } }
  func endLooking(_ stream: String) { state.withLock { _ = $0.looking.remove(stream) } }
}

/// Nodes may undo what they had acknowledged, when another one begins to lead. What was replaced is the record again then, and its number
/// may be another message's. In such doubt the cluster is asked before anything is deleted, when it has come to rest.
extension JetStream {
  /// After the stream has acknowledged a message.
  func deleteOutdatedSoon(_ stream: String) {
    var doubtful: [OutdatedVersions.Version] = []
    for version in outdated.due(stream) {
      if settledNumbers.hasOneLeader(stream, since: version.notedAt) {
        deleteSoon(stream, version.sequence)
      } else {
        doubtful.append(version)
      }
    }
    guard !doubtful.isEmpty else { return }
    let rest = settledNumbers.rest
    guard rest <= .now, outdated.beginLooking(stream) else {
      return outdated.postpone(doubtful, until: max(rest, .now + .seconds(1)))
    }
    // Not with the deadline of the exchange that was acknowledged.
    Task.detached { [self, doubtful] in
      await look(at: doubtful)
      outdated.endLooking(stream)
    }
  }

  private func look(at doubtful: [OutdatedVersions.Version]) async {
    for (index, version) in doubtful.enumerated() {
      do throws(ClusterFailure) {
        if try await isOutdated(version) { deleteSoon(version.stream, version.sequence) }
      } catch {
        return outdated.postpone(Array(doubtful[index...]), until: .now + OutdatedVersions.pause)
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
        outdated.note(Array(due[index...]))
        throw error
      }
    }
  }

  /// A body that is of no use any more.
  func drop(_ stream: String, _ sequence: UInt64, of subject: String) {
    if settledNumbers.hasOneLeader(stream, since: .now - Self.doubt) { return deleteSoon(stream, sequence) }
    outdated.note(.init(stream, subject, sequence, .dropped))
  }

  /// For how long after a change of the leader the numbers that records have are in doubt. Most of what was undone is read or restored by then.
  private static var doubt: Duration { .seconds(60) }
}
