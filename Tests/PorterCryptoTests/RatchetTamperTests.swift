import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

/// A message changed in any way is refused, and the state afterwards is the same as before, to the byte, including
/// skipped keys.
final class RatchetTamperTests: XCTestCase {
  func testEveryFlippedBitOfTheFirstMessage() throws {
    var pair = try Pair()
    try assertTamperProof(try pair.joinerSends("hello"), &pair, text: "hello")
  }

  func testEveryFlippedBitOfAMessageInTheCurrentChain() throws {
    var pair = try Pair()
    _ = try pair.inviterReceives(try pair.joinerSends("before"))
    try assertTamperProof(try pair.joinerSends("hello"), &pair, text: "hello")
  }

  func testEveryFlippedBitOfTheFirstMessageInANewChain() throws {
    var pair = try Pair()
    _ = try pair.inviterReceives(try pair.joinerSends("before"))
    _ = try pair.joinerSends("lost")
    _ = try pair.joinerReceives(try pair.inviterSends("turn"))
    try assertTamperProof(try pair.joinerSends("hello"), &pair, text: "hello")
  }

  func testEveryFlippedBitOfASkippedMessage() throws {
    var pair = try Pair()
    let late = try pair.joinerSends("hello")
    _ = try pair.inviterReceives(try pair.joinerSends("before"))
    _ = try pair.joinerReceives(try pair.inviterSends("turn"))
    _ = try pair.inviterReceives(try pair.joinerSends("new chain"))
    try assertTamperProof(late, &pair, text: "hello")
  }

  func testForeignBytesAreAnswered() throws {
    var pair = try Pair()
    _ = try pair.inviterReceives(try pair.joinerSends("before"))
    let before = pair.inviter.image
    forAll(.bytes(0...120), runs: 500) { bytes in
      try expectThrows { _ = try pair.inviter.decrypt(bytes, associatedData: [], randomness: pair.randomness) }
      let versioned = [1] + bytes
      try expectThrows { _ = try pair.inviter.decrypt(versioned, associatedData: [], randomness: pair.randomness) }
      try expectEqual(pair.inviter.image, before)
    }
  }

  private func assertTamperProof(_ message: [UInt8], _ pair: inout Pair, text: String, line: UInt = #line) throws {
    let before = pair.inviter.image
    for bit in 0..<message.count * 8 {
      XCTAssertThrowsError(try pair.inviterReceives(flipping(bit, of: message)), "bit \(bit)", line: line) { error in
        let expected: [CryptoError] =
          switch bit / 8 {
          case 0: [.unsupportedVersion(1 ^ 1 << UInt8(bit))]
          case 37..<41: [.authenticationFailed, .tooManySkipped, .duplicate]
          default: [.authenticationFailed]
          }
        XCTAssertTrue(expected.contains(error as? CryptoError ?? .unavailable), "bit \(bit): \(error)", line: line)
      }
      XCTAssertEqual(pair.inviter.image, before, "bit \(bit)", line: line)
    }
    for count in 0..<message.count {
      assertThrows(count < Ratchet.overhead ? .malformed(.message) : .authenticationFailed, line: line) {
        _ = try pair.inviterReceives(Array(message.prefix(count)))
      }
    }
    assertThrows(.authenticationFailed, line: line) { _ = try pair.inviterReceives(message + [0]) }
    XCTAssertEqual(pair.inviter.image, before, line: line)
    XCTAssertEqual(try pair.inviterReceives(message), text, line: line)
  }
}
