import Synchronization

/// Notices that a stream has gone back: what it had acknowledged is not there any more, or something else is in its place. Nodes of 2.9
/// do that when they begin to follow each other from different logs (`test_replicas.py`), and say nothing of it to clients.
final class StreamWatch: Sendable {
  private struct State {
    /// The highest number that each stream has acknowledged.
    var highest: [String: UInt64] = [:]
    var lost: [String: ContinuousClock.Instant] = [:]
  }

  /// How long a loss is a problem of the relay's: until an operator has seen it.
  private static let span = Duration.seconds(3_600)

  private let state = Mutex(State())
  private let report: @Sendable (_ stream: String) -> Void

  init(report: @escaping @Sendable (_ stream: String) -> Void = { _ in }) { self.report = report }

  /// What a message that is published now must come after.
  var marks: [String: UInt64] { state.withLock { $0.highest } }

  /// False if the stream has gone back.
  func acknowledged(_ stream: String, _ sequence: UInt64, after marks: [String: UInt64]) -> Bool {
    let isBehind = sequence <= marks[stream] ?? 0
    state.withLock { $0.highest[stream] = isBehind ? sequence : max(sequence, $0.highest[stream] ?? 0) }
    if isBehind { lost(stream) }
    return !isBehind
  }

  func lost(_ stream: String, now: ContinuousClock.Instant = .now) {
    let isNew = state.withLock { state in
      let last = state.lost.updateValue(now, forKey: stream)
      return last.map { now - $0 > Self.span } ?? true
    }
    if isNew { report(stream) }
  }

  func problem(now: ContinuousClock.Instant = .now) -> String? {
    let streams = state.withLock { $0.lost.filter { now - $0.value <= Self.span }.keys.sorted() }
    guard !streams.isEmpty else { return nil }
    return "\(streams.joined(separator: ", ")): the cluster has lost messages that it had acknowledged"
  }
}
