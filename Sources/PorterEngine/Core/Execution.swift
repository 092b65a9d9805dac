import PorterPlatform

/// How an engine is reached: work goes into its queue, and is done in one of its turns. From any thread, except where it
/// says otherwise.
package protocol Turns: Sendable {
  typealias Job = @Sendable (Engine) -> Void

  /// False when the engine is being stopped; the job is dropped then.
  @discardableResult
  func enqueue(_ job: @escaping Job) -> Bool

  /// Ends the engine after the jobs that are queued. When it returns, the engine has released everything, a host's
  /// transport included, all descriptors are closed, and the engine itself is released. Not from one of the engine's turns.
  func stop()

  /// Waits until the promise is fulfilled; nil when the time ended first. Not from one of the engine's turns.
  func wait<Value: Sendable>(for promise: Promise<Value>, atMost span: Span?) -> Value?
}

/// Carries out requests that may block, one after the other, apart from the engine's turns. Belongs to the engine.
package protocol RequestWorker: AnyObject {
  /// What hands the answer over. It is called once the request itself, and all that it held, has been released.
  typealias Handover = @Sendable () -> Void
  typealias Request = @Sendable () -> Handover

  /// False when the system has no thread to give.
  func submit(_ request: @escaping Request) -> Bool
  /// Drops the requests whose turn has not come, and takes no more.
  func close()
  /// After `close`: waits for the request that is under way.
  func join()
}

/// Where an engine runs. The real one gives it threads; a simulator runs everything in a thread of its own, in an order
/// that follows from a seed.
package protocol Execution: Sendable {
  /// Makes the engine, and begins its turns. Nil when the system has no thread or descriptor to give.
  func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> (any Turns)?
  /// `isAwaited`: `join` will be called. A worker of which it is not may hang for as long as it likes.
  func makeWorker(isAwaited: Bool) -> any RequestWorker
}

/// A thread for each engine, and one for each way to a relay that it asks.
package struct ThreadedExecution: Execution {
  package init() {}

  package func start(_ make: @escaping @Sendable (any Turns) -> Engine) -> (any Turns)? { EngineThread.start(make) }
  package func makeWorker(isAwaited: Bool) -> any RequestWorker { ThreadWorker(isAwaited: isAwaited) }
}
