import PorterRelayServer

/// Exchanges with many signatures to verify. Only a few turns of them are under way at a time, and the others wait, as
/// at a file (`TurnQueue`). Otherwise one client's would occupy all threads, and the relay would notice the cluster's
/// answers too late: those to other clients, and those to the probe that decides whether the relay is ready.
struct LongExchanges<Job: Sendable>: Sendable {
  /// Several, because a turn spends most of its time waiting for the cluster.
  static var mostTurns: Int { 4 }

  struct Turn: Sendable {
    /// Each with the time by which its client needs an answer.
    var jobs: [(job: Job, deadline: ContinuousClock.Instant)] = []
    /// These waited for too long.
    var late: [Job] = []
  }

  private struct Waiting: Sendable {
    let job: Job
    let deadline: ContinuousClock.Instant
  }

  private var queue = TurnQueue<Waiting>()
  private var turns = 0

  static func isLong(signatures: Int) -> Bool { TurnQueue<Waiting>.isLong(signatures: signatures) }

  /// Whether another one of the source may wait beside these: they leave room for other exchanges, of which there may
  /// be `most`, and for other sources'.
  func hasRoom(for source: Source, of most: Int) -> Bool {
    turns < Self.mostTurns || queue.hasRoomForLong(of: source, most: max(1, most / 4))
  }

  mutating func add(_ job: Job, signatures: Int, of source: Source, deadline: ContinuousClock.Instant) {
    queue.add(Waiting(job: job, deadline: deadline), signatures: signatures, of: source, from: nil)
  }

  /// Nil if as many turns are under way as may be, or nothing waits. A turn with jobs must be ended.
  mutating func begin(now: ContinuousClock.Instant) -> Turn? {
    guard turns < Self.mostTurns, queue.count > 0 else { return nil }
    // Not only in the turn of its source, which may have many: its client has left.
    let late = queue.removeLong { $0.deadline <= now }
    let turn = Turn(jobs: queue.takeTurn().map { ($0.job, $0.deadline) }, late: late.map(\.job))
    if !turn.jobs.isEmpty { turns += 1 }
    return turn
  }

  mutating func end() { turns -= 1 }
}
