public import NIOCore
import NIOHTTP2
import NIOPosix
public import NIOSSL
public import PorterServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The destination of pushes.
public struct PushPeer: Sendable {
  public let host: String
  public let port: Int
  public let tls: NIOSSLContext
  /// Concurrent requests at most, if the peer allows as many.
  public let streams: Int
  /// For a connection to be ready, for room on it, and for an answer.
  public let timeLimit: TimeAmount
  /// Whether the addresses of the host's name are checked.
  public let addresses: AddressRule

  public init(
    host: String, port: Int, tls: NIOSSLContext, streams: Int, timeLimit: TimeAmount, addresses: AddressRule = .any
  ) {
    self.host = host
    self.port = port
    self.tls = tls
    self.streams = streams
    self.timeLimit = timeLimit
    self.addresses = addresses
  }
}

/// Sends pushes to one peer, over one HTTP/2 connection with as many streams as the peer allows. The dialect handles
/// anything provider-specific.
///
/// Pushes that cannot be sent now end as `unreachable`, and those that the peer itself defers as `later`: none waits
/// here for longer than a few time limits. Confined to its event loop.
public final class PushClient {
  /// A push under way.
  private struct Job {
    let push: ServedPush
    let then: (PushOutcome) -> Void
    /// How often it ended without an answer.
    var losses = 0
    var returns = 0
    var refusals = 0
    /// How much the peer had answered when it was first sent.
    var answersBefore: Int?
    var credential = 0
    var connection: HTTP2Connection?
    var stopTimer: @Sendable () -> Void = {}
  }

  /// The longest time for which a peer may ask us to send it nothing at all: other pushes wait as well.
  static let longestPause = TimeAmount.minutes(15)
  private static let longestReturns = 3
  private static let mostDeferrals = 65_536
  private static let mostFailures = 64
  /// For pushes that a slow peer has not reached.
  private static let breath = 1

  private let loop: any EventLoop
  private let peer: PushPeer
  private let dialect: any PushDialect
  private let clock: any PushClock
  private let log: PushLog
  private let allowed: (Int) -> Void
  private var jobs: [Int: Job] = [:]
  private var nextJob = 0
  private var waiting: WaitingPushes
  private var stopWaiting: (@Sendable () -> Void)?
  private var deferrals = Deferrals(longest: longestPause, most: mostDeferrals)
  private var answers = 0
  /// Answers in a row that say that the peer failed.
  private var failures = 0
  private var connection: HTTP2Connection?
  private var stopConnecting: @Sendable () -> Void = {}
  /// The peer has answered, and every connection attempt since has succeeded.
  private var isKnown = false
  /// The peer has asked, with this answer, not to be tried before this time.
  private var pausing: (until: NIODeadline, answer: ProviderFailure)?
  private var isClosed = false
  private var isPumpDue = false

  /// `allowed` receives the number of concurrent requests that are possible, whenever the peer changes it.
  public init(
    _ peer: PushPeer, _ dialect: any PushDialect, _ loop: any EventLoop, _ clock: any PushClock,
    _ log: @escaping PushLog, allowed: @escaping (Int) -> Void = { _ in }
  ) {
    self.allowed = allowed
    self.peer = peer
    self.dialect = dialect
    self.loop = loop
    self.clock = clock
    self.log = log
    waiting = WaitingPushes(limit: peer.timeLimit)
  }

  /// The number of pushes whose outcomes are pending.
  public var underWay: Int { jobs.count }

  // MARK: Pushes

  public func send(_ push: ServedPush, _ then: @escaping (PushOutcome) -> Void) {
    guard !isClosed else { return then(.unreachable(.stopping)) }
    if let pauseAnswer { return then(.unreachable(pauseAnswer)) }
    nextJob += 1
    jobs[nextJob] = Job(push: push, then: then)
    waiting.append(nextJob, clock.now)
    pumpSoon()
  }

  public func close() {
    isClosed = true
    _ = waiting.removeAll()
    watchWaiting()
    for number in jobs.keys.sorted() { finish(number, .unreachable(.stopping)) }
    connection?.close()
  }

  /// Closes the connection after the requests on it end; the next push opens another.
  public func rest() { if let connection { retire(connection) } }

  /// How long nothing more may be sent to the peer.
  public var pauseLeft: TimeAmount? { pausing.flatMap { $0.until > clock.now ? $0.until - clock.now : nil } }

  /// Nil if the peer may be sent something.
  private var pauseAnswer: ProviderFailure? { pausing.flatMap { clock.now < $0.until ? $0.answer : nil } }

  /// Runs after the loop's other tasks, so that pushes handed over together are written together.
  private func pumpSoon() {
    guard !isPumpDue else { return }
    isPumpDue = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute {
      bound.value.isPumpDue = false
      bound.value.pump()
    }
  }

