public import NIOCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The port for time.
public protocol PushClock: Sendable {
  var now: NIODeadline { get }
  /// Seconds since 1970, used for a token's age.
  var seconds: Int64 { get }
  /// Calls `then` on the loop. The returned function cancels that, and does nothing afterwards.
  func schedule(after time: TimeAmount, on loop: any EventLoop, _ then: @escaping @Sendable () -> Void)
    -> @Sendable () -> Void
}

public struct SystemPushClock: PushClock {
  public init() {}

  public var now: NIODeadline { .now() }

  public var seconds: Int64 { Int64(time(nil)) }

  public func schedule(after time: TimeAmount, on loop: any EventLoop, _ then: @escaping @Sendable () -> Void)
    -> @Sendable () -> Void
  {
    let task = loop.scheduleTask(in: time, then)
    return { task.cancel() }
  }
}
