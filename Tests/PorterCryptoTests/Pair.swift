import PorterPlatform
import XCTest

@testable import PorterCrypto

extension Ratchet {
  /// Whether `encrypt` can be called: the inviting side must receive first.
  var canSend: Bool { conversation != .awaiting }
}

/// Two sides connected through an invitation.
struct Pair {
  var inviter: Ratchet
  var joiner: Ratchet
  let associatedData: [UInt8]
  let randomness: any Randomness

  init(randomness: any Randomness = SystemRandomness()) throws {
    let secret = try InvitationSecret.create(randomness: randomness)
    let joined = try KeyAgreement.join(invitationKeys: secret.publicKeys, randomness: randomness)
    let accepted = try KeyAgreement.accept(secret, joinerKeys: joined.publicKeys)
    XCTAssertEqual(joined.associatedData, accepted.associatedData)
    inviter = accepted.ratchet
    joiner = joined.ratchet
    associatedData = joined.associatedData
    self.randomness = randomness
  }

  mutating func joinerSends(_ text: String) throws -> [UInt8] {
    try joiner.encrypt(Array(text.utf8), associatedData: associatedData)
  }

  mutating func inviterSends(_ text: String) throws -> [UInt8] {
    try inviter.encrypt(Array(text.utf8), associatedData: associatedData)
  }

  mutating func joinerReceives(_ message: [UInt8]) throws -> String {
    String(
      decoding: try joiner.decrypt(message, associatedData: associatedData, randomness: randomness), as: UTF8.self)
  }

  mutating func inviterReceives(_ message: [UInt8]) throws -> String {
    String(
      decoding: try inviter.decrypt(message, associatedData: associatedData, randomness: randomness), as: UTF8.self)
  }
}

extension XCTestCase {
  func assertThrows(
    _ expected: CryptoError, file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Void
  ) {
    XCTAssertThrowsError(try body(), file: file, line: line) { error in
      XCTAssertEqual(error as? CryptoError, expected, file: file, line: line)
    }
  }
}

func flipping(_ bit: Int, of bytes: [UInt8]) -> [UInt8] {
  var flipped = bytes
  flipped[bit / 8] ^= 1 << UInt8(bit % 8)
  return flipped
}

/// All of a ratchet's state, for comparison.
struct RatchetImage: Equatable {
  let core: SecretBytes
  let skipped: SkippedKeys
}

extension Ratchet {
  var image: RatchetImage { RatchetImage(core: serialized(), skipped: skipped) }
}
