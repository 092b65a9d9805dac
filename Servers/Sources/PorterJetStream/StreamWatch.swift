import Synchronization

/// Detects that a stream has gone back: messages it had acknowledged are missing, or others are in their place. Nodes
/// of 2.9 do this when they start to follow each other from different logs (`test_replicas.py`), and do not report it
/// to clients.
final class StreamWatch: Sendable {
  private struct State {
    /// The highest sequence number each stream has acknowledged.
    var highest: [String: UInt64] = [:]
    var lost: [String: ContinuousClock.Instant] = [:]
  }

  /// How long a loss is reported as a problem of the relay: long enough for an operator to see it.
  private static let span = Duration.seconds(3_600)

  private let state = Mutex(State())
  private let report: @Sendable (_ stream: String) -> Void

  init(report: @escaping @Sendable (_ stream: String) -> Void = { _ in }) { self.report = report }

  /// The numbers that a message published now must exceed.
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
