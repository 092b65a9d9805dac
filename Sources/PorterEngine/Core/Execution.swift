import PorterPlatform

/// Access to an engine: work goes into its queue and is done in one of its turns. Threads: any, unless stated
/// otherwise.
package protocol Turns: Sendable {
  typealias Job = @Sendable (Engine) -> Void

  /// Returns false when the engine is being stopped; the job is then dropped.
  @discardableResult
  func enqueue(_ job: @escaping Job) -> Bool

  /// Ends the engine after the queued jobs. On return the engine has released everything, including a host's transport,
  /// all descriptors are closed, and the engine itself is released. Must not be called from one of the engine's turns.
  func stop()

  /// Waits until the promise is fulfilled; nil when the time ran out first. Must not be called from one of the engine's
  /// turns.
  func wait<Value: Sendable>(for promise: Promise<Value>, atMost span: Span?) -> Value?
}

/// Carries out requests that may block, one after the other, outside the engine's turns. Belongs to the engine.
package protocol RequestWorker: AnyObject {
  /// Hands the answer over. Called once the request itself, and everything it held, has been released.
  typealias Handover = @Sendable () -> Void
  typealias Request = @Sendable () -> Handover

  /// Returns false when out of threads.
  func submit(_ request: @escaping Request) -> Bool
  /// Drops the requests that have not started, and accepts no more.
  func close()
  /// After `close`: waits for the request in progress.
  func join()
}

/// Where an engine runs. The real one uses threads; a simulator runs everything in a thread of its own, in an order
/// derived from a seed.
package protocol Execution: Sendable {
  /// Makes the engine and begins its turns. Nil when out of threads or file descriptors.
  func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> (any Turns)?
  /// `isAwaited`: `join` will be called. A worker that is not awaited may hang indefinitely.
  func makeWorker(isAwaited: Bool) -> any RequestWorker
}

/// One thread per engine, and one per way to a relay that it asks.
package struct ThreadedExecution: Execution {
  package init() {}

  package func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> (any Turns)? { EngineThread.start(make) }
  package func makeWorker(isAwaited: Bool) -> any RequestWorker { ThreadWorker(isAwaited: isAwaited) }
}