  private func pump() {
    defer { watchWaiting() }
    guard !waiting.isEmpty else { return }
    guard let connection else { return connect() }
    guard connection.hasRoom else { return }
    connection.gather {
      // It may end while being written to.
      while connection === self.connection, connection.hasRoom, let number = waiting.popFirst() {
        start(number, on: connection)
      }
    }
    if self.connection == nil { pump() }
  }

  private func start(_ number: Int, on connection: HTTP2Connection) {
    // It may have been finished while it waited.
    guard let job = jobs[number] else { return }
    let request: PushRequest
    switch dialect.request(for: job.push, clock) {
    case .success(let made): request = made
    case .failure(let refusal): return finish(number, refusal.outcome)
    }
    jobs[number]?.credential = request.credential
    jobs[number]?.answersBefore = job.answersBefore ?? answers
    jobs[number]?.connection = connection
    let identity = ObjectIdentifier(connection)
    let bound = NIOLoopBound(self, eventLoop: loop)
    jobs[number]?.stopTimer = clock.schedule(after: peer.timeLimit, on: loop) {
      bound.value.timeIsOver(number, connection: identity)
    }
    connection.start(number, request)
  }

  private func finish(_ number: Int, _ outcome: PushOutcome) {
    guard let job = jobs.removeValue(forKey: number) else { return }
    job.stopTimer()
    job.then(outcome)
  }

  /// Retries the push, in front of all others.
  private func again(_ number: Int) {
    guard jobs[number] != nil else { return }
    jobs[number]?.connection = nil
    if let pauseAnswer { return finish(number, .unreachable(pauseAnswer)) }
    waiting.prepend(number, clock.now)
    pump()
  }

  // MARK: Time limits

  /// Keeps a timer running while pushes wait for room.
  private func watchWaiting() {
    guard let deadline = waiting.deadline else {
      stopWaiting?()
      stopWaiting = nil
      return
    }
    guard stopWaiting == nil else { return }
    let bound = NIOLoopBound(self, eventLoop: loop)
    stopWaiting = clock.schedule(after: deadline - clock.now, on: loop) { bound.value.waitingIsOver() }
  }

  private func waitingIsOver() {
    stopWaiting = nil
    switch waiting.removeOverdue(clock.now) {
    case .none: break
    case .slow(let late): for number in late { finish(number, .later(seconds: Self.breath)) }
    case .stuck(let all):
      let failure = delay(of: connection)
      if connection?.isReady ?? true { report("no push can be sent", failure) }
      if let connection { giveUp(connection) }
      for number in all { finish(number, .unreachable(failure)) }
    }
    watchWaiting()
  }

  private func timeIsOver(_ number: Int, connection identity: ObjectIdentifier) {
    guard let connection = jobs[number]?.connection, ObjectIdentifier(connection) == identity else { return }
    let failure = ProviderFailure.noAnswer(seconds: seconds)
    report("a push is not answered", failure)
    connection.abandon(number)
    // The other pushes on it may still be answered.
    retire(connection)
    lost(number, failure, alone: jobs[number]?.answersBefore.map { $0 < answers } ?? false)
  }

  private func report(_ message: String, _ failure: ProviderFailure) {
    log("warning", message, [(name: "reason", value: "\(failure)")])
  }

  private var seconds: Int { Int(peer.timeLimit.nanoseconds / 1_000_000_000) }

  /// `alone`: the peer still answers others.
  private func lost(_ number: Int, _ failure: ProviderFailure, alone: Bool) {
    guard let job = jobs[number] else { return }
    jobs[number]?.losses += 1
    guard job.losses > 0 else { return again(number) }
    finish(number, (alone ? dialect.lostAlone : nil) ?? .unreachable(failure))
  }

  /// On a new connection no push waits for the answer of this one.
  private func retire(_ connection: HTTP2Connection) {
    if self.connection === connection { self.connection = nil }
    connection.drain()
  }

  // MARK: Answers

  func ended(_ number: Int, _ end: PushEnd, on connection: HTTP2Connection) {
    guard let job = jobs[number] else { return }
    job.stopTimer()
    switch end {
    case .answered(let response): take(response, number, connection)
    // A peer that resets a stream keeps its connection.
    case .lost(let failure): lost(number, failure, alone: !connection.isDraining)
    case .unprocessed:
      jobs[number]?.returns += 1
      if job.returns < Self.longestReturns { again(number) } else { finish(number, .unreachable(.unprocessed)) }
    }
    pump()
  }

  private func take(_ response: PushResponse, _ number: Int, _ connection: HTTP2Connection) {
    waiting.answered(clock.now)
    answers += 1
    isKnown = true
    let verdict = dialect.verdict(response)
    failures = response.status >= 500 ? failures + 1 : 0
    if verdict != .final(.accepted) { log("info", "refused", dialect.failure(response).values) }
    switch verdict {
    case .final(let outcome):
      if let job = jobs[number] { deferrals.end(job.push.token) }
      finish(number, outcome)
    case .credentialExpired(let otherwise): renew(number, otherwise: otherwise)
    case .notNow(let outcome):
      pause(response)
      finish(number, outcome)
    case .deferred:
      guard let job = jobs[number] else { return }
      // The peer fails, not this push.
      if failures > Self.mostFailures { return finish(number, .unreachable(dialect.failure(response))) }
      finish(number, .later(seconds: deferrals.next(job.push.token, asked: response.retryAfter)))
    case .newConnection(let otherwise):
      retire(connection)
      pause(response)
      jobs[number]?.losses += 1
      if let job = jobs[number], job.losses > 1 { finish(number, otherwise) } else { again(number) }
    }
  }

