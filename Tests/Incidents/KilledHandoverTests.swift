import Foundation
import PorterJSON
import PorterPlatform
import PorterProcesses
import PorterStore
import XCTest

/// An app whose host took events while the store was closed ends; its next process is killed while opening the store.
final class KilledHandoverTests: XCTestCase {
  func testAnAppKilledBeforeTheStoreNamesItsOpeningRepeatsNoEvent() throws { try appDies(at: "openingWritten") }
  func testAnAppKilledWhenTheStoreNamesItsOpeningRepeatsNoEvent() throws { try appDies(at: "openingNamed") }

  /// The event about a tap, when the store has forgotten it and the file still has it.
  func testAnAppKilledWhileItForgetsATakenResponseRepeatsNoEvent() throws {
    let directory = try Places.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let store = directory.appendingPathComponent("alice").path
    let first = try ScriptedHost(store: store)
    defer { first.process.kill() }
    try first.command(#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#, "activeUser")
    try first.command("/_start", "chatStarted")
    let respond = { (identifier: String) in
      let response: JSONValue = ["identifier": .string(identifier), "userInfo": ["userId": 1]]
      return "np_notification_response $c \(JSONValue(response.text).text)"
    }
    XCTAssertEqual(try first.call(respond("np:message:a:b"))["result"]?["outcome"], "applied")
    try first.command("/_app suspend 0", "cmdOk")
    let response = try first.event("ntfResponse")["responseId"]
    first.process.kill()

    let second = try ScriptedHost(store: store, environment: ["PORTER_HALT_AT": "takenForgotten"])
    XCTAssertThrowsError(try second.command("/_start", "chatStarted"))
    XCTAssertEqual(try second.process.waitForEnd(), .killed(SIGKILL))

    let third = try ScriptedHost(store: store)
    defer { third.process.kill() }
    try third.command("/_start", "chatStarted")
    let next = try third.call(respond("np:message:a:c"))["result"]
    XCTAssertEqual(next?["outcome"], "applied", next?.text ?? "")
    XCTAssertNotEqual(next?["responseId"], response)
    XCTAssertEqual(try third.event("ntfResponse")["responseId"], next?["responseId"])
  }

  private func appDies(at point: String) throws {
    let directory = try Places.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = { (name: String) in directory.appendingPathComponent(name).path }
    let (bob, first) = (try ScriptedHost(store: path("bob")), try ScriptedHost(store: path("alice")))
    defer { for host in [bob, first] { host.process.kill() } }
    for (host, name) in [(bob, "bob"), (first, "alice")] {
      try host.command(#"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "activeUser")
      let network: JSONValue = ["relay": .string(path("relay"))]
      try host.command("/_network \(network.text)", "cmdOk")
      try host.command("/_start", "chatStarted")
    }
    let invitation = try bob.command("/_connect 1", "invitation")
    let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
    try first.command("/connect \(link)", "sentConfirmation")
    try first.event("contactConnected")
    try bob.event("contactConnected")
    first.process.kill()

    try commit(["one", "two", "three"], in: path("alice"))
    let second = try ScriptedHost(store: path("alice"))
    defer { second.process.kill() }
    try second.command("/_start", "chatStarted")
    try second.command("/_app suspend 0", "cmdOk")
    XCTAssertEqual(try [text(of: second), text(of: second)], ["one", "two"])
    second.process.kill()

    let third = try ScriptedHost(store: path("alice"), environment: ["PORTER_HALT_AT": point])
    XCTAssertThrowsError(try third.command("/_start", "chatStarted"))
    XCTAssertEqual(try third.process.waitForEnd(), .killed(SIGKILL))

    let fourth = try ScriptedHost(store: path("alice"))
    defer { fourth.process.kill() }
    try fourth.command("/_start", "chatStarted")
    XCTAssertEqual(try text(of: fourth), "three")
    try bob.command("/_send @1 text last", "newChatItems")
    XCTAssertEqual(try text(of: fourth), "last")
  }

  private func text(of host: ScriptedHost) throws -> String? {
    let event = try host.event("newChatItems")
    return event["chatItems"]?.arrayValue?.first?["chatItem"]?["content"]?["msgContent"]?["text"]?.stringValue
  }

  /// Commits like an extension.
  private func commit(_ texts: [String], in prefix: String) throws {
    let store = try Store.open(at: StoreLocation(prefix: prefix), confirmation: .yesUp, mayMigrate: true)
    let now = SystemClock().wall()
    try store.transaction { () throws(StoreError) in
      guard let connection = try store.connections().first, let contact = connection.contactID else {
        throw .notFound(.contact)
      }
      for text in texts {
        let item = try store.insertReceivedItem(
          contactID: contact, content: #"{"type":"text","text":"\#(text)"}"#, sharedID: Array(text.utf8), itemAt: now,
          at: now)
        try store.enter(
          NewLedgerEntry(
            connectionID: connection.id, messageID: Array(text.utf8), messageAt: now, kind: .message,
            contactID: contact, itemID: item.id), after: [], at: now)
      }
    }
    try store.close(checkpoint: false)
  }
}
