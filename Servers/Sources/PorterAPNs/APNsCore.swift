import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import PorterServer

/// The pushes of a provider and its connection.
///
/// `@unchecked Sendable`: all that changes belongs to the event loop.
final class APNsCore: @unchecked Sendable {
  /// A push that is under way.
  private struct Job {
    let push: ServedPush
    let then: @Sendable (PushOutcome) -> Void
    /// Ends without an answer.
    var losses = 0
    var returns = 0
    var refusals = 0
    var holds = 0
    var token = 0
    var connection: APNsConnection?
    var stopTimer: @Sendable () -> Void = {}
  }

  /// How long a peer may ask us to wait.
  static let longestPause = TimeAmount.minutes(15)
  private static let longestHolds = 6
  private static let longestReturns = 3

  let loop: any EventLoop
  let capacity: Int
  private let options: APNsOptions
  private let clock: any APNsClock
  private let log: @Sendable (String, String) -> Void
  private let tls: NIOSSLContext
  private var token: ProviderToken
  private var jobs: [Int: Job] = [:]
  private var nextJob = 0
  private var waiting = CircularBuffer<Int>()
  /// Waiting for their own time.
  private var held = 0
  private var connection: APNsConnection?
  private var stopConnecting: @Sendable () -> Void = {}
  /// The peer has asked not to be tried before.
  private var pausedUntil: NIODeadline?
  private var isClosed = false

