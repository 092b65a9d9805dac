import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

/// An acknowledgement answered with the next message.
final class RelayNextMessageTests: RelayTestCase {
  private func acknowledge(
    _ message: RelayMessage, in mailbox: Fixture, of client: RelayClient? = nil
  ) throws -> (RelayClient.Acknowledgement, RelayClient.Next) {
    try (client ?? self.client).acknowledgeAndGet(
      message.identifier, in: mailbox.recipient, key: mailbox.recipientKey)
  }

  private func message(_ next: RelayClient.Next) throws -> RelayMessage {
    guard case .message(let message) = next else { throw RelayError.answer }
    return message
  }

  func testEachAnswerHasTheNextMessageUntilThatIsAcknowledgedItself() throws {
    let mailbox = try newMailbox()
    try send("first", to: mailbox)
    clock.advance(.seconds(60))
    try send("second", to: mailbox, notify: true)
    clock.advance(.seconds(30))
    let first = try XCTUnwrap(try head(of: mailbox))
    let (outcome, next) = try acknowledge(first, in: mailbox)
    XCTAssertEqual(outcome, .done)
    let second = try message(next)
    XCTAssertEqual(second.body, Array("second".utf8))
    XCTAssertTrue(second.notify)
    XCTAssertEqual(second.age, 30_000)
    XCTAssertEqual(second, try head(of: mailbox), "it is still there")
    // As after a lost answer.
    let (repeated, same) = try acknowledge(first, in: mailbox)
    XCTAssertEqual(repeated, .noMessage)
    XCTAssertEqual(same, .message(second))
    let (last, nothing) = try acknowledge(second, in: mailbox)
    XCTAssertEqual(last, .done)
    XCTAssertEqual(nothing, .nothing)
    XCTAssertNil(try head(of: mailbox))
  }

  /// The acknowledgement has taken effect, and its process ends before it gets the answer: another one is given the
  /// next message.
  func testAnAnswerThatIsLostLosesNoMessage() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second", "third"] { try send(text, to: mailbox) }
    var taken: [String] = []
    var waiting = try head(of: mailbox)
    while let message = waiting {
      taken.append(String(decoding: message.body, as: UTF8.self))
      let killed = another()
      _ = try acknowledge(message, in: mailbox, of: RelayClient(port: killed, randomness: randomness))
      killed.close()
      waiting = try head(of: mailbox)
      XCTAssertEqual(try acknowledge(message, in: mailbox).1, waiting.map { .message($0) } ?? .nothing)
    }
    XCTAssertEqual(taken, ["first", "second", "third"])
  }

  func testWhatIsPastItsRetentionIsPassedOver() throws {
    let mailbox = try newMailbox()
    try send("first", to: mailbox)
    try send("second", to: mailbox)
    let first = try XCTUnwrap(try head(of: mailbox))
    clock.advance(.seconds(22 * 86_400))
    // Only messages sent later are left, although the others have not been removed from the file yet.
    let late = try newMailbox()
    try send("elsewhere", to: late)
    XCTAssertEqual(try acknowledge(first, in: mailbox).1, .nothing)
    try send("third", to: mailbox)
    XCTAssertEqual(try message(try acknowledge(first, in: mailbox).1).body, Array("third".utf8))
  }

  /// The statements one push compiles for the relay's file, besides `PRAGMA synchronous`: for a mailbox, a message,
  /// dropping it, and whether its notification is left. Further messages need no others.
  func testOneMessageTakesThreeStatements() throws {
    #if DEBUG
      let mailbox = try newMailbox()
      for text in ["first", "second", "third"] { try send(text, to: mailbox, notify: true) }
      let file = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
      defer { try? file.database.close() }
      var statements: Set<String> = []
      file.database.observer = { statements.insert($0) }
      func exchange(_ command: RelayCommand) throws -> RelayRequest {
        var request = RelayRequest(correlation: try newAttempt(), entity: mailbox.recipient, command: command)
        request.signature = mailbox.recipientKey.sign(request.signedBytes)
        return request
      }
      guard case .message(var message) = try file.getMessage(exchange(.getMessageWithAge), withAge: true) else {
        return XCTFail("no message")
      }
      for texts in [["second"], ["third"], []] {
        let request = try exchange(.acknowledgeAndGet(message: message.identifier))
        let answer = try file.acknowledgeAndGet(request, message: message.identifier)
        guard case .acknowledged(true, let next) = answer else { return XCTFail("\(answer)") }
        XCTAssertEqual(next.map { [String(decoding: $0.body, as: UTF8.self)] } ?? [], texts)
        XCTAssertEqual(statements.count, 3, statements.sorted().joined(separator: "\n"))
        if let next { message = next }
      }
    #endif
  }

  /// A notification that outlived its message, as when a process was killed between the two, is given to no service.
  func testANotificationWithoutItsMessageIsGivenToNoService() throws {
    let (mailbox, notifierKey) = (try newMailbox(), try newKey())
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.recipientKey, notifierKey: notifierKey.publicKey,
      boxKey: try BoxKeyPair.generate(randomness: randomness).publicKey)
    let service = RelayNotifierClient(port: relay, randomness: randomness, service: try newKey())
    try service.subscribe([(notifier: notifier.identifier, key: notifierKey)])
    try send("hello", to: mailbox, notify: true)
    XCTAssertEqual(try service.dueNotifications().notifications.count, 1)
    let file = try Database(path: path)
    XCTAssertEqual(try file.run("UPDATE message SET body = NULL"), 1)
    try file.close()
    XCTAssertEqual(try service.dueNotifications().notifications.count, 0)
    XCTAssertEqual(try service.pendingNotifications().count, 0)
  }

  func testAnotherKeyDropsNothing() throws {
    let mailbox = try newMailbox()
    try send("kept", to: mailbox)
    let message = try XCTUnwrap(try head(of: mailbox))
    let wrong = try newKey()
    assertRefused(.auth) {
      try self.client.acknowledgeAndGet(message.identifier, in: mailbox.recipient, key: wrong)
    }
    XCTAssertEqual(try head(of: mailbox), message)
  }

  func testAnEarlierRelayDropsTheMessageAndIsAskedForTheNext() throws {
    for last in [RelayCommand.Tag.getMessageWithAge, .arrivals] {
      let mailbox = try newMailbox()
      for text in ["first", "second", "third"] { try send(text, to: mailbox) }
      let port = EarlierRelay(another(), last: last)
      defer { port.close() }
      let client = RelayClient(port: port, randomness: randomness)
      // Neither is asked for a command it has refused, nor for later ones.
      for (text, requests) in [("first", 3), ("second", 2), ("third", 2)] {
        _ = port.takeCount()
        let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.recipientKey))
        XCTAssertEqual(message.body, Array(text.utf8))
        XCTAssertEqual(message.age == nil, last == .arrivals)
        let (outcome, next) = try acknowledge(message, in: mailbox, of: client)
        XCTAssertEqual(outcome, .done)
        XCTAssertEqual(next, .unknown)
        XCTAssertEqual(port.takeCount(), requests, "\(last) \(text)")
      }
      XCTAssertNil(try client.getMessage(mailbox.recipient, key: mailbox.recipientKey))
    }
  }
}
