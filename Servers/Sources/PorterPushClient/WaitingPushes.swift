import NIOCore

/// Pushes waiting, in order, for room on a connection, and their timeouts. Time comes with each call.
struct WaitingPushes {
  enum Overdue: Equatable {
    case none
    /// The peer answers, but does not reach these in time.
    case slow([Int])
    /// The peer has answered nothing for that long: all waiting pushes.
    case stuck([Int])
  }

  private let limit: TimeAmount
  private var line = CircularBuffer<(number: Int, since: NIODeadline)>()
  private var lastAnswer: NIODeadline?

  init(limit: TimeAmount) { self.limit = limit }

  var isEmpty: Bool { line.isEmpty }

  /// When the first of them will have waited too long.
  var deadline: NIODeadline? { line.lazy.map(\.since).min().map { $0 + limit } }

  mutating func append(_ number: Int, _ now: NIODeadline) { line.append((number, now)) }

  /// In front of all others.
  mutating func prepend(_ number: Int, _ now: NIODeadline) { line.prepend((number, now)) }

  mutating func popFirst() -> Int? { line.popFirst()?.number }

  mutating func removeAll() -> [Int] {
    defer { line.removeAll() }
    return line.map(\.number)
  }

  /// The peer has answered a push.
  mutating func answered(_ now: NIODeadline) { lastAnswer = now }

  /// Removes the pushes it returns.
  mutating func removeOverdue(_ now: NIODeadline) -> Overdue {
    let late = line.filter { $0.since + limit <= now }
    guard !late.isEmpty else { return .none }
    guard let lastAnswer, now < lastAnswer + limit else { return .stuck(removeAll()) }
    line.removeAll { $0.since + limit <= now }
    return .slow(late.map(\.number))
  }
}
