import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

final class BoxTests: XCTestCase {
  func testBothSidesAgreeAndWhatOneSealsTheOtherOpens() throws {
    let alice = try BoxKeyPair.generate(randomness: SystemRandomness())
    let bob = try BoxKeyPair.generate(randomness: SystemRandomness())
    let sealing = try alice.secretKey.agree(with: bob.publicKey)
    let opening = try bob.secretKey.agree(with: alice.publicKey)
    XCTAssertEqual(sealing, opening)
    forAll(.bytes(0...300)) { plaintext in
      let nonce = try BoxNonce.generate(randomness: SystemRandomness())
      let sealed = try sealing.seal(plaintext, nonce: nonce)
      try expectEqual(sealed.count, plaintext.count + Box.overhead)
      try expectEqual(try opening.open(sealed, nonce: nonce), plaintext)
    }
  }

  /// The example from "Cryptography in NaCl" (sections 2, 4 and 9), whose keys RFC 7748 uses as well.
  func testTheExampleOfTheNaClPaper() throws {
    let alice = try secretKey("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
    let bob = try secretKey("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
    XCTAssertEqual(
      TextEncoding.hex(alice.publicKey.bytes), "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    XCTAssertEqual(
      TextEncoding.hex(bob.publicKey.bytes), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
    let shared = try alice.agree(with: bob.publicKey)
    XCTAssertEqual(
      TextEncoding.hex(shared.exposeForStorage()), "1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389")
    let nonce = try XCTUnwrap(
      TextEncoding.hexDecoded("69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37").flatMap { BoxNonce(bytes: $0) })
    let plaintext = try XCTUnwrap(
      TextEncoding.hexDecoded(
        "be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c6129"
          + "6cdc3c01233561f41db66cce314adb310e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde"
          + "048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f937763848645e0705"))
    XCTAssertEqual(
      TextEncoding.hex(try shared.seal(plaintext, nonce: nonce)),
      "f3ffc7703f9400e52a7dfb4b3d3305d98e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a"
        + "c0dfc17c98dce87b4da7f011ec48c97271d2c20f9b928fe2270d6fb863d51738b48eeee314a7cc8ab932164548e526ae"
        + "90224368517acfeabd6bb3732bc0e9da99832b61ca01b6de56244a9e88d5f9b37973f622a43d14a6599b1f654cb45a74"
        + "e355a5")
  }

  func testEveryFlippedBitIsRefused() throws {
    let pair = try BoxKeyPair.generate(randomness: SystemRandomness())
    let shared = try pair.secretKey.agree(with: pair.publicKey)
    let nonce = try BoxNonce.generate(randomness: SystemRandomness())
    let sealed = try shared.seal(Array("hint".utf8), nonce: nonce)
    for bit in 0..<sealed.count * 8 {
      assertThrows(.authenticationFailed) { _ = try shared.open(flipping(bit, of: sealed), nonce: nonce) }
    }
    for bit in 0..<BoxNonce.count * 8 {
      let other = try XCTUnwrap(BoxNonce(bytes: flipping(bit, of: nonce.bytes)))
      assertThrows(.authenticationFailed) { _ = try shared.open(sealed, nonce: other) }
    }
    for count in 0..<sealed.count {
      let expected: CryptoError = count < Box.overhead ? .malformed(.message) : .authenticationFailed
      assertThrows(expected) { _ = try shared.open(Array(sealed.prefix(count)), nonce: nonce) }
    }
  }

  func testAnotherKeyDoesNotOpen() throws {
    let pairs = try (0..<3).map { _ in try BoxKeyPair.generate(randomness: SystemRandomness()) }
    let nonce = try BoxNonce.generate(randomness: SystemRandomness())
    let sealed = try pairs[0].secretKey.agree(with: pairs[1].publicKey).seal([1, 2, 3], nonce: nonce)
    let other = try pairs[2].secretKey.agree(with: pairs[1].publicKey)
    assertThrows(.authenticationFailed) { _ = try other.open(sealed, nonce: nonce) }
  }

  /// The points whose order divides 8, in each of their encodings: key agreement with them would give the same result
  /// for every secret.
  func testPublicKeysOfLowOrderAreRefused() throws {
    let secret = try BoxKeyPair.generate(randomness: SystemRandomness()).secretKey
    for text in lowOrderKeys {
      let key = try XCTUnwrap(TextEncoding.hexDecoded(text).flatMap { BoxPublicKey(bytes: $0) })
      assertThrows(.publicKeyRefused) { _ = try secret.agree(with: key) }
      assertThrows(.publicKeyRefused) { _ = try secret.diffieHellman(with: key) }
    }
  }

  func testKeysAndNoncesOfAnotherLengthAreRejected() {
    for count in [0, 1, 23, 25, 31, 33, 64] {
      let bytes = [UInt8](repeating: 1, count: count)
      XCTAssertNil(BoxPublicKey(bytes: bytes))
      XCTAssertNil(BoxSecretKey(stored: bytes))
      XCTAssertNil(BoxSharedKey(stored: bytes))
      XCTAssertNil(BoxNonce(bytes: bytes))
    }
  }

  func testStoredKeysComeBack() throws {
    let pair = try BoxKeyPair.generate(randomness: SystemRandomness())
    let secret = try XCTUnwrap(BoxSecretKey(stored: pair.secretKey.exposeForStorage()))
    XCTAssertEqual(secret, pair.secretKey)
    XCTAssertEqual(secret.publicKey, pair.publicKey)
    let shared = try secret.agree(with: pair.publicKey)
    XCTAssertEqual(try XCTUnwrap(BoxSharedKey(stored: shared.exposeForStorage())), shared)
  }

  func testTooLittleRandomnessMakesNoKey() {
    assertThrows(.randomnessFailed) { _ = try BoxKeyPair.generate(randomness: ExhaustedRandomness()) }
    assertThrows(.randomnessFailed) { _ = try BoxNonce.generate(randomness: ExhaustedRandomness()) }
    assertThrows(.randomnessFailed) { _ = try SigningKeyPair.generate(randomness: ExhaustedRandomness()) }
    assertThrows(.randomnessFailed) { _ = try InvitationSecret.create(randomness: ExhaustedRandomness()) }
  }

  private func secretKey(_ hex: String) throws -> BoxSecretKey {
    try XCTUnwrap(TextEncoding.hexDecoded(hex).flatMap { BoxSecretKey(stored: $0) })
  }

  private let lowOrderKeys = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "0100000000000000000000000000000000000000000000000000000000000080",
    "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f11d7",
  ]
}
