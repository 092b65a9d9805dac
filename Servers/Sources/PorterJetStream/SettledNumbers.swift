import Synchronization

/// The numbers each stream had acknowledged some seconds ago. A new leader may lag briefly, but not that long: replaced
/// versions are deleted after the same time.
final class SettledNumbers: Sendable {
  private struct Mark {
    let number: UInt64
    let at: ContinuousClock.Instant
  }

  private static let interval = Duration.seconds(1)
  /// A node that was cut off considers itself leader for 10 seconds, and may lack what the others acknowledged 5
  /// seconds before.
  private static let trouble = Duration.seconds(15)
  /// A node waits four seconds without a sign of its leader before it stands for election. Elections for other reasons
  /// are announced.
  private static let silence = Duration.seconds(2)

  /// Periods without a pause in which an election may have happened, or anything else that ends them, by stream.
  private struct Streaks {
    struct Streak {
      let since: ContinuousClock.Instant
      var last: ContinuousClock.Instant
    }

    private var streaks: [String: Streak] = [:]
    /// All of them.
    var endedAt: ContinuousClock.Instant?

    mutating func end(_ stream: String) { streaks[stream] = nil }

    mutating func note(_ stream: String, _ now: ContinuousClock.Instant) {
      if let last = streaks[stream]?.last, now - last <= silence, endedAt.map({ $0 < last }) ?? true {
        streaks[stream]?.last = now
      } else {
        streaks[stream] = Streak(since: now, last: now)
      }
    }

    func covers(_ stream: String, since time: ContinuousClock.Instant, _ now: ContinuousClock.Instant) -> Bool {
      guard let streak = streaks[stream] else { return false }
      return streak.since <= time && now - streak.last <= silence && endedAt.map { $0 < streak.since } ?? true
    }
  }

  /// Without a failure or an election.
  private let quiet = Mutex(Streaks())
  /// Without an election.
  private let steady = Mutex(Streaks())
  private let marks: Mutex<[String: [Mark]]> = Mutex([:])
  private let startedAt = Mutex<ContinuousClock.Instant?>(nil)

  /// Call after the stream has acknowledged the message with this number.
  func note(_ stream: String, _ number: UInt64, now: ContinuousClock.Instant = .now) {
    quiet.withLock { $0.note(stream, now) }
    steady.withLock { $0.note(stream, now) }
    marks.withLock { marks in
      guard let last = marks[stream]?.last else { return marks[stream] = [Mark(number: number, at: now)] }
      // Acknowledgements of concurrent messages come in any order.
      guard number >= last.number, now - last.at >= Self.interval else { return }
      marks[stream]?.append(Mark(number: number, at: now))
      let settled = marks[stream]?.lastIndex { now - $0.at >= OutdatedMessages.pause }
      if let settled { marks[stream]?.removeFirst(settled) }
    }
  }

  /// The stream was recreated, or has lost messages: their numbers may be others' now.
  func forget(_ stream: String) { marks.withLock { $0[stream] = nil } }

  /// Every leader that answers from now on has applied this message and all before it. 0 if no number is known.
  func number(_ stream: String, now: ContinuousClock.Instant = .now) -> UInt64 {
    marks.withLock { $0[stream]?.last { now - $0.at >= OutdatedMessages.pause }?.number ?? 0 }
  }

  /// Whether one node has led the stream ever since, as far as its acknowledgements show, and nothing has failed.
  func hasOneLeader(_ stream: String, since time: ContinuousClock.Instant, now: ContinuousClock.Instant = .now) -> Bool
  {
    quiet.withLock { $0.covers(stream, since: time, now) }
  }

  /// The same, although requests may have failed. A leader is deposed without an announcement only if the others do not
  /// hear it for seconds, in which it acknowledges nothing.
  func isSteady(_ stream: String, since time: ContinuousClock.Instant, now: ContinuousClock.Instant = .now) -> Bool {
    steady.withLock { $0.covers(stream, since: time, now) }
  }

  /// Whether it is time to publish something, so that the next acknowledgement is not too late.
  func isQuiet(_ stream: String, now: ContinuousClock.Instant = .now) -> Bool {
    steady.withLock { !$0.covers(stream, since: now, now + Self.silence * 3 / 4) }
  }

  /// From this time on, no node wrongly considers itself the leader.
  var rest: ContinuousClock.Instant {
    let times = [lastTrouble, startedAt.withLock { $0 }].compactMap { $0 }
    return times.max().map { $0 + Self.trouble } ?? .now
  }

  /// Nil if there was none.
  var lastTrouble: ContinuousClock.Instant? { quiet.withLock { $0.endedAt } }

  /// Nothing is known about the time before this.
  func noteStart(now: ContinuousClock.Instant = .now) { startedAt.withLock { $0 = now } }

  /// Another node may lead any stream, or the connection was lost.
  func noteTrouble(now: ContinuousClock.Instant = .now) {
    quiet.withLock { $0.endedAt = now }
    steady.withLock { $0.endedAt = now }
  }

  /// A node was elected to lead this stream.
  func noteElection(_ stream: String, now: ContinuousClock.Instant = .now) {
    quiet.withLock { $0.endedAt = now }
    steady.withLock { $0.end(stream) }
  }

  /// A request to the cluster has failed.
  func noteFailure(now: ContinuousClock.Instant = .now) { quiet.withLock { $0.endedAt = now } }

  /// Like `number`, for what no leader compares: 0 while nodes may disagree about which of them leads.
  func numberWithoutTrouble(_ stream: String, now: ContinuousClock.Instant = .now) -> UInt64 {
    if let lastTrouble, now - lastTrouble < Self.trouble { return 0 }
    return number(stream, now: now)
  }
}
