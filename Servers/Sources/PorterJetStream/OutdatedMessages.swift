import PorterRelayCluster
import Synchronization

/// Messages that are not needed any more, until they are deleted: versions of records, and bodies.
final class OutdatedMessages: Sendable {
  struct Message: Sendable, Equatable {
    enum Reason: Sendable, Equatable {
      /// A version of a record that this one has replaced.
      case replaced(by: UInt64)
      /// A version that never was valid: another one had replaced the same before.
      case late(replacing: UInt64)
      /// The body of this message, which is gone.
      case dropped(message: [UInt8])
      /// The body of this message, which is none if the record of this subject does not name it.
      case unnamed(message: [UInt8], stream: String, subject: String)

      var isVersion: Bool {
        switch self {
        case .replaced, .late: true
        case .dropped, .unnamed: false
        }
      }

      /// Whether leaders of two streams are asked, of which one may have the old state only.
      var concernsTwoStreams: Bool { if case .unnamed = self { true } else { false } }
    }

    let stream: String
    let subject: String
    let sequence: UInt64
    let reason: Reason
    /// It is not in doubt if one node has led the stream since then; nil if it is in any case.
    let certainFrom: ContinuousClock.Instant?
    var dueAt: ContinuousClock.Instant

    init(
      _ stream: String, _ subject: String, _ sequence: UInt64, _ reason: Reason, now: ContinuousClock.Instant = .now
    ) {
      self.init(stream, subject, sequence, reason, certainFrom: now, now: now)
    }

    init(
      _ stream: String, _ subject: String, _ sequence: UInt64, _ reason: Reason,
      certainFrom: ContinuousClock.Instant?, now: ContinuousClock.Instant = .now
    ) {
      (self.stream, self.subject, self.sequence, self.reason) = (stream, subject, sequence, reason)
      self.certainFrom = certainFrom
      dueAt = now + OutdatedMessages.pause
    }
  }

  /// Taken from its front without moving the rest each time.
  private struct Queue {
    var messages: [Message] = []
    var start = 0

    var count: Int { messages.count - start }
    var first: Message? { start < messages.count ? messages[start] : nil }

    mutating func takeFirst(while isTaken: (Message) -> Bool) -> [Message] {
      let taken = Array(messages[start...].prefix(while: isTaken))
      start += taken.count
      if start > messages.count / 2 {
        messages.removeFirst(start)
        start = 0
      }
      return taken
    }
  }

  private struct State {
    var messages: [String: Queue] = [:]
    /// Streams whose doubtful messages are being looked at.
    var looking: Set<String> = []
  }

  /// Longer than another relay takes to look whether its own replacement was the first.
  static let pause = Duration.seconds(5)
  /// Of a stream.
  private static let most = 65_536
  private let state = Mutex(State())

  /// One that is forgotten makes room when there are too many of its record.
  func note(_ message: Message) { note([message]) }

  func note(_ messages: [Message]) {
    state.withLock { state in
      for message in messages where state.messages[message.stream]?.count ?? 0 < Self.most {
        state.messages[message.stream, default: Queue()].messages.append(message)
      }
    }
  }

  /// They are looked at again at that time.
  func postpone(_ messages: [Message], until time: ContinuousClock.Instant) {
    note(
      messages.map { message in
        var message = message
        message.dueAt = time
        return message
      })
  }

  /// The stream has lost messages, and its numbers may be given to others.
  func forgetVersions(_ stream: String) {
    state.withLock { state in
      guard let queue = state.messages[stream] else { return }
      let kept = queue.messages[queue.start...].filter { !$0.reason.isVersion }
      state.messages[stream] = Queue(messages: kept)
    }
  }

