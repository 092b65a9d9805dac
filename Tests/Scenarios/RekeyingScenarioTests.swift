import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// `/_db encryption` in real processes: killed at any moment, two at the same time, with other processes in the way,
/// and with a disk that fills up.
final class RekeyingScenarioTests: XCTestCase {
  private static let first = "x'" + String(repeating: "1f", count: 32) + "'"
  private static let second = "x'" + String(repeating: "2e", count: 32) + "'"
  private static let third = "x'" + String(repeating: "3d", count: 32) + "'"
  private static let stages = ["locked", "logWrittenBack", "copied", "checked", "synced", "renamed"]

  private var directory = URL(fileURLWithPath: "/")
  private var store: String { directory.appendingPathComponent("my störe").path }

  override func setUpWithError() throws { directory = try Places.makeTemporaryDirectory() }
  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func host(_ key: String, halt: String? = nil) throws -> ScriptedHost {
    try ScriptedHost(store: store, key: key, environment: halt.map { ["PORTER_HALT_AT": "rekey-\($0)"] } ?? [:])
  }

  private func encryption(_ current: String, _ new: String) -> String {
    let keys: JSONValue = ["currentKey": .string(current), "newKey": .string(new)]
    return "/_db encryption \(keys.text)"
  }

  /// A store with a profile that has a long name, so that it takes more than a page or two.
  private func make(_ key: String) throws {
    let host = try host(key)
    defer { host.process.kill() }
    for number in 0..<20 {
      let profile: JSONValue = [
        "profile": ["displayName": .string("name \(number)"), "fullName": .string(String(repeating: "n", count: 5000))]
      ]
      try host.command("/_create user \(profile.text)", "activeUser")
    }
    XCTAssertEqual(try host.call("np_ctrl_free $c")["name"] ?? "NP_OK", "NP_OK")
  }

