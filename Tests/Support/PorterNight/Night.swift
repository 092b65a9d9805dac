import Foundation
import PorterJSON
import PorterProcesses
import PorterStore
import XCTest

/// Waits until the condition holds, and fails if that never happens. The limit is for a test that would hang.
package func awaitThat(
  _ what: String, file: StaticString = #filePath, line: UInt = #line, _ condition: () throws -> Bool
) rethrows {
  let end = Date(timeIntervalSinceNow: 60)
  while try !condition() {
    guard end.timeIntervalSinceNow > 0 else { return XCTFail("not within a minute: \(what)", file: file, line: line) }
    usleep(5_000)
  }
}

/// The stage of a scenario: a server, a relay, a device that receives pushes, and the processes of two people's
/// applications.
///
/// All of them are real processes. Alice's device gets pushes; bob writes to her.
package final class Night {
  package let directory: URL
  package let relay: String
  package let alice: ScriptedHost
  package let bob: ScriptedHost
  package private(set) var server: ChildProcess
  package private(set) var serverLink: String
  private let receiver: ChildProcess
  /// The key of alice's store.
  package var key: String
  /// Bob's contact id in alice's store, and alice's in bob's.
  package private(set) var aliceContact: Int64 = 0
  package private(set) var bobContact: Int64 = 0
  package let token = (0..<32).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()

  /// Starts everything; afterwards the two are connected, and the token of alice's device is active. With a key, alice's
  /// store is sealed; the device keeps it where her extension finds it.
  package init(aliceOn disk: SmallDisk? = nil, aliceIn environment: [String: String] = [:], key: String = "") throws {
    self.key = key
    directory = try Places.makeTemporaryDirectory()
    relay = directory.appendingPathComponent("relay").path
    receiver = try ChildProcess(Places.harness, ["pushes", directory.appendingPathComponent("pushes").path])
    _ = try receiver.line()
    server = try Self.startServer(in: directory)
    serverLink = try server.line()
    alice =
      try disk.map { try $0.start(store: $0.path + "/alice") }
      ?? ScriptedHost(store: directory.appendingPathComponent("alice").path, key: key, environment: environment)
    bob = try ScriptedHost(store: directory.appendingPathComponent("bob").path)
    try open(alice, name: "alice")
    try open(bob, name: "bob")
    try connect()
    try activateToken()
  }

  /// Ends the processes and deletes the files; call it with `defer`.
  package func end() {
    for process in [alice.process, bob.process, server, receiver] { process.kill() }
    try? FileManager.default.removeItem(at: directory)
  }

  // MARK: Setting up

  private static func startServer(in directory: URL) throws -> ChildProcess {
    let path = { (name: String) in directory.appendingPathComponent(name).path }
    return try ChildProcess(
      Places.server, ["--relay", path("relay"), "--state", path("server"), "--local-socket", path("pushes")],
      log: directory.appendingPathComponent("server.log"))
  }

  private func open(_ host: ScriptedHost, name: String) throws {
    try host.command(#"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "activeUser")
    let network: JSONValue = ["relay": .string(relay), "ntfServer": .string(serverLink)]
    try host.command("/_network \(network.text)", "cmdOk")
    try host.command("/_start", "chatStarted")
  }

  private func connect() throws {
    let user = try alice.command("/u", "activeUser")["user"]?["userId"]?.integerValue
    let invitation = try alice.command("/_connect \(try XCTUnwrap(user))", "invitation")
    let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
    let answer = try bob.answer("/connect \(link)")
    XCTAssertNotNil(answer["result"], answer.text)
    bobContact = try XCTUnwrap(bob.event("contactConnected")["contact"]?["contactId"]?.integerValue)
    aliceContact = try XCTUnwrap(alice.event("contactConnected")["contact"]?["contactId"]?.integerValue)
  }

  private func activateToken() throws {
    let registered = try alice.command("/_ntf register apns_test \(token) INSTANT", "ntfTokenStatus")
    XCTAssertEqual(registered["status"], "REGISTERED")
    let data = try nextPush()["notificationData"]
    let nonce = try XCTUnwrap(data?["nonce"]?.stringValue)
    let code = try XCTUnwrap(data?["verification"]?.stringValue)
    try alice.command("/_ntf verify apns_test \(token) \(nonce) \(code)", "cmdOk")
    XCTAssertEqual(try alice.command("/_ntf check apns_test \(token)", "ntfTokenStatus")["status"], "ACTIVE")
    try awaitSubscriptions(1)
  }

  /// Alice's application registers its connections with the server by itself, a moment after the token became active or
  /// a new connection was made.
  package func awaitSubscriptions(_ count: Int64, file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("the server watches \(count) of alice's mailboxes", file: file, line: line) {
      try self.count("subscription", in: "server") == count && !asksServer()
    }
  }

  /// Waits until the relay has every request that alice's app sends without waiting for an answer. The server may carry
  /// one out before the app has noted that it was sent. Not for a sealed store.
  package func awaitRequestsSent(file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("the relay has what alice's app left for the server", file: file, line: line) {
      try count("server_outbox", in: "alice_chat.db") == 0
    }
  }

  private func asksServer() throws -> Bool {
    try alice.state["holds"]?.arrayValue?.contains { $0.stringValue?.contains("answers") ?? false } ?? false
  }

  // MARK: Actions of people and systems

  /// Alice's application goes to the background, up to the point where it may be frozen.
  package func suspendAlice(file: StaticString = #filePath, line: UInt = #line) throws {
    try alice.command("/_app suspend 5000000", "cmdOk")
    try alice.event("chatSuspended")
    XCTAssertEqual(try alice.call("chat_close_store $c"), "", file: file, line: line)
    XCTAssertEqual(try alice.state["quiescent"], true, file: file, line: line)
  }

  package func wakeAlice(file: StaticString = #filePath, line: UInt = #line) throws {
    XCTAssertEqual(try alice.call("chat_reopen_store $c"), "", file: file, line: line)
    try alice.command("/_app activate", "cmdOk")
  }

  package func bobSends(_ text: String) throws {
    let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
    try bob.command("/_send @\(bobContact) live=off json \(message.text)", "newChatItems")
  }

  /// The payload of the next push.
  package func nextPush(to other: String? = nil, within seconds: Double = 60) throws -> JSONValue {
    let push = try JSONValue(parsing: receiver.line(within: seconds))
    XCTAssertEqual(push["token"]?.stringValue, other ?? token)
    return try XCTUnwrap(push["payload"])
  }

  /// All pushes for whatever is at the relay; at least one.
  package func allPushes(to other: String? = nil) throws -> [JSONValue] {
    let first = try nextPush(to: other)
    return [first] + (try remainingPushes(to: other))
  }

  /// The pushes not looked at so far, once bob has sent everything and the server has made all of them.
  @discardableResult
  package func remainingPushes(to other: String? = nil) throws -> [JSONValue] {
    // A message is answered before it is sent.
    try awaitThat("bob has sent everything") { try isAtRest(bob) }
    try awaitThat("the server has pushed everything") {
      // In this order: items leave the relay only after they are at the server.
      try count("notification", in: "relay") == 0 && count("push", in: "server") == 0
    }
    // The device prints a push after accepting it; this one comes after all others.
    let marker = "marker \(UInt32.random(in: 0 ... .max))"
    let line: JSONValue = ["token": .string(marker), "payload": [:]]
    let answer = try UnixConnection(path: directory.appendingPathComponent("pushes").path).exchange(line.text)
    XCTAssertEqual(try JSONValue(parsing: answer)["status"], 200, answer)
    var pushes: [JSONValue] = []
    while true {
      let push = try JSONValue(parsing: receiver.line())
      if push["token"]?.stringValue == marker { return pushes }
      XCTAssertEqual(push["token"]?.stringValue, other ?? token)
      pushes.append(try XCTUnwrap(push["payload"]))
    }
  }

  /// The number of rows in a table of the relay's or the server's file.
  package func count(_ table: String, in file: String) throws -> Int64 {
    let database = try Database(path: directory.appendingPathComponent(file).path)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM \(table)") ?? 0
  }

  package func restartServer(byKilling: Bool) throws {
    stopServer(byKilling: byKilling)
    try startServerAgain()
  }

  package func stopServer(byKilling: Bool) {
    server.signal(byKilling ? SIGKILL : SIGTERM)
    _ = try? server.waitForEnd()
  }

  /// The server is running but does nothing, like a slow one. It is not frozen while writing to the relay's file: a
  /// server on a disk of its own could not hold that up either.
  package func freezeServer() { freeze(server) }

  /// Alice's app is frozen, like the server above: not while writing to the relay's file.
  package func freezeAlice() { freeze(alice.process) }

  private func freeze(_ process: ChildProcess) {
    process.signal(SIGSTOP)
    while (try? process.waitUntilStopped()) != nil, isWriting(process) {
      process.signal(SIGCONT)
      usleep(2_000)
      process.signal(SIGSTOP)
    }
  }

  private func isWriting(_ process: ChildProcess) -> Bool {
    let locks = (try? HeldLock.all(of: process.identifier)) ?? []
    return locks.contains { $0.kind == "POSIX" && $0.access == "WRITE" }
  }

  package func thawServer() { server.signal(SIGCONT) }

  package func startServerAgain() throws {
    server = try Self.startServer(in: directory)
    XCTAssertEqual(try server.line(), serverLink, "a server keeps its address")
  }

  // MARK: The extension

  /// Starts a new extension for one push without waiting for it.
  package func startExtension(_ push: JSONValue, environment: [String: String] = [:]) throws -> ChildProcess {
    let process = try ChildProcess(
      Places.harness, ["extension", "--store", alice.store], environment: environment,
      log: directory.appendingPathComponent("extension.log"))
    try process.send(push.text)
    return process
  }

  /// The answer of an extension started earlier, and how it ended.
  package func answer(of process: ChildProcess) throws -> JSONValue {
    let answer = try JSONValue(parsing: process.line(within: 35))
    _ = try process.end()
    return answer
  }

  /// Starts a new extension for one push; its answer is nil if it died, and `ending` says how.
  package func runExtension(
    _ push: JSONValue, options: [String] = [], environment: [String: String] = [:]
  ) throws -> (answer: JSONValue?, ending: Ending) {
    var options = options
    if !key.isEmpty {
      let file = directory.appendingPathComponent("keychain")
      try Data(key.utf8).write(to: file)
      options += ["--key-file", file.path]
    }
    let process = try ChildProcess(
      Places.harness, ["extension", "--store", alice.store] + options, environment: environment,
      log: directory.appendingPathComponent("extension.log"))
    // An extension that cannot begin ends before it reads; its ending says the rest.
    try? process.send(push.text)
    let line = try? process.line(within: 35)
    return (try line.map { try JSONValue(parsing: $0) }, try process.end())
  }

  /// The answer of an extension that must end well, and quiescent.
  package func present(_ push: JSONValue, file: StaticString = #filePath, line: UInt = #line) throws -> JSONValue {
    let (answer, ending) = try runExtension(push)
    XCTAssertEqual(ending, .exited(0), file: file, line: line)
    let content = try XCTUnwrap(answer, file: file, line: line)
    XCTAssertEqual(content["quiescent"], true, content.text, file: file, line: line)
    return content
  }

  // MARK: State afterwards

  /// The texts that alice got from bob, the oldest first.
  package func aliceHas() throws -> [String] {
    let chat = try alice.command("/_get chat @\(aliceContact) count=100", "apiChat")
    let items = try XCTUnwrap(chat["chat"]?["chatItems"]?.arrayValue)
    return items.filter { $0["chatDir"]?["type"] == "directRcv" }
      .compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
  }

  /// Waits until the relay has handed everything over and nothing is under way in this host: anything that has not
  /// arrived by then will not arrive.
  package func awaitRest(of host: ScriptedHost, file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("nothing is under way: \(try host.state.text)", file: file, line: line) {
      try isRelayEmpty() && isAtRest(host)
    }
  }

  /// Waits until everything that was sent is acknowledged.
  package func awaitEmptyRelay(file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("the relay is empty", file: file, line: line) { try isRelayEmpty() }
  }

  private func isRelayEmpty() throws -> Bool {
    let database = try Database(path: relay)
    defer { try? database.close() }
    return try database.integer("SELECT count(*) FROM message WHERE body IS NOT NULL") == 0
  }

  private func isAtRest(_ host: ScriptedHost) throws -> Bool {
    let operations = try host.state["operations"]
    return ["receiving", "delivery", "sending", "database"].allSatisfy { operations?[$0] == 0 }
  }

  /// Waits until alice has these texts, and looks again when nothing more can arrive, so that a repetition shows as
  /// well.
  package func expectAliceHas(_ texts: [String], file: StaticString = #filePath, line: UInt = #line) throws {
    try awaitThat("alice has them", file: file, line: line) { try aliceHas().count >= texts.count }
    try awaitRest(of: alice, file: file, line: line)
    XCTAssertEqual(try aliceHas(), texts, file: file, line: line)
  }
}

/// Repeats a push up to four times while its answer came too late. An engine that is always late still fails.
package func repeating(
  while isLate: (JSONValue) -> Bool, of host: ScriptedHost, _ push: () throws -> JSONValue
) throws -> JSONValue {
  var answer = try push()
  for _ in 0..<4 where isLate(answer) {
    try awaitThat("the engine is done") { try host.state["quiescent"] == true }
    answer = try push()
  }
  return answer
}

extension JSONValue {
  /// The bodies of an extension's notifications, without placeholders and notices.
  package var bodies: [String] { bodies { $0 != "NTF_CAT_CONNECTION_EVENT" } }
  /// The bodies of placeholders and notices.
  package var placeholders: [String] { bodies { $0 == "NTF_CAT_CONNECTION_EVENT" } }

  /// On a busy machine the engine may miss the 100 ms that it has at the end of a push: the caller was answered without
  /// it.
  package var isWithoutEngine: Bool {
    ["time was up while the engine was at work", "the engine did not end in time"].contains(self["reason"])
  }

  /// Likewise, or with what the engine showed before it had closed the store.
  package var isLate: Bool { isWithoutEngine || self["reason"] == "time was up before the store was closed" }

  private func bodies(in isWanted: (String?) -> Bool) -> [String] {
    (self["notifications"]?.arrayValue ?? []).filter { isWanted($0["categoryIdentifier"]?.stringValue) }
      .compactMap { $0["body"]?.stringValue }
  }
}