  /// Whether messages wait that the stream's next one would have had deleted, if there had been one.
  func isOverdue(_ stream: String, now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in state.messages[stream]?.first.map { $0.dueAt + Self.pause <= now } ?? false }
  }

  /// For how long the first one has been due; nil if none is.
  func lateness(_ stream: String, now: ContinuousClock.Instant = .now) -> Duration? {
    state.withLock { state in state.messages[stream]?.first.flatMap { $0.dueAt <= now ? now - $0.dueAt : nil } }
  }

  /// Each is returned once. `most`: of those of which that is said; what comes after them waits.
  func due(
    _ stream: String, most: Int = .max, of isCounted: (Message) -> Bool = { _ in true },
    now: ContinuousClock.Instant = .now
  ) -> [Message] {
    state.withLock { state in
      var count = 0
      return state.messages[stream]?.takeFirst { message in
        guard message.dueAt <= now else { return false }
        if isCounted(message) { count += 1 }
        return count <= most
      } ?? []
    }
  }

  /// The same of all streams.
  func due(now: ContinuousClock.Instant = .now) -> [Message] {
    state.withLock { $0.messages.keys.sorted() }.flatMap { due($0, now: now) }
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
    guard let late = outdated.lateness(stream) else { return }
    let most = deletions.begin(.max, stream, late: late)
    var (doubtful, certain): ([OutdatedMessages.Message], Int) = ([], 0)
    for message in outdated.due(stream, most: most, of: isCertain) {
      if isCertain(message), certain < most {
        certain += 1
        deleteNow(message)
      } else {
        doubtful.append(message)
      }
    }
    deletions.end(most - certain, stream)
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

  /// Of those that may be under way. When it has ended, what is due follows.
  private func deleteNow(_ message: OutdatedMessages.Message) {
    // Not with the deadline of an exchange.
    Task.detached { [self] in
      do throws(ClusterFailure) {
        _ = try await delete(message.stream, message.sequence)
        deletions.end(1, message.stream)
        deleteOutdatedSoon(message.stream)
      } catch {
        // Whether it was deleted is not known, and it may be in doubt by then. A node that is slow may still be at it.
        outdated.postpone([message], until: .now + OutdatedMessages.pause)
        try? await Task.sleep(for: OutdatedMessages.pause)
        deletions.end(1, message.stream)
      }
    }
  }

  private func isCertain(_ message: OutdatedMessages.Message) -> Bool {
    message.certainFrom.map { hasOneLeader(message.stream, since: $0) } ?? false
  }

  private func look(at doubtful: [OutdatedMessages.Message]) async {
    for (index, message) in doubtful.enumerated() {
      do throws(ClusterFailure) {
        let isOutdated = try await isOutdated(message)
        // The node that answered may have lost the lead meanwhile.
        guard isAtRest else { return outdated.postpone(Array(doubtful[index...]), until: settledNumbers.rest) }
        if isOutdated { _ = try await delete(message.stream, message.sequence) }
      } catch {
        return outdated.postpone(Array(doubtful[index...]), until: .now + OutdatedMessages.pause)
      }
    }
  }

  /// While nothing is taken: they are part of what has the room. What is not deleted is tried again later.
  func deleteOutdated() async throws(ClusterFailure) {
    let (all, isAtRest) = (outdated.due(), isAtRest)
    let due = all.filter { isAtRest || !$0.reason.concernsTwoStreams }
    if !isAtRest { outdated.postpone(all.filter(\.reason.concernsTwoStreams), until: settledNumbers.rest) }
    for (index, message) in due.enumerated() {
      do throws(ClusterFailure) {
        let isOutdated = try await isOutdated(message)
        guard self.isAtRest || !message.reason.concernsTwoStreams else {
          outdated.postpone([message], until: settledNumbers.rest)
          continue
        }
        if isOutdated { _ = try await delete(message.stream, message.sequence) }
      } catch {
        outdated.note(Array(due[index...]))
        throw error
      }
    }
  }

  /// A body that is of no use any more. Its number comes from a record, and may be older than the stream's leader.
  func drop(_ body: StoredBody, _ stream: String, _ subject: String, seenAt: ContinuousClock.Instant?) {
    let message = OutdatedMessages.Message(
      stream, subject, body.number, .dropped(message: body.message), certainFrom: seenAt)
    if isCertain(message), deletions.begin(1, stream) > 0 { deleteNow(message) } else { outdated.note(message) }
  }
}
