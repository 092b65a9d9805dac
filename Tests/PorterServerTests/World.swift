import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import Synchronization
import XCTest

@testable import PorterServer

let randomness = SystemRandomness()

/// A manual clock; the wall clock follows unless it is set.
final class ManualClock: Clock {
  private let time = Mutex((now: Int64(1_000_000_000_000), wall: Int64(1_750_000_000_000)))

  func now() -> Moment { time.withLock { Moment(nanoseconds: $0.now) } }
  func wall() -> WallTime { time.withLock { WallTime(milliseconds: $0.wall) } }

  func advance(by span: Span) {
    time.withLock {
      $0.now += span.nanoseconds
      $0.wall += span.milliseconds
    }
  }

  func pause(_ span: Span) { advance(by: span) }

  func stepWall(by span: Span) { time.withLock { $0.wall += span.milliseconds } }
}

/// Records pushes, and returns outcomes set by the test.
final class FakeProvider: PushProvider {
  private let state = Mutex(
    (pushes: [OutgoingPush](), attempts: 0, outcomes: [PushOutcome](), standing: PushOutcome.accepted))
  /// A push to it always fails.
  private let failing = Mutex<PushToken?>(nil)

  func deliver(_ push: OutgoingPush) -> PushOutcome {
    state.withLock { state in
      state.attempts += 1
      if failing.withLock({ $0 == push.pushToken }) { return .unreachable(.closed) }
      let outcome = state.outcomes.isEmpty ? state.standing : state.outcomes.removeFirst()
      if outcome == .accepted { state.pushes.append(push) }
      return outcome
    }
  }

  func fail(for pushToken: PushToken) { failing.withLock { $0 = pushToken } }

  var attempts: Int { state.withLock { $0.attempts } }
  /// Its answers to the next attempts, and then to all others.
  func answer(_ outcomes: [PushOutcome] = [], then standing: PushOutcome) {
    state.withLock { ($0.outcomes, $0.standing) = (outcomes, standing) }
  }
  /// The accepted pushes since the last call.
  func take() -> [OutgoingPush] {
    state.withLock { state in
      defer { state.pushes = [] }
      return state.pushes
    }
  }
}

/// Every line that was logged.
final class LogLines: Sendable {
  private let lines = Mutex<[String]>([])

  func append(_ line: String) { lines.withLock { $0.append(line) } }
  var all: [String] { lines.withLock { $0 } }
  var log: Log { Log(minimum: .debug) { level, line in self.append("\(level) \(line)") } }
}

/// A relay connection that can be cut: fails one exchange, before or after it was carried out.
final class FragilePort: RelayPort {
  enum Failure: CaseIterable { case requestLost, answerLost }

  private let relay: EmbeddedRelay
  private let kind: World.Relay
  private let state = Mutex((count: 0, failing: Int.max, failure: Failure.requestLost))
  private let clock: any Clock
  /// When they were last given, by the relay of a cluster.
  private let given = Mutex<[BoxNonce: Moment]>([:])

  init(_ relay: EmbeddedRelay, _ kind: World.Relay, _ clock: any Clock) {
    (self.relay, self.kind, self.clock) = (relay, kind, clock)
  }

  /// Exchanges since the test last chose which one fails.
  var count: Int { state.withLock { $0.count } }
  /// Whether the exchange that was to fail has been made.
  var hasFailed: Bool { state.withLock { $0.count >= $0.failing } }

  func fail(exchange number: Int, _ failure: Failure) { state.withLock { $0 = (0, number, failure) } }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    let failure: Failure? = state.withLock { state in
      state.count += 1
      return state.count == state.failing ? state.failure : nil
    }
    if failure == .requestLost { throw .offline }
    if kind == .earlier, let asked = try? RelayRequest(decoding: request),
      asked.command.name.hasPrefix("acknowledgeAndGet")
    {
      return RelayAnswer.failed(.syntax).encoded(for: asked.correlation)
    }
    var answer = try relay.exchange(request)
    if kind == .cluster, let asked = try? RelayRequest(decoding: request) { answer = held(answer, asked.correlation) }
    if failure == .answerLost { throw .timeout }
    return answer
  }

  private func held(_ bytes: [UInt8], _ correlation: RelayIdentifier) -> [UInt8] {
    guard let answer = try? RelayAnswer(decoding: bytes, correlation: correlation),
      case .acknowledgedNotifications(var due, let mailboxes) = answer
    else { return bytes }
    let now = clock.now()
    due.notifications = given.withLock { given in
      let new = due.notifications.filter { given[$0.nonce].map { now - $0 >= .seconds(5) } ?? true }
      for each in new { given[each.nonce] = now }
      return new
    }
    return RelayAnswer.acknowledgedNotifications(due, mailboxes).encoded(for: correlation)
  }

  var isLocal: Bool { kind == .local }
  var wakeDescriptor: Int32? { relay.wakeDescriptor }
  func drainWake() { relay.drainWake() }
  func close() { relay.close() }
}

/// A server as driven by a test: one with its own state, or one that shares it.
protocol DrivenServer: AnyObject {
  var link: NotificationServerLink { get }
  var hasMoreToDo: Bool { get }
  var problems: [ServerProblem] { get }
  var nextProviderAttempt: Moment? { get }
  func serve(isWoken: Bool, room: [String: Int]) throws(ServerError)
  func nextDeadline() throws(ServerError) -> Moment
  func nextPushes(for provider: String, count: Int, underWay: Set<Int64>) throws(ServerError) -> [PendingPush]
  func finish(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) throws(ServerError)
}

