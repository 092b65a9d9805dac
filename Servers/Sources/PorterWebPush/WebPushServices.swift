import NIOCore
import NIOPosix
import NIOSSL
import PorterPushClient
import PorterServer

/// The push services that endpoints name, each with a connection of its own. Clients choose them: one that fails, hangs or is no push
/// service delays no other's pushes.
///
/// Belongs to the event loop.
final class WebPushServices {
  private struct Service {
    let client: PushClient
    /// In a row. Pushes are for later until `pausedUntil`.
    var failures = 0
    var pausedUntil: NIODeadline?
    /// It has answered, and not failed since.
    var isProven = false
    var stopIdling: @Sendable () -> Void = {}
  }

  static let capacity = 4_096
  /// Pushes under way to one service.
  private static let mostOfService = capacity / 2
  /// Pushes under way to services that have not answered yet, or failed last time.
  private static let mostUnproven = capacity / 4
  private static let mostServices = 10_000
  private static let firstPause = TimeAmount.seconds(30)
  private static let longestPause = TimeAmount.hours(1)
  /// For what is only too much at a time.
  private static let breath = 1

  private let options: WebPushOptions
  private let loop: any EventLoop
  private let clock: any PushClock
  private let log: @Sendable (String, String) -> Void
  private let tls: NIOSSLContext
  private let addresses: AddressRule
  private var services: [WebPushOrigin: Service] = [:]
  private var unproven = 0
  private var isClosed = false

  init(
    _ options: WebPushOptions, tls: NIOSSLContext, pool: NIOThreadPool, _ loop: any EventLoop, _ clock: any PushClock,
    _ log: @escaping @Sendable (String, String) -> Void
  ) {
    self.options = options
    self.loop = loop
    self.clock = clock
    self.log = log
    self.tls = tls
    addresses = options.allowsPrivateAddresses ? .any : .publicOnly(pool)
  }

  func send(_ push: ServedPush, _ then: @escaping (PushOutcome) -> Void) {
    guard !isClosed else { return then(.unreachable) }
    guard let origin = push.webPush.flatMap({ WebPushOrigin(of: $0.endpoint) }), isAllowed(origin) else {
      return then(.invalid(.bad))
    }
    guard let service = service(at: origin) else { return then(.later(seconds: 60)) }
    if let until = service.pausedUntil, clock.now < until { return then(.later(seconds: seconds(until - clock.now))) }
    let isUnproven = !service.isProven
    guard service.client.underWay < Self.mostOfService, !isUnproven || unproven < Self.mostUnproven else {
      return then(.later(seconds: Self.breath))
    }
    service.stopIdling()
    if isUnproven { unproven += 1 }
    service.client.send(push) { outcome in
      if isUnproven { self.unproven -= 1 }
      then(self.ended(outcome, at: origin))
    }
  }

  func close() {
    isClosed = true
    for service in services.values {
      service.stopIdling()
      service.client.close()
    }
  }

  /// An address that is not reached through the Internet. What a name leads to is checked when it is resolved.
  private func isAllowed(_ origin: WebPushOrigin) -> Bool {
    options.allowsPrivateAddresses || AddressRule.isPublic(literal: origin.host) != false
  }

  /// Nil if there are too many.
  private func service(at origin: WebPushOrigin) -> Service? {
    if let service = services[origin] { return service }
    if services.count >= Self.mostServices { forgetSomePaused() }
    guard services.count < Self.mostServices else { return nil }
    let peer = PushPeer(
      host: origin.host, port: origin.port, tls: tls, streams: options.streams, timeLimit: options.timeLimit,
      addresses: addresses)
    let made = Service(client: PushClient(peer, WebPushDialect(origin, options), loop, clock, log))
    services[origin] = made
    return made
  }

  /// Those with nothing under way, whose next failures are then counted anew.
  private func forgetSomePaused() {
    let paused = services.filter { $0.value.client.underWay == 0 && $0.value.failures > 0 }
    for origin in paused.keys.prefix(Self.mostServices / 4) {
      services.removeValue(forKey: origin)?.stopIdling()
    }
  }

  // MARK: Outcomes

  private func ended(_ outcome: PushOutcome, at origin: WebPushOrigin) -> PushOutcome {
    guard !isClosed, var service = services[origin] else { return outcome }
    defer {
      services[origin] = service
      if service.client.underWay == 0 { idle(origin) }
    }
    switch outcome {
    case .unreachable: return .later(seconds: pause(&service))
    // A key that is no point: nothing was sent.
    case .invalid(.bad): return outcome
    case .accepted, .invalid, .ended, .later, .failed, .rejected:
      service.failures = 0
      service.isProven = true
      return outcome
    }
  }

  /// Those that were under way together are one attempt. Returns seconds.
  private func pause(_ service: inout Service) -> Int {
    let now = clock.now
    if let until = service.pausedUntil, now < until { return seconds(until - now) }
    let backoff = min(Self.longestPause, Self.firstPause * (1 << min(service.failures, 10)))
    let pause = max(backoff, service.client.pauseLeft ?? .zero)
    service.failures += 1
    service.isProven = false
    service.pausedUntil = now + pause
    return seconds(pause)
  }

  /// Rounded up.
  private func seconds(_ time: TimeAmount) -> Int { Int((time.nanoseconds + 999_999_999) / 1_000_000_000) }

  /// The connection of a service that gets nothing more is closed; a pause is remembered.
  private func idle(_ origin: WebPushOrigin) {
    services[origin]?.stopIdling()
    let bound = NIOLoopBound(self, eventLoop: loop)
    services[origin]?.stopIdling = clock.schedule(after: options.idleTime, on: loop) { bound.value.rest(origin) }
  }

  private func rest(_ origin: WebPushOrigin) {
    guard let service = services[origin], service.client.underWay == 0 else { return }
    service.client.rest()
    if service.failures == 0 { services[origin] = nil }
  }
}
