import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// A process is killed in the middle of deleting a profile. The profile is whole or gone, and the next process makes
/// the relay and the notification server forget what they must.
final class KilledDeletionTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// The number of rows that a profile has in each file.
  private func rows(_ night: Night) throws -> [String: Int64] {
    var rows: [String: Int64] = [:]
    for table in ["users", "contacts", "connections", "items", "deleted_mailboxes", "server_outbox", "token"] {
      rows[table] = try night.count(table, in: "alice_chat.db")
    }
    rows["mailboxes"] = try night.count("mailbox", in: "relay")
    rows["subscriptions"] = try night.count("subscription", in: "server")
    rows["tokens"] = try night.count("token", in: "server")
    return rows
  }

  private func start(_ night: Night, haltingAt point: String? = nil) throws -> ScriptedHost {
    let environment = point.map { ["PORTER_HALT_AT": $0] } ?? [:]
    let host = try ScriptedHost(store: night.alice.store, environment: environment)
    addTeardownBlock { host.process.kill() }
    try host.command("/_start", "chatStarted")
    return host
  }

  /// Another of alice's profiles, which bob has written to.
  private func addProfile(_ name: String, to host: ScriptedHost, _ night: Night) throws -> (user: Int64, contact: Int64)
  {
    let profile: JSONValue = ["profile": ["displayName": .string(name), "fullName": ""]]
    let made = try host.command("/_create user \(profile.text)", "activeUser")
    let user = try XCTUnwrap(made["user"]?["userId"]?.integerValue)
    let invitation = try host.command("/_connect \(user)", "invitation")
    let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
    try night.bob.command("/connect \(link)", "sentConfirmation")
    try host.event("contactConnected")
    let contact = try XCTUnwrap(night.bob.event("contactConnected")["contact"]?["contactId"]?.integerValue)
    try night.bob.command("/_send @\(contact) text to \(name)", "newChatItems")
    try host.event("newChatItems")
    try awaitThat("the server watches the mailbox") { try night.count("subscription", in: "server") == 2 }
    try host.command("/_user 1", "activeUser")
    return (user, contact)
  }

  private func end(_ host: ScriptedHost) throws {
    try host.command("/_app suspend 0", "cmdOk")
    XCTAssertEqual(try host.call("chat_close_store $c"), "")
    _ = try host.process.end()
  }

  func testAProfileIsWholeOrGoneWhereverItsDeletionIsKilled() throws {
    let night = try makeNight()
    try night.awaitRequestsSent()
    try end(night.alice)
    var before = try rows(night)
    for point in ["insideProfileDeletion", "profileDeleted", "mailboxDeleted", "serverRequestSent"] {
      let host = try start(night)
      let (user, contact) = try addProfile(point, to: host, night)
      try end(host)
      // Bob's own mailbox for this profile stays.
      before["mailboxes", default: 0] += 1

      let first = try start(night, haltingAt: point)
      _ = try? first.answer("/_delete user \(user) del_smp=on")
      XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL), point)

      let second = try start(night)
      if point == "insideProfileDeletion" {
        try night.bob.command("/_send @\(contact) text still there?", "newChatItems")
        let item = try second.event("newChatItems")["chatItems"]?.arrayValue?.first
        XCTAssertEqual(item?["chatItem"]?["meta"]?["itemText"], "still there?", "the profile is whole")
        try second.command("/_delete user \(user) del_smp=on", "cmdOk")
      }
      // The host, which never got an answer, asks again.
      let again = try second.answer("/_delete user \(user) del_smp=on")
      XCTAssertEqual(again["error"]?["errorType"]?["type"], "userUnknown", "\(point): \(again.text)")
      try awaitThat("\(point): everything is forgotten: \(try rows(night)), not \(before)") {
        try rows(night) == before
      }
      XCTAssertEqual(try second.state["unread"], 0, point)
      XCTAssertEqual(try second.command("/_ntf get", "ntfToken")["status"], "ACTIVE", point)
      try end(second)
      // The other profile is as it was.
      let third = try start(night)
      try night.bobSends("after \(point)")
      let item = try third.event("newChatItems")["chatItems"]?.arrayValue?.first
      XCTAssertEqual(item?["chatItem"]?["meta"]?["itemText"]?.stringValue, "after \(point)")
      try third.command("/_delete @\(night.aliceContact) messages", "contactDeleted")
      try end(third)
    }
  }

  /// The last profile takes the device's token with it.
  func testTheTokenGoesWithTheLastProfileWhereverItsDeletionIsKilled() throws {
    for point in ["insideProfileDeletion", "profileDeleted", "serverRequestSent"] {
      let night = try makeNight()
      try end(night.alice)
      let first = try start(night, haltingAt: point)
      _ = try? first.answer("/_delete user 1 del_smp=on")
      XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL), point)
      let second = try ScriptedHost(store: night.alice.store)
      addTeardownBlock { second.process.kill() }
      if point == "insideProfileDeletion" {
        try second.command("/_start", "chatStarted")
        try second.command("/_delete user 1 del_smp=on", "cmdOk")
      } else {
        // A chat without a profile does not start: the next profile's chat does what is left.
        try second.command(#"/_create user {"profile":{"displayName":"next","fullName":""}}"#, "activeUser")
        try second.command("/_start", "chatStarted")
      }
      try awaitThat("\(point): everything is forgotten: \(try rows(night))") {
        let left = try rows(night)
        return ["connections", "deleted_mailboxes", "server_outbox", "token", "subscriptions", "tokens"]
          .allSatisfy { left[$0] == 0 }
      }
    }
  }
}
