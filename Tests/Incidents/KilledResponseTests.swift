import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// A process may be killed at any moment while it stores or carries out the user's response to a notification. Whatever
/// the moment, the user's reply reaches the other side once, and the host is notified of it.
final class KilledResponseTests: XCTestCase {
  private func processDies(
    at point: String, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let directory = try Places.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let path = { (name: String) in directory.appendingPathComponent(name).path }
    let bob = try ScriptedHost(store: path("bob"))
    defer { bob.process.kill() }
    let first = try ScriptedHost(store: path("alice"), environment: ["PORTER_HALT_AT": point])
    try begin(bob, "bob", path("relay"))
    try begin(first, "alice", path("relay"))
    let invitation = try bob.command("/_connect 1", "invitation")
    let link = try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
    try first.command("/connect \(link)", "sentConfirmation")
    try first.event("contactConnected")
    try bob.event("contactConnected")

    let response: JSONValue = [
      "actionIdentifier": "NTF_ACT_REPLY", "identifier": "np:message:a:b", "userText": "on my way",
      "userInfo": ["userId": 1, "chatId": "@1"],
    ]
    let respond = "np_notification_response $c \(JSONValue(response.text).text)"
    XCTAssertThrowsError(try first.call(respond), file: file, line: line)
    XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL), file: file, line: line)

    let second = try ScriptedHost(store: path("alice"))
    defer { second.process.kill() }
    try second.command("/_start", "chatStarted")
    let events = try events(of: second, through: ["newChatItems", "ntfResponse"])
    let event = try XCTUnwrap(events.first { $0["type"] == "ntfResponse" }, "\(events)", file: file, line: line)
    XCTAssertEqual(event["outcome"], "applied", event.text, file: file, line: line)
    XCTAssertEqual(event["chatId"], "@1", event.text, file: file, line: line)
    XCTAssertEqual(events.flatMap(texts), ["on my way"], "\(events)", file: file, line: line)
    try bob.event("newChatItems")
    // The host, which never got an answer, reports it again.
    let again = try second.call(respond)
    XCTAssertEqual(again["result"]?["repeated"], true, again.text, file: file, line: line)
    XCTAssertEqual(again["result"]?["responseId"], event["responseId"], again.text, file: file, line: line)

    // What follows it, in order, shows that nothing came twice.
    try second.command("/_send @1 text last", "newChatItems")
    try bob.event("newChatItems")
    let chat = try bob.command("/_get chat @1 count=100", "apiChat")["chat"]?["chatItems"]?.arrayValue ?? []
    let sent = chat.compactMap { $0["content"]?["msgContent"]?["text"]?.stringValue }
    XCTAssertEqual(sent, ["on my way", "last"], file: file, line: line)
    try bob.command("/_send @1 text thanks", "newChatItems")
    let rest = try self.events(of: second, through: ["newChatItems"])
    XCTAssertEqual(rest.flatMap(texts), ["thanks"], "\(rest)", file: file, line: line)
  }

  /// All events, until one of each of these types has arrived.
  private func events(of host: ScriptedHost, through types: Set<String>) throws -> [JSONValue] {
    var (missing, events) = (types, [JSONValue]())
    while !missing.isEmpty {
      guard let event = try host.call("chat_recv_msg_wait $c 15000000")["result"] else {
        throw ProcessFailure("no \(missing) after \(events)")
      }
      events.append(event)
      missing.remove(event["type"]?.stringValue ?? "")
    }
    return events
  }

  /// The texts of the messages that the event is about, if they are new.
  private func texts(_ event: JSONValue) -> [String] {
    guard event["type"] == "newChatItems" else { return [] }
    return (event["chatItems"]?.arrayValue ?? []).compactMap {
      $0["chatItem"]?["content"]?["msgContent"]?["text"]?.stringValue
    }
  }

  private func begin(_ host: ScriptedHost, _ name: String, _ relay: String) throws {
    try host.command(#"/_create user {"profile":{"displayName":"\#(name)","fullName":""}}"#, "activeUser")
    let network: JSONValue = ["relay": .string(relay)]
    try host.command("/_network \(network.text)", "cmdOk")
    try host.command("/_start", "chatStarted")
  }

  func testAReplyOfAProcessKilledWhenItIsStored() throws { try processDies(at: "responseKept") }
  func testAReplyOfAProcessKilledWhenItIsBegun() throws { try processDies(at: "responseBegun") }
  func testAReplyOfAProcessKilledInsideItsTransaction() throws { try processDies(at: "insideResponse") }
  func testAReplyOfAProcessKilledWhenItHasEnded() throws { try processDies(at: "responseEnded") }
}
