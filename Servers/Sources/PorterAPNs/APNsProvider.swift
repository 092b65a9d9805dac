import NIOCore
import NIOPosix
import PorterServer

/// Sends pushes to Apple's service: one HTTP/2 connection, with as many streams as the peer allows.
///
/// Pushes that cannot be sent now end as `unreachable`; the notification server keeps them and tries again later.
public final class APNsProvider: PushSender {
  private let core: APNsCore
  private let group: MultiThreadedEventLoopGroup

  /// `log` gets lines without tokens or contents, each with a level from `debug` to `error`.
  public init(
    _ options: APNsOptions, clock: any APNsClock = SystemAPNsClock(),
    log: @escaping @Sendable (_ level: String, _ line: String) -> Void = { _, _ in }
  ) throws(APNsError) {
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    core = try APNsCore(options, group.next(), clock, log)
  }

  /// Twice what is under way at the peer, so that streams need not wait for the outcomes to be stored.
  public var capacity: Int { core.capacity }

  public func send(_ push: ServedPush, then: @escaping @Sendable (PushOutcome) -> Void) {
    core.loop.execute { [core] in core.send(push, then) }
  }

  /// Returns when what was sent before has been begun; for tests.
  package func settle() throws { try core.loop.submit {}.wait() }

  /// Ends what is under way as `unreachable`, and the thread. Blocks until that is done.
  public func close() throws {
    try core.loop.submit { [core] in core.close() }.wait()
    try group.syncShutdownGracefully()
  }
}
