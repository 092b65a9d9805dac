import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// INC-01: once the library reports that it is quiescent, the process may be frozen, whatever was in flight; nothing is
/// lost or repeated.
final class QuiescenceTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock {
      night.alice.process.signal(SIGCONT)
      night.thawServer()
      night.end()
    }
    return night
  }

  /// As listed by the kernel: neither a lock nor an open file of the store or of the relay.
  private func expectNothingHeld(
    _ host: ScriptedHost, _ night: Night, _ round: String, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    for prefix in [host.store, night.relay] {
      let (lines, ending) = try ChildProcess.run(Places.harness, ["locks", "\(host.process.identifier)", prefix])
      XCTAssertEqual(ending, .exited(0), "\(round): \(lines.joined())", file: file, line: line)
    }
  }

  private func text(_ text: String) -> String {
    let message: JSONValue = [["msgContent": ["type": "text", "text": .string(text)], "mentions": [:]]]
    return message.text
  }

  /// Runs a command on a thread of the host.
  private func start(_ name: String, _ command: String, _ host: ScriptedHost) throws {
    try host.call("&\(name) = chat_send_cmd $c \(JSONValue(command).text)")
  }

  private func received(_ host: ScriptedHost, _ contact: Int64) throws -> [String] {
    let chat = try host.command("/_get chat @\(contact) count=1000", "apiChat")
    return (chat["chat"]?["chatItems"]?.arrayValue ?? []).filter { $0["chatDir"]?["type"] == "directRcv" }
      .compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
  }

  private func expectReceived(
    _ texts: [String], _ host: ScriptedHost, _ contact: Int64, _ night: Night, file: StaticString = #filePath,
    line: UInt = #line
  ) throws {
    let end = Date(timeIntervalSinceNow: 30)
    while try received(host, contact).count < texts.count, end.timeIntervalSinceNow > 0 { usleep(50_000) }
    try night.awaitRest(of: host, file: file, line: line)
    XCTAssertEqual(try received(host, contact).sorted(), texts.sorted(), file: file, line: line)
  }

  func testINC01QuiescentHoldsNothingAndLosesOrRepeatsNothingInFlight() throws {
    let seed =
      ProcessInfo.processInfo.environment["PORTER_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 0...999_999)
    var chance = seed
    func number(below bound: UInt64) -> UInt64 {
      chance = chance &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return (chance >> 33) % bound
    }
    let night = try makeNight()
    let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
    var (fromAlice, fromBob) = ([String](), [String]())
    for index in 0..<14 {
      let round = "round \(index), PORTER_SEED=\(seed)"
      let asksServer = number(below: 3) == 0
      if asksServer {
        night.freezeServer()
        try start("asks", "/_ntf check apns_test \(night.token)", night.alice)
      }
      let words = (0..<3).map { "a\(3 * index + $0)" }
      for place in 0..<3 {
        try start(
          "send\(place)", "/_send @\(night.aliceContact) live=off json \(text(words[place]))", night.alice)
        fromBob.append("b\(fromBob.count)")
        try night.bobSends(fromBob.last ?? "")
      }
      usleep(UInt32(number(below: 30_000)))
      if number(below: 2) == 0 {
        try night.alice.command("/_app suspend 0", "cmdOk")
      } else {
        try night.alice.command("/_app suspend 5000000", "cmdOk")
        try night.alice.event("chatSuspended", within: 30)
      }
      let state = try night.alice.state
      XCTAssertEqual(state["quiescent"], true, "\(round): \(state.text)")
      XCTAssertEqual(state["holds"], [], "\(round): \(state.text)")
      try night.alice.process.freeze()
      try expectNothingHeld(night.alice, night, round)

      // No process waits for the frozen one.
      let (answer, ending) = try night.runExtension(try JSONValue(parsing: wake))
      XCTAssertEqual(ending, .exited(0), round)
      XCTAssertEqual(answer?["quiescent"], true, "\(round): \(answer?.text ?? "none")")
      XCTAssertTrue(
        ["presented", "nothingNew"].contains(answer?["outcome"]?.stringValue), "\(round): \(answer?.text ?? "none")")

      night.alice.process.signal(SIGCONT)
      if asksServer { night.thawServer() }
      for place in 0..<3 {
        let sent = try night.alice.call("join send\(place)")
        // Whatever came after the suspension was refused, and is stored nowhere.
        if sent["result"] != nil { fromAlice.append(words[place]) }
      }
      if asksServer { _ = try night.alice.call("join asks") }
      try night.alice.command("/_app activate", "cmdOk")
    }
    try expectReceived(fromBob, night.alice, night.aliceContact, night)
    try expectReceived(fromAlice, night.bob, night.bobContact, night)
  }

  /// A large store is being rekeyed when the process is asked to suspend: the change is cancelled, and the store is
  /// unchanged.
  func testINC01ChangingTheKeyIsCancelledAndLeavesNothingHeld() throws {
    let night = try makeNight()
    try night.alice.command("/_stop", "chatStopped")
    XCTAssertEqual(try night.alice.call("chat_close_store $c"), "")
    let file = StoreLocation(prefix: night.alice.store).file
    let filler = try Database(path: file)
    try filler.execute(
      """
      CREATE TABLE filler(data BLOB);
      WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 600)
      INSERT INTO filler SELECT randomblob(100000) FROM n;
      """)
    try filler.close()
    let key = "x'\(String(repeating: "ab", count: 32))'"
    let command = #"/_db encryption {"currentKey":"","newKey":"\#(key)"}"#
    let undo = #"/_db encryption {"currentKey":"\#(key)","newKey":""}"#

    var tries = 0
    var ways = [#"chat_send_cmd $c "/_app suspend 0""#, "chat_close_store $c"]
    while let letGo = ways.first {
      try start("keys", command, night.alice)
      let begun = Date(timeIntervalSinceNow: 20)
      while Self.size(of: file + "-rekey") < 1_000_000, begun.timeIntervalSinceNow > 0 { usleep(500) }
      let started = Date()
      try night.alice.call(letGo)
      let seconds = -started.timeIntervalSinceNow
      print("\(letGo) while a store of 60 MB gets another key: \(Int(seconds * 1_000_000)) us")
      let state = try night.alice.state
      XCTAssertEqual(state["quiescent"], true, state.text)
      try expectNothingHeld(night.alice, night, letGo)
      let answer = try night.alice.call("join keys")
      XCTAssertEqual(Self.size(of: file + "-rekey"), 0, "no copy is left")
      tries += 1
      // On a busy machine this test may have been too late to cancel it.
      if answer["error"] == nil, tries < 10 {
        let undone = try night.alice.call("chat_send_cmd $c \(JSONValue(undo).text)", within: 60)
        XCTAssertEqual(undone["result"]?["type"], "cmdOk", undone.text)
        continue
      }
      XCTAssertNotNil(answer["error"], "it was in the midst of it: \(answer.text)")
      ways.removeFirst()
    }
    XCTAssertEqual(try night.alice.call("chat_reopen_store $c"), "", "under the key that it had")
    try night.alice.command("/_start", "chatStarted")
    try night.bobSends("after")
    try night.expectAliceHas(["after"])

    // Repeated with enough time, it succeeds.
    try night.alice.command("/_stop", "chatStopped")
    let answer = try night.alice.call("chat_send_cmd $c \(JSONValue(command).text)", within: 60)
    XCTAssertEqual(answer["result"]?["type"], "cmdOk", answer.text)
    try night.alice.command("/_start", "chatStarted")
    try night.expectAliceHas(["after"])
  }

  /// 0 for a missing file.
  private static func size(of path: String) -> Int64 {
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }
}
