import CNightporter
import Foundation
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import PorterStore
import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine

/// Receives the server's pushes instead of a platform.
private final class PushTray: PushProvider {
  private let pushes = Monitor<[OutgoingPush]>([])
  private let outcome = Mutex(PushOutcome.accepted)

  func deliver(_ push: OutgoingPush) -> PushOutcome {
    let outcome = outcome.withLock { $0 }
    if outcome == .accepted { pushes.signal { $0.append(push) } }
    return outcome
  }

  /// Sets the outcome of every push from now on.
  func answer(_ outcome: PushOutcome) { self.outcome.withLock { $0 = outcome } }

  /// The oldest push to this token, or nil if none comes in time.
  func next(to token: String, within span: Span) -> String? {
    pushes.wait(atMost: span) { waiting in
      let index = waiting.firstIndex { TextEncoding.hex($0.pushToken.bytes) == token }
      return index.map { waiting.remove(at: $0).payload.text }
    }
  }
}

/// The real notification server, on a thread of this process.
final class ServerThread: @unchecked Sendable {
  private let tray = PushTray()
  private let stop: WakeDescriptor
  private let ended = Promise<Bool>()
  let link: String

  init(folder: TemporaryFolder) throws {
    let stop = try XCTUnwrap(WakeDescriptor())
    let started = Promise<String>()
    let (tray, ended) = (tray, ended)
    let (relayPath, statePath) = (folder.file("relay.db"), folder.file("server.db"))
    Thread.detachNewThread {
      defer { ended.fulfil(true) }
      do {
        let relay = EmbeddedRelay(path: relayPath, ports: .system, log: .silent)
        defer { relay.close() }
        let state = try ServerState(path: statePath, access: .serve)
        let server = try NotificationServer(state: state, relay: relay, providers: ["apns_test"], log: .silent)
        started.fulfil("\(server.link)")
        try ServerLoop(server: server, providers: ["apns_test": tray], stop: stop).run()
        try state.close()
      } catch {
        started.fulfil("the server failed: \(error)")
      }
    }
    self.stop = stop
    link = started.wait() ?? ""
    guard link.hasPrefix("ntf:") else { throw StationFailure(link) }
  }

  deinit {
    stop.raise()
    _ = ended.wait()
  }

  func nextPush(to token: String, within span: Span) -> String? { tray.next(to: token, within: span) }

  /// Sets the provider's outcome for every push from now on.
  func providerAnswers(_ outcome: PushOutcome) { tray.answer(outcome) }
}

struct StationFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// Two connected hosts, the real notification server, and an active device token of alice's.
final class Station {
  let pair: Pair
  let server: ServerThread
  let token = TextEncoding.hex(SystemRandomness().bytes(32))

  var alice: Host { pair.alice }
  var bob: Host { pair.bob }

  init(activates: Bool = true) throws {
    pair = try Pair()
    server = try ServerThread(folder: pair.folder)
    pair.alice.send("/_network {\"ntfServer\":\"\(server.link)\"}").assert("cmdOk")
    pair.bob.send("/_network {\"ntfServer\":\"\(server.link)\"}").assert("cmdOk")
    if activates { try activate(token, of: pair.alice) }
  }

  func register(_ token: String, of host: Host, file: StaticString = #filePath, line: UInt = #line) throws -> String {
    let answer = host.send("/_ntf register apns_test \(token) INSTANT")
    XCTAssertEqual(answer["result"]["status"].text, "REGISTERED", answer.description, file: file, line: line)
    return try nextPush(to: token)
  }

  func activate(_ token: String, of host: Host) throws {
    let data = JSON(try register(token, of: host))["notificationData"]
    host.send("/_ntf verify apns_test \(token) \(data["nonce"].text) \(data["verification"].text)").assert("cmdOk")
    XCTAssertEqual(host.send("/_ntf check apns_test \(token)")["result"]["status"].text, "ACTIVE")
  }

  /// The payload of the next push; the token is alice's unless another is named.
  func nextPush(to token: String? = nil, within seconds: Int64 = 60) throws -> String {
    guard let payload = server.nextPush(to: token ?? self.token, within: .seconds(seconds)) else {
      throw StationFailure("no push came within \(seconds) s")
    }
    return payload
  }

  /// Sends a message from bob and returns the payload of the push to alice.
  func push(for text: String) throws -> String {
    pair.send(text, from: bob)
    return try nextPush()
  }

  /// All pushes for the messages bob has sent; at least one.
  func allPushes() throws -> [String] {
    awaitRest(of: bob)
    return [try nextPush()] + (try remainingPushes())
  }

