import PorterRelayCluster
import Synchronization

/// Messages that are no longer needed, until they are deleted: versions of records, and bodies.
final class OutdatedMessages: Sendable {
  struct Message: Sendable, Equatable {
    enum Reason: Sendable, Equatable {
      /// A version of a record, replaced by this one.
      case replaced(by: UInt64)
      /// A version that was never valid: another one had replaced the same version before.
      case late(replacing: UInt64)
      /// The body of this message, which has been dropped.
      case dropped(message: [UInt8])
      /// The body of this message, which is unused unless the record of this subject names it.
      case unnamed(message: [UInt8], stream: String, subject: String)

      var isVersion: Bool {
        switch self {
        case .replaced, .late: true
        case .dropped, .unnamed: false
        }
      }

      /// Whether leaders of two streams are asked, one of which may only have the old state.
      var concernsTwoStreams: Bool { if case .unnamed = self { true } else { false } }
    }

    let stream: String
    let subject: String
    let sequence: UInt64
    let reason: Reason
    /// Not in doubt if one node has led the stream since then; nil if always in doubt.
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

  /// Items are taken from the front without moving the rest each time.
  private struct Queue {
    var messages: [Message] = []
    var start = 0

    var count: Int { messages.count - start }
    var first: Message? { start < messages.count ? messages[start] : nil }
    var withoutVersions: Queue { Queue(messages: messages[start...].filter { !$0.reason.isVersion }) }

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

  /// Those to be checked again wait on their own: they are due later than what is noted after them.
  private struct Waiting {
    var new = Queue()
    var postponed = Queue()
    /// For the next round.
    var gathered: [Message] = []
    var gatheredSince: ContinuousClock.Instant = .now
    /// This round's, in order of number.
    var round = Queue()

    var count: Int { new.count + postponed.count }
    var gatheredCount: Int { gathered.count + round.count }
    var firstDue: ContinuousClock.Instant? {
      [new.first, postponed.first, round.first ?? gathered.first].compactMap { $0?.dueAt }.min()
    }

    /// Its messages become due over as long a time as it took to gather them.
    mutating func beginRound(_ now: ContinuousClock.Instant) {
      guard round.count == 0, let first = gathered.first, first.dueAt <= now else { return }
      let span = now - gatheredSince
      gathered.sort { $0.sequence < $1.sequence }
      // The last of them came just now.
      let begin = now + OutdatedMessages.pause
      for index in gathered.indices { gathered[index].dueAt = begin + span * index / gathered.count }
      (round, gathered) = (Queue(messages: gathered), [])
    }
  }

  private struct State {
    var messages: [String: Waiting] = [:]
    /// Streams whose doubtful messages are being checked.
    var looking: Set<String> = []
  }

  /// Longer than another relay takes to check whether its own replacement was first.
  static let pause = Duration.seconds(5)
  /// Per stream.
  private static let most = 262_144
  private static let mostGathered = 262_144
  /// How long messages are gathered for a round, unless there are many before.
  let span: Duration
  private let state = Mutex(State())

  init(span: Duration = .seconds(120)) { self.span = span }

  /// Messages beyond the limit are forgotten. They make room once their record has too many.
  func note(_ message: Message) { note([message]) }

  func note(_ messages: [Message]) { note(messages, in: \.new) }

  private func note(_ messages: [Message], in queue: WritableKeyPath<Waiting, Queue>) {
    state.withLock { state in
      for message in messages where state.messages[message.stream]?.count ?? 0 < Self.most {
        state.messages[message.stream, default: Waiting()][keyPath: queue].messages.append(message)
      }
    }
  }

  /// Notes it for the next round. A node loads a whole file to delete a message that is no longer in its memory, and
  /// rounds go through the stream in order: with millions of messages, each file is then loaded for many of them.
  func gather(_ message: Message, now: ContinuousClock.Instant = .now) {
    state.withLock { state in
      var waiting = state.messages[message.stream] ?? Waiting()
      guard waiting.gatheredCount < Self.mostGathered else { return }
      var message = message
      message.dueAt += span
      if waiting.gathered.isEmpty { waiting.gatheredSince = now }
      state.messages[message.stream] = nil
      waiting.gathered.append(message)
      if waiting.gathered.count == Self.mostGathered / 2 { waiting.gathered[0].dueAt = now }
      state.messages[message.stream] = waiting
    }
  }

