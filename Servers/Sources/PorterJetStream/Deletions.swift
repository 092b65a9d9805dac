import Synchronization

/// Deletions that nobody waits for, a few at a time. A node of 2.9 looks for the next message of a subject through all in between when it deletes
/// the first one: were all sent that are due, whatever a relay asks for next would wait behind them, and time out.
final class Deletions: Sendable {
  struct Deletion: Sendable, Equatable {
    let stream: String
    let sequence: UInt64
  }

  private struct State {
    var waiting: [Deletion] = []
    var first = 0
    var underWay = 0

    var count: Int { waiting.count - first }

    mutating func takeFirst() -> Deletion? {
      guard first < waiting.count else {
        (waiting, first) = ([], 0)
        return nil
      }
      defer { first += 1 }
      return waiting[first]
    }
  }

  private static let fewest = 16
  /// The more of them wait, the more are under way.
  private static let share = 32
  private let state = Mutex(State())
  private let perform: @Sendable (Deletion) async -> Void

  /// `perform`: returns when there is an answer, or will be none.
  init(perform: @escaping @Sendable (Deletion) async -> Void) { self.perform = perform }

  func add(_ deletion: Deletion) {
    let begins = state.withLock { state in
      state.waiting.append(deletion)
      guard state.underWay < max(Self.fewest, state.count / Self.share) else { return false }
      state.underWay += 1
      return true
    }
    guard begins else { return }
    // Not with the deadline of an exchange.
    Task.detached { [self] in
      while let next = take() { await perform(next) }
    }
  }

  private func take() -> Deletion? {
    state.withLock { state in
      let next = state.takeFirst()
      if next == nil { state.underWay -= 1 }
      return next
    }
  }
}
