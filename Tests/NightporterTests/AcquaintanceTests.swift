import Foundation
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterEngine

/// A connection between its first step and the end of its handshake, and after its end: the transitions of the machine
/// `connection` that a quick relay hides.
final class AcquaintanceTests: XCTestCase {
  /// Alice invites, bob joins. Each is awake only when a test says so, which controls how far the handshake gets.
  private final class Meeting {
    let folder: TemporaryFolder
    let alice: Host
    let bob: Host

    init() throws {
      folder = try TemporaryFolder()
      alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
      bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
      alice.begin("alice", relay: folder.file("relay.db"))
      bob.begin("bob", relay: folder.file("relay.db"))
    }

    func sleep(_ host: Host) { host.send("/_app suspend 0").assert("cmdOk") }
    func wake(_ host: Host) { host.send("/_app activate").assert("cmdOk") }

    /// Bob has joined through alice's invitation, and both sleep: her mailbox has his confirmation.
    func confirm() throws {
      let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      XCTAssertFalse(link.isEmpty)
      sleep(alice)
      bob.send("/connect \(link)").assert("sentConfirmation")
      _ = try awaitMessages(1, in: .alices)
      sleep(bob)
    }

    /// Alice has answered as well, with her greeting, and sleeps.
    func greet() throws {
      try confirm()
      wake(alice)
      _ = try awaitMessages(1, in: .bobs)
      try awaitCount(0, "SELECT count(*) FROM outbox", of: alice)
      _ = try awaitMessages(0, in: .alices)
      sleep(alice)
    }

    enum Mailbox: String {
      case alices = "min"
      case bobs = "max"
    }

    /// The numbers of the messages waiting in a mailbox, once there are this many.
    func awaitMessages(_ count: Int, in mailbox: Mailbox) throws -> [Int64] {
      let relay = try Database(path: folder.file("relay.db"))
      defer { try? relay.close() }
      let waiting = """
        SELECT number FROM message WHERE body IS NOT NULL
        AND mailbox = (SELECT \(mailbox.rawValue)(number) FROM mailbox) ORDER BY number
        """
      for _ in 0..<2_000 {
        let numbers = try relay.rows(waiting) { $0.integer(0) }
        if numbers.count == count { return numbers }
        usleep(10_000)
      }
      throw StationFailure("\(count) messages do not wait")
    }

    /// The two messages waiting in a mailbox arrive in reverse order.
    func swap(_ numbers: [Int64]) throws {
      let relay = try Database(path: folder.file("relay.db"))
      defer { try? relay.close() }
      for (old, new) in [(numbers[0], 1_000), (numbers[1], numbers[0]), (1_000, numbers[1])] as [(Int64, Int64)] {
        try relay.run("UPDATE message SET number = ?2 WHERE number = ?1", [.integer(old), .integer(new)])
      }
    }

    /// The second message in bob's mailbox comes first, before the key that opens it. He sleeps afterwards; both the
    /// key and the first message are still to come.
    func quarantineSecond() throws {
      let numbers = try awaitMessages(2, in: .bobs)
      let relay = try Database(path: folder.file("relay.db"))
      defer { try? relay.close() }
      let store = try Database(path: bob.prefix + "_chat.db")
      defer { try? store.close() }
      let greeting = try relay.rows("SELECT body FROM message WHERE number = ?", [.integer(numbers[0])]) { $0.blob(0) }
      let ratchet = try store.rows("SELECT ratchet FROM connections") { $0.blob(0) }
      try relay.run("UPDATE message SET body = NULL WHERE number = ?", [.integer(numbers[0])])
      try store.run("UPDATE connections SET ratchet = NULL")
      wake(bob)
      try awaitCount(1, "SELECT count(*) FROM ledger WHERE state = 'quarantined' AND reason = 'no ratchet'", of: bob)
      _ = try awaitMessages(0, in: .bobs)
      sleep(bob)
      try store.run("UPDATE connections SET ratchet = ?", [.blob(try XCTUnwrap(ratchet.first))])
      try relay.run(
        "UPDATE message SET body = ?2 WHERE number = ?1",
        [.integer(numbers[0]), .blob(try XCTUnwrap(greeting.first))])
    }