  /// Checks them again at that time.
  func postpone(_ messages: [Message], until time: ContinuousClock.Instant) {
    note(
      messages.map { message in
        var message = message
        message.dueAt = time
        return message
      }, in: \.postponed)
  }

  /// The stream has lost messages, and may assign their numbers to others.
  func forgetVersions(_ stream: String) {
    state.withLock { state in
      guard let waiting = state.messages[stream] else { return }
      // Rounds are of nothing else.
      state.messages[stream] = Waiting(new: waiting.new.withoutVersions, postponed: waiting.postponed.withoutVersions)
    }
  }

  /// Whether messages are waiting that the stream's next message would have had deleted, if there had been one.
  func isOverdue(_ stream: String, now: ContinuousClock.Instant = .now) -> Bool {
    state.withLock { state in state.messages[stream]?.firstDue.map { $0 + Self.pause <= now } ?? false }
  }

  /// How long the first message has been due; nil if none is.
  func lateness(_ stream: String, now: ContinuousClock.Instant = .now) -> Duration? {
    state.withLock { state in state.messages[stream]?.firstDue.flatMap { $0 <= now ? now - $0 : nil } }
  }

  /// Returns each message once. `most`: the limit for counted messages; everything after them waits.
  func due(
    _ stream: String, most: Int = .max, of isCounted: (Message) -> Bool = { _ in true },
    now: ContinuousClock.Instant = .now
  ) -> [Message] {
    state.withLock { state in
      var count = 0
      func isTaken(_ message: Message) -> Bool {
        guard message.dueAt <= now else { return false }
        if isCounted(message) { count += 1 }
        return count <= most
      }
      state.messages[stream]?.beginRound(now)
      guard let postponed = state.messages[stream]?.postponed.takeFirst(while: isTaken) else { return [] }
      let new = state.messages[stream]?.new.takeFirst(while: isTaken) ?? []
      return postponed + new + (state.messages[stream]?.round.takeFirst(while: isTaken) ?? [])
    }
  }

  /// The due messages of all streams.
  func due(now: ContinuousClock.Instant = .now) -> [Message] {
    state.withLock { $0.messages.keys.sorted() }.flatMap { due($0, now: now) }
  }

  /// False if the stream's messages are already being checked.
  func beginLooking(_ stream: String) -> Bool { state.withLock { $0.looking.insert(stream).inserted } }
  func endLooking(_ stream: String) { state.withLock { _ = $0.looking.remove(stream) } }
}

/// Nodes may undo what they had acknowledged when another node becomes leader. The replaced version is then the record
/// again, and its number may belong to another message. When in doubt, the cluster is asked before anything is deleted,
/// once it is at rest.
extension JetStream {
  /// Call after the stream has acknowledged a message.
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
    // Detached: must not inherit the deadline of the acknowledged exchange.
    Task.detached { [self, doubtful] in
      await look(at: doubtful)
      outdated.endLooking(stream)
    }
  }

  /// The caller has counted it as under way. When it ends, other due deletions follow.
  private func deleteNow(_ message: OutdatedMessages.Message) {
    // Detached: must not inherit the deadline of an exchange.
    Task.detached { [self] in
      do throws(ClusterFailure) {
        _ = try await delete(message.stream, message.sequence)
        deletions.end(1, message.stream)
        deleteOutdatedSoon(message.stream)
      } catch {
        // Whether it was deleted is unknown, and it may be in doubt by then. A slow node may still be working on it.
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
        // The node that answered may have lost the lead by now.
        guard isAtRest else { return outdated.postpone(Array(doubtful[index...]), until: settledNumbers.rest) }
        if isOutdated { _ = try await delete(message.stream, message.sequence) }
      } catch {
        return outdated.postpone(Array(doubtful[index...]), until: .now + OutdatedMessages.pause)
      }
    }
  }

  /// For when writes are refused: outdated messages take up part of the room. Those that are not deleted are tried
  /// again later.
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

  /// A body that is no longer needed. Its number comes from a record, and may be older than the stream's leader.
  func drop(_ body: StoredBody, _ stream: String, _ subject: String, seenAt: ContinuousClock.Instant?) {
    let message = OutdatedMessages.Message(
      stream, subject, body.number, .dropped(message: body.message), certainFrom: seenAt)
    if isCertain(message), deletions.begin(1, stream) > 0 { deleteNow(message) } else { outdated.note(message) }
  }
}
