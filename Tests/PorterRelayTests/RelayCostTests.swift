import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// What a stranger can ask of the relay costs little, whatever else is stored: it takes no more than a key and a mailbox.
/// Counted in steps of SQLite's virtual machine.
final class RelayCostTests: RelayTestCase {
  private static let many = 20_000
  private static let little = 10_000

  private func openFile() throws -> RelayFile {
    let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    addTeardownBlock { try? file.database.close() }
    return file
  }

  /// The answer to a request, and its cost.
  private func ask(
    _ file: RelayFile, _ command: RelayCommand, entity: RelayIdentifier? = nil, key: SigningKeyPair,
    listener: String? = nil
  ) throws -> (answer: RelayAnswer, cost: Int) {
    var request = RelayRequest(correlation: try newAttempt(), entity: entity, command: command)
    request.signature = key.sign(request.signedBytes)
    let caller = RelayFile.Caller(name: listener, keys: [key.publicKey]) { () throws(RelayError) in listener }
    let before = file.database.instructions
    let answer: RelayAnswer
    do throws(RelayError) { answer = try file.reply(to: request, from: caller).answer } catch {
      answer = .failed(error)
    }
    return (answer, file.database.instructions - before)
  }

  private func number(of mailbox: Fixture, _ file: RelayFile) throws -> Int64 {
    try XCTUnwrap(
      file.database.integer("SELECT number FROM mailbox WHERE recipient = ?1", [.blob(mailbox.recipient.bytes)]))
  }

  private func fill(_ mailbox: Fixture, _ file: RelayFile, waiting: Bool, _ count: Int = many) throws {
    try file.database.run(
      """
      WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?1)
      INSERT INTO message(mailbox, identifier, attempt, sent_at, notify, body, stored_at)
      SELECT ?2, randomblob(24), randomblob(24), 0, 1, iif(?3, x'00', NULL), 1 << 60 FROM counted
      """, [.integer(Int64(count)), .integer(try number(of: mailbox, file)), .flag(waiting)])
  }

  func testAnOldPositionCostsNoLookThroughTheMessagesOfOthers() throws {
    let (own, foreign, file) = (try newMailbox(), try newMailbox(), try openFile())
    let key = try newKey()
    _ = try client.listen(to: [(recipient: own.recipient, key: own.recipientKey)], as: key)
    try fill(foreign, file, waiting: true)
    try send("hello", to: own)
    // Without a socket, it is forgotten when listeners are woken.
    _ = try ask(file, .listen(key: key.publicKey, []), key: key, listener: "stranger")
    let start = try XCTUnwrap(RelayPosition(bytes: [UInt8](repeating: 0, count: RelayPosition.count)))
    let command = RelayCommand.arrivals(key: key.publicKey, after: start, limit: 256)
    let stranger = try ask(file, command, key: key, listener: "stranger")
    guard case .arrivals(let position, []) = stranger.answer else { return XCTFail("\(stranger.answer)") }
    XCTAssertNotEqual(position, start)
    XCTAssertLessThan(stranger.cost, Self.little)
    let listener = try XCTUnwrap(file.listeners().first { $0 != "stranger" })
    let owner = try ask(file, command, key: key, listener: listener)
    guard case .arrivals(position, [own.recipient]) = owner.answer else { return XCTFail("\(owner.answer)") }
    XCTAssertLessThan(owner.cost, Self.little)
  }

  func testAFullMailboxCostsNoLookThroughWhatItRemembers() throws {
    let (mailbox, file) = (try newMailbox(), try openFile())
    try fill(mailbox, file, waiting: false)
    try fill(mailbox, file, waiting: true, RelayLimits.undelivered)
    let command = RelayCommand.send(attempt: try newAttempt(), notify: false, body: [0])
    let sent = try ask(file, command, entity: mailbox.sender, key: mailbox.senderKey)
    XCTAssertEqual(sent.answer, .failed(.quota))
    XCTAssertLessThan(sent.cost, Self.little)
  }