    func awaitCount(_ count: Int64, _ sql: String, of host: Host) throws {
      try awaitCount(count, sql, in: host.prefix + "_chat.db")
    }

    func awaitMailboxes(_ count: Int64) throws {
      try awaitCount(count, "SELECT count(*) FROM mailbox", in: folder.file("relay.db"))
    }

    private func awaitCount(_ count: Int64, _ sql: String, in path: String) throws {
      let database = try Database(path: path)
      defer { try? database.close() }
      for _ in 0..<2_000 {
        if try database.integer(sql) == count { return }
        usleep(10_000)
      }
      XCTFail("it never came to \(count): \(sql)")
    }

    func status(_ host: Host) throws -> String {
      let database = try Database(path: host.prefix + "_chat.db")
      defer { try? database.close() }
      return try database.rows("SELECT status FROM connections") { $0.text(0) }.joined(separator: " ")
    }

    func texts(_ host: Host) -> [String] {
      let items = host.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"]
      return (0..<items.count).map { items[$0]["content"]["msgContent"]["text"].text }
    }
  }

  /// Bob deletes the connection before alice has sent anything: it is deleted on his side, with its mailbox. Alice's
  /// greeting finds no mailbox, and she learns that he has left.
  func testAConnectionCanBeDeletedBeforeItsFirstWord() throws {
    for command in ["/_delete :1 full notify=on", "/_delete :1 full notify=off"] {
      let meeting = try Meeting()
      try meeting.confirm()
      meeting.wake(meeting.bob)
      XCTAssertEqual(try meeting.status(meeting.bob), "accepted")
      meeting.bob.send(command).assert("contactConnectionDeleted")
      try meeting.awaitMailboxes(1)
      try meeting.awaitCount(0, "SELECT count(*) FROM connections", of: meeting.bob)
      meeting.wake(meeting.alice)
      // His confirmation still opens; her greeting finds no mailbox and is dropped with it.
      try meeting.awaitCount(1, "SELECT count(*) FROM contacts", of: meeting.alice)
      meeting.alice.event("contactDeletedByContact")
      try meeting.awaitCount(0, "SELECT count(*) FROM outbox", of: meeting.alice)
      XCTAssertEqual(try meeting.status(meeting.alice), "left")
      XCTAssertEqual(meeting.bob.send("/_contacts 1")["result"]["contacts"].count, 0, command)
    }
  }

  /// Alice deletes the contact before bob has answered her greeting. Notified or not, her side is deleted; only then does
  /// bob learn it from her.
  func testAContactCanBeDeletedBeforeItsAnswer() throws {
    for (notice, messages) in [("on", 2), ("off", 1)] {
      let meeting = try Meeting()
      try meeting.greet()
      meeting.wake(meeting.alice)
      XCTAssertEqual(try meeting.status(meeting.alice), "accepted")
      meeting.alice.send("/_delete @1 full notify=\(notice)").assert("contactDeleted")
      try meeting.awaitMailboxes(1)
      try meeting.awaitCount(0, "SELECT count(*) FROM connections", of: meeting.alice)
      _ = try meeting.awaitMessages(messages, in: .bobs)
      meeting.wake(meeting.bob)
      meeting.bob.event("contactConnected", within: 20)
      if notice == "on" {
        meeting.bob.event("contactDeletedByContact", within: 20)
        XCTAssertEqual(try meeting.status(meeting.bob), "left")
      } else {
        XCTAssertEqual(try meeting.status(meeting.bob), "ready")
      }
    }
  }

  /// Alice writes before bob has answered her greeting: the message waits behind it, and he gets both.
  func testAMessageMayBeGivenBeforeTheAnswer() throws {
    let meeting = try Meeting()
    try meeting.greet()
    meeting.wake(meeting.alice)
    meeting.alice.send("/_send @1 text early").assert("newChatItems")
    _ = try meeting.awaitMessages(2, in: .bobs)
    meeting.wake(meeting.bob)
    meeting.bob.event("contactConnected", within: 20)
    meeting.bob.event("newChatItems", within: 20)
    XCTAssertEqual(meeting.texts(meeting.bob), ["early"])
  }