  private func renew(_ number: Int, otherwise: PushOutcome) {
    guard let job = jobs[number] else { return }
    jobs[number]?.refusals += 1
    if dialect.renews(job.credential, clock.now), job.refusals < 2 { return again(number) }
    // A refusal that concerns one push alone may be its client's fault.
    if case .refused = otherwise { log("error", "a new token is refused as expired: is the clock right?", []) }
    finish(number, otherwise)
  }

  /// No push is sent before then; without a time, the notification server chooses one.
  private func pause(_ response: PushResponse) {
    guard let time = response.retryAfter else { return }
    let (until, answer) = (clock.now + min(time, Self.longestPause), dialect.failure(response))
    pausing = (max(pausing?.until ?? until, until), answer)
    for number in waiting.removeAll() { finish(number, .unreachable(answer)) }
  }

  // MARK: The connection

  private func connect() {
    guard !isClosed else { return }
    let made = HTTP2Connection(owner: self, most: peer.streams, clock: clock)
    connection = made
    let bound = NIOLoopBound((self, made), eventLoop: loop)
    stopConnecting = clock.schedule(after: peer.timeLimit, on: loop) {
      bound.value.0.giveUp(bound.value.1)
    }
    let (tls, name) = (peer.tls, peer.addresses.isLiteral(peer.host) ? nil : peer.host)
    let bootstrap = Self.probing(ClientBootstrap(group: loop))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          var settings = nioDefaultSettings
          settings.append(HTTP2Setting(parameter: .enablePush, value: 0))
          try channel.pipeline.syncOperations.addHandlers([
            try NIOSSLClientHandler(context: tls, serverHostname: name), bound.value.1.gate,
            NIOHTTP2Handler(mode: .client, initialSettings: settings), bound.value.1,
          ])
        }
      }
    peer.addresses.connect(bootstrap, to: peer, isKnown: isKnown, until: clock.now + peer.timeLimit, on: loop)
      .whenFailure { error in bound.value.0.failed(bound.value.1, ProviderFailure(error)) }
  }

  /// A router forgets idle connections without a word: the system probes the peer, and ends a connection on which
  /// nothing arrives, before a push has to wait for that.
  private static func probing(_ bootstrap: ClientBootstrap) -> ClientBootstrap {
    #if canImport(Darwin)
      let idle = TCP_KEEPALIVE
    #else
      let idle = TCP_KEEPIDLE
    #endif
    let probed = bootstrap.channelOption(.socketOption(.so_keepalive), value: 1)
      .channelOption(.tcpOption(.init(rawValue: idle)), value: 60)
      .channelOption(.tcpOption(.init(rawValue: TCP_KEEPINTVL)), value: 5)
      .channelOption(.tcpOption(.init(rawValue: TCP_KEEPCNT)), value: 3)
    #if canImport(Darwin)
      return probed
    #else
      // Milliseconds. Longer than a few lost packets take to be repeated, shorter than the time limit of an answer.
      return probed.channelOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: 12_000)
    #endif
  }

  /// The peer's settings have arrived, for the first time or changed.
  func ready(_ connection: HTTP2Connection) {
    guard connection === self.connection else { return }
    stopConnecting()
    allowed(connection.limit)
    pump()
  }

  /// The connection takes no more requests. Those on it end by themselves.
  func closed(_ connection: HTTP2Connection) {
    guard connection.isReady else { return failed(connection, connection.failure ?? .closed) }
    if connection === self.connection { self.connection = nil }
  }

  /// The peer is unreachable: all waiting pushes go back to the notification server, which retries later.
  private func failed(_ connection: HTTP2Connection, _ failure: ProviderFailure) {
    guard connection === self.connection, !connection.isReady else { return }
    stopConnecting()
    self.connection = nil
    isKnown = false
    report("cannot connect", failure)
    for number in waiting.removeAll() { finish(number, .unreachable(failure)) }
    watchWaiting()
  }

  /// Requests on it may still be answered.
  private func giveUp(_ connection: HTTP2Connection) {
    guard !connection.isReady else { return retire(connection) }
    failed(connection, delay(of: connection))
    connection.close()
  }

  /// Why no request could begin in time.
  private func delay(of connection: HTTP2Connection?) -> ProviderFailure {
    guard let connection, !connection.isReady else { return .noRoom(seconds: seconds) }
    return connection.isConnected ? .noAnswer(seconds: seconds) : .noConnection(seconds: seconds)
  }
}
