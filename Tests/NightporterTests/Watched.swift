import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

/// Clocks that a test advances.
final class MovedClock: Clock {
  private struct Time {
    var ahead = Span.zero
    /// The time at which the clock is stopped.
    var stopped: Moment?
    /// How far the wall clock was set.
    var wallStep = Span.zero
  }
  private let time = Mutex(Time())

  func now() -> Moment { time.withLock { ($0.stopped ?? SystemClock().now()) + $0.ahead } }
  func wall() -> WallTime {
    let ahead = time.withLock { $0.ahead + $0.wallStep }
    return WallTime(milliseconds: SystemClock().wall().milliseconds + ahead.milliseconds)
  }
  func pause(_ span: Span) { SystemClock().pause(span) }
  func move(_ span: Span) { time.withLock { $0.ahead = $0.ahead + span } }
  /// Sets only the wall clock, this far ahead of the right time or behind it.
  func setWall(_ step: Span) { time.withLock { $0.wallStep = step } }
  /// From now on only `move` advances the clock; `start` makes it catch up.
  func stop() { time.withLock { $0.stopped = SystemClock().now() } }
  func start() { time.withLock { $0.stopped = nil } }
}

/// An application whose clock the test moves, with one invitation whose mailbox must be watched, by the real server or
/// by a scripted one.
final class Watched: @unchecked Sendable {
  let clock = MovedClock()
  let folder: TemporaryFolder
  private(set) var server: ServerThread?
  let script: ScriptedServer?
  let transport: HostTransport?
  private var controller: Controller
  private var untaken: [JSON] = []
  let token = TextEncoding.hex(SystemRandomness().bytes(32))

  init() throws {
    folder = try TemporaryFolder()
    let server = try ServerThread(folder: folder)
    self.server = server
    script = nil
    transport = nil
    controller = try Self.open(folder, clock)
    try begin(server.link)
    try activate(token)
  }

  /// The scripted server accepts everything it has not been set to refuse.
  init(_ script: (ScriptedServer) -> Void, throughHost: Bool = false) throws {
    folder = try TemporaryFolder()
    let server = try ScriptedServer(relay: folder.file("relay.db"))
    self.script = server
    transport = throughHost ? HostTransport(relay: folder.file("relay.db")) : nil
    controller = try Self.open(folder, clock)
    if let transport { XCTAssertTrue(controller.setRelay(transport.port)) }
    script(server)
    try begin(server.link)
  }

  private static func open(_ folder: TemporaryFolder, _ clock: MovedClock) throws -> Controller {
    try XCTUnwrap(
      Controller.open(
        Configuration(prefix: folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
      ).1)
  }

  private func begin(_ link: String) throws {
    send(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#).assert("activeUser")
    send(#"/_network {"relay":"\#(folder.file("relay.db"))","ntfServer":"\#(link)"}"#).assert("cmdOk")
    send("/_start").assert("chatStarted")
    send("/_connect 1").assert("invitation")
  }

  /// Ends the process and starts another on its store.
  func restart() throws {
    stop()
    try start()
  }

  func stop() { controller.stop() }

  func start() throws {
    controller = try Self.open(folder, clock)
    if let transport { XCTAssertTrue(controller.setRelay(transport.port)) }
    send("/_start").assert("chatStarted")
  }

  deinit { controller.stop() }

  /// Any command also makes the engine check its timers.
  @discardableResult
  func send(_ command: String) -> JSON { JSON(controller.send(command, retry: 0)) }

  func activate(_ token: String) throws {
    send("/_ntf register apns_test \(token) INSTANT").assert("ntfTokenStatus")
    try verify(token)
  }

  func verify(_ token: String) throws {
    var data = JSON("")
    // Wake-ups may be among them.
    while !data["verification"].exists {
      data = JSON(try XCTUnwrap(server?.nextPush(to: token, within: .seconds(20))))["notificationData"]
    }
    send("/_ntf verify apns_test \(token) \(data["nonce"].text) \(data["verification"].text)").assert("cmdOk")
  }

  func wakeUp(within milliseconds: Int64) -> JSON {
    let push = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    return JSON(controller.receivePush(push, deadline: .milliseconds(milliseconds)))
  }

  /// The untaken events of this type so far, oldest first.
  func events(_ type: String) -> [JSON] {
    while case .event(let text)? = controller.events.take(atMost: .zero) { untaken.append(JSON(text)["result"]) }
    let found = untaken.filter { $0["type"].text == type }
    untaken.removeAll { $0["type"].text == type }
    return found
  }

  /// Waits until all answers have come and no request is in progress.
  func waitUntilIdle(file: StaticString = #filePath, line: UInt = #line) throws {
    try wait("idle", file: file, line: line) {
      guard isIdle else { return false }
      // A request may be due in the turn that reported the state.
      send("/_check running")
      return isIdle
    }
  }

  private var isIdle: Bool {
    let state = state
    return state["operations"]["notifications"].number == 0 && !state["holds"].description.contains("awaited")
  }

  var state: JSON { JSON(controller.state()) }

  func stopServer() { server = nil }
  func startServer() throws { server = try ServerThread(folder: folder) }

  /// Makes more than a year pass at the server without a use of the token.
  func expireToken() throws {
    stopServer()
    try execute("UPDATE token SET used_age = used_age - 40000000000")
    try startServer()
    // Until the server has processed the expiry, a question about the token would count as a use of it.
    try wait("expired") { try count("SELECT count(*) FROM token WHERE state = 'expired'", in: "server.db") == 1 }
  }

  func executeAtHome(_ sql: String) throws { try execute(sql, in: "alice_chat.db") }

  func execute(_ sql: String, in file: String = "server.db") throws {
    let database = try Database(path: folder.file(file))
    defer { try? database.close() }
    try database.execute(sql)
  }

  func count(_ sql: String, in file: String) throws -> Int64 {
    let database = try Database(path: folder.file(file))
    defer { try? database.close() }
    return try database.integer(sql) ?? 0
  }

  var watched: Int64 { get throws { try count("SELECT count(*) FROM subscription", in: "server.db") } }
  func inState(_ condition: String) throws -> Int64 {
    try count("SELECT count(*) FROM connections WHERE \(condition)", in: "alice_chat.db")
  }

  func wait(
    _ what: String, file: StaticString = #filePath, line: UInt = #line, until holds: () throws -> Bool
  ) throws {
    let end = Date(timeIntervalSinceNow: 30)
    while end.timeIntervalSinceNow > 0 {
      send("/_check running")
      if try holds() {
        // The store and the server show a turn's results before it is over; timers may be set at its end.
        send("/_check running")
        return
      }
      usleep(20_000)
    }
    let database = try Database(path: self.folder.file("alice_chat.db"))
    let state = try database.rows(
      "SELECT 'connection ' || subscription FROM connections UNION SELECT 'token ' || status FROM token"
    ) { $0.text(0) }
    XCTFail("this was never reached: \(what); \(state), watched: \((try? watched) ?? -1)", file: file, line: line)
  }
}