  /// Alice's message arrives before the key that opens it. Her greeting changes the connection: the message is retried,
  /// opens, and is reported and shown, once, by an app and by an extension.
  func testINC47AMessageIsUpgradedWhenItsConnectionHasChanged() throws {
    for isApp in [true, false] {
      let meeting = try Meeting()
      try meeting.greet()
      meeting.wake(meeting.alice)
      meeting.alice.send("/_send @1 text early").assert("newChatItems")
      try meeting.quarantineSecond()
      if isApp {
        meeting.wake(meeting.bob)
        meeting.bob.event("contactConnected", within: 20)
        meeting.bob.event("newChatItems", within: 20)
      } else {
        let service = try XCTUnwrap(Host.open(meeting.bob.prefix, isExtension: true).host)
        let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
        let answer = service.push(wake, deadline: 20_000)
        XCTAssertEqual(Set(answer.bodies), ["early", "You can now chat with alice"], answer.description)
        XCTAssertEqual(answer["badge"].number, 1)
        XCTAssertEqual(service.push(wake).bodies, [])
        meeting.wake(meeting.bob)
        // The app reports messages received by an extension once it is running.
        meeting.bob.event("newChatItems", within: 20)
      }
      XCTAssertEqual(meeting.texts(meeting.bob), ["early"])
      try meeting.awaitCount(0, "SELECT count(*) FROM ledger WHERE state = 'quarantined'", of: meeting.bob)
      meeting.alice.send("/_send @1 text later").assert("newChatItems")
      meeting.bob.event("newChatItems", within: 20)
      XCTAssertEqual(meeting.texts(meeting.bob), ["early", "later"])
    }
  }

  /// INC-14: a call that opens late rings by the relay's count, whatever the wall clocks say, and not after a restart
  /// of the device.
  func testINC14ACallThatOpensLateRingsByTheRelaysCount() throws {
    for (change, rings) in [
      ("message_at = message_at - 600000", true),
      ("detail = 'another ' || substr(detail, instr(detail, ' ') + 1)", false),
    ] {
      let meeting = try Meeting()
      try meeting.greet()
      meeting.wake(meeting.alice)
      meeting.alice.send(#"/_call invite @1 {"media":"audio","capabilities":{"encryption":false}}"#).assert("cmdOk")
      try meeting.quarantineSecond()
      let store = try Database(path: meeting.bob.prefix + "_chat.db")
      try store.run("UPDATE ledger SET \(change) WHERE state = 'quarantined'")
      try store.close()
      let service = try XCTUnwrap(Host.open(meeting.bob.prefix, isExtension: true).host)
      let answer = service.push(#"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#)
      XCTAssertEqual(answer.bodies.contains("Incoming audio call"), rings, "\(change): \(answer)")
      XCTAssertTrue(answer.bodies.contains("You can now chat with alice"), answer.description)
    }
  }

  /// A call that opens late is still a call: the push shows it in time, although the message that brought it is not
  /// acknowledged.
  func testALateCallHurriesItsPush() throws {
    let meeting = try Meeting()
    try meeting.greet()
    meeting.wake(meeting.alice)
    meeting.alice.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    try meeting.quarantineSecond()
    let transport = HostTransport(relay: meeting.folder.file("relay.db"))
    let service = try XCTUnwrap(Host.open(meeting.bob.prefix, isExtension: true).host)
    transport.install(in: service)
    transport.hang(onlyAcknowledgement: 1)
    let round = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let push = service.inBackground { $0.push(round, deadline: 30_000).description }
    let answer = JSON(try XCTUnwrap(push.wait(atMost: .seconds(90))))
    XCTAssertTrue(answer.bodies.contains("Incoming audio call"), answer.description)
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "call.waits" }, answer.description)
    transport.hang(onlyAcknowledgement: nil)
  }

