import NIOCore
import NIOPosix
import NIOSSL
public import PorterPushClient
public import PorterServer
import Synchronization

/// Sends pushes to Apple's service over one HTTP/2 connection, with as many streams as the peer allows.
///
/// Pushes that cannot be sent now end as `unreachable`; the notification server keeps them and retries later.
public final class APNsProvider: PushSender {
  private let client: NIOLoopBound<PushClient>
  private let loop: any EventLoop
  private let group: MultiThreadedEventLoopGroup
  private let allowed: Allowed
  /// Until the peer allows more than half as many.
  private static let leastCapacity = 2_000

  /// Twice the number under way at the peer, so that streams need not wait for outcomes to be stored.
  public var capacity: Int { max(Self.leastCapacity, 2 * allowed.streams) }

  public init(
    _ options: APNsOptions, clock: any PushClock = SystemPushClock(), log: @escaping PushLog = { _, _, _ in }
  ) throws(APNsError) {
    let peer = PushPeer(
      host: options.host, port: options.port, tls: try Self.context(options), streams: options.streams,
      timeLimit: options.timeLimit)
    let allowed = Allowed()
    self.allowed = allowed
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    self.group = group
    self.loop = loop
    let made: NIOLoopBound<PushClient>? = try? loop.submit {
      NIOLoopBound(
        PushClient(peer, APNsDialect(options), loop, clock, log) { allowed.set($0) }, eventLoop: loop)
    }.wait()
    guard let made else { throw APNsError("out of threads") }
    client = made
  }

  /// How many streams the peer allowed last.
  private final class Allowed: Sendable {
    private let count = Mutex(0)
    var streams: Int { count.withLock { $0 } }
    func set(_ streams: Int) { count.withLock { $0 = streams } }
  }

  private static func context(_ options: APNsOptions) throws(APNsError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    if let authority = options.authority { configuration.trustRoots = .file(authority) }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw APNsError("\(options.authority ?? "the system's certificates"): cannot be used (\(error))")
    }
  }

  public func send(_ push: ServedPush, then: @escaping @Sendable (PushOutcome) -> Void) {
    loop.execute { [client] in client.value.send(push, then) }
  }

  /// Returns once everything sent earlier has begun; for tests.
  package func settle() throws {
    // Sent pushes are written in a task of their own.
    for _ in 0..<2 { try loop.submit {}.wait() }
  }

  /// Ends pushes under way as `unreachable`, and the thread. Blocks until that is done.
  public func close() throws {
    try loop.submit { [client] in client.value.close() }.wait()
    try group.syncShutdownGracefully()
  }
}
