import PorterPlatform

/// Decides which piece of work is next: urgent ones first, then in order of arrival. A value.
struct DeferredOrder<Piece> {
  private var urgent: [Piece] = []
  private var others: [(piece: Piece, subject: Int64?)] = []

  var isEmpty: Bool { urgent.isEmpty && others.isEmpty }

  /// `subject`: the connection concerned.
  mutating func add(_ piece: Piece, about subject: Int64? = nil, isUrgent: Bool = false) {
    if isUrgent { urgent.append(piece) } else { others.append((piece, subject)) }
  }

  /// Makes the pieces waiting for this connection urgent.
  mutating func hasten(_ subject: Int64) {
    for other in others where other.subject == subject { urgent.append(other.piece) }
    others.removeAll { $0.subject == subject }
  }

  mutating func next() -> Piece? {
    guard urgent.isEmpty else { return urgent.removeFirst() }
    return others.isEmpty ? nil : others.removeFirst().piece
  }
}

/// Work for later turns, one piece in each, so that the engine notices requests between two messages.
final class DeferredWork {
  private let stop: StopSignal
  private var waiting = DeferredOrder<() -> Void>()

  init(stop: StopSignal) { self.stop = stop }

  var isEmpty: Bool { waiting.isEmpty }

  /// Runs `work` in a later turn: after waiting jobs, due timers, and work deferred earlier, unless this is urgent and
  /// the earlier work is not.
  func add(about subject: Int64? = nil, isUrgent: Bool = false, _ work: @escaping () -> Void) {
    waiting.add(work, about: subject, isUrgent: isUrgent)
  }

  /// Makes the work deferred for this connection urgent.
  func hasten(_ subject: Int64) { waiting.hasten(subject) }

  /// Runs one piece; returns whether it did. Runs nothing while a job that makes the engine release everything is
  /// waiting: that job comes first.
  func runNext() -> Bool {
    guard !stop.isStopRequested, let work = waiting.next() else { return false }
    work()
    return true
  }

  /// Called in the engine's last turn: each piece finds everything closed, and reports that to its caller.
  func runAll() {
    while let work = waiting.next() { work() }
  }
}
