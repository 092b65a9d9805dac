import NIOCore
import NIOSSL
import PorterPushClient
import PorterServer

/// The push services that endpoints name, each with its own connection. Clients choose them: one that fails, hangs or
/// is not a push service does not delay pushes to the others.
///
/// Confined to the event loop.
final class WebPushServices {
  private struct Service {
    let client: PushClient
    var standing = ServiceStanding()
    var stopIdling: @Sendable () -> Void = {}
  }

  static let capacity = 4_096
  /// Pushes under way to all services: beyond half of its capacity a provider is given no more. Each service gets at
  /// most as many as it leaves free, so that there is room for others however many services hang.
  private static let mostUnderWay = capacity / 2
  /// Pushes under way to services that have not answered yet, or failed last time.
  private static let mostUnproven = mostUnderWay / 4
  private static let mostServices = 10_000
  private static let mostRefused = 65_536
  /// For a momentary excess.
  private static let breath = 1

  private let options: WebPushOptions
  private let loop: any EventLoop
  private let clock: any PushClock
  private let log: PushLog
  private let tls: NIOSSLContext
  private let addresses: AddressRule
  private var services: [WebPushOrigin: Service] = [:]
  private var refused = RefusedSubscriptions(most: mostRefused)
  private var underWay = 0
  private var unproven = 0
  private var isClosed = false

  init(
    _ options: WebPushOptions, tls: NIOSSLContext, names: NameResolver, _ loop: any EventLoop, _ clock: any PushClock,
    _ log: @escaping PushLog
  ) {
    self.options = options
    self.loop = loop
    self.clock = clock
    self.log = log
    self.tls = tls
    addresses = .resolved(by: names)
  }

  func send(_ push: ServedPush, _ then: @escaping (PushOutcome) -> Void) {
    guard !isClosed else { return then(.unreachable(.stopping)) }
    guard let endpoint = push.webPush?.endpoint, let origin = WebPushOrigin(of: endpoint), isAllowed(origin) else {
      return then(.invalid(.bad))
    }
    guard let service = service(at: origin) else { return then(.later(seconds: 60)) }
    if let left = service.standing.pauseLeft(clock.now) ?? refused.pauseLeft(endpoint, clock.now) {
      return then(.later(seconds: seconds(left)))
    }
    let isUnproven = !service.standing.isProven
    let free = Self.mostUnderWay - underWay
    guard service.client.underWay < free, !isUnproven || unproven < Self.mostUnproven else {
      return then(.later(seconds: Self.breath))
    }
    service.stopIdling()
    underWay += 1
    if isUnproven { unproven += 1 }
    service.client.send(push) { outcome in
      self.underWay -= 1
      if isUnproven { self.unproven -= 1 }
      then(self.ended(outcome, of: endpoint, at: origin))
    }
  }

  /// The current tally. Iterates over all services.
  func tally() -> ServiceTally { ServiceTally(services.values.lazy.map(\.standing), clock.now) }

  func close() {
    isClosed = true
    for service in services.values {
      service.stopIdling()
      service.client.close()
    }
  }

  /// False for an address that is not reached through the Internet, unless private ones are allowed. The addresses of a
  /// name are checked when it is resolved.
  private func isAllowed(_ origin: WebPushOrigin) -> Bool {
    options.allowsPrivateAddresses || AddressRule.isPublic(literal: origin.host) != false
  }

  /// Nil if there are too many.
  private func service(at origin: WebPushOrigin) -> Service? {
    if let service = services[origin] { return service }
    if services.count >= Self.mostServices { forgetSome() }
    guard services.count < Self.mostServices else { return nil }
    let peer = PushPeer(
      host: origin.host, port: origin.port, tls: tls, streams: options.streams, timeLimit: options.timeLimit,
      addresses: addresses)
    let made = Service(client: PushClient(peer, WebPushDialect(origin, options), loop, clock, log))
    services[origin] = made
    return made
  }

  /// Forgets services with nothing under way, which then count as new; those that do not answer go first.
  private func forgetSome() {
    let idle = services.filter { $0.value.client.underWay == 0 }
    let (good, bad) = (idle.filter(\.value.standing.isProven), idle.filter { !$0.value.standing.isProven })
    for origin in (Array(bad.keys) + Array(good.keys)).prefix(Self.mostServices / 4) {
      guard let service = services.removeValue(forKey: origin) else { continue }
      service.stopIdling()
      service.client.rest()
    }
  }

  // MARK: Outcomes

  private func ended(_ outcome: PushOutcome, of endpoint: String, at origin: WebPushOrigin) -> PushOutcome {
    guard !isClosed, var service = services[origin] else { return outcome }
    defer {
      services[origin] = service
      if service.client.underWay == 0 { idle(origin) }
    }
    switch outcome {
    case .unreachable(let failure), .refused(let failure):
      let pause = service.standing.failed(clock.now, failure, asked: service.client.pauseLeft)
      return .later(seconds: seconds(pause))
    // The key is not a point: nothing was sent.
    case .invalid(.bad): return outcome
    case .rejected(status: 401), .rejected(status: 403):
      return .later(seconds: seconds(refusedKey(of: endpoint, &service.standing)))
    case .accepted: service.standing.accepted(clock.now)
    case .invalid, .ended, .later, .failed, .rejected: service.standing.answered(clock.now)
    }
    refused.answered(endpoint)
    return outcome
  }

  private func refusedKey(of endpoint: String, _ standing: inout ServiceStanding) -> TimeAmount {
    let own = refused.refused(endpoint, clock.now)
    let isNew = standing.state != .refusingKey
    guard let pause = standing.refusedKey(clock.now) else { return own }
    if isNew {
      log("warning", "a push service refuses the VAPID token: is it the subscriptions' key, and the clock right?", [])
    }
    return max(own, pause)
  }

  /// Rounded up.
  private func seconds(_ time: TimeAmount) -> Int { Int((time.nanoseconds + 999_999_999) / 1_000_000_000) }

  /// Closes the connection of a service that is sent nothing more; its pause, and that it has accepted the key, stay
  /// remembered.
  private func idle(_ origin: WebPushOrigin) {
    services[origin]?.stopIdling()
    let bound = NIOLoopBound(self, eventLoop: loop)
    services[origin]?.stopIdling = clock.schedule(after: options.idleTime, on: loop) { bound.value.rest(origin) }
  }

  private func rest(_ origin: WebPushOrigin) {
    guard let service = services[origin], service.client.underWay == 0 else { return }
    service.client.rest()
    if service.standing.isForgettable { services[origin] = nil }
  }
}
