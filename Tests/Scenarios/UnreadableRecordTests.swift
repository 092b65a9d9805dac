import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A record that was temporarily unreadable still exists.
final class UnreadableRecordTests: XCTestCase {
  /// Treated as forgotten by its server, the token would get new keys, and pushes sent in the meantime would not open.
  func testTokenSurvivesEachFailedReadOfItsRecord() throws {
    let night = try Night()
    addTeardownBlock { night.end() }
    try night.suspendAlice()
    XCTAssertEqual(try night.alice.process.end(within: 60), .exited(0))
    var started = 0
    for number in 1...60 where try startAlice(night, failing: number) { started += 1 }
    XCTAssertGreaterThan(started, 30)
    try night.bobSends("are you there")
    let content = try night.present(night.nextPush())
    XCTAssertEqual(content["outcome"], "presented", content.text)
    XCTAssertEqual(content.bodies, ["are you there"])
  }

  /// Alice's application asks its server about the token as it starts, and ends once it has the answer. False if it did
  /// not start because something else could not be read.
  private func startAlice(_ night: Night, failing number: Int) throws -> Bool {
    let process = try ChildProcess(
      Places.harness, ["script", "-"], environment: disk(failing: number),
      log: night.directory.appendingPathComponent("log.failing"))
    defer { process.kill() }
    func call(_ line: String) throws -> JSONValue {
      try process.send(line)
      return try JSONValue(parsing: process.line(within: 20))
    }
    _ = try call("c = chat_migrate_init_key \(JSONValue(night.alice.store).text) \"\" 1 \"yesUp\" 0")
    guard try call("chat_send_cmd $c \"/_start\"")["result"]?["result"] != nil else { return false }
    let end = Date(timeIntervalSinceNow: 2)
    while end.timeIntervalSinceNow > 0 {
      usleep(20_000)
      let holds = try call("np_state $c")["result"]?["holds"]?.arrayValue ?? []
      if !holds.contains(where: { $0.stringValue?.contains("answers") ?? false }) { break }
    }
    return true
  }

  /// In WAL mode each read of the store first takes a lock of the log's index; one of these requests fails.
  private func disk(failing number: Int) -> [String: String] {
    let lockOfIndex = 8
    return [
      "LD_PRELOAD": Places.products.appendingPathComponent("libfaulty-vfs.so").path,
      "PORTER_FAULTS": "broken \(lockOfIndex) \(number) 0 alice_",
    ]
  }

  /// The other side's answer waits for the mailbox to be secured, which is recorded.
  func testContactIsMadeThoughEachReadOfTheInviterFails() throws {
    let (alice, bob) = try makePeople()
    alice.process.kill()
    defer { bob.process.kill() }
    try expectContacts(alice.store, bob) { failing, bob in
      let link = try failing.answer("/_connect 1")["result"]?["connLinkInvitation"]?["connFullLink"]?.stringValue
      guard let link else { return false }
      XCTAssertNotNil(try bob.answer("/connect \(link)")["result"])
      return true
    }
  }

  func testContactIsMadeThoughEachReadOfTheJoinerFails() throws {
    let (alice, bob) = try makePeople()
    alice.process.kill()
    defer { bob.process.kill() }
    try expectContacts(alice.store, bob) { failing, bob in
      let link = try bob.command("/_connect 1", "invitation")["connLinkInvitation"]?["connFullLink"]?.stringValue
      return try failing.answer("/connect \(XCTUnwrap(link))")["result"] != nil
    }
  }

  private func makePeople() throws -> (alice: ScriptedHost, bob: ScriptedHost) {
    let directory = try Places.makeTemporaryDirectory()
    addTeardownBlock { try? FileManager.default.removeItem(at: directory) }
    let network: JSONValue = ["relay": .string(directory.appendingPathComponent("relay").path)]
    let people = try ["alice", "bob"].map { name in
      let host = try ScriptedHost(store: directory.appendingPathComponent(name).path)
      try host.command(#"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "activeUser")
      try host.command("/_network \(network.text)", "cmdOk")
      try host.command("/_start", "chatStarted")
      return host
    }
    return (people[0], people[1])
  }

  /// Every contact that two people begin to make is made, although one of the first one's processes fails to read once,
  /// and continues.
  private func expectContacts(
    _ store: String, _ other: ScriptedHost, begin: (ScriptedHost, ScriptedHost) throws -> Bool
  ) throws {
    var begun = 0
    for number in 40...80 {
      // Some do not even start.
      guard let failing = try? ScriptedHost(store: store, environment: disk(failing: number)) else { continue }
      defer { failing.process.kill() }
      guard try failing.result("/_start") == "chatStarted", try begin(failing, other) else { continue }
      begun += 1
      XCTAssertNoThrow(try other.event("contactConnected"), "the lock number \(number) failed")
      XCTAssertNoThrow(try failing.event("contactConnected"), "the lock number \(number) failed")
    }
    XCTAssertGreaterThan(begun, 15)
  }
}