  init(
    _ options: APNsOptions, _ loop: any EventLoop, _ clock: any APNsClock,
    _ log: @escaping @Sendable (String, String) -> Void
  ) throws(APNsError) {
    self.options = options
    self.loop = loop
    self.clock = clock
    self.log = log
    capacity = 2 * options.streams
    token = ProviderToken(options.key, keyID: options.keyID, teamID: options.teamID)
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["h2"]
    if let authority = options.authority { configuration.trustRoots = .file(authority) }
    do { tls = try NIOSSLContext(configuration: configuration) } catch {
      throw APNsError("\(options.authority ?? "the system's certificates"): cannot be used (\(error))")
    }
  }

  // MARK: Pushes

  func send(_ push: ServedPush, _ then: @escaping @Sendable (PushOutcome) -> Void) {
    guard !isClosed, !isPaused else { return then(.unreachable) }
    nextJob += 1
    jobs[nextJob] = Job(push: push, then: then)
    waiting.append(nextJob)
    pump()
  }

  func close() {
    isClosed = true
    for number in jobs.keys.sorted() { finish(number, .unreachable) }
    connection?.close()
  }

  private var isPaused: Bool { pausedUntil.map { clock.now < $0 } ?? false }

  private func pump() {
    while !waiting.isEmpty {
      guard let connection else { return connect() }
      guard connection.hasRoom, let number = waiting.popFirst() else { return }
      start(number, on: connection)
    }
  }

  private func start(_ number: Int, on connection: APNsConnection) {
    // It may have been finished while it waited.
    guard let job = jobs[number] else { return }
    guard let token = token.current(clock) else { return finish(number, .unreachable) }
    jobs[number]?.token = self.token.number
    jobs[number]?.connection = connection
    let identity = ObjectIdentifier(connection)
    jobs[number]?.stopTimer = clock.schedule(after: options.timeLimit, on: loop) { [weak self] in
      self?.timeIsOver(number, connection: identity)
    }
    connection.start(number, headers(job.push, token), job.push.payload)
  }

  private func headers(_ push: ServedPush, _ token: String) -> HPACKHeaders {
    var headers: HPACKHeaders = [
      ":method": "POST", ":scheme": "https", ":path": "/3/device/\(push.token)", ":authority": options.host,
      "apns-topic": options.topic, "apns-push-type": push.isAlert ? "alert" : "background",
      "apns-priority": "\(push.priority)", "apns-expiration": "\(clock.seconds + push.kind.life)",
    ]
    // Long, and the same in all: the peer keeps it in its table.
    headers.add(name: "authorization", value: "bearer \(token)", indexing: .indexable)
    if let group = push.kind.collapseID { headers.add(name: "apns-collapse-id", value: group) }
    return headers
  }

  private func finish(_ number: Int, _ outcome: PushOutcome) {
    guard let job = jobs.removeValue(forKey: number) else { return }
    job.stopTimer()
    job.then(outcome)
  }

  /// Once more, before all others.
  private func again(_ number: Int) {
    guard jobs[number] != nil else { return }
    jobs[number]?.connection = nil
    if isPaused { return finish(number, .unreachable) }
    waiting.prepend(number)
    pump()
  }

  private func timeIsOver(_ number: Int, connection identity: ObjectIdentifier) {
    guard let connection = jobs[number]?.connection, ObjectIdentifier(connection) == identity else { return }
    log("warning", "no answer in time")
    connection.abandon(number)
    // The others on it may still be answered.
    retire(connection)
    lost(number)
  }

  private func lost(_ number: Int) {
    jobs[number]?.losses += 1
    if let job = jobs[number], job.losses > 1 { finish(number, .unreachable) } else { again(number) }
  }

  /// On a new connection no push waits for its answer.
  private func retire(_ connection: APNsConnection) {
    if self.connection === connection { self.connection = nil }
    connection.drain()
  }

  // MARK: Answers

  func ended(_ number: Int, _ end: APNsEnd, on connection: APNsConnection) {
    guard let job = jobs[number] else { return }
    job.stopTimer()
    switch end {
    case .answered(let answer, let retryAfter): take(answer, retryAfter, number, connection)
    case .lost: lost(number)
    case .unprocessed:
      jobs[number]?.returns += 1
      if job.returns < Self.longestReturns { again(number) } else { finish(number, .unreachable) }
    }
    pump()
  }

  private func take(_ answer: PushAnswer, _ retryAfter: TimeAmount?, _ number: Int, _ connection: APNsConnection) {
    if answer.status != 200 { log("info", "refused status=\(answer.status) reason=\(answer.knownReason)") }
    switch APNsVerdict(answer) {
    case .final(let outcome): finish(number, outcome)
    case .tokenExpired: renew(number)
    case .notNow:
      pause(retryAfter)
      finish(number, .unreachable)
    case .hold(let otherwise): hold(number, retryAfter, otherwise: otherwise)
    case .newConnection(let otherwise):
      retire(connection)
      pause(retryAfter)
      jobs[number]?.losses += 1
      if let job = jobs[number], job.losses > 1 { finish(number, otherwise) } else { again(number) }
    }
  }

  private func renew(_ number: Int) {
    guard let job = jobs[number] else { return }
    jobs[number]?.refusals += 1
    if token.isReplaced(after: job.token, clock.now), job.refusals < 2 { return again(number) }
    log("error", "a new provider token is refused as expired: is the clock right?")
    finish(number, .unreachable)
  }

  /// No push is sent before; without a time the notification server chooses one.
  private func pause(_ time: TimeAmount?) {
    guard let time else { return }
    pausedUntil = max(pausedUntil ?? clock.now, clock.now + time)
    while let number = waiting.popFirst() { finish(number, .unreachable) }
  }

  /// This push alone waits, until its patience is over.
  private func hold(_ number: Int, _ time: TimeAmount?, otherwise: PushOutcome) {
    guard let job = jobs[number], job.holds < Self.longestHolds, held < capacity / 4 else {
      return finish(number, otherwise)
    }
    jobs[number]?.holds += 1
    jobs[number]?.connection = nil
    held += 1
    let delay = time ?? .seconds(1 << Int64(job.holds))
    jobs[number]?.stopTimer = {}
    _ = clock.schedule(after: delay, on: loop) { [weak self] in
      self?.held -= 1
      self?.again(number)
    }
  }

  // MARK: The connection

  private func connect() {
    guard !isClosed else { return }
    let made = APNsConnection(owner: self, most: options.streams)
    connection = made
    let bound = NIOLoopBound(made, eventLoop: loop)
    stopConnecting = clock.schedule(after: options.timeLimit, on: loop) { [weak self] in
      self?.failed(bound.value)
      bound.value.close()
    }
    let (tls, host) = (tls, options.host)
    ClientBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          var settings = nioDefaultSettings
          settings.append(HTTP2Setting(parameter: .enablePush, value: 0))
          try channel.pipeline.syncOperations.addHandlers([
            try NIOSSLClientHandler(context: tls, serverHostname: host),
            NIOHTTP2Handler(mode: .client, initialSettings: settings), bound.value,
          ])
        }
      }
      .connect(host: options.host, port: options.port)
      .whenFailure { [weak self] _ in self?.failed(bound.value) }
  }

  func ready(_ connection: APNsConnection) {
    guard connection === self.connection else { return }
    stopConnecting()
    pump()
  }

  /// It takes no more requests. Those on it end by themselves.
  func closed(_ connection: APNsConnection) {
    guard connection.isReady else { return failed(connection) }
    if connection === self.connection { self.connection = nil }
  }

  /// The peer cannot be reached: all that wait for it are the notification server's again, which tries later.
  private func failed(_ connection: APNsConnection) {
    guard connection === self.connection, !connection.isReady else { return }
    stopConnecting()
    self.connection = nil
    log("warning", "cannot connect")
    while let number = waiting.popFirst() { finish(number, .unreachable) }
  }
}
