import PorterPlatform
import XCTest

@testable import PorterCrypto

final class KeyAgreementTests: XCTestCase {
  private let randomness = SystemRandomness()

  func testBothSidesHaveTheSameSecretAndAssociatedData() throws {
    let invitation = try InvitationSecret.create(randomness: randomness)
    XCTAssertEqual(invitation.publicKeys.count, 64)
    let joined = try KeyAgreement.join(invitationKeys: invitation.publicKeys, randomness: randomness)
    XCTAssertEqual(joined.publicKeys.count, 64)
    let accepted = try KeyAgreement.accept(invitation, joinerKeys: joined.publicKeys)
    XCTAssertEqual(joined.associatedData, invitation.publicKeys + joined.publicKeys)
    XCTAssertEqual(accepted.associatedData, joined.associatedData)
    XCTAssertTrue(joined.ratchet.canSend)
    XCTAssertFalse(accepted.ratchet.canSend)
  }

  func testAStoredInvitationIsAcceptedAfterARestart() throws {
    let invitation = try InvitationSecret.create(randomness: randomness)
    var joined = try KeyAgreement.join(invitationKeys: invitation.publicKeys, randomness: randomness).parts
    let restored = try XCTUnwrap(InvitationSecret(stored: invitation.exposeForStorage()))
    XCTAssertEqual(restored.publicKeys, invitation.publicKeys)
    var accepted = try KeyAgreement.accept(restored, joinerKeys: joined.publicKeys).ratchet
    let message = try joined.ratchet.encrypt([1, 2], associatedData: joined.associatedData)
    XCTAssertEqual(
      try accepted.decrypt(message, associatedData: joined.associatedData, randomness: randomness), [1, 2])
  }

  /// Every key takes part: if any one of them is replaced, nothing can be read.
  func testAManInTheMiddleOfTheSetUpCannotRead() throws {
    let invitation = try InvitationSecret.create(randomness: randomness)
    let stranger = try BoxKeyPair.generate(randomness: randomness).publicKey.bytes
    for replaced in 0..<4 {
      var inviterKeys = invitation.publicKeys
      if replaced < 2 { inviterKeys.replaceSubrange(replaced * 32..<replaced * 32 + 32, with: stranger) }
      var joined = try KeyAgreement.join(invitationKeys: inviterKeys, randomness: randomness).parts
      if replaced >= 2 {
        joined.publicKeys.replaceSubrange((replaced - 2) * 32..<(replaced - 1) * 32, with: stranger)
      }
      let accepted = try KeyAgreement.accept(invitation, joinerKeys: joined.publicKeys)
      let message = try joined.ratchet.encrypt([1], associatedData: joined.associatedData)
      // The attacker may also forge the data by which the two sides compare.
      for associatedData in [accepted.associatedData, joined.associatedData] {
        var ratchet = accepted.ratchet
        assertThrows(.authenticationFailed) {
          _ = try ratchet.decrypt(message, associatedData: associatedData, randomness: randomness)
        }
      }
    }
  }

  func testTwoJoinersOfOneInvitationShareNothing() throws {
    let invitation = try InvitationSecret.create(randomness: randomness)
    var first = try KeyAgreement.join(invitationKeys: invitation.publicKeys, randomness: randomness).parts
    let second = try KeyAgreement.join(invitationKeys: invitation.publicKeys, randomness: randomness)
    var accepted = try KeyAgreement.accept(invitation, joinerKeys: second.publicKeys).ratchet
    let message = try first.ratchet.encrypt([1], associatedData: first.associatedData)
    assertThrows(.authenticationFailed) {
      _ = try accepted.decrypt(message, associatedData: first.associatedData, randomness: randomness)
    }
  }

  func testKeysOfAnotherLengthOrOfLowOrderAreRefused() throws {
    let invitation = try InvitationSecret.create(randomness: randomness)
    for count in [0, 32, 63, 65, 128] {
      let keys = [UInt8](repeating: 9, count: count)
      assertThrows(.malformed(.invitationKeys)) {
        _ = try KeyAgreement.join(invitationKeys: keys, randomness: randomness)
      }
      assertThrows(.malformed(.joinerKeys)) { _ = try KeyAgreement.accept(invitation, joinerKeys: keys) }
      XCTAssertNil(InvitationSecret(stored: keys))
      XCTAssertFalse(KeyAgreement.isUsable(keys))
    }
    let zeros = [UInt8](repeating: 0, count: 32)
    let other = try BoxKeyPair.generate(randomness: randomness).publicKey.bytes
    XCTAssertTrue(KeyAgreement.isUsable(invitation.publicKeys))
    for keys in [zeros + other, other + zeros] {
      XCTAssertFalse(KeyAgreement.isUsable(keys))
      assertThrows(.publicKeyRefused) { _ = try KeyAgreement.join(invitationKeys: keys, randomness: randomness) }
      assertThrows(.publicKeyRefused) { _ = try KeyAgreement.accept(invitation, joinerKeys: keys) }
    }
  }

  /// A night is replayed from its seed: the same randomness gives the same bytes on the wire.
  func testTheSameRandomnessGivesTheSameMessages() throws {
    func night() throws -> [[UInt8]] {
      var pair = try Pair(randomness: SeededRandomness(42))
      var wire: [[UInt8]] = [pair.associatedData]
      for index in 0..<4 {
        wire.append(try pair.joinerSends("\(index)"))
        _ = try pair.inviterReceives(wire[wire.count - 1])
        wire.append(try pair.inviterSends("\(index)"))
        _ = try pair.joinerReceives(wire[wire.count - 1])
      }
      return wire
    }
    XCTAssertEqual(try night(), try night())
  }
}

extension KeyAgreement.Joined {
  fileprivate var parts: (ratchet: Ratchet, publicKeys: [UInt8], associatedData: [UInt8]) {
    (ratchet, publicKeys, associatedData)
  }
}