  /// The store is whole under one of these keys; returns which.
  @discardableResult
  private func assertWhole(
    under keys: [String], file: StaticString = #filePath, line: UInt = #line
  ) throws -> String? {
    for key in keys {
      guard let host = try? host(key) else { continue }
      defer { host.process.kill() }
      XCTAssertEqual(try host.command("/users", "usersList")["users"]?.arrayValue?.count, 20, file: file, line: line)
      _ = try host.call("np_ctrl_free $c")
      let left = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.contains("rekey") }
      XCTAssertEqual(left, [], file: file, line: line)
      return key
    }
    XCTFail("the store opens with none of its keys", file: file, line: line)
    return nil
  }

  // MARK: Killed

  func testKilledAtEachStage() throws {
    for (from, to) in [("", Self.first), (Self.first, Self.second), (Self.first, "")] {
      for stage in Self.stages {
        try make(from)
        let host = try host(from, halt: stage)
        try host.process.send("chat_send_cmd $c \(JSONValue(encryption(from, to)).text)")
        XCTAssertEqual(try host.process.waitForEnd(), .killed(SIGKILL), stage)
        try assertWhole(under: [stage == "renamed" ? to : from])
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
          try FileManager.default.removeItem(at: directory.appendingPathComponent(name))
        }
      }
    }
  }

  func testKilledAtAnyMoment() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("moments drawn with \(seed)")
    var state = seed | 1
    try make("")
    let keys = ["", Self.first, Self.second]
    var current = 0
    var changed = 0
    for round in 0..<24 {
      let next = (current + 1 + round % 2) % 3
      let host = try host(keys[current])
      try host.process.send("chat_send_cmd $c \(JSONValue(encryption(keys[current], keys[next])).text)")
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      usleep(UInt32(state >> 33) % 40_000)
      host.process.kill()
      let found = try XCTUnwrap(assertWhole(under: [keys[current], keys[next]]), "round \(round), seed \(seed)")
      if found == keys[next] {
        current = next
        changed += 1
      }
    }
    print("killed 24 times: \(changed) had the new key")
  }

  // MARK: Others

  private static let keysOfTwo = [second, third]

  /// Makes both rekey the store at the same time; returns which of them did.
  private func race(_ hosts: [ScriptedHost]) throws -> [Int] {
    for (host, key) in zip(hosts, Self.keysOfTwo) {
      try host.process.send("chat_send_cmd $c \(JSONValue(encryption(Self.first, key)).text)")
    }
    var winners: [Int] = []
    for (index, host) in hosts.enumerated() {
      let answer = try XCTUnwrap(JSONValue(parsing: host.process.line(within: 60))["result"])
      if answer["result"]?["type"] == "cmdOk" {
        winners.append(index)
      } else {
        let code = answer["error"]?["np"]?["code"]?.stringValue
        XCTAssertTrue(["storeKeyWrong", "ownedElsewhere"].contains(code), answer.text)
      }
      XCTAssertFalse(answer.text.contains("1f1f") || answer.text.contains("2e2e") || answer.text.contains("3d3d"))
    }
    return winners
  }

  /// Neither delays the other except during the change itself: one does it, whichever arrives first.
  func testTwoProcessesTogether() throws {
    try make(Self.first)
    let hosts = [try host(Self.first), try host(Self.first)]
    for host in hosts { XCTAssertEqual(try host.call("chat_close_store $c"), "") }
    let winners = try race(hosts)
    XCTAssertEqual(winners.count, 1)
    for host in hosts { host.process.kill() }
    try assertWhole(under: winners.map { Self.keysOfTwo[$0] })
  }

  /// Each may find that the other has it open. Then nothing has changed, and the rekeying works once one closes it.
  func testTwoProcessesTogetherThatHaveItOpen() throws {
    try make(Self.first)
    let hosts = [try host(Self.first), try host(Self.first)]
    var winners = try race(hosts)
    XCTAssertLessThanOrEqual(winners.count, 1)
    if winners.isEmpty {
      for host in hosts { XCTAssertEqual(try host.command("/users", "usersList")["users"]?.arrayValue?.count, 20) }
      XCTAssertEqual(try hosts[1].call("chat_close_store $c"), "")
      try hosts[0].command(encryption(Self.first, Self.keysOfTwo[0]), "cmdOk")
      winners = [0]
    }
    for host in hosts { host.process.kill() }
    try assertWhole(under: winners.map { Self.keysOfTwo[$0] })
  }

  // MARK: A directory without write permission

  func testDirectoryThatMayNotBeWrittenTo() throws {
    let disk = try SmallDisk(kilobytes: 4_096)
    defer { disk.end() }
    let host = try disk.start()
    func quoted(_ key: String) -> String { JSONValue(stringLiteral: key).text }
    func open(_ name: String) throws -> JSONValue {
      try host.call("\(name) = chat_migrate_init_key \"\(disk.path)/a\" \(quoted(Self.first)) 1 \"yesUp\" 0")
    }
    func change(_ current: String, _ new: String) throws -> JSONValue {
      let answer = try host.call("np_change_key $c \(quoted(current)) \(quoted(new))")
      XCTAssertFalse(["1f1f", "2e2e"].contains { answer.text.contains($0) })
      return answer
    }
    XCTAssertEqual(try open("c")["type"], "ok")
    try host.command(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#, "activeUser")
    XCTAssertEqual(try host.call("chat_close_store $c"), "")
    try disk.remount("ro")
    for _ in 0..<2 {
      let refused = try change(Self.first, Self.second)
      XCTAssertEqual(refused["error"]?["np"]?["code"], "storeReadOnly", refused.text)
      let opened = try open("d")
      XCTAssertEqual(opened["np"]?["code"], "storeReadOnly", opened.text)
    }
    try disk.remount("rw")
    XCTAssertEqual(try host.call("chat_reopen_store $c"), "")
    XCTAssertEqual(try host.command("/users", "usersList")["users"]?.arrayValue?.count, 1)
    let changed = try change(Self.first, Self.second)
    XCTAssertEqual(changed["result"]?["type"], "cmdOk", changed.text)
    XCTAssertEqual(try host.command("/users", "usersList")["users"]?.arrayValue?.count, 1)
    XCTAssertEqual(try change(Self.first, "")["error"]?["np"]?["code"], "storeKeyWrong")
  }

  func testProcessThatHasItOpenIsNamedAndLosesNothing() throws {
    try make(Self.first)
    let (one, other) = (try host(Self.first), try host(Self.first))
    defer { for host in [one, other] { host.process.kill() } }
    try other.command("/_start", "chatStarted")
    let refused = try one.answer(encryption(Self.first, Self.second))
    XCTAssertEqual(refused["error"]?["np"]?["code"], "ownedElsewhere", refused.text)
    let instance = try XCTUnwrap(other.state["instance"]?.stringValue)
    XCTAssertEqual(refused["error"]?["np"]?["holder"]?.stringValue, instance, refused.text)
    try one.command("/users", "usersList")
    try other.command(#"/_create user {"profile":{"displayName":"meanwhile","fullName":""}}"#, "activeUser")

    // While suspended it blocks no other process; awake again it gets the error for an old key.
    try other.command("/_app suspend 0", "cmdOk")
    try one.command(encryption(Self.first, Self.second), "cmdOk")
    XCTAssertEqual(try one.command("/users", "usersList")["users"]?.arrayValue?.count, 21)
    let woken = try other.answer("/_app activate")
    XCTAssertEqual(woken["error"]?["np"]?["code"], "storeKeyWrong", woken.text)
    _ = try other.call("np_set_key $c \(JSONValue(Self.second).text) 1")
    try other.command("/_app activate", "cmdOk")
    XCTAssertEqual(try other.command("/users", "usersList")["users"]?.arrayValue?.count, 21)
  }

  // MARK: A full disk

  /// Wherever it fills up: while the log is written back, or the copy is made or switched to WAL mode.
  func testDiskFillsUpMeanwhile() throws {
    var full = 0
    var done = 0
    for room in stride(from: 0, through: 480, by: 40) {
      let disk = try SmallDisk(kilobytes: 2000)
      defer { disk.end() }
      let host = try disk.start(store: disk.path + "/alice")
      try host.command(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#, "activeUser")
      try disk.fill(leaving: room)
      let answer = try host.answer(encryption("", Self.first))
      if answer["result"]?["type"] == "cmdOk" {
        done += 1
      } else {
        XCTAssertEqual(answer["error"]?["np"]?["code"], "storeFull", "\(room) KB left: \(answer.text)")
        full += 1
      }
      XCTAssertEqual(try host.command("/u", "activeUser")["user"]?["localDisplayName"], "alice", "\(room) KB left")
      try disk.free()
      let current = answer["result"] == nil ? "" : Self.first
      try host.command(encryption(current, Self.second), "cmdOk")
      XCTAssertEqual(try host.command("/u", "activeUser")["user"]?["localDisplayName"], "alice")
      try host.command("/_start", "chatStarted")
    }
    XCTAssertGreaterThan(full, 2)
    XCTAssertGreaterThan(done, 0)
  }
}