extension NotificationServer: DrivenServer {
  func serve(isWoken: Bool, room: [String: Int]) throws(ServerError) { try serve(isWoken: isWoken) }
}

extension SharedServer: DrivenServer {}

extension DrivenServer {
  func serve(isWoken: Bool) throws(ServerError) { try serve(isWoken: isWoken, room: [:]) }
  func serve() throws(ServerError) { try serve(isWoken: true) }
  func nextPush(for provider: String) throws(ServerError) -> PendingPush? {
    try nextPushes(for: provider, count: 1, underWay: []).first
  }
  func finish(_ pending: PendingPush, _ outcome: PushOutcome) throws(ServerError) { try finish([(pending, outcome)]) }
}

/// A relay, a notification server with its provider, and its clients: all in this process, driven manually.
final class World {
  /// Whether new worlds have two servers that share their state.
  nonisolated(unsafe) static var isShared = false
  /// How many pushes the provider takes directly in each turn of `run`.
  nonisolated(unsafe) static var room = 0
  /// How new worlds reach their relay.
  nonisolated(unsafe) static var relay = Relay.local

  enum Relay {
    case local
    case network
    /// On the network, of a version that acknowledges and gives in two exchanges.
    case earlier
    /// On the network, and in a cluster: it gives a notification again after 5 seconds.
    case cluster
  }

  let directory: URL
  let clock = ManualClock()
  let provider = FakeProvider()
  let lines: LogLines
  private(set) var port: FragilePort
  private(set) var servers: [any DrivenServer] = []
  private var states: [ServerState] = []
  /// What two servers share; nil for a server with its own state.
  let store: MemoryStore?
  /// The server that begins the next turn.
  private var turn = 0
  var server: any DrivenServer { servers[0] }
  var state: ServerState { states[0] }

  /// The limit on the servers' tokens, from the next start on.
  var tokens: Int?
  let ports: Ports
  private let files: any Files
  var relayPath: String { directory.appendingPathComponent("relay.db").path }
  var statePath: String { directory.appendingPathComponent("server.db").path }

  /// `files` are those of the server's state.
  init(files: any Files = SystemFiles()) throws {
    self.files = files
    ports = Ports(clock: clock, randomness: randomness)
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    let relay = directory.appendingPathComponent("relay.db").path
    lines = LogLines()
    port = FragilePort(EmbeddedRelay(path: relay, ports: ports, log: .silent), Self.relay, clock)
    store = Self.isShared ? MemoryStore(clock) : nil
    try start()
  }

  private func start() throws {
    guard let store else {
      states = [try ServerState(path: statePath, access: .serve, ports: Ports(files: files))]
      servers = [
        try NotificationServer(
          state: states[0], relay: port, providers: ["apns_test"], tokens: tokens, ports: ports, log: lines.log)
      ]
      return
    }
    states = try (0..<2).map { try ServerState(path: "\(statePath)-work-\($0)", access: .work) }
    servers = try states.map {
      try SharedServer(
        store: store, state: $0, relay: port, providers: ["apns_test"], tokens: tokens, ports: ports, log: lines.log)
    }
  }

  deinit {
    port.close()
    for state in states { try? state.close() }
    try? FileManager.default.removeItem(at: directory)
  }

  /// As after the process ended, however it ended: only the files are left.
  func restart() throws {
    port.close()
    for state in states { try state.close() }
    port = FragilePort(EmbeddedRelay(path: relayPath, ports: ports, log: .silent), Self.relay, clock)
    try start()
    store?.endLeases()
  }

  /// Does everything that can be done now.
  func run() throws {
    turn += 1
    let servers = self.servers.indices.map { self.servers[(turn + $0) % self.servers.count] }
    guard Self.room == 0 else { return try servers.forEach(pushDirectly) }
    for server in servers { repeat { try server.serve() } while server.hasMoreToDo }
    try servers.forEach(push)
  }

  private func push(_ server: any DrivenServer) throws {
    while let pending = try server.nextPush(for: "apns_test") {
      try server.finish(pending, provider.deliverWithRetry(pending.push))
    }
  }

  /// One server after the other: this relay does not wait before it gives a notification to the next.
  private func pushDirectly(_ server: any DrivenServer) throws {
    repeat {
      try server.serve(isWoken: true, room: ["apns_test": Self.room])
      try push(server)
    } while server.hasMoreToDo
  }

  /// Runs until work has ended whose push was sent along with another one.
  func endSpareWork() throws {
    for _ in 0...servers.count {
      clock.advance(by: FinishedWork.pause)
      try run()
    }
  }

  /// Runs like a loop that nothing wakes.
  func runAtDeadlines(for span: Span) throws {
    let end = clock.now() + span
    while true {
      let next = try server.nextDeadline()
      guard next <= end else { return }
      clock.advance(by: next - clock.now())
      try run()
    }
  }

  func newPort() -> EmbeddedRelay {
    EmbeddedRelay(path: relayPath, ports: ports, log: .silent)
  }

  /// The message pushes since the last call, opened.
  func bundles(for device: Device, file: StaticString = #filePath, line: UInt = #line) throws -> [NotificationBundle] {
    try provider.take().compactMap { push in
      guard case .message(let nonce, let ciphertext, _) = try PushPayload(decoding: push.payload.utf8) else {
        return nil
      }
      XCTAssertEqual(push.pushToken, device.pushToken, "pushed to another device", file: file, line: line)
      return try NotificationBundle(opening: ciphertext, nonce: nonce, with: device.pushKey())
    }
  }
}
