import Foundation
import PorterCrypto
import PorterPlatform
import PorterProcesses
import PorterStore
import Synchronization
import XCTest

@testable import PorterRelay

/// A clock that a test moves. It starts at the present, which other processes using the same relay use.
final class TestClock: Clock {
  private let sinceStart = Mutex(Span.zero)
  private let stepOfWall = Mutex(Span.zero)
  private let start = (moment: SystemClock().now(), wall: SystemClock().wall())

  func now() -> Moment { start.moment + sinceStart.withLock { $0 } }
  func wall() -> WallTime {
    let passed = sinceStart.withLock { $0 }.milliseconds + stepOfWall.withLock { $0 }.milliseconds
    return WallTime(milliseconds: start.wall.milliseconds + passed)
  }
  func pause(_ span: Span) {
    SystemClock().pause(span)
    advance(span)
  }

  /// Lets time pass.
  func advance(_ span: Span) { sinceStart.withLock { $0 = Span(nanoseconds: $0.nanoseconds + span.nanoseconds) } }

  /// Sets the wall clock; no time passes.
  func setWall(by span: Span) { stepOfWall.withLock { $0 = Span(nanoseconds: $0.nanoseconds + span.nanoseconds) } }
}

/// Each test has its own relay in its own directory.
class RelayTestCase: XCTestCase {
  let clock = TestClock()
  let randomness = SystemRandomness()
  private(set) var directory = ""
  private(set) var relay = EmbeddedRelay(path: "/", ports: .system, log: .silent)

  var path: String { directory + "/relay.db" }
  var client: RelayClient { RelayClient(port: relay, randomness: randomness) }

  override func setUpWithError() throws {
    directory = NSTemporaryDirectory() + "porter-relay-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    relay = another()
  }

  override func tearDownWithError() throws {
    relay.close()
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
    try FileManager.default.removeItem(atPath: directory)
  }

  /// A second instance on the same file, as in another process.
  func another() -> EmbeddedRelay {
    EmbeddedRelay(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
  }

  func newKey() throws -> SigningKeyPair { try .generate(randomness: randomness) }
  func newAttempt() throws -> RelayIdentifier { try .generate(randomness: randomness) }

  /// A mailbox with all its keys.
  struct Fixture {
    let recipient: RelayIdentifier
    let sender: RelayIdentifier
    let recipientKey: SigningKeyPair
    let senderKey: SigningKeyPair
  }

  /// A secured mailbox.
  func newMailbox(isSecured: Bool = true) throws -> Fixture {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let made = try client.createMailbox(
      recipientKey: recipientKey, senderKey: isSecured ? senderKey.publicKey : nil)
    return Fixture(recipient: made.recipient, sender: made.sender, recipientKey: recipientKey, senderKey: senderKey)
  }

  func send(_ text: String, to mailbox: Fixture, notify: Bool = false) throws {
    try client.send(
      Array(text.utf8), to: mailbox.sender, key: mailbox.senderKey, attempt: try newAttempt(), notify: notify)
  }

  func head(of mailbox: Fixture) throws -> RelayMessage? {
    try client.getMessage(mailbox.recipient, key: mailbox.recipientKey)
  }

  /// Fetches and acknowledges every message.
  func receiveAll(_ mailbox: Fixture) throws -> [String] {
    var texts: [String] = []
    while let message = try head(of: mailbox) {
      texts.append(String(decoding: message.body, as: UTF8.self))
      XCTAssertEqual(
        try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.recipientKey), .done)
    }
    return texts
  }

  func assertRefused<Result>(
    _ expected: RelayError, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Result
  ) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
      XCTAssertEqual(error as? RelayError, expected, "\(error)", file: file, line: line)
    }
  }

  func assertStorageFails<Result>(
    _ kinds: Set<SQLiteError.Kind>, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Result
  ) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
      guard case .storage(let failure)? = error as? RelayError else {
        return XCTFail("\(error)", file: file, line: line)
      }
      XCTAssertTrue(kinds.contains(failure.kind), "\(error)", file: file, line: line)
    }
  }
}

extension RelayTestCase {
  /// SQL that makes a file of the fifth version out of a new one.
  static let undoSixthVersion = """
    DROP TABLE deleted_mailbox; DROP INDEX service_subscription_listener;
    DROP TRIGGER notification_named; DROP TRIGGER notifier_taken;
    DROP INDEX notification_service; DROP INDEX notification_due; ALTER TABLE notification DROP COLUMN service;

    """
}

/// The number of locks that a process has on the files in a directory.
func locksHeld(by process: Int32, in directory: String) throws -> Int {
  try HeldLock.all(of: process).count { $0.path.hasPrefix(directory + "/") }
}
