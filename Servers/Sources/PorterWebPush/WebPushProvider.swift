import NIOCore
import NIOPosix
import NIOSSL
public import PorterPushClient
public import PorterServer
import Synchronization

/// Sends pushes to the push services of browsers and UnifiedPush: over HTTP/2, encrypted for the receiver,
/// authenticated with a VAPID key.
///
/// Pushes that cannot be sent now end as `later`; the notification server keeps them.
public final class WebPushProvider: PushSender {
  /// The name clients use when they register a token.
  public static let name = "webpush"

  private let services: NIOLoopBound<WebPushServices>
  private let loop: any EventLoop
  private let group: MultiThreadedEventLoopGroup
  private let names: NameResolver
  private let lastTally = Mutex(ServiceTally())
  private let log: PushLog
  public var capacity: Int { WebPushServices.capacity }

  public convenience init(
    _ options: WebPushOptions, clock: any PushClock = SystemPushClock(), log: @escaping PushLog = { _, _, _ in }
  ) throws(WebPushError) {
    let isPrivateAllowed = options.allowsPrivateAddresses
    let names = NameResolver(clock: clock) { isPrivateAllowed || AddressRule.isPublic($0) }
    try self.init(options, clock: clock, names: names, log: log)
  }

  package init(
    _ options: WebPushOptions, clock: any PushClock, names: NameResolver,
    log: @escaping PushLog
  ) throws(WebPushError) {
    let tls = try Self.context(options)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    let made: NIOLoopBound<WebPushServices>? = try? loop.submit {
      NIOLoopBound(WebPushServices(options, tls: tls, names: names, loop, clock, log), eventLoop: loop)
    }.wait()
    guard let made else { throw WebPushError("out of threads") }
    services = made
    self.log = log
    (self.group, self.names, self.loop) = (group, names, loop)
  }

  private static func context(_ options: WebPushOptions) throws(WebPushError) -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    if let authority = options.authority { configuration.trustRoots = .file(authority) }
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw WebPushError("\(options.authority ?? "the system's certificates"): cannot be used (\(error))")
    }
  }

  /// The state of push services as of the last `look`. Thread-safe.
  public var tally: ServiceTally { lastTally.withLock { $0 } }

  /// Returns immediately. Thread-safe.
  public func look() {
    loop.execute { [self] in
      let tally = services.value.tally()
      let before = lastTally.withLock { last in
        defer { last = tally }
        return last
      }
      guard tally.areAllInTrouble != before.areAllInTrouble else { return }
      if tally.areAllInTrouble {
        log("warning", "no push service works", tally.trouble.map { [(name: "reason", value: $0)] } ?? [])
      } else {
        log("info", "push services work again", [])
      }
    }
  }

  public func send(_ push: ServedPush, then: @escaping @Sendable (PushOutcome) -> Void) {
    loop.execute { [services] in services.value.send(push, then) }
  }

  /// Returns once everything sent earlier has begun; for tests.
  package func settle() throws {
    // Sent pushes are written in a task of their own.
    for _ in 0..<2 { try loop.submit {}.wait() }
  }

  /// Ends pushes under way as `unreachable`, and the threads, except those waiting for a name server.
  public func close() throws {
    try loop.submit { [services] in services.value.close() }.wait()
    names.close()
    try group.syncShutdownGracefully()
  }
}
