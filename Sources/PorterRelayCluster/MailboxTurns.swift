import Synchronization

/// Runs the changes of one mailbox at this relay one after the other, in the order requested. Between relays,
/// compare-and-set decides; within one it would make all but one of them start over each time.
final class MailboxTurns: Sendable {
  private typealias Waiter = UnsafeContinuation<Void, Never>

  /// A key is present while it has a turn, with those waiting for theirs.
  private let waiting = Mutex<[String: [Waiter]]>([:])

  func take<Value: Sendable, Failure: Error>(
    _ key: String, _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await begin(key)
    defer { end(key) }
    return try await body()
  }

  private func begin(_ key: String) async {
    await withUnsafeContinuation { (waiter: Waiter) in
      let isFree = waiting.withLock { waiting in
        if waiting[key]?.append(waiter) != nil { return false }
        waiting[key] = []
        return true
      }
      if isFree { waiter.resume() }
    }
  }

  private func end(_ key: String) {
    let next = waiting.withLock { waiting -> Waiter? in
      guard var waiters = waiting[key], !waiters.isEmpty else {
        waiting[key] = nil
        return nil
      }
      let next = waiters.removeFirst()
      waiting[key] = waiters
      return next
    }
    next?.resume()
  }
}
