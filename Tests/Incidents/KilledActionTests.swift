import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import PorterStore
import XCTest

/// A tap, an accepted request and an accepted call, each in a process that is killed while it stores or carries out the
/// user's action. Whenever that happens, each is applied once, and its host is notified once.
final class KilledActionTests: XCTestCase {
  private static let points = ["responseKept", "insideResponse", "responseEnded"]

  private func start(_ store: String, dyingAt point: String? = nil) throws -> ScriptedHost {
    let host = try ScriptedHost(store: store, environment: point.map { ["PORTER_HALT_AT": $0] } ?? [:])
    addTeardownBlock { host.process.kill() }
    return host
  }

  private func begin(_ host: ScriptedHost, _ name: String, _ relay: String) throws {
    try host.command(#"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "activeUser")
    let network: JSONValue = ["relay": .string(relay)]
    try host.command("/_network \(network.text)", "cmdOk")
    try host.command("/_start", "chatStarted")
  }

  private func respond(_ action: String?, _ notification: JSONValue) -> String {
    let response = JSONValue.compact([
      "actionIdentifier": action.map { .string($0) }, "identifier": notification["identifier"],
      "userInfo": notification["userInfo"],
    ])
    return "np_notification_response $c \(JSONValue(response.text).text)"
  }

  /// The process dies with the response. The next one carries it out, and the one after that has nothing left to do.
  private func assertAppliedOnce(
    _ respond: String, _ store: String, _ point: String, file: StaticString = #filePath, line: UInt = #line,
    _ check: (ScriptedHost, JSONValue) throws -> Void
  ) throws {
    let dying = try start(store, dyingAt: point)
    try dying.command("/_start", "chatStarted")
    _ = try? dying.call(respond)
    XCTAssertEqual(try dying.process.waitForEnd(), .killed(SIGKILL), point, file: file, line: line)
    let app = try start(store)
    try app.command("/_start", "chatStarted")
    let event = try app.event("ntfResponse")
    XCTAssertEqual(event["outcome"], "applied", "\(point): \(event.text)", file: file, line: line)
    let again = try app.call(respond)
    XCTAssertEqual(again["result"]?["repeated"], true, "\(point): \(again.text)", file: file, line: line)
    XCTAssertEqual(again["result"]?["responseId"], event["responseId"], point, file: file, line: line)
    try check(app, event)
    app.process.kill()
    let last = try start(store)
    try last.command("/_start", "chatStarted")
    // Its own answer shows that everything before it was there.
    let marker = try last.call(
      "np_notification_response $c \(JSONValue(#"{"identifier":"np:many:\#(point)"}"#).text)")
    let next = try last.event("ntfResponse")
    XCTAssertEqual(
      next["responseId"], marker["result"]?["responseId"], "\(point): \(next.text)", file: file, line: line)
    last.process.kill()
  }

  private func activeUser(_ host: ScriptedHost) throws -> Int64? {
    try host.command("/u", "activeUser")["user"]?["userId"]?.integerValue
  }

  func testATapThatSwitchesTheProfile() throws {
    for point in Self.points {
      let directory = try Places.makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(at: directory) }
      let path = { (name: String) in directory.appendingPathComponent(name).path }
      let (alice, bob) = (try start(path("alice")), try start(path("bob")))
      try begin(alice, "alice", path("relay"))
      try begin(bob, "bob", path("relay"))
      let invitation = try bob.command("/_connect 1", "invitation")
      let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
      try alice.command("/connect \(link)", "sentConfirmation")
      try alice.event("contactConnected")
      try alice.command(#"/_create user {"profile":{"displayName":"work","fullName":""}}"#, "activeUser")
      XCTAssertEqual(try activeUser(alice), 2)
      alice.process.kill()
      let tap = respond(nil, ["identifier": "np:message:a:b", "userInfo": ["userId": 1, "chatId": "@1"]])
      try assertAppliedOnce(tap, path("alice"), point) { app, event in
        XCTAssertEqual(event["action"], "open", event.text)
        XCTAssertEqual(event["userId"], 1, event.text)
        XCTAssertEqual(event["chatId"], "@1", event.text)
        XCTAssertEqual(try activeUser(app), 1, point)
        // Carried out again, the tap would bring the user back here.
        try app.command("/_user 2", "activeUser")
      }
      let after = try start(path("alice"))
      try after.command("/_start", "chatStarted")
      XCTAssertEqual(try activeUser(after), 2, point)
      after.process.kill()
      bob.process.kill()
    }
  }

  func testAnAcceptedRequest() throws {
    for point in Self.points {
      let directory = try Places.makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(at: directory) }
      let path = { (name: String) in directory.appendingPathComponent(name).path }
      let (alice, carol) = (try start(path("alice")), try start(path("carol")))
      try begin(alice, "alice", path("relay"))
      try begin(carol, "carol", path("relay"))
      let address = try alice.command("/_address 1", "userContactLinkCreated")
      let link = try XCTUnwrap(address["connLinkContact"]?["connFullLink"]?.stringValue)
      try carol.command("/connect \(link)", "sentInvitation")
      let request = try alice.event("receivedContactRequest")["contactRequest"]?["contactRequestId"]
      let number = try XCTUnwrap(request?.integerValue)
      try alice.command(#"/_create user {"profile":{"displayName":"work","fullName":""}}"#, "activeUser")
      alice.process.kill()
      let accept = respond(
        "NTF_ACT_ACCEPT_CONTACT",
        [
          "identifier": .string("np:request:1:\(number)"),
          "userInfo": ["userId": 1, "contactRequestId": .integer(number)],
        ])
      try assertAppliedOnce(accept, path("alice"), point) { app, event in
        XCTAssertEqual(event["action"], "acceptContact", event.text)
        XCTAssertEqual(event["chatId"], "@1", event.text)
        XCTAssertEqual(try activeUser(app), 1, point)
        try carol.event("contactConnected")
        let contacts = try app.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue
        XCTAssertEqual(contacts?.count, 1, point)
      }
      let after = try start(path("alice"))
      try after.command("/_start", "chatStarted")
      XCTAssertEqual(try after.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue?.count, 1, point)
      XCTAssertEqual(try carol.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue?.count, 1, point)
      after.process.kill()
      carol.process.kill()
    }
  }

  /// The app is killed while it accepts: its next process reports the contact, and the one after that does not.
  func testAnAcceptanceFromANotificationIsReportedOnceByTheNextProcess() throws {
    for point in ["responseBegun", "responseEnded"] {
      let directory = try Places.makeTemporaryDirectory()
      defer { try? FileManager.default.removeItem(at: directory) }
      let path = { (name: String) in directory.appendingPathComponent(name).path }
      let (alice, carol) = (try start(path("alice")), try start(path("carol")))
      try begin(alice, "alice", path("relay"))
      try begin(carol, "carol", path("relay"))
      let address = try alice.command("/_address 1", "userContactLinkCreated")
      let link = try XCTUnwrap(address["connLinkContact"]?["connFullLink"]?.stringValue)
      try carol.command("/connect \(link)", "sentInvitation")
      try alice.event("receivedContactRequest")
      alice.process.kill()
      let dying = try start(path("alice"), dyingAt: point)
      try dying.command("/_start", "chatStarted")
      _ = try? dying.call(
        respond(
          "NTF_ACT_ACCEPT_CONTACT",
          ["identifier": "np:request:1:1", "userInfo": ["userId": 1, "contactRequestId": 1]]))
      XCTAssertEqual(try dying.process.waitForEnd(), .killed(SIGKILL), point)

      let next = try start(path("alice"))
      try next.command("/_start", "chatStarted")
      XCTAssertEqual(try reports(of: next, through: "ntfResponse"), 1, point)
      try carol.event("contactConnected")
      XCTAssertEqual(try reports(of: next, through: "contactConnected"), 0, point)
      next.process.kill()
      let last = try start(path("alice"))
      try last.command("/_start", "chatStarted")
      _ = try last.call("np_notification_response $c \(JSONValue(#"{"identifier":"np:many:1"}"#).text)")
      XCTAssertEqual(try reports(of: last, through: "ntfResponse"), 0, point)
      last.process.kill()
      carol.process.kill()
    }
  }

  /// The number of events, among all up to one of this type, that report the contact as being accepted.
  private func reports(of host: ScriptedHost, through type: String) throws -> Int {
    var count = 0
    while true {
      guard let event = try host.call("chat_recv_msg_wait $c 15000000")["result"] else {
        throw ProcessFailure("no \(type)")
      }
      if event["type"] == "acceptingContactRequest" { count += 1 }
      if event["type"]?.stringValue == type { return count }
    }
  }

  /// The response that accepts a call makes its profile the active one, and is a step of the call.
  func testAnAcceptedCall() throws {
    let audio = #"{"media":"audio","capabilities":{"encryption":false}}"#
    for point in Self.points {
      let night = try Night()
      defer { night.end() }
      try night.alice.command(#"/_create user {"profile":{"displayName":"work","fullName":""}}"#, "activeUser")
      try night.suspendAlice()
      try night.bob.command("/_call invite @\(night.bobContact) \(audio)", "cmdOk")
      let shown = try XCTUnwrap(try night.present(try night.nextPush())["notifications"]?.arrayValue?.first)
      night.alice.process.kill()
      let accept = respond("NTF_ACT_ACCEPT_CALL", shown)
      try assertAppliedOnce(accept, night.alice.store, point) { app, event in
        XCTAssertEqual(event["action"], "acceptCall", event.text)
        XCTAssertEqual(try activeUser(app), 1, point)
        let waiting = try app.command("/_call get", "callInvitations")["callInvitations"]?.arrayValue
        XCTAssertEqual(waiting?.count, 1, point)
      }
      let database = try Database(path: night.alice.store + "_chat.db")
      XCTAssertEqual(try database.integer("SELECT count(*) FROM calls WHERE state = 'accepted'"), 1, point)
      try database.close()
    }
  }
}
