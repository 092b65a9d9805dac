import PorterPlatform

/// Which piece of work is taken up next: what is urgent, else what came first. A value.
struct DeferredOrder<Piece> {
  private var urgent: [Piece] = []
  private var others: [(piece: Piece, subject: Int64?)] = []

  var isEmpty: Bool { urgent.isEmpty && others.isEmpty }

  /// `subject`: the connection that it is about.
  mutating func add(_ piece: Piece, about subject: Int64? = nil, isUrgent: Bool = false) {
    if isUrgent { urgent.append(piece) } else { others.append((piece, subject)) }
  }

  /// What waits and is about this connection is urgent now.
  mutating func hasten(_ subject: Int64) {
    for other in others where other.subject == subject { urgent.append(other.piece) }
    others.removeAll { $0.subject == subject }
  }

  mutating func next() -> Piece? {
    guard urgent.isEmpty else { return urgent.removeFirst() }
    return others.isEmpty ? nil : others.removeFirst().piece
  }
}

/// Work for later turns, one piece in each, so that between two messages the engine notices what it is asked for.
final class DeferredWork {
  private let stop: StopSignal
  private var waiting = DeferredOrder<() -> Void>()

  init(stop: StopSignal) { self.stop = stop }

  var isEmpty: Bool { waiting.isEmpty }

  /// Runs `work` in a later turn: after the jobs that wait, the timers that are due, and what was deferred before, unless this is
  /// urgent and that is not.
  func add(about subject: Int64? = nil, isUrgent: Bool = false, _ work: @escaping () -> Void) {
    waiting.add(work, about: subject, isUrgent: isUrgent)
  }

  /// What was deferred about this connection is urgent now.
  func hasten(_ subject: Int64) { waiting.hasten(subject) }

  /// Runs one piece, if it returns true. Not while a job waits that has the engine release everything: that job comes first.
  func runNext() -> Bool {
    guard !stop.isStopRequested, let work = waiting.next() else { return false }
    work()
    return true
  }

  /// In the engine's last turn: each piece finds everything closed, and reports that to its caller.
  func runAll() {
    while let work = waiting.next() { work() }
  }
}
