import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// `make torture SECONDS=… SEED=…`; in the tests for a minute, with a new seed each time. The tortured store is sealed
/// if the seed is even, or as set by SEALED=1 and SEALED=0; the stores of the people who write to it, who are killed
/// and have bad disks as well, are the opposite.
final class TortureTests: XCTestCase {
  func testEveryMessageTheRelayAcceptedArrivesOnceWhateverIsKilled() throws {
    // Writing to a process that was just killed must fail with an error, not a signal.
    signal(SIGPIPE, SIG_IGN)
    let environment = ProcessInfo.processInfo.environment
    let seconds = environment["PORTER_TORTURE_SECONDS"].flatMap(Double.init) ?? 60
    let seed = environment["PORTER_TORTURE_SEED"].flatMap(UInt64.init) ?? UInt64.random(in: 1...UInt64(UInt32.max))
    let night = try Night()
    var passed = false
    defer { if passed { night.end() } else { print("torture: its files are in \(night.directory.path)") } }
    let isSealed = environment["PORTER_TORTURE_SEALED"].map { $0 == "1" } ?? (seed % 2 == 0)
    let place = try furnish(night, isSealed: isSealed)
    let torture = Torture(seed: seed, seconds: seconds, place: place)
    print("torture: seed \(seed), \(Int(seconds)) s, \(isSealed ? "sealed" : "plain")")
    torture.run(receiving: night)
    try Verdict(torture: torture, night: night).reach()
    print("torture: seed \(seed), \(Int(seconds)) s, \(isSealed ? "sealed" : "plain"):\n\(torture.tally.description)")
    XCTAssertEqual(torture.tally.found, [], "seed \(seed)")
    for kinds in Torture.kinds.map({ [$0] }) + Torture.results {
      let count = kinds.map(torture.tally.number).reduce(0, +)
      XCTAssertGreaterThan(count, 0, "\(kinds.joined(separator: " or ")) never happened: seed \(seed)")
    }
    passed = torture.tally.found.isEmpty
  }

  private func makeHost(_ name: String, _ night: Night) throws -> ScriptedHost {
    let host = try ScriptedHost(store: night.directory.appendingPathComponent(name).path)
    let user: JSONValue = ["profile": ["displayName": .string(name), "fullName": ""]]
    try host.command("/_create user \(user.text)", "activeUser")
    let network: JSONValue = ["relay": .string(night.relay)]
    try host.command("/_network \(network.text)", "cmdOk")
    try host.command("/_start", "chatStarted")
    return host
  }

  /// A second person for alice, an address, and people who ask there; then all applications end, so that the torture
  /// can start its own.
  private func furnish(_ night: Night, isSealed: Bool) throws -> Torture.Place {
    let carol = try makeHost("carol", night)
    let stranger = try makeHost("stranger", night)
    let address = try night.alice.command("/_address 1", "userContactLinkCreated")
    let invitation = try night.alice.command("/_connect 1", "invitation")
    let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
    XCTAssertNotNil(try carol.answer("/connect \(link)")["result"])
    let there = try XCTUnwrap(carol.event("contactConnected")["contact"]?["contactId"]?.integerValue)
    let here = try XCTUnwrap(night.alice.event("contactConnected")["contact"]?["contactId"]?.integerValue)
    try night.awaitSubscriptions(3)
    let key = "x'\(String(repeating: "5eA1", count: 16))'"
    let (own, others) = isSealed ? (key, "") : ("", key)
    for (host, key) in [(night.alice, own), (night.bob, others), (carol, others), (stranger, others)] {
      try host.command("/_stop", "chatStopped")
      if !key.isEmpty {
        let keys: JSONValue = ["currentKey": "", "newKey": .string(key)]
        try host.command("/_db encryption \(keys.text)", "cmdOk")
      }
      XCTAssertEqual(try host.call("chat_close_store $c"), "")
      XCTAssertEqual(try host.process.end(within: 60), .exited(0))
    }
    return Torture.Place(
      directory: night.directory, relay: night.relay, store: night.alice.store, key: own,
      people: [
        .init(
          name: "bob", store: night.bob.store, key: others, contact: night.bobContact,
          contactThere: night.aliceContact),
        .init(name: "carol", store: carol.store, key: others, contact: there, contactThere: here),
      ],
      stranger: .init(
        store: stranger.store, key: others,
        link: try XCTUnwrap(address["connLinkContact"]?["connFullLink"]?.stringValue)),
      faultyLibrary: Places.products.appendingPathComponent("libfaulty-vfs.so").path)
  }
}
