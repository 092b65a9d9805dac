import PorterPlatform
import PropertyTesting
import XCTest

@testable import PorterCrypto

/// Boxes, signatures and HKDF against PyNaCl and pyca/cryptography, in each direction.
final class PeerTests: XCTestCase {
  func testBoxesInBothDirections() throws {
    let peer = try CryptoPeer()
    forAll(both(.number(), .bytes(0...500)), runs: 50) { seed, plaintext in
      let randomness = SeededRandomness(seed)
      let ours = try BoxKeyPair.generate(randomness: randomness)
      let theirSecret = randomness.bytes(32)
      let theirs = try publicKey(try peer.value("public_key", theirSecret))
      let nonce = try BoxNonce.generate(randomness: randomness)
      let shared = try ours.secretKey.agree(with: theirs)

      let sealed = try shared.seal(plaintext, nonce: nonce)
      let opened = try peer.value("box_open", theirSecret, ours.publicKey.bytes, nonce.bytes, sealed)
      try expectEqual(opened, plaintext)

      let sealedByPeer = try peer.value("box_seal", theirSecret, ours.publicKey.bytes, nonce.bytes, plaintext)
      try expectEqual(sealedByPeer, sealed)
      try expectEqual(try shared.open(sealedByPeer, nonce: nonce), plaintext)
    }
  }

  func testAFlippedBitIsRefusedOnBothSides() throws {
    let peer = try CryptoPeer()
    let randomness = SeededRandomness(7)
    let ours = try BoxKeyPair.generate(randomness: randomness)
    let theirSecret = randomness.bytes(32)
    let theirs = try publicKey(try peer.value("public_key", theirSecret))
    let nonce = try BoxNonce.generate(randomness: randomness)
    let shared = try ours.secretKey.agree(with: theirs)
    let sealed = try peer.value("box_seal", theirSecret, ours.publicKey.bytes, nonce.bytes, [1, 2, 3])
    for bit in 0..<sealed.count * 8 {
      let flipped = flipping(bit, of: sealed)
      assertThrows(.authenticationFailed) { _ = try shared.open(flipped, nonce: nonce) }
      XCTAssertThrowsError(try peer.call("box_open", theirSecret, ours.publicKey.bytes, nonce.bytes, flipped)) {
        XCTAssertEqual($0 as? CryptoPeer.Refusal, CryptoPeer.Refusal(name: "CryptoError"))
      }
    }
  }

  func testSignaturesInBothDirections() throws {
    let peer = try CryptoPeer()
    forAll(both(.bytes(32...32), .bytes(0...300)), runs: 50) { seed, message in
      guard let pair = SigningKeyPair(seed: seed) else { return try expect(false, "32 bytes are a key") }
      try expectEqual(try peer.value("signing_key", seed), pair.publicKey.bytes)
      let signature = pair.sign(message)
      try peer.call("verify", pair.publicKey.bytes, signature, message)
      let signatureOfPeer = try peer.value("sign", seed, message)
      try expectEqual(signatureOfPeer, signature)
      try expect(pair.publicKey.isValid(signature: signatureOfPeer, for: message))
      try expectThrows { try peer.call("verify", pair.publicKey.bytes, signature, message + [0]) }
    }
  }

  func testHKDF() throws {
    let peer = try CryptoPeer()
    let inputs = all(
      Generator<[UInt8]>.bytes(1...100), Generator<[UInt8]>.bytes(0...100),
      both(Generator<[UInt8]>.bytes(0...100), Generator<Int>.number(1...8_160)))
    forAll(inputs, runs: 100) { material, salt, rest in
      let (info, count) = rest
      let length = [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)]
      let derived = try KeyDerivation.hkdfSHA256(
        inputKeyMaterial: SecretBytes(material), salt: salt, info: info, count: count)
      try expectEqual(try peer.value("hkdf", material, salt, info, length), derived.exposeForStorage())
    }
  }

  private func publicKey(_ bytes: [UInt8]) throws -> BoxPublicKey {
    guard let key = BoxPublicKey(bytes: bytes) else { throw CryptoError.malformed(.publicKey) }
    return key
  }
}
