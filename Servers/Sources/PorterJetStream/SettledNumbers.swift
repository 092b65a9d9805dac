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

  /// A period without a failure, an election, or a pause in which an election may have happened.
  private struct Streak {
    let since: ContinuousClock.Instant
    var last: ContinuousClock.Instant
  }

  private let streaks: Mutex<[String: Streak]> = Mutex([:])
  private let marks: Mutex<[String: [Mark]]> = Mutex([:])
  private let troubledAt = Mutex<ContinuousClock.Instant?>(nil)
  private let startedAt = Mutex<ContinuousClock.Instant?>(nil)

  /// Call after the stream has acknowledged the message with this number.
  func note(_ stream: String, _ number: UInt64, now: ContinuousClock.Instant = .now) {
    let troubledAt = troubledAt.withLock { $0 }
    streaks.withLock { streaks in
      if let last = streaks[stream]?.last, now - last <= Self.silence, troubledAt.map({ $0 < last }) ?? true {
        streaks[stream]?.last = now
      } else {
        streaks[stream] = Streak(since: now, last: now)
      }
    }
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

  /// Whether one node has led the stream ever since, as far as its acknowledgements show.
  func hasOneLeader(_ stream: String, since time: ContinuousClock.Instant, now: ContinuousClock.Instant = .now) -> Bool
  {
    guard let streak = streaks.withLock({ $0[stream] }) else { return false }
    return streak.since <= time && now - streak.last <= Self.silence
      && troubledAt.withLock { $0 }.map { $0 < streak.since } ?? true
  }

  /// From this time on, no node wrongly considers itself the leader.
  var rest: ContinuousClock.Instant {
    let times = [troubledAt.withLock { $0 }, startedAt.withLock { $0 }].compactMap { $0 }
    return times.max().map { $0 + Self.trouble } ?? .now
  }

  /// Nil if there was none.
  var lastTrouble: ContinuousClock.Instant? { troubledAt.withLock { $0 } }

  /// Nothing is known about the time before this.
  func noteStart(now: ContinuousClock.Instant = .now) { startedAt.withLock { $0 = now } }

  /// A request to the cluster has failed, or another node leads.
  func noteTrouble(now: ContinuousClock.Instant = .now) { troubledAt.withLock { $0 = now } }

  /// Like `number`, for what no leader compares: 0 while nodes may disagree about which of them leads.
  func numberWithoutTrouble(_ stream: String, now: ContinuousClock.Instant = .now) -> UInt64 {
    if let troubledAt = troubledAt.withLock({ $0 }), now - troubledAt < Self.trouble { return 0 }
    return number(stream, now: now)
  }
}