  /// The pushes for what was sent so far; none for messages that the app received itself, unless it was too slow for
  /// the relay, as on a busy machine.
  @discardableResult
  func remainingPushes() throws -> [String] {
    try awaitThat("the server has pushed everything") {
      // The order matters: a notification reaches the server before it leaves the relay.
      try Self.isEmpty("notification", in: pair.folder.file("relay.db"))
        && Self.isEmpty("push", in: pair.folder.file("server.db"))
    }
    var pushes: [String] = []
    while let push = server.nextPush(to: token, within: .zero) { pushes.append(push) }
    return pushes
  }

  /// Waits until the relay and the server watch this many of alice's mailboxes.
  func awaitWatched(_ count: Int64) throws {
    try awaitThat("\(count) are watched") {
      try ["relay.db": "notifier", "server.db": "subscription"].allSatisfy { (file, table) in
        let database = try Database(path: pair.folder.file(file))
        defer { try? database.close() }
        return try database.integer("SELECT count(*) FROM \(table)") == count
      }
    }
  }

  private static func isEmpty(_ table: String, in file: String) throws -> Bool {
    let database = try Database(path: file)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM \(table)") == 0
  }

  func suspend(_ host: Host? = nil, file: StaticString = #filePath, line: UInt = #line) {
    let host = host ?? alice
    host.send("/_app suspend 5000000").assert("cmdOk", file, line)
    host.event("chatSuspended", file: file, line: line)
    XCTAssertTrue(host.state["quiescent"].flag, host.state.description, file: file, line: line)
  }

  /// Carries out commands in the app while its other process sleeps, and leaves the app before it has received
  /// anything.
  func carryOut(
    _ commands: [String], key: String = "", file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    transport.hang(true)
    let app = try XCTUnwrap(Host.open(alice.prefix, key: key).host, file: file, line: line)
    transport.install(in: app)
    app.send("/_start").assert("chatStarted", file, line)
    app.send("/_app phase background").assert("cmdOk", file, line)
    for command in commands { XCTAssertTrue(app.send(command)["result"].exists, command, file: file, line: line) }
    app.send("/_app suspend 0").assert("cmdOk", file, line)
    transport.hang(false)
    app.free()
  }

  /// Another extension on alice's store.
  func makeExtension(file: StaticString = #filePath, line: UInt = #line) throws -> Host {
    let (answer, host) = Host.open(alice.prefix, isExtension: true)
    return try XCTUnwrap(host, answer, file: file, line: line)
  }

  /// Another extension on alice's store, using this clock.
  func makeExtension(clock: any Clock) throws -> Host {
    try Host.open(alice.prefix, isExtension: true, clock: clock)
  }

  /// The answer of an extension started for this push alone; it always ends quiescent.
  func present(_ payload: String, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    let answer = try makeExtension(file: file, line: line).push(payload)
    XCTAssertTrue(answer["quiescent"].flag, answer.description, file: file, line: line)
    return answer
  }

  /// Activates alice's application and expects it to have exactly these texts, each once.
  func wake(expecting texts: [String], file: StaticString = #filePath, line: UInt = #line) {
    alice.send("/_app activate").assert("cmdOk", file, line)
    awaitThat("alice has them", file: file, line: line) { pair.texts(alice).count >= texts.count }
    awaitRest(of: alice, file: file, line: line)
    XCTAssertEqual(pair.texts(alice).sorted(), texts.sorted(), file: file, line: line)
  }
}

extension JSON {
  /// Bodies of the notifications, without placeholders and notices.
  var bodies: [String] { bodies { $0 != "NTF_CAT_CONNECTION_EVENT" } }
  var placeholders: [String] { bodies { $0 == "NTF_CAT_CONNECTION_EVENT" } }
  private func bodies(in isWanted: (String) -> Bool) -> [String] {
    self["notifications"].elements.filter { isWanted($0["categoryIdentifier"].text) }.map { $0["body"].text }
  }
  /// The number of messages that summaries stand for; nil if the answer has no summary.
  var bundled: Int? {
    let summaries = self["notifications"].elements.filter { $0["categoryIdentifier"].text == "NTF_CAT_MANY_EVENTS" }
    return summaries.isEmpty ? nil : summaries.map { $0["bodyArguments"][0].number }.reduce(0, +)
  }
  var titles: [String] { self["notifications"].elements.map { $0["title"].text } }
  var identifiers: [String] { self["notifications"].elements.map { $0["identifier"].text } }
  /// Identifiers to remove, except those that say a contact has connected: reading a chat removes them too.
  var withdrawn: [String] { self["withdrawals"].elements.map(\.text).filter { !$0.hasPrefix("np:connected:") } }
  var elements: [JSON] { (0..<count).map { self[$0] } }
}
