import PorterPlatform

/// Carries the pushes of one provider.
protocol Worker: AnyObject {
  typealias Then = @Sendable (PendingPush, PushOutcome) -> Void

  /// Pushes that were handed over and whose outcomes have not been seen yet. Belongs to the loop's thread.
  var underWay: Set<Int64> { get set }
  /// The most pushes that may be under way.
  var capacity: Int { get }
  func deliver(_ pending: [PendingPush])
  func close()
}

/// One provider's threads.
final class ProviderWorker: Worker {
  private struct Work {
    var pending: ArraySlice<PendingPush> = []
    var isClosed = false
  }

  /// Pushes queued per thread, so that threads need not wait for outcomes to be stored.
  private static let queueFactor = 16

  var underWay: Set<Int64> = []
  let capacity: Int
  private let work = Monitor(Work())

  /// Nil if the system is out of threads. `then` is called on the worker's threads.
  init?(_ provider: any PushProvider, then: @escaping Then) {
    let concurrency = max(1, provider.concurrency)
    capacity = concurrency == 1 ? 1 : concurrency * Self.queueFactor
    let work = work
    for _ in 0..<concurrency {
      let isRunning = WorkerThread.start {
        while true {
          let next: PendingPush?? = work.wait(atMost: nil) { work in
            if work.isClosed { return .some(nil) }
            return work.pending.popFirst().map { .some($0) }
          }
          guard case .some(.some(let pending)) = next else { return }
          then(pending, provider.deliverWithRetry(pending.push))
        }
      }
      guard isRunning else {
        close()
        return nil
      }
    }
  }

  func deliver(_ pending: [PendingPush]) {
    if !pending.isEmpty { work.signal { $0.pending.append(contentsOf: pending) } }
  }

  func close() { work.signal { $0.isClosed = true } }
}

/// A provider that needs no threads.
final class SenderWorker: Worker {
  var underWay: Set<Int64> = []
  var capacity: Int { max(1, sender.capacity) }
  private let sender: any PushSender
  private let then: Then

  init(_ sender: any PushSender, then: @escaping Then) {
    self.sender = sender
    self.then = then
  }

  func deliver(_ pending: [PendingPush]) {
    for pending in pending {
      let then = then
      sender.send(ServedPush(pending)) { then(pending, $0) }
    }
  }

  func close() {}
}
