import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// Neither an answer nor its timing reveals whether a mailbox exists.
final class EqualQuestionsTests: ClusterTestCase {
  func testAWrongKeyAsksTheClusterAsMuchAsANameThatIsNotThere() throws {
    let mailbox = try newMailbox()
    try send("hello", to: mailbox)
    let (wrong, message) = (
      try SigningKeyPair.generate(randomness: randomness), try RelayIdentifier.generate(randomness: randomness)
    )
    let commands: [(name: String, body: (RelayIdentifier, RelayIdentifier) throws -> Void)] = [
      ("get", { recipient, _ in _ = try self.client.getMessage(recipient, key: wrong) }),
      ("acknowledge", { recipient, _ in _ = try self.client.acknowledge(message, in: recipient, key: wrong) }),
      ("both", { recipient, _ in _ = try self.client.acknowledgeAndGet(message, in: recipient, key: wrong) }),
      ("disable", { recipient, _ in try self.client.disableNotifier(recipient, key: wrong) }),
      ("delete", { recipient, _ in try self.client.deleteMailbox(recipient, key: wrong) }),
      (
        "send",
        { _, sender in
          try self.client.send(
            [1], to: sender, key: wrong, attempt: .generate(randomness: self.randomness), notify: true)
        }
      ),
    ]
    for (name, command) in commands {
      let missing = try RelayIdentifier.generate(randomness: randomness)
      let present = try questions { try command(mailbox.recipient, mailbox.sender) }
      XCTAssertEqual(present, try questions { try command(missing, missing) }, name)
      XCTAssertEqual(present.suffix(2), ["settle", "record"], name)
    }
  }

  private func questions(_ body: () throws -> Void) throws -> [String] {
    try store.requests { XCTAssertThrowsError(try body()) { XCTAssertEqual($0 as? RelayError, .auth) } }
  }
}
