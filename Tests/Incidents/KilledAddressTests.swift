import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A process is killed in the middle of deleting an address. The address is whole or gone, with its link in the
/// profile, and the next process informs contacts and the relay.
final class KilledAddressTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  private func start(_ store: String, haltingAt point: String? = nil) throws -> ScriptedHost {
    let host = try ScriptedHost(store: store, environment: point.map { ["PORTER_HALT_AT": $0] } ?? [:])
    addTeardownBlock { host.process.kill() }
    try host.command("/_start", "chatStarted")
    return host
  }

  private func link(_ host: ScriptedHost) throws -> JSONValue? {
    try host.command("/u", "activeUser")["user"]?["profile"]?["contactLink"]
  }

  /// The link that bob sees in alice's profile.
  private func shownLink(_ night: Night) throws -> JSONValue? {
    let contacts = try night.bob.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue
    return contacts?.first { $0["contactId"]?.integerValue == night.bobContact }?["profile"]?["contactLink"]
  }

  func testAnAddressIsWholeOrGoneWhereverItsDeletionIsKilled() throws {
    let night = try makeNight()
    let mailboxes = try night.count("mailbox", in: "relay")
    try night.alice.command("/_app suspend 0", "cmdOk")
    XCTAssertEqual(try night.alice.call("chat_close_store $c"), "")
    _ = try night.alice.process.end()
    for point in ["insideAddressDeletion", "addressDeleted", "mailboxDeleted"] {
      let before = try start(night.alice.store)
      let made = try before.command("/_address 1", "userContactLinkCreated")
      XCTAssertNotNil(made["connLinkContact"]?["connFullLink"], point)
      try before.command("/_profile_address 1 on", "userProfileUpdated")
      XCTAssertNotNil(try link(before), point)
      try awaitThat("\(point): bob sees it") { try shownLink(night) != nil }
      before.process.kill()

      let dying = try start(night.alice.store, haltingAt: point)
      _ = try? dying.answer("/_delete_address 1")
      XCTAssertEqual(try dying.process.waitForEnd(), .killed(SIGKILL), point)

      let after = try start(night.alice.store)
      if point == "insideAddressDeletion" {
        try after.command("/_show_address 1", "userContactLink")
        XCTAssertNotNil(try link(after), "the address is whole")
        try after.command("/_delete_address 1", "userContactLinkDeleted")
      }
      XCTAssertNil(try link(after), point)
      // The host, which never got an answer, asks again.
      let again = try after.answer("/_delete_address 1")
      XCTAssertEqual(
        again["error"]?["storeError"]?["type"], "userContactLinkNotFound", "\(point): \(again.text)")
      try awaitThat("\(point): bob learns of it") { try shownLink(night) == nil }
      try awaitThat("\(point): the relay forgets its mailbox") { try night.count("mailbox", in: "relay") == mailboxes }
      after.process.kill()
    }
  }
}
