import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// Requests through an address, and an app killed in the middle of receiving or accepting one.
final class KilledRequestTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// A host with an address, which is killed at this point.
  private func addressee(
    _ name: String, _ night: Night, haltingAt point: String, settings: JSONValue
  ) throws -> (host: ScriptedHost, store: String, link: String) {
    let store = night.directory.appendingPathComponent(name).path
    let host = try ScriptedHost(store: store, environment: ["PORTER_HALT_AT": point])
    let user: JSONValue = ["profile": ["displayName": .string(name), "fullName": ""]]
    try host.command("/_create user \(user.text)", "activeUser")
    let network: JSONValue = ["relay": .string(night.relay)]
    try host.command("/_network \(network.text)", "cmdOk")
    try host.command("/_start", "chatStarted")
    let made = try host.command("/_address 1", "userContactLinkCreated")
    try host.command("/_address_settings 1 \(settings.text)", "userContactLinkUpdated")
    return (host, store, try XCTUnwrap(made["connLinkContact"]?["connFullLink"]?.stringValue))
  }

  private func names(_ host: ScriptedHost) throws -> [String] {
    let list = try host.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue ?? []
    return list.compactMap { $0["localDisplayName"]?.stringValue }
  }

  /// Killed at any point of receiving a request that it accepts automatically: there is one contact on each side, and
  /// one welcome.
  func testAKilledAppAcceptsEachRequestOnce() throws {
    let night = try makeNight()
    let settings: JSONValue = [
      "businessAddress": false, "autoAccept": ["acceptIncognito": false],
      "autoReply": ["type": "text", "text": "welcome"],
    ]
    for point in ["insideCommit", "afterCommit", "beforeAcknowledge", "beforeJoin"] {
      let (first, store, link) = try addressee(point, night, haltingAt: point, settings: settings)
      try night.bob.command("/connect \(link)", "sentInvitation")
      XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL), point)
      let second = try ScriptedHost(store: store)
      defer { second.process.kill() }
      try second.command("/_start", "chatStarted")
      try second.event("contactConnected")
      let welcome = try night.bob.event("newChatItems")["chatItems"]?.arrayValue?.first
      XCTAssertEqual(welcome?["chatItem"]?["meta"]?["itemText"], "welcome", point)
      XCTAssertEqual(welcome?["chatInfo"]?["contact"]?["localDisplayName"]?.stringValue, point)
      try night.awaitRest(of: second)
      XCTAssertEqual(try names(second), ["bob"], point)
      XCTAssertEqual(try names(night.bob).filter { $0.hasPrefix(point) }, [point])
      let chat = try second.command("/_get chat @1 count=10", "apiChat")["chat"]
      XCTAssertEqual(chat?["chatItems"]?.arrayValue?.count, 1, "\(point): one welcome")
    }
  }

  /// The user has accepted, and the app is killed before there is a contact: the next process finishes it on its own.
  func testWhatTheUserAcceptedIsFinishedByTheNextProcess() throws {
    let night = try makeNight()
    let (first, store, link) = try addressee(
      "carol", night, haltingAt: "beforeJoin", settings: ["businessAddress": false])
    try night.bob.command("/connect \(link)", "sentInvitation")
    try first.event("receivedContactRequest")
    XCTAssertThrowsError(try first.answer("/_accept 1"))
    XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL))
    let second = try ScriptedHost(store: store)
    defer { second.process.kill() }
    try second.command("/_start", "chatStarted")
    try second.event("acceptingContactRequest")
    try second.event("contactConnected")
    try night.awaitRest(of: second)
    XCTAssertEqual(try names(second), ["bob"])
    // The tap is repeated, as it may be after a kill.
    try second.command("/_accept 1", "acceptingContactRequest")
    XCTAssertEqual(try names(second), ["bob"])
    XCTAssertEqual(try names(night.bob).filter { $0.hasPrefix("carol") }, ["carol"])
  }

  /// Alice's app is frozen as it sends the first message of a new connection. An extension sends it as well, and is
  /// killed before it knows that the relay has it.
  private func sendTwice(_ night: Night, _ link: String, flag: String) throws {
    unlink(flag)
    try night.alice.call("&ask = chat_send_cmd $c \(JSONValue("/connect \(link)").text)")
    try awaitThat("alice's app has something to send") { try night.count("outbox", in: "alice_chat.db") == 1 }
    night.freezeAlice()
    try night.bobSends("hello")
    let (_, ending) = try night.runExtension(try night.nextPush(), environment: ["PORTER_HALT_AT": "afterSend"])
    XCTAssertEqual(ending, .killed(SIGKILL))
  }

  /// Lets the app's attempt continue, and returns its answer.
  private func thaw(_ night: Night, flag: String) throws -> JSONValue {
    XCTAssertTrue(FileManager.default.createFile(atPath: flag, contents: nil))
    night.alice.process.signal(SIGCONT)
    return try night.alice.call("join ask")
  }

  /// Alice's app sends nothing while there is no such file.
  private func makeFreezingNight() throws -> (night: Night, flag: String) {
    let flag = NSTemporaryDirectory() + "porter-flag-\(UInt32.random(in: 0 ... .max))"
    XCTAssertTrue(FileManager.default.createFile(atPath: flag, contents: nil))
    let night = try Night(aliceIn: ["PORTER_WAIT_AT": "beforeSend:\(flag)"])
    addTeardownBlock {
      night.alice.process.signal(SIGCONT)
      night.end()
      unlink(flag)
    }
    return (night, flag)
  }

  /// The relay refuses the frozen app's attempt, since the address was deleted in the meantime. Its owner may have
  /// accepted the request before; here he has not, so that no acceptance comes before the refusal.
  func testAFrozenAppDoesNotEndTheRequestThatItsExtensionSent() throws {
    let (night, flag) = try makeFreezingNight()
    let made = try night.bob.command("/_address 1", "userContactLinkCreated")
    try sendTwice(night, try XCTUnwrap(made["connLinkContact"]?["connFullLink"]?.stringValue), flag: flag)
    try night.bob.event("receivedContactRequest")
    try night.bob.command("/_delete_address 1", "userContactLinkDeleted")
    XCTAssertNotNil(try thaw(night, flag: flag)["error"])
    XCTAssertEqual(try night.count("connections", in: "alice_chat.db"), 2)
  }

  /// The relay refuses the frozen app's attempt, since the contact was made, wrote and left in the meantime.
  func testAFrozenAppDoesNotEndTheContactThatItsExtensionMade() throws {
    let (night, flag) = try makeFreezingNight()
    let made = try night.bob.command("/_connect 1", "invitation")
    try sendTwice(night, try XCTUnwrap(made["connLinkInvitation"]?["connFullLink"]?.stringValue), flag: flag)
    let contact = try night.bob.event("contactConnecting")["contact"]?["contactId"]?.integerValue
    try awaitThat("bob has answered") { try night.count("outbox", in: "bob_chat.db") == 0 }
    try night.bob.command("/_delete @\(try XCTUnwrap(contact)) full notify=off", "contactDeleted")
    _ = try thaw(night, flag: flag)
    try night.awaitRest(of: night.alice)
    XCTAssertEqual(try names(night.alice).sorted(), ["bob", "bob_1"])
  }
}
