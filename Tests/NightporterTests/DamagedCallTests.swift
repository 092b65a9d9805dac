import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import Nightporter

/// Two contacts call, and the record of one is damaged (INC-44): the other's call is reported, listed and ended as
/// usual.
final class DamagedCallTests: XCTestCase {
  /// Bob has called, then carol; alice's extension has received both calls, and bob's connection is damaged.
  private func makeCalls() throws -> Station {
    let (station, friends) = try CallStation.make()
    for caller in [station.bob] + friends {
      caller.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
      try awaitSent(caller)
      for push in try station.allPushes() { _ = try station.present(push) }
    }
    try execute("UPDATE connections SET recipient_key = x'00' WHERE contact_id = 1", station)
    return station
  }

  private func execute(_ sql: String, _ station: Station) throws {
    let database = try Database(path: station.alice.prefix + "_chat.db")
    defer { try? database.close() }
    try database.execute(sql)
  }

  func testTheOtherCallIsReportedListedAndEnded() throws {
    let station = try makeCalls()
    let alice = station.alice
    alice.send("/_app activate").assert("cmdOk")
    let invitation = alice.event("callInvitation")?["result"]["callInvitation"]
    XCTAssertEqual(invitation?["contact"]["localDisplayName"].text, "carol")
    let listed = alice.send("/_call get")
    XCTAssertEqual(
      listed["result"]["callInvitations"].elements.map(\.["contact"]["localDisplayName"].text), ["carol"],
      listed.description)
    station.suspend()
    try execute("UPDATE calls SET deadline = 0", station)
    alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(alice.event("callEnded")?["result"]["contact"]["localDisplayName"].text, "carol")
    XCTAssertEqual(alice.send("/_call get")["result"]["callInvitations"].count, 0)
  }

  /// The app's host is ringing when the extension receives the end of the call, and the contact's connection is damaged
  /// by then.
  func testTheEndOfACallIsReportedThoughTheConnectionIsDamaged() throws {
    let (station, _) = try CallStation.make()
    let alice = station.alice
    alice.send("/_app activate").assert("cmdOk")
    alice.dropEvents()
    station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    alice.event("callInvitation")
    awaitRest(of: alice)
    station.suspend()
    station.bob.send("/_call end @1").assert("cmdOk")
    try awaitSent(station.bob)
    // The app had the call before the push for it came.
    let push = try XCTUnwrap(station.allPushes().last)
    XCTAssertEqual(try station.present(push).bodies, ["Missed call"])
    try execute("UPDATE connections SET recipient_key = x'00' WHERE contact_id = 1", station)
    alice.send("/_app activate").assert("cmdOk")
    let ended = try XCTUnwrap(alice.event("callEnded"))["result"]
    XCTAssertEqual(ended["contact"]["localDisplayName"].text, "bob", ended.description)
    XCTAssertFalse(ended["contact"]["activeConn"].exists, ended.description)
  }

  /// The clock stands still: only work that is due now is done, and no later retry.
  func testACallThatCannotBeEndedIsNotTriedAgainWithoutAPause() throws {
    let station = try makeCalls()
    try execute("UPDATE calls SET deadline = 0", station)
    station.alice.free()
    let clock = MovedClock()
    let failures = Mutex(0)
    let configuration = Configuration(
      prefix: station.alice.prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock),
      log: Log(minimum: .warning) { _, line in
        if line.contains("could not be ended") { failures.withLock { $0 += 1 } }
      })
    let alice = Host(try XCTUnwrap(Handles.add(try XCTUnwrap(Controller.open(configuration).1))), station.alice.prefix)
    alice.send("/_start").assert("chatStarted")
    awaitRest(of: alice)
    clock.stop()
    // Each of these makes the engine check its timers.
    awaitThat("it could not be ended") {
      alice.send("/_check running")
      return failures.withLock { $0 } > 0
    }
    // What was due when the clock stopped is done before the next answer.
    alice.send("/_check running")
    let before = failures.withLock { $0 }
    for _ in 0..<20 { alice.send("/_check running") }
    XCTAssertEqual(failures.withLock { $0 }, before)
    alice.free()
  }
}
