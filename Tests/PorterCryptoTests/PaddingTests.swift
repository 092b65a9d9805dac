import PropertyTesting
import XCTest

@testable import PorterCrypto

final class PaddingTests: XCTestCase {
  func testTheForm() throws {
    XCTAssertEqual(try Padding.pad(Array("ab".utf8), to: 8), [0, 2] + Array("ab####".utf8))
    XCTAssertEqual(try Padding.pad([], to: 2), [0, 0])
    XCTAssertEqual(try Padding.pad([UInt8](repeating: 1, count: 258), to: 300).prefix(2), [1, 2])
  }

  func testPaddedDataComesBackAndHasTheSize() {
    forAll(both(.bytes(0...400), .number(0...400))) { data, more in
      let size = data.count + Padding.overhead + more
      let padded = try Padding.pad(data, to: size)
      try expectEqual(padded.count, size)
      try expectEqual(try Padding.unpad(padded), data)
    }
  }

  func testDataThatDoesNotFitIsRefused() {
    for size in [Int.min, -1, 0, 1, 2, 6] {
      assertThrows(.malformed(.plaintext)) { _ = try Padding.pad([1, 2, 3, 4, 5], to: size) }
    }
    let longest = [UInt8](repeating: 9, count: 65_535)
    XCTAssertEqual(try Padding.unpad(try Padding.pad(longest, to: 65_537)), longest)
    assertThrows(.malformed(.plaintext)) { _ = try Padding.pad(longest + [9], to: 70_000) }
  }

  func testForeignBytesAreEitherWellPaddedOrRefused() {
    forAll(.bytes(0...12), runs: 2_000) { bytes in
      guard let data = try? Padding.unpad(bytes) else { return }
      try expectEqual(try Padding.pad(data, to: bytes.count), bytes)
    }
    for wrong in [[], [0], [0, 1], [255, 255], [0, 0, 0], [0, 1, 7, 36]] as [[UInt8]] {
      assertThrows(.malformed(.padding)) { _ = try Padding.unpad(wrong) }
    }
  }

  func testPaddedBoxesHideTheLength() throws {
    let pair = try BoxKeyPair.generate(randomness: SeededRandomness(1))
    let shared = try pair.secretKey.agree(with: pair.publicKey)
    let nonce = try BoxNonce.generate(randomness: SeededRandomness(2))
    forAll(.bytes(0...126)) { data in
      let sealed = try shared.sealPadded(data, to: 128, nonce: nonce)
      try expectEqual(sealed.count, 128 + Box.overhead)
      try expectEqual(try shared.openPadded(sealed, nonce: nonce), data)
    }
    let unpadded = try shared.seal([0, 9, 1], nonce: nonce)
    assertThrows(.malformed(.padding)) { _ = try shared.openPadded(unpadded, nonce: nonce) }
  }
}
