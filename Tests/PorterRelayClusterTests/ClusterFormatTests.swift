import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// The cluster's stored format, and the names derived from it.
final class ClusterFormatTests: XCTestCase {
  private let randomness = SystemRandomness()

  private func identifier() throws -> RelayIdentifier { try .generate(randomness: randomness) }
  private func key() throws -> SigningPublicKey { try SigningKeyPair.generate(randomness: randomness).publicKey }

  private func record(waiting: Int, past: Int) throws -> MailboxRecord {
    var record = MailboxRecord(generation: randomness.bytes(8), recipientKey: try key(), senderKey: try key())
    record.checkKey = RelayCheckKey(bytes: randomness.bytes(32))
    let box = try BoxKeyPair.generate(randomness: randomness).publicKey
    record.notifier = MailboxRecord.Notifier(
      generation: randomness.bytes(8), key: try key(), recipientBoxKey: box, relayBoxKey: box,
      sharedKey: randomness.bytes(32), service: try key())
    for number in 0..<waiting {
      record.waiting.append(
        MailboxRecord.Entry(
          body: .max - UInt64(number), message: try identifier(), attempt: try identifier(), sentAt: Int64(number),
          notify: number % 2 == 0, hasNotification: number % 3 == 0))
    }
    record.past = (0..<past).map { MailboxRecord.Past(attempt: randomness.bytes(8), minute: UInt32($0)) }
    return record
  }

  func testARecordReadsAsItWasWrittenAndHasTheSizeOfThePage() throws {
    for (waiting, past) in [(0, 0), (1, 0), (3, 7), (128, 256)] {
      let record = try record(waiting: waiting, past: past)
      let bytes = record.encoded()
      XCTAssertEqual(try MailboxRecord(decoding: bytes), record)
      XCTAssertEqual(bytes.count, 281 + 65 * waiting + 12 * past)
    }
    let empty = MailboxRecord(generation: randomness.bytes(8), recipientKey: try key(), senderKey: try key())
    XCTAssertEqual(empty.encoded().count, 80)
  }

  func testARecordThatWasCutOrHasMoreIsRefused() throws {
    let bytes = try record(waiting: 2, past: 2).encoded()
    for count in 0..<bytes.count { XCTAssertThrowsError(try MailboxRecord(decoding: Array(bytes.prefix(count)))) }
    XCTAssertThrowsError(try MailboxRecord(decoding: bytes + [0]))
  }

  func testNamesAreTakenApartAndNoneIsAnother() throws {
    let names = try XCTUnwrap(ClusterKey(randomness.bytes(32)))
    let other = try XCTUnwrap(ClusterKey(randomness.bytes(32)))
    for _ in 0..<200 {
      let parts = ClusterKey.Parts(mailbox: randomness.bytes(16), generation: randomness.bytes(8))
      var seen: Set<RelayIdentifier> = []
      for name in ClusterKey.Name.allCases {
        let identifier = try XCTUnwrap(names.identifier(name, parts))
        seen.insert(identifier)
        XCTAssertEqual(names.parts(name, of: identifier), parts)
        XCTAssertNotEqual(other.parts(name, of: identifier), parts)
        for wrong in ClusterKey.Name.allCases where wrong != name {
          XCTAssertNotEqual(names.parts(wrong, of: identifier), parts)
        }
      }
      XCTAssertEqual(seen.count, ClusterKey.Name.allCases.count)
    }
  }

  func testOneChangedBitOfANameIsAnotherMailbox() throws {
    let names = try XCTUnwrap(ClusterKey(randomness.bytes(32)))
    let parts = ClusterKey.Parts(mailbox: randomness.bytes(16), generation: randomness.bytes(8))
    let bytes = try XCTUnwrap(names.identifier(.recipient, parts)).bytes
    for bit in 0..<(8 * bytes.count) {
      var changed = bytes
      changed[bit / 8] ^= 1 << (bit % 8)
      let found = names.parts(.recipient, of: try XCTUnwrap(RelayIdentifier(bytes: changed)))
      XCTAssertNotEqual(found.mailbox, parts.mailbox)
      XCTAssertNotEqual(found.generation, parts.generation)
    }
  }
}
