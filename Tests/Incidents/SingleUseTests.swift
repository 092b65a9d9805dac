import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// INC-08 and INC-10: single-use keys, and processes that are killed or frozen while using them.
final class SingleUseTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  private func link(from host: ScriptedHost) throws -> String {
    let invitation = try host.command("/_connect 1", "invitation")
    return try XCTUnwrap(invitation["connLinkInvitation"]?["connFullLink"]?.stringValue)
  }

  private func contacts(_ host: ScriptedHost) throws -> [String] {
    let list = try host.command("/_contacts 1", "contactsList")["contacts"]?.arrayValue ?? []
    return list.compactMap { $0["localDisplayName"]?.stringValue }.sorted()
  }

  private func awaitContacts(
    _ expected: [String], _ host: ScriptedHost, _ night: Night, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    try awaitThat("\(expected) are the contacts", file: file, line: line) { try contacts(host) == expected }
    try night.awaitRest(of: host, file: file, line: line)
    XCTAssertEqual(try contacts(host), expected, file: file, line: line)
  }

  private func pendingConnections(_ host: ScriptedHost) throws -> Int {
    let chats = try host.command("/_get chats 1 pcc=on count=100", "apiChats")["chats"]?.arrayValue ?? []
    return chats.count { $0["chatInfo"]?["type"] == "contactConnection" }
  }

  /// The app is killed between creating its mailbox and recording the answer to an invitation. The next process uses
  /// the invitation with the same keys, and only once, however often it is asked to.
  func testINC08AnInterruptedAnswerToAnInvitationIsSentOnce() throws {
    let night = try makeNight()
    let link = try link(from: night.bob)
    let store = night.directory.appendingPathComponent("carol").path
    let first = try ScriptedHost(store: store, environment: ["PORTER_HALT_AT": "beforeJoin"])
    try first.command(#"/_create user {"profile":{"displayName":"carol","fullName":""}}"#, "activeUser")
    let network: JSONValue = ["relay": .string(night.relay)]
    try first.command("/_network \(network.text)", "cmdOk")
    try first.command("/_start", "chatStarted")
    XCTAssertThrowsError(try first.answer("/connect \(link)"))
    XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL))

    let carol = try ScriptedHost(store: store)
    defer { carol.process.kill() }
    try carol.command("/_start", "chatStarted")
    for _ in 0..<3 { try connectAgain(carol, link) }
    try carol.event("contactConnected")
    try awaitContacts(["bob"], carol, night)
    try awaitContacts(["alice", "carol"], night.bob, night)
    XCTAssertEqual(try pendingConnections(carol), 0)
    try carol.command("/connect \(link)", "contactAlreadyExists")
    try awaitContacts(["bob"], carol, night)
  }

  /// The answer depends on whether the other side has answered by then.
  private func connectAgain(_ host: ScriptedHost, _ link: String) throws {
    let type = try host.answer("/connect \(link)")["result"]?["type"]?.stringValue ?? ""
    XCTAssertTrue(["sentConfirmation", "contactAlreadyExists"].contains(type), type)
  }

  /// An extension takes an invitation's answer and is frozen before it commits; the app uses the invitation's keys. The
  /// extension's work after it wakes is refused: the keys are used once, and there is one contact.
  func testINC08InvitationKeysAreUsedOnceAcrossAHandOver() throws {
    let night = try makeNight()
    let link = try link(from: night.alice)
    try night.awaitSubscriptions(2)
    try night.suspendAlice()
    try night.bob.command("/connect \(link)", "sentConfirmation")
    let frozen = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": "afterFetch"])
    try frozen.waitUntilStopped()
    try night.wakeAlice()
    try awaitContacts(["bob", "bob_1"], night.alice, night)
    frozen.signal(SIGCONT)
    let late = try night.answer(of: frozen)
    XCTAssertEqual(late["quiescent"], true, late.text)
    XCTAssertEqual(late.bodies, [])
    try awaitContacts(["bob", "bob_1"], night.alice, night)
    try awaitContacts(["alice", "alice_1"], night.bob, night)
  }

  /// The app steps the ratchet, in both directions, while an extension is frozen in the middle of stepping it.
  func testINC10OnlyOneProcessStepsARatchet() throws {
    let night = try makeNight()
    var texts: [String] = []
    for point in ["afterFetch", "afterCommit", "beforeAcknowledge"] {
      try night.suspendAlice()
      // Drop the pushes for messages that the app received itself.
      try night.remainingPushes()
      texts.append("\(point) one")
      try night.bobSends(texts[texts.count - 1])
      let frozen = try night.startExtension(try night.nextPush(), environment: ["PORTER_STOP_AT": point])
      try frozen.waitUntilStopped()
      try night.wakeAlice()
      try night.expectAliceHas(texts)
      for number in 0..<3 {
        let message: JSONValue = [
          ["msgContent": ["type": "text", "text": .string("\(point) \(number)")], "mentions": [:]]
        ]
        try night.alice.command("/_send @\(night.aliceContact) live=off json \(message.text)", "newChatItems")
        texts.append("\(point) back \(number)")
        try night.bobSends(texts[texts.count - 1])
      }
      try night.expectAliceHas(texts)
      frozen.signal(SIGCONT)
      _ = try night.answer(of: frozen)
      texts.append("\(point) last")
      try night.bobSends(texts[texts.count - 1])
      try night.expectAliceHas(texts)
    }
    XCTAssertEqual(try night.alice.state["unread"]?.integerValue, Int64(texts.count), "no message was quarantined")
    let chat = try night.bob.command("/_get chat @\(night.bobContact) count=100", "apiChat")
    let received = (chat["chat"]?["chatItems"]?.arrayValue ?? []).filter { $0["chatDir"]?["type"] == "directRcv" }
    XCTAssertEqual(received.count, 9, "what alice sent meanwhile arrived, each once")
  }
}
