import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

final class SecretBytesTests: XCTestCase {
  /// However a secret is printed, none of its bytes appears in any form in which a byte is printed.
  func testSecretsAreNeverPrinted() throws {
    // Four distinct runs of the byte 171 ("ab", "171") would show in hexadecimal, decimal and base64.
    let marked = [UInt8](repeating: 0xab, count: 32)
    let randomness = RepeatedRandomness(byte: 0xab)
    let pair = try BoxKeyPair.generate(randomness: randomness)
    var sides = try Pair(randomness: randomness)
    _ = try sides.joinerSends("lost")
    _ = try sides.inviterReceives(try sides.joinerSends("found"))
    let secrets: [Any] = [
      SecretBytes(marked), pair, pair.secretKey, try pair.secretKey.agree(with: pair.publicKey),
      try SigningKeyPair.generate(randomness: randomness), try InvitationSecret.create(randomness: randomness),
      sides.joiner, sides.inviter, sides.inviter.changes, try XCTUnwrap(sides.inviter.skippedKeys.first),
      try KeyDerivation.hkdfSHA256(inputKeyMaterial: SecretBytes(marked), salt: [UInt8](), info: [], count: 64),
    ]
    for secret in secrets {
      var dumped = ""
      dump(secret, to: &dumped)
      XCTAssertEqual("\(secret)", "redacted")
      XCTAssertEqual(String(describing: secret), "redacted")
      XCTAssertEqual(String(reflecting: secret), "redacted")
      XCTAssertTrue(dumped.hasPrefix("- redacted"), dumped)
      XCTAssertEqual(dumped.split(separator: "\n").count, 1)
      XCTAssertEqual(Mirror(reflecting: secret).children.count, 0)
    }
    // A container prints its elements individually.
    let containers: [Any] = [secrets, ["key": pair.secretKey], Optional(pair) as Any, (1, pair.secretKey)]
    for container in containers {
      var dumped = ""
      dump(container, to: &dumped)
      for text in [dumped, "\(container)", String(reflecting: container)] {
        XCTAssertTrue(text.contains("redacted"))
        for trace in ["171, 171", "abab", "q6ur", "0xab"] { XCTAssertFalse(text.contains(trace), text) }
      }
    }
  }

  /// Internal state is redacted where a field is secret, so that the output of a debugger or a failing test holds no
  /// secret either.
  func testPartsOfARatchetPrintWithoutTheirKeys() throws {
    var pair = try Pair(randomness: RepeatedRandomness(byte: 0xab))
    _ = try pair.joinerSends("lost")
    _ = try pair.inviterReceives(try pair.joinerSends("found"))
    let secrets = [pair.inviter.rootKey, try XCTUnwrap(pair.inviter.skipped.keys.first).messageKey]
    for part in [pair.inviter.conversation, pair.inviter.skipped, pair.inviter.ownKeys, pair.inviter.rootKey] as [Any] {
      var dumped = ""
      dump(part, to: &dumped)
      for text in ["\(part)", dumped] {
        for secret in secrets {
          XCTAssertFalse(text.contains(TextEncoding.hex(secret.exposeForStorage())))
          XCTAssertFalse(text.contains("\(secret.exposeForStorage())"))
        }
      }
    }
  }

  func testErrorsNameTheFailureAndNothingElse() {
    let errors: [CryptoError] = [
      .unavailable, .randomnessFailed, .malformed(.message), .unsupportedVersion(9), .publicKeyRefused,
      .authenticationFailed, .duplicate, .tooManySkipped, .notEstablished, .chainExhausted,
    ]
    XCTAssertEqual(Set(errors.map(\.description)).count, errors.count)
    XCTAssertEqual(CryptoError.malformed(.ratchetState).description, "malformed ratchetState")
    XCTAssertEqual(CryptoError.unsupportedVersion(9).description, "unsupported format version 9")
  }

  func testComparison() {
    forAll(both(.bytes(0...40), .bytes(0...40))) { left, right in
      try expectEqual(SecretBytes(left) == SecretBytes(right), left == right)
      try expectEqual(ConstantTime.equal(left, right), left == right)
      try expect(SecretBytes(left) == SecretBytes(left))
      try expect(ConstantTime.equal(left, left))
    }
    for bit in 0..<256 {
      let zeros = [UInt8](repeating: 0, count: 32)
      XCTAssertFalse(ConstantTime.equal(zeros, flipping(bit, of: zeros)))
      XCTAssertNotEqual(SecretBytes(zeros), SecretBytes(flipping(bit, of: zeros)))
    }
  }

  func testBytesComeOutAsTheyWentIn() {
    forAll(.bytes(0...100)) { bytes in
      let secret = SecretBytes(bytes)
      try expectEqual(secret.count, bytes.count)
      try expectEqual(secret.exposeForStorage(), bytes)
      try expectEqual(secret.withExposedBytes { Array($0) }, bytes)
    }
  }

  func testInitialisationFromManyThreads() {
    DispatchQueue.concurrentPerform(iterations: 64) { _ in
      XCTAssertNotNil(try? Sodium.initialize())
      XCTAssertNotNil(try? BoxKeyPair.generate(randomness: SystemRandomness()))
    }
  }
}

private struct RepeatedRandomness: Randomness {
  let byte: UInt8
  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
}
