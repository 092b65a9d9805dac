import Foundation
import PorterStore
import XCTest

/// INC-44, INC-66: one connection's stored record is damaged. Its healthy neighbours are unaffected.
final class DamagedConnectionTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func othersAreTakenIn(damaging column: String, file: StaticString = #filePath, line: UInt = #line) throws {
    let pair = try Pair()
    for _ in 0..<2 {
      let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      pair.bob.send("/connect \(link)").assert("sentConfirmation")
      pair.alice.event("contactConnected")
      pair.bob.event("contactConnected")
    }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let database = try Database(path: pair.folder.file("alice_chat.db"))
    let whole = try XCTUnwrap(
      try database.first("SELECT \(column) FROM connections WHERE connection_id = 2") { $0.blob(0) })
    try database.run("UPDATE connections SET \(column) = x'00' WHERE connection_id = 2")
    func send(_ text: String) {
      for contact in 1...3 {
        let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"\(text) \(contact)\"},\"mentions\":{}}"
        pair.bob.send("/_send @\(contact) json [\(message)]").assert("newChatItems")
      }
    }
    send("first")
    do {
      let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
      let answer = notifier.push(wake)
      XCTAssertEqual(answer["outcome"].text, "presented", answer.description, file: file, line: line)
      XCTAssertEqual(answer.bodies.sorted(), ["first 1", "first 3"], file: file, line: line)
      // INC-19: a connection that could not be checked is never reported as done.
      XCTAssertEqual(answer["work"].text, "partial", answer.description, file: file, line: line)
      let again = notifier.push(wake)
      XCTAssertEqual(again["outcome"].text, "failed", again.description, file: file, line: line)
    }
    pair.alice.send("/_app activate").assert("cmdOk")
    send("second")
    var told: Set<String> = []
    let end = Date(timeIntervalSinceNow: 30)
    while !told.isSuperset(of: ["second 1", "second 3"]), end.timeIntervalSinceNow > 0 {
      guard let event = pair.alice.event(within: 0.2) else { continue }
      for item in event["result"]["chatItems"].elements {
        told.insert(item["chatItem"]["content"]["msgContent"]["text"].text)
      }
    }
    XCTAssertTrue(told.isSuperset(of: ["second 1", "second 3"]), "\(told)", file: file, line: line)
    // None of its messages was acknowledged: they arrive once the record is repaired.
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    try database.run("UPDATE connections SET \(column) = ? WHERE connection_id = 2", [.blob(whole)])
    try database.close()
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    XCTAssertEqual(notifier.push(wake).bodies, ["first 2", "second 2"], file: file, line: line)
  }

  /// The store accepts one message and fails at the next, as on a disk that fills up: this same push shows the first.
  func testCommittedMessagesAreShownThoughTheStoreFailsAfterwards() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let database = try Database(path: pair.folder.file("alice_chat.db"))
    try database.execute(
      """
      CREATE TRIGGER full BEFORE INSERT ON items WHEN NEW.content LIKE '%second%'
      BEGIN SELECT RAISE(ABORT, 'full'); END
      """)
    pair.send("first", from: pair.bob)
    pair.send("second", from: pair.bob)
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    let answer = notifier.push(wake)
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer["work"].text, "partial", answer.description)
    XCTAssertEqual(answer.bodies, ["first"])
    let again = notifier.push(wake)
    XCTAssertEqual(again["outcome"].text, "failed", again.description)
    XCTAssertEqual(again.bodies, [])
    XCTAssertTrue(again["quiescent"].flag)
    try database.execute("DROP TRIGGER full")
    try database.close()
    XCTAssertEqual(notifier.push(wake).bodies, ["second"])
  }

  /// Committed by one process, and damaged before another shows it.
  func testINC44AnUnreadableEntryDoesNotHideOthers() throws {
    let pair = try Pair()
    let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    pair.bob.send("/connect \(link)").assert("sentConfirmation")
    pair.alice.event("contactConnected")
    pair.bob.event("contactConnected")
    let contacts = pair.alice.send("/_contacts 1")["result"]["contacts"].elements
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    for contact in 1...2 {
      let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"to \(contact)\"},\"mentions\":{}}"
      pair.bob.send("/_send @\(contact) json [\(message)]").assert("newChatItems")
    }
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    let requests = contacts.map { "\($0["activeConn"]["agentConnId"].text):1:2026-01-01T00:00:00.000Z" }
    notifier.send("/_ntf conn messages \(requests.joined(separator: ","))").assert("connNtfMessages")
    notifier.send("/_app suspend 0").assert("cmdOk")
    let database = try Database(path: pair.folder.file("alice_chat.db"))
    let key = try XCTUnwrap(
      try database.first("SELECT recipient_key FROM connections WHERE connection_id = 2") { $0.blob(0) })
    try database.run("UPDATE connections SET recipient_key = x'00' WHERE connection_id = 2")
    let answer = notifier.push(wake)
    XCTAssertEqual(answer.bodies, ["to 1"], answer.description)
    XCTAssertEqual(answer["work"].text, "partial", answer.description)
    try database.run("UPDATE connections SET recipient_key = ? WHERE connection_id = 2", [.blob(key)])
    try database.close()
    XCTAssertEqual(notifier.push(wake).bodies, ["to 2"])
  }

  func testINC44ADamagedMailboxKey() throws { try othersAreTakenIn(damaging: "recipient_key") }
  func testINC44ADamagedRatchet() throws { try othersAreTakenIn(damaging: "ratchet") }
}
