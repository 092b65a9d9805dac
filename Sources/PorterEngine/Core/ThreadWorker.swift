import PorterPlatform

/// A thread that carries out requests, started with the first one.
final class ThreadWorker: RequestWorker {
  private struct Queue {
    var requests: [Request] = []
    var isClosed = false
  }

  private enum Thread {
    case none
    case detached
    case joinable(WorkerThread.Handle)
  }

  private let isAwaited: Bool
  private let queue = Monitor(Queue())
  private var thread = Thread.none

  init(isAwaited: Bool) { self.isAwaited = isAwaited }

  func submit(_ request: @escaping Request) -> Bool {
    guard start() else { return false }
    queue.signal { $0.requests.append(request) }
    return true
  }

  func close() {
    queue.signal { queue in
      queue.requests.removeAll()
      queue.isClosed = true
    }
  }

  func join() {
    if case .joinable(let handle) = thread { handle.join() }
    thread = .none
  }

  private func start() -> Bool {
    guard case .none = thread else { return true }
    let queue = queue
    let run: @Sendable () -> Void = { while let handOver = Self.performNext(queue) { handOver() } }
    if isAwaited {
      thread = WorkerThread.startJoinable(run).map { .joinable($0) } ?? .none
    } else if WorkerThread.start(run) {
      thread = .detached
    }
    if case .none = thread { return false }
    return true
  }

  /// Returns nil at the end. When the answer is handed over, this thread no longer holds the transport: a host that
  /// frees the controller on the answer is the last to hold it.
  private static func performNext(_ queue: Monitor<Queue>) -> Handover? {
    let next: Request?? = queue.wait(atMost: nil) { queue in
      if !queue.requests.isEmpty { return .some(.some(queue.requests.removeFirst())) }
      return queue.isClosed ? .some(.none) : nil
    }
    guard case .some(.some(let request)) = next else { return nil }
    return request()
  }
}