  /// A message that never opens is tried a bounded number of times.
  func testWhatNeverOpensIsTriedABoundedNumberOfTimes() throws {
    let meeting = try Meeting()
    try meeting.greet()
    let database = try Database(path: meeting.bob.prefix + "_chat.db")
    for number in 0..<5 {
      try database.run(
        """
        INSERT INTO ledger (connection_id, message_id, message_at, state, kind, reason, body, created_at, attempts)
        VALUES (1, ?, 0, 'quarantined', 'silent', 'a test', x'4d00', 0, ?)
        """, [.blob([UInt8(number)]), .integer(Int64(number))])
    }
    try database.close()
    meeting.wake(meeting.bob)
    meeting.bob.event("contactConnected", within: 20)
    try meeting.awaitCount(
      1 + 2 + 3 + 3 + 4, "SELECT sum(attempts) FROM ledger WHERE state = 'quarantined'", of: meeting.bob)
  }

  /// Alice's program sends bob the answer that is his to send, before her greeting: it proves nothing, and her greeting
  /// connects the two as usual.
  func testAnAnswerFromTheInvitingSideDoesNotReplaceItsGreeting() throws {
    let meeting = try Meeting()
    try meeting.greet()
    try meeting.alice.putIntoOutbox([.greeted])
    meeting.wake(meeting.alice)
    try meeting.swap(try meeting.awaitMessages(2, in: .bobs))
    meeting.wake(meeting.bob)
    meeting.bob.event("contactConnected", within: 20)
    XCTAssertEqual(try meeting.status(meeting.bob), "ready")
    meeting.alice.event("contactConnected", within: 20)
    meeting.alice.send("/_send @1 text hello").assert("newChatItems")
    meeting.bob.event("newChatItems", within: 20)
    XCTAssertEqual(meeting.texts(meeting.bob), ["hello"])
  }

  /// Bob's first message overtakes his answer: the message is delivered, and the contact is connected afterwards.
  func testAMessageThatOvertakesTheAnswerIsDelivered() throws {
    let meeting = try Meeting()
    try meeting.greet()
    meeting.wake(meeting.bob)
    meeting.bob.event("contactConnected", within: 20)
    meeting.bob.send("/_send @1 text first").assert("newChatItems")
    try meeting.swap(try meeting.awaitMessages(2, in: .alices))
    XCTAssertEqual(try meeting.status(meeting.alice), "accepted")
    meeting.wake(meeting.alice)
    meeting.alice.event("newChatItems", within: 20)
    meeting.alice.event("contactConnected", within: 20)
    XCTAssertEqual(meeting.texts(meeting.alice), ["first"])
    XCTAssertEqual(try meeting.status(meeting.alice), "ready")
  }

  /// Two messages cross: bob's message arrives after he has said that he left. It is quarantined, and not shown.
  func testAMessageThatComesAfterTheEndIsQuarantined() throws {
    let pair = try Pair()
    let relay = try Database(path: pair.folder.file("relay.db"))
    // Messages committed but not yet acknowledged would be delivered again.
    let unacknowledged = "SELECT count(*) FROM message WHERE body IS NOT NULL"
    for _ in 0..<2_000 where try relay.integer(unacknowledged) != 0 { usleep(10_000) }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("late", from: pair.bob)
    pair.bob.send("/_delete @1 full").assert("contactDeleted")
    // In alice's mailbox, which was created first.
    let waiting = """
      SELECT number FROM message WHERE body IS NOT NULL AND mailbox = (SELECT min(number) FROM mailbox) ORDER BY number
      """
    var numbers: [Int64] = []
    for _ in 0..<2_000 where numbers.count < 2 {
      numbers = try relay.rows(waiting) { $0.integer(0) }
      if numbers.count < 2 { usleep(10_000) }
    }
    XCTAssertEqual(numbers.count, 2)
    for (old, new) in [(numbers[0], 1_000), (numbers[1], numbers[0]), (1_000, numbers[1])] as [(Int64, Int64)] {
      try relay.run("UPDATE message SET number = ?2 WHERE number = ?1", [.integer(old), .integer(new)])
    }
    try relay.close()
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.event("contactDeletedByContact", within: 20)
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    defer { try? store.close() }
    let quarantined = "SELECT count(*) FROM ledger WHERE state = 'quarantined'"
    for _ in 0..<2_000 where try store.integer(quarantined) == 0 { usleep(10_000) }
    XCTAssertEqual(try store.integer(quarantined), 1)
    XCTAssertEqual(pair.texts(pair.alice), [])
  }
}
