import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

final class SigningTests: XCTestCase {
  /// RFC 8032, section 7.1, tests 1 to 3.
  func testTheVectorsOfRFC8032() throws {
    let vectors = [
      (
        seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
        signature: "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
          + "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"
      ),
      (
        seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
        signature: "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
          + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
      ),
      (
        seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
        signature: "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
          + "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"
      ),
    ]
    for vector in vectors {
      let pair = try XCTUnwrap(SigningKeyPair(seed: try bytes(vector.seed)))
      XCTAssertEqual(TextEncoding.hex(pair.publicKey.bytes), vector.key)
      let message = try bytes(vector.message)
      let signature = pair.sign(message)
      XCTAssertEqual(TextEncoding.hex(signature), vector.signature)
      XCTAssertTrue(pair.publicKey.isValid(signature: signature, for: message))
    }
  }

  func testEveryFlippedBitIsRefused() throws {
    let pair = try SigningKeyPair.generate(randomness: SystemRandomness())
    let message = Array("acknowledge".utf8)
    let signature = pair.sign(message)
    for bit in 0..<signature.count * 8 {
      XCTAssertFalse(pair.publicKey.isValid(signature: flipping(bit, of: signature), for: message))
    }
    for bit in 0..<message.count * 8 {
      XCTAssertFalse(pair.publicKey.isValid(signature: signature, for: flipping(bit, of: message)))
    }
    for bit in 0..<SigningPublicKey.count * 8 {
      let other = try XCTUnwrap(SigningPublicKey(bytes: flipping(bit, of: pair.publicKey.bytes)))
      XCTAssertFalse(other.isValid(signature: signature, for: message))
    }
  }

  func testSignaturesOfAnotherLengthAreRefused() throws {
    let pair = try SigningKeyPair.generate(randomness: SystemRandomness())
    let signature = pair.sign([1])
    for count in 0..<64 {
      XCTAssertFalse(pair.publicKey.isValid(signature: Array(signature.prefix(count)), for: [1]))
    }
    XCTAssertFalse(pair.publicKey.isValid(signature: signature + [0], for: [1]))
  }

  /// S and S + the group's order satisfy the same equation; only the smaller may pass (RFC 8032, section 5.1.7), or a
  /// command would have two valid signatures.
  func testSecondFormOfASignatureIsRefused() throws {
    let order = try bytes("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
    let pair = try SigningKeyPair.generate(randomness: SystemRandomness())
    var signature = pair.sign([1])
    var carry: UInt16 = 0
    for index in 0..<32 {
      let sum = UInt16(signature[32 + index]) + UInt16(order[index]) + carry
      signature[32 + index] = UInt8(truncatingIfNeeded: sum)
      carry = sum >> 8
    }
    XCTAssertEqual(carry, 0)
    XCTAssertFalse(pair.publicKey.isValid(signature: signature, for: [1]))
  }

  /// Under the neutral point every message would have the signature (neutral point, 0).
  func testPublicKeysOfLowOrderVerifyNothing() throws {
    let neutral = [UInt8](repeating: 0, count: 32).enumerated().map { $0.offset == 0 ? UInt8(1) : $0.element }
    let key = try XCTUnwrap(SigningPublicKey(bytes: neutral))
    XCTAssertFalse(key.isValid(signature: neutral + [UInt8](repeating: 0, count: 32), for: Array("any".utf8)))
  }

  func testSignaturesAreValidAndStoredKeysComeBack() throws {
    forAll(both(.bytes(32...32), .bytes(0...200))) { seed, message in
      guard let pair = SigningKeyPair(seed: seed), let again = SigningKeyPair(stored: pair.exposeForStorage()) else {
        return try expect(false, "32 bytes are a key")
      }
      try expectEqual(pair.exposeSeed(), seed)
      try expectEqual(again.exposeForStorage(), pair.exposeForStorage())
      try expectEqual(again.publicKey, pair.publicKey)
      try expect(pair.publicKey.isValid(signature: again.sign(message), for: message))
    }
    for count in [0, 31, 33, 64] { XCTAssertNil(SigningKeyPair(seed: [UInt8](repeating: 1, count: count))) }
    for count in [0, 32, 63, 65] { XCTAssertNil(SigningKeyPair(stored: [UInt8](repeating: 1, count: count))) }
    for count in [0, 31, 33] { XCTAssertNil(SigningPublicKey(bytes: [UInt8](repeating: 1, count: count))) }
  }

  private func bytes(_ hex: String) throws -> [UInt8] { try XCTUnwrap(TextEncoding.hexDecoded(hex)) }
}
