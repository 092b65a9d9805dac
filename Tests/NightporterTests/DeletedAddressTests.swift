import CNightporter
import Foundation
import PorterPlatform
import PorterProcesses
import PorterStore
import XCTest

@testable import PorterRelay

/// Alice has an address, and bob its link. His requests pass through the transport.
private final class Story {
  let folder: TemporaryFolder
  let transport: HostTransport
  let alice: Host
  private(set) var bob: Host
  let link: String

  init() throws {
    folder = try TemporaryFolder()
    transport = HostTransport(relay: folder.file("relay.db"))
    alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
    bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
    alice.begin("alice", relay: folder.file("relay.db"))
    transport.install(in: bob)
    bob.send(#"/_create user {"profile":{"displayName":"bob","fullName":""}}"#).assert("activeUser")
    bob.send("/_start").assert("chatStarted")
    link = alice.send("/_address 1")["result"]["connLinkContact"]["connFullLink"].text
  }

  /// Bob's app is killed as it hears that the relay has his request. The next one is open, and not started.
  func askAndDie() throws {
    let prefix = bob.prefix
    bob.free()
    let first = try ScriptedHost(store: prefix, environment: ["PORTER_HALT_AT": "afterSend"])
    defer { first.process.kill() }
    try first.command(#"/_network {"relay":"\#(folder.file("relay.db"))"}"#, "cmdOk")
    try first.command("/_start", "chatStarted")
    XCTAssertThrowsError(try first.answer("/_connect 1 \(link)"))
    XCTAssertEqual(try first.process.waitForEnd(), .killed(SIGKILL))
    bob = try XCTUnwrap(Host.open(prefix).host)
    transport.install(in: bob)
  }

  func acceptAndDeleteTheAddress() throws {
    let request = alice.event("receivedContactRequest")
    alice.send("/_accept \(request?["result"]["contactRequest"]["contactRequestId"].number ?? 0)")
      .assert("acceptingContactRequest")
    try deleteTheAddress()
  }

  func deleteTheAddress() throws {
    alice.send("/_delete_address 1").assert("userContactLinkDeleted")
    try awaitDeletion(ofMailbox: 1, relay: folder.file("relay.db"))
  }

  func statuses(of host: Host) throws -> [String] {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    return try database.rows("SELECT status FROM connections") { $0.text(0) }
  }

  func awaitContact() {
    awaitThat("bob and alice are connected") {
      np_relay_ready(bob.handle)
      return (try? statuses(of: bob)) == ["ready"] && (try? statuses(of: alice)) == ["ready"]
    }
  }

  /// What another process with the store sends.
  func sendWhatWaits() throws {
    let database = try Database(path: bob.prefix + "_chat.db")
    let waiting = try database.rows("SELECT body, deduplication FROM outbox") {
      (body: $0.blob(0), attempt: $0.blob(1))
    }
    try database.close()
    let relay = EmbeddedRelay(path: folder.file("relay.db"), ports: .system, log: .silent)
    let address = try Database(path: alice.prefix + "_chat.db")
    let sql = "SELECT sender_id FROM connections JOIN addresses USING (connection_id)"
    let mailbox = try XCTUnwrap(try address.first(sql) { $0.blob(0) })
    try address.close()
    for entry in waiting {
      try RelayClient(port: relay, randomness: SystemRandomness()).send(
        entry.body, to: try XCTUnwrap(RelayIdentifier(bytes: mailbox)), key: nil,
        attempt: try XCTUnwrap(RelayIdentifier(bytes: entry.attempt)), notify: true)
    }
    relay.close()
  }
}

/// An address is deleted once it has served its purpose: the relay refuses a request that comes too late, which says
/// nothing about one that came in time.
final class DeletedAddressTests: XCTestCase {
  /// A process that was frozen sends the request once more.
  func testALateCopyOfARequestDoesNotEndTheContact() throws {
    let story = try Story()
    story.transport.fail(.send)
    story.bob.send("/_connect 1 \(story.link)").assert("sentInvitation")
    story.bob.send("/_stop").assert("chatStopped")
    story.transport.hang(.send)
    story.transport.fail(nil)
    let before = story.transport.count(.send)
    story.bob.send("/_start").assert("chatStarted")
    awaitThat("the request is being sent") { story.transport.count(.send) > before }
    try story.sendWhatWaits()
    try story.acceptAndDeleteTheAddress()
    awaitThat("bob has the acceptance") {
      np_relay_ready(story.bob.handle)
      return (try? story.statuses(of: story.bob)) == ["accepted"]
    }
    story.transport.hang(nil)
    story.awaitContact()
  }

  /// The user taps the link again before the app has fetched the answer.
  func testAskingAgainDoesNotEndARequestThatWasAccepted() throws {
    let story = try Story()
    story.bob.send("/_connect 1 \(story.link)").assert("sentInvitation")
    story.transport.hang(.get)
    try story.acceptAndDeleteTheAddress()
    XCTAssertEqual(story.bob.send("/_connect 1 \(story.link)").errorTag, "SMP")
    XCTAssertEqual(try story.statuses(of: story.bob), ["requested"])
    story.transport.hang(nil)
    story.awaitContact()
  }

  /// Taps the link in a thread of its own, and returns what is fulfilled by the answer.
  private func tap(_ story: Story, _ check: @escaping @Sendable (JSON) -> Void) -> XCTestExpectation {
    let handle = UInt(bitPattern: story.bob.handle)
    let command = "/_connect 1 \(story.link)"
    let answered = expectation(description: "answer")
    Thread.detachNewThread {
      check(JSON(take(chat_send_cmd(chat_ctrl(bitPattern: handle), command))))
      answered.fulfill()
    }
    return answered
  }

  /// The app sends a request that the relay has; meanwhile the user taps the link again.
  private func expectTheContact(_ story: Story) throws {
    let answered = tap(story) { XCTAssertEqual($0.errorTag, "SMP") }
    // The command asks for nothing that could be waited for.
    usleep(300_000)
    story.transport.hang(nil)
    wait(for: [answered], timeout: 30)
    XCTAssertEqual(try story.statuses(of: story.bob), ["requested"])
    story.transport.hang(fromGet: .max)
    story.awaitContact()
  }

  /// The app was killed before it knew that the relay has the request.
  func testAskingAgainAfterAKillDoesNotEndARequestThatWasAccepted() throws {
    let story = try Story()
    try story.askAndDie()
    try story.acceptAndDeleteTheAddress()
    story.transport.hang(.send)
    story.transport.hang(fromGet: 1)
    story.bob.send("/_start").assert("chatStarted")
    awaitThat("the request is being sent") { story.transport.count(.send) == 1 }
    try expectTheContact(story)
  }

  /// The app was suspended before it knew.
  func testAskingAgainAfterASuspensionDoesNotEndARequestThatWasAccepted() throws {
    let story = try Story()
    story.transport.hang(.send)
    story.transport.hang(fromGet: 1)
    let asked = tap(story) { $0.assert("sentInvitation") }
    awaitThat("the request is being sent") { story.transport.count(.send) == 1 }
    story.bob.send("/_app suspend 0").assert("cmdOk")
    wait(for: [asked], timeout: 30)
    story.transport.hang(nil)
    try story.acceptAndDeleteTheAddress()
    story.transport.hang(.send)
    story.bob.send("/_app activate").assert("cmdOk")
    awaitThat("the request is sent again") { story.transport.count(.send) == 2 }
    try expectTheContact(story)
  }

  /// A user returns to an earlier version while the repeat of a request waits. It deletes what it knows as the request
  /// once the acceptance has come, and takes anything else in the outbox for messages to the contact.
  func testAnEarlierVersionDeletesARepeatOnceItIsAnswered() throws {
    let story = try Story()
    story.bob.send("/_connect 1 \(story.link)").assert("sentInvitation")
    story.transport.fail(.send)
    story.bob.send("/_connect 1 \(story.link)").assert("sentInvitation")
    let database = try Database(path: story.bob.prefix + "_chat.db")
    defer { try? database.close() }
    XCTAssertEqual(try database.integer("SELECT count(*) FROM outbox"), 1)
    try database.execute("DELETE FROM outbox WHERE connection_id = 1 AND purpose = 'request'")
    XCTAssertEqual(try database.integer("SELECT count(*) FROM outbox"), 0)
  }

  /// An address that never had the request is no contact's.
  func testARequestToADeletedAddressLeavesNothing() throws {
    let story = try Story()
    try story.deleteTheAddress()
    XCTAssertEqual(story.bob.send("/_connect 1 \(story.link)").errorTag, "SMP")
    XCTAssertEqual(try story.statuses(of: story.bob), [])
  }

  /// Both hosts' threads get their answer.
  func testTwoCommandsThatAskAtOnceAreBothAnswered() throws {
    let story = try Story()
    story.transport.hang(.send)
    let handle = UInt(bitPattern: story.bob.handle)
    let command = "/_connect 1 \(story.link)"
    let answered = expectation(description: "answers")
    answered.expectedFulfillmentCount = 2
    for _ in 1...2 {
      Thread.detachNewThread {
        JSON(take(chat_send_cmd(chat_ctrl(bitPattern: handle), command))).assert("sentInvitation")
        answered.fulfill()
      }
      awaitThat("the request is being sent") { story.transport.count(.send) == 1 }
    }
    // The second command asks for nothing that could be waited for.
    usleep(300_000)
    story.transport.hang(nil)
    wait(for: [answered], timeout: 30)
  }
}
