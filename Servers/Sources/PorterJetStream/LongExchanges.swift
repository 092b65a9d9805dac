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

  /// Whether another one may wait beside these: they leave room for other exchanges, of which there may be `most`.
  func hasRoom(of most: Int) -> Bool { turns < Self.mostTurns || queue.longCount < max(1, most / 4) }

  mutating func add(_ job: Job, signatures: Int, deadline: ContinuousClock.Instant) {
    queue.add(Waiting(job: job, deadline: deadline), signatures: signatures, from: [])
  }

  /// Nil if as many turns are under way as may be, or nothing waits. A turn with jobs must be ended.
  mutating func begin(now: ContinuousClock.Instant) -> Turn? {
    guard turns < Self.mostTurns, queue.count > 0 else { return nil }
    var turn = Turn()
    for each in queue.takeTurn() {
      if each.deadline > now { turn.jobs.append((each.job, each.deadline)) } else { turn.late.append(each.job) }
    }
    if !turn.jobs.isEmpty { turns += 1 }
    return turn
  }

  mutating func end() { turns -= 1 }
}
