import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// Switching between the modes of notifications, and off, with a real server: a process that is killed in the middle leaves
/// one mode or the other, and the next one brings the relay and the server to it.
final class ModeTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock {
      night.thawServer()
      night.end()
    }
    return night
  }

  private func count(_ sql: String, in file: String) throws -> Int64 {
    let database = try Database(path: file)
    defer { try? database.close() }
    return try database.integer(sql) ?? 0
  }

  /// The mode that is stored, or nil; relay and server have come to it.
  private func settled(
    _ host: ScriptedHost, _ night: Night, file: StaticString = #filePath, line: UInt = #line
  ) throws -> String? {
    let server = night.directory.appendingPathComponent("server").path
    let mode = try host.answer("/_ntf get")["result"]?["ntfMode"]?.stringValue
    let wanted: Int64 = mode == "INSTANT" ? 1 : 0
    let end = Date(timeIntervalSinceNow: 30)
    while end.timeIntervalSinceNow > 0 {
      if try count("SELECT count(*) FROM subscription", in: server) == wanted,
        try count("SELECT count(*) FROM token", in: server) == (mode == nil ? 0 : 1),
        try count("SELECT count(*) FROM notifier", in: night.relay) == wanted
      {
        return mode
      }
      usleep(20_000)
    }
    XCTFail("\(mode ?? "off") is not what the relay and the server have", file: file, line: line)
    return mode
  }

  /// Kills the process some time after the command was sent, or once it is answered, and starts another.
  private func interrupt(_ host: ScriptedHost, _ command: String, after microseconds: UInt32?) throws -> ScriptedHost {
    if let microseconds {
      try host.process.send("&cut = chat_send_cmd $c \(JSONValue(command).text)")
      usleep(microseconds)
    } else {
      _ = try host.answer(command)
    }
    host.process.kill()
    let next = try ScriptedHost(store: host.store)
    addTeardownBlock { next.process.kill() }
    try next.command("/_start", "chatStarted")
    return next
  }

  func testSwitchingSurvivesAKillAtAnyMoment() throws {
    let night = try makeNight()
    XCTAssertEqual(try settled(night.alice, night), "INSTANT")
    var host = night.alice
    let delays: [UInt32?] = [0, 2_000, 5_000, 10_000, 20_000, 60_000, nil, nil]
    for (round, delay) in delays.enumerated() {
      let mode = round.isMultiple(of: 2) ? "PERIODIC" : "INSTANT"
      host = try interrupt(host, "/_ntf register apns_test \(night.token) \(mode)", after: delay)
      let found = try settled(host, night)
      if delay == nil { XCTAssertEqual(found, mode, "it was answered") } else { XCTAssertNotNil(found) }
    }
    for delay in [0, 5_000, 60_000, nil] as [UInt32?] {
      host = try interrupt(host, "/_ntf delete apns_test \(night.token)", after: delay)
      if try settled(host, night) == nil { return }
    }
    XCTFail("never off")
  }

  /// The server is out of reach: the command is answered, and what it asked for happens when the server is back, though the
  /// process was killed meanwhile.
  func testSwitchingFinishesWhenTheServerIsBack() throws {
    let night = try makeNight()
    XCTAssertEqual(try settled(night.alice, night), "INSTANT")
    night.stopServer(byKilling: true)
    var host = try interrupt(night.alice, "/_ntf register apns_test \(night.token) PERIODIC", after: 200_000)
    XCTAssertEqual(try host.answer("/_ntf get")["result"]?["ntfMode"], "PERIODIC")
    try night.startServerAgain()
    XCTAssertEqual(try settled(host, night), "PERIODIC")
    night.stopServer(byKilling: true)
    try host.command("/_ntf delete apns_test \(night.token)", "cmdOk")
    host.process.kill()
    host = try ScriptedHost(store: host.store)
    addTeardownBlock { [process = host.process] in process.kill() }
    try host.command("/_start", "chatStarted")
    try night.startServerAgain()
    XCTAssertNil(try settled(host, night))
  }
}
