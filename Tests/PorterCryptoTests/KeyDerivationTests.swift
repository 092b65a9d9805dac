import PorterPlatform
import XCTest

@testable import PorterCrypto

final class KeyDerivationTests: XCTestCase {
  private struct Vector {
    let material: String
    let salt: String
    let info: String
    let derived: String
  }

  /// RFC 5869, appendix A.1 to A.3: the SHA-256 cases.
  private let vectors = [
    Vector(
      material: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "000102030405060708090a0b0c",
      info: "f0f1f2f3f4f5f6f7f8f9",
      derived: "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"),
    Vector(
      material: KeyDerivationTests.run(0x00...0x4f), salt: KeyDerivationTests.run(0x60...0xaf),
      info: KeyDerivationTests.run(0xb0...0xff),
      derived: "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
        + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"),
    Vector(
      material: "0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b", salt: "", info: "",
      derived: "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"),
  ]

  private static func run(_ range: ClosedRange<UInt8>) -> String { TextEncoding.hex(Array(range)) }

  func testHKDFGivesTheVectorsOfRFC5869() throws {
    for vector in vectors {
      let expected = try bytes(vector.derived)
      let derived = try KeyDerivation.hkdfSHA256(
        inputKeyMaterial: SecretBytes(bytes(vector.material)), salt: bytes(vector.salt), info: bytes(vector.info),
        count: expected.count)
      XCTAssertEqual(derived.exposeForStorage(), expected)
    }
  }

  func testHKDFRefusesLengthsItCannotGive() throws {
    for count in [Int.min, -1, 0, 255 * 32 + 1, Int.max] {
      XCTAssertThrowsError(
        try KeyDerivation.hkdfSHA256(inputKeyMaterial: SecretBytes([1]), salt: [UInt8](), info: [], count: count)
      ) { XCTAssertEqual($0 as? CryptoError, .malformed(.derivedKey)) }
    }
    let longest = try KeyDerivation.hkdfSHA256(
      inputKeyMaterial: SecretBytes([1]), salt: [UInt8](), info: [], count: 255 * 32)
    XCTAssertEqual(longest.count, 8_160)
  }

  /// RFC 4231, test cases 1, 2 and 6 (a key longer than the hash's block).
  func testHMACGivesTheVectorsOfRFC4231() throws {
    let cases: [(key: [UInt8], message: String, code: String)] = [
      (
        [UInt8](repeating: 0x0b, count: 20), "Hi There",
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
      ),
      (
        Array("Jefe".utf8), "what do ya want for nothing?",
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      ),
      (
        [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      ),
    ]
    for (key, message, code) in cases {
      var computed = [UInt8](repeating: 0, count: 32)
      KeyDerivation.authenticate(key: SecretBytes(key), &computed) { update in
        Array(message.utf8).withUnsafeBytes(update)
      }
      XCTAssertEqual(TextEncoding.hex(computed), code)
    }
  }

  /// FIPS 180-4, the digests of "abc".
  func testDigests() {
    XCTAssertEqual(
      TextEncoding.hex(Digest.sha256(Array("abc".utf8))),
      "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let digest =
      "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
      + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    XCTAssertEqual(TextEncoding.hex(Digest.sha512(Array("abc".utf8))), digest)
    XCTAssertEqual(TextEncoding.hex(Digest.password(Array("a".utf8), salt: Array("bc".utf8))), digest)
  }

  private func bytes(_ hex: String) throws -> [UInt8] { try XCTUnwrap(TextEncoding.hexDecoded(hex)) }
}