  func testAServicesQuestionCostsNoLookThroughItsOwnOrOtherNotifications() throws {
    let (mailbox, file, key) = (try newMailbox(), try openFile(), try newKey())
    let box = try BoxKeyPair.generate(randomness: randomness)
    _ = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: try newKey().publicKey, boxKey: box.publicKey)
    try fill(mailbox, file, waiting: true)
    try file.database.execute(
      """
      UPDATE notifier SET service = x'01';
      INSERT INTO notification(message, mailbox, sent_at, nonce, metadata, service)
      SELECT number, mailbox, 0, randomblob(24), x'00', x'01' FROM message;
      """)
    let asked = try ask(file, .dueNotifications(service: key.publicKey, limit: 256), key: key)
    XCTAssertEqual(asked.answer, .dueNotifications(RelayDueNotifications(notifications: [], nextIn: nil)))
    XCTAssertLessThan(asked.cost, Self.little)
    try file.database.run("UPDATE notifier SET service = ?1", [.blob(key.publicKey.bytes)])
    let own = try ask(file, .dueNotifications(service: key.publicKey, limit: 1), key: key)
    XCTAssertLessThan(own.cost, Self.little)
  }

  /// What it remembers is removed while others send, a few messages at a time.
  func testDeletingAMailboxThatRemembersMuchDelaysNoOther() throws {
    let (mailbox, other, file) = (try newMailbox(), try newMailbox(), try openFile())
    try fill(mailbox, file, waiting: false, 1_000)
    try fill(mailbox, file, waiting: true, RelayLimits.undelivered)
    let deleted = try ask(file, .deleteMailbox, entity: mailbox.recipient, key: mailbox.recipientKey)
    XCTAssertEqual(deleted.answer, .done)
    XCTAssertLessThan(deleted.cost, 2 * Self.little)
    let left = "SELECT count(*) FROM message WHERE body IS NULL"
    XCTAssertEqual(try file.database.integer(left), 1_000)
    XCTAssertEqual(try file.database.integer("SELECT count(*) FROM message"), 1_000, "nothing can be fetched")
    assertRefused(.auth) { try head(of: mailbox) }
    assertRefused(.auth) { try send("late", to: mailbox) }
    let again = try client.createMailbox(recipientKey: mailbox.recipientKey, senderKey: nil)
    XCTAssertNotEqual(again.recipient, mailbox.recipient)
    for _ in 0...1_000 / 64 {
      let command = RelayCommand.send(attempt: try newAttempt(), notify: false, body: [0])
      let sent = try ask(file, command, entity: other.sender, key: other.senderKey)
      XCTAssertEqual(sent.answer, .done)
      XCTAssertLessThan(sent.cost, Self.little)
    }
    XCTAssertEqual(try file.database.integer(left), 0)
    XCTAssertEqual(try file.database.integer("SELECT count(*) FROM mailbox"), 2)
    XCTAssertEqual(try file.database.integer("SELECT count(*) FROM deleted_mailbox"), 0)
  }

  func testAListenerIsWokenForAFewServices() throws {
    let file = try openFile()
    for _ in 0..<2 * RelayLimits.listenerServices {
      let key = try newKey()
      let command = RelayCommand.subscribeNotifiers(service: key.publicKey, [])
      XCTAssertEqual(try ask(file, command, key: key, listener: "one").answer, .subscriptions([]))
    }
    XCTAssertEqual(
      try file.database.integer("SELECT count(*) FROM service_subscription"), RelayLimits.listenerServices)
  }

  /// Otherwise each end of a listener's stream would seal all of them.
  func testTheEndOfAListenerRenewsNoMoreNotificationsThanAServiceCanHave() throws {
    let (mailbox, file) = (try newMailbox(), try openFile())
    let box = try BoxKeyPair.generate(randomness: randomness)
    _ = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: try newKey().publicKey, boxKey: box.publicKey)
    _ = try client.listen(to: [(recipient: mailbox.recipient, key: mailbox.recipientKey)], as: try newKey())
    try fill(mailbox, file, waiting: true, 3_000)
    try file.database.execute(
      """
      INSERT INTO notification(message, mailbox, sent_at, nonce, metadata)
      SELECT number, mailbox, 0, CAST(number AS BLOB), x'00' FROM message
      """)
    _ = try file.noteAbsence(of: XCTUnwrap(file.listeners().first))
    XCTAssertEqual(
      try file.database.integer("SELECT count(*) FROM notification WHERE length(nonce) = 24"), 1_024)
    XCTAssertEqual(
      try file.database.integer("SELECT max(message) FROM notification WHERE length(nonce) = 24"), 1_024, "the oldest")
  }
}
