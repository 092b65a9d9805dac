import PorterPlatform
import PorterRelay

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Runs a notification server: waits for the relay, for deadlines, and for the outcomes of pushes.
///
/// The server belongs to the thread that calls `run`. Each provider has its own thread, so that one that does not
/// answer delays neither clients nor other providers.
package final class ServerLoop {
  private struct Delivery: Sendable {
    let pending: PendingPush
    let outcome: PushOutcome
  }

  private let server: NotificationServer
  private let workers: [String: ProviderWorker]
  private let deliveries = Monitor<[Delivery]>([])
  /// Raised when a delivery ends.
  private let delivered: WakeDescriptor
  private let stop: WakeDescriptor
  private let clock: any Clock
  private static let pause = Span.seconds(1)
  private var pausedUntil: Moment

  /// Ends when `stop` is raised, which any thread or signal handler may do.
  package init(
    server: NotificationServer, providers: [String: any PushProvider], stop: WakeDescriptor,
    clock: any Clock = SystemClock()
  ) throws(ServerError) {
    guard let delivered = WakeDescriptor() else { throw .noResources }
    self.server = server
    self.stop = stop
    self.clock = clock
    self.delivered = delivered
    pausedUntil = clock.now()
    let deliveries = deliveries
    var workers: [String: ProviderWorker] = [:]
    for (name, provider) in providers {
      let worker = ProviderWorker(provider) { pending, outcome in
        deliveries.signal { $0.append(Delivery(pending: pending, outcome: outcome)) }
        delivered.raise()
      }
      guard let worker else { throw .noResources }
      workers[name] = worker
    }
    self.workers = workers
  }

  deinit { for worker in workers.values { worker.close() } }

  /// Returns when `stop` is raised. Pushes in progress then are sent again after the next start.
  package func run() throws(ServerError) {
    while true {
      try server.serve()
      try toleratingTransientErrors { () throws(ServerError) in try handOver() }
      guard !wait(until: try nextDeadline()) else { return }
      server.port.drainWake()
      delivered.lower()
      for delivery in takeDeliveries() {
        workers[delivery.pending.provider]?.isBusy = false
        // If the outcome cannot be stored, the push is sent once more.
        try toleratingTransientErrors { () throws(ServerError) in try server.finish(delivery.pending, delivery.outcome)
        }
      }
    }
  }

  /// Runs `body`, and survives failures of the state file that may pass, such as a full disk: pushes are then paused
  /// for a short time.
  private func toleratingTransientErrors(_ body: () throws(ServerError) -> Void) throws(ServerError) {
    do throws(ServerError) { try body() } catch {
      guard error.isTemporary else { throw error }
      server.log(.warning, "pushes wait", ["reason": "\(error)"])
      pausedUntil = clock.now() + Self.pause
    }
  }

  private func takeDeliveries() -> [Delivery] {
    deliveries.withLock { deliveries in
      defer { deliveries.removeAll() }
      return deliveries
    }
  }

  /// Gives each idle provider its next push.
  private func handOver() throws(ServerError) {
    guard clock.now() >= pausedUntil else { return }
    for (name, worker) in workers.sorted(by: { $0.key < $1.key }) where !worker.isBusy {
      guard let pending = try server.nextPush(for: name) else { continue }
      worker.isBusy = true
      worker.deliver(pending)
    }
  }

  private func nextDeadline() throws(ServerError) -> Moment {
    let now = clock.now()
    var deadline = now + Self.pause
    try toleratingTransientErrors { () throws(ServerError) in deadline = try server.nextDeadline() }
    if let attempt = server.nextProviderAttempt { deadline = min(deadline, attempt) }
    return pausedUntil > now ? min(deadline, pausedUntil) : deadline
  }

  /// True if the loop is to stop.
  private func wait(until deadline: Moment) -> Bool {
    let wake = server.port.wakeDescriptor ?? -1
    var waiting = [stop.descriptor, delivered.descriptor, wake].map {
      pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
    }
    let left = deadline - clock.now()
    // Rounded up, so that it does not wake repeatedly just before the deadline.
    let milliseconds = Int32(clamping: max(0, left.milliseconds &+ 1))
    _ = poll(&waiting, nfds_t(waiting.count), left > .zero ? milliseconds : 0)
    return waiting[0].revents != 0
  }
}

/// One provider's thread.
private final class ProviderWorker {
  private struct Work {
    var pending: PendingPush?
    var isClosed = false
  }

  /// Belongs to the loop's thread.
  var isBusy = false
  private let work = Monitor(Work())

  /// Nil if the system is out of threads. `then` is called on the worker's thread.
  init?(_ provider: any PushProvider, then: @escaping @Sendable (PendingPush, PushOutcome) -> Void) {
    let work = work
    let isRunning = WorkerThread.start {
      while true {
        let next: PendingPush?? = work.wait(atMost: nil) { work in
          if work.isClosed { return .some(nil) }
          guard let pending = work.pending else { return nil }
          work.pending = nil
          return .some(pending)
        }
        guard case .some(.some(let pending)) = next else { return }
        then(pending, provider.deliverWithRetry(pending.push))
      }
    }
    guard isRunning else { return nil }
  }

  func deliver(_ pending: PendingPush) { work.signal { $0.pending = pending } }

  func close() { work.signal { $0.isClosed = true } }
}
