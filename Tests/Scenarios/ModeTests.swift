import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// Switching between the notification modes, and off, with a real server: a process killed in the middle leaves one
/// mode or the other, and the next process brings the relay and the server to that mode.
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

  /// The stored mode, or nil, once relay and server have reached it.
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

  // MARK: At each point

  /// From one mode to another, or off (nil), with the points that it passes in order. Before the first stored point
  /// nothing has happened; from then on everything happens.
  private static let switches: [(from: String, to: String?, begun: [String], stored: [String])] = [
    (
      "INSTANT", "PERIODIC", ["modeAsked", "insideMode"],
      ["modeStored", "notifierAsked", "notifierAnswered", "serverRequestSent"]
    ),
    (
      "PERIODIC", "INSTANT", ["modeAsked", "insideMode"],
      ["modeStored", "notifierAsked", "notifierAnswered", "subscriptionAnswered"]
    ),
    (
      "INSTANT", nil, ["modeAsked", "insideMode"],
      ["modeStored", "notifierAsked", "notifierAnswered", "serverRequestSent"]
    ),
  ]

  private func register(_ mode: String, _ night: Night) -> String { "/_ntf register apns_test \(night.token) \(mode)" }

  private func start(_ night: Night, dyingAt point: String? = nil) throws -> ScriptedHost {
    let environment = point.map { ["PORTER_HALT_AT": $0] } ?? [:]
    let host = try ScriptedHost(store: night.alice.store, environment: environment)
    addTeardownBlock { host.process.kill() }
    try host.command("/_start", "chatStarted")
    return host
  }

  /// The app is killed at this point of the switch, and restarted.
  private func switchAndDie(
    _ host: ScriptedHost, _ night: Night, to mode: String?, at point: String, file: StaticString = #filePath,
    line: UInt = #line
  ) throws -> ScriptedHost {
    host.process.kill()
    let dying = try start(night, dyingAt: point)
    // It may die before or after it has answered.
    _ = try? dying.answer(mode.map { register($0, night) } ?? "/_ntf delete apns_test \(night.token)")
    XCTAssertEqual(
      try dying.process.waitForEnd(), .killed(SIGKILL), "\(mode ?? "off"), \(point)", file: file, line: line)
    return try start(night)
  }

  private func assertSwitches(_ index: Int) throws {
    let (from, to, begun, stored) = Self.switches[index]
    var night = try makeNight()
    var host = night.alice
    for point in begun + stored {
      if try settled(host, night) == nil {
        // Off is permanent: the next one begins anew.
        night = try makeNight()
        host = night.alice
      }
      if try settled(host, night) != from {
        _ = try host.answer(register(from, night))
        XCTAssertEqual(try settled(host, night), from, point)
      }
      host = try switchAndDie(host, night, to: to, at: point)
      XCTAssertEqual(try settled(host, night), begun.contains(point) ? from : to, "\(to ?? "off"), \(point)")
    }
  }

  func testTheSwitchToPeriodicIsBegunOrFinishedAfterAKillAtEachPoint() throws { try assertSwitches(0) }
  func testTheSwitchToInstantIsBegunOrFinishedAfterAKillAtEachPoint() throws { try assertSwitches(1) }
  func testSwitchingOffIsBegunOrFinishedAfterAKillAtEachPoint() throws { try assertSwitches(2) }

  /// The same without the server, as far as the switch gets; it is finished when the server is back.
  func testASwitchThatWasKilledFinishesWhenTheServerIsBack() throws {
    for (_, to, _, stored) in [Self.switches[0], Self.switches[2]] {
      for point in stored {
        let night = try makeNight()
        night.stopServer(byKilling: true)
        let host = try switchAndDie(night.alice, night, to: to, at: point)
        try night.startServerAgain()
        XCTAssertEqual(try settled(host, night), to, "\(to ?? "off"), \(point)")
        night.end()
      }
    }
  }

  /// The server is unreachable: the command is answered, and takes effect when the server is back, although the process
  /// was killed in between.
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
