import PorterPlatform
import XCTest

@testable import PorterCrypto

final class RatchetTests: XCTestCase {
  func testConversationInTurns() throws {
    var pair = try Pair()
    for round in 0..<5 {
      for index in 0..<3 {
        XCTAssertEqual(try pair.inviterReceives(try pair.joinerSends("j\(round).\(index)")), "j\(round).\(index)")
      }
      for index in 0..<3 {
        XCTAssertEqual(try pair.joinerReceives(try pair.inviterSends("i\(round).\(index)")), "i\(round).\(index)")
      }
    }
  }

  func testInviterCannotSendBeforeItReceives() throws {
    var pair = try Pair()
    XCTAssertFalse(pair.inviter.canSend)
    assertThrows(.notEstablished) { _ = try pair.inviterSends("too early") }
    _ = try pair.inviterReceives(try pair.joinerSends("first"))
    XCTAssertTrue(pair.inviter.canSend)
    XCTAssertEqual(try pair.joinerReceives(try pair.inviterSends("now")), "now")
  }

  func testTheFormOfAMessage() throws {
    var pair = try Pair()
    let key = pair.joiner.ownKeys.publicKey.bytes
    let first = try pair.joinerSends("one")
    let second = try pair.joinerSends("")
    XCTAssertEqual(first.count, 3 + Ratchet.overhead)
    XCTAssertEqual(Ratchet.overhead, 57)
    XCTAssertEqual(Array(first.prefix(41)), [1] + key + [0, 0, 0, 0] + [0, 0, 0, 0])
    XCTAssertEqual(Array(second.prefix(41)), [1] + key + [0, 0, 0, 0] + [0, 0, 0, 1])
    _ = try pair.inviterReceives(second)
    _ = try pair.joinerReceives(try pair.inviterSends("turn"))
    let third = try pair.joinerSends("two")
    XCTAssertEqual(Array(third.prefix(41)), [1] + pair.joiner.ownKeys.publicKey.bytes + [0, 0, 0, 2] + [0, 0, 0, 0])
    XCTAssertNotEqual(pair.joiner.ownKeys.publicKey.bytes, key)
  }

  func testMessagesOutOfOrderAreReadAndRepeatsReported() throws {
    var pair = try Pair()
    let first = try (0..<6).map { try pair.joinerSends("a\($0)") }
    XCTAssertEqual(try pair.inviterReceives(first[4]), "a4")
    XCTAssertEqual(try pair.joinerReceives(try pair.inviterSends("turn")), "turn")
    let second = try (0..<3).map { try pair.joinerSends("b\($0)") }
    XCTAssertEqual(try pair.inviterReceives(second[2]), "b2")
    for index in [5, 0, 3] { XCTAssertEqual(try pair.inviterReceives(first[index]), "a\(index)") }
    XCTAssertEqual(pair.inviter.skippedKeys.count, 4)
    for repeated in [first[4], first[0], second[2]] {
      assertThrows(.duplicate) { _ = try pair.inviterReceives(repeated) }
    }
    XCTAssertEqual(try pair.inviterReceives(second[0]), "b0")
  }

  /// A repeat is reported as such while its chain is the current one or one of the eight before it; after that it is
  /// merely refused.
  func testRepeatsFromRetiredChainsAreReported() throws {
    var pair = try Pair()
    var earlier: [[UInt8]] = []
    for round in 0..<12 {
      earlier.append(try pair.joinerSends("\(round)"))
      _ = try pair.inviterReceives(earlier[round])
      for (age, message) in earlier.reversed().enumerated() {
        assertThrows(age <= RetiredKeys.maximum ? .duplicate : .authenticationFailed) {
          _ = try pair.inviterReceives(message)
        }
      }
      _ = try pair.joinerReceives(try pair.inviterSends("\(round)"))
    }
  }

  func testAGapBeyondTheBoundIsRefusedAndOneUpToItIsAccepted() throws {
    var pair = try Pair()
    let messages = try (0..<1_002).map { try pair.joinerSends("\($0)") }
    assertThrows(.tooManySkipped) { _ = try pair.inviterReceives(messages[1_001]) }
    XCTAssertEqual(pair.inviter.skippedKeys.count, 0)
    XCTAssertEqual(try pair.inviterReceives(messages[1_000]), "1000")
    XCTAssertEqual(pair.inviter.skippedKeys.count, 1_000)
    XCTAssertEqual(try pair.inviterReceives(messages[1_001]), "1001")
    for index in 0..<1_000 { XCTAssertEqual(try pair.inviterReceives(messages[index]), "\(index)") }
    XCTAssertEqual(pair.inviter.skippedKeys.count, 0)
  }

  func testAtMost2000KeysAreKeptAndTheOldestGoFirst() throws {
    var pair = try Pair()
    var lost: [[UInt8]] = []
    for _ in 0..<3 {
      lost += try (0..<900).map { _ in try pair.joinerSends("lost") }
      _ = try pair.inviterReceives(try pair.joinerSends("here"))
      _ = try pair.joinerReceives(try pair.inviterSends("turn"))
    }
    XCTAssertEqual(pair.inviter.skippedKeys.count, 2_000)
    assertThrows(.duplicate) { _ = try pair.inviterReceives(lost[699]) }
    XCTAssertEqual(try pair.inviterReceives(lost[700]), "lost")
    XCTAssertEqual(try pair.inviterReceives(lost[2_699]), "lost")
  }

  /// Up to 1000 messages missing at the end of a chain can still arrive; if there are more, they are abandoned, but the
  /// conversation continues.
  func testAGapAtTheEndOfAChainDoesNotEndTheConversation() throws {
    for (count, kept) in [(1_000, 1_000), (1_001, 0)] {
      var pair = try Pair()
      _ = try pair.inviterReceives(try pair.joinerSends("first"))
      let late = try (0..<count).map { _ in try pair.joinerSends("late") }
      _ = try pair.joinerReceives(try pair.inviterSends("turn"))
      XCTAssertEqual(try pair.inviterReceives(try pair.joinerSends("on")), "on")
      XCTAssertEqual(pair.inviter.skippedKeys.count, kept)
      if kept > 0 {
        XCTAssertEqual(try pair.inviterReceives(late[0]), "late")
      } else {
        assertThrows(.duplicate) { _ = try pair.inviterReceives(late[0]) }
      }
    }
  }

  func testAnotherAssociatedDataIsRefused() throws {
    var pair = try Pair()
    let message = try pair.joinerSends("text")
    for associatedData in [[], pair.associatedData + [0], Array(pair.associatedData.dropLast())] {
      assertThrows(.authenticationFailed) {
        _ = try pair.inviter.decrypt(message, associatedData: associatedData, randomness: pair.randomness)
      }
    }
    XCTAssertEqual(try pair.inviterReceives(message), "text")
  }

  func testOwnMessagesSentBackAreRefused() throws {
    var pair = try Pair()
    let own = try pair.joinerSends("mine")
    assertThrows(.authenticationFailed) { _ = try pair.joinerReceives(own) }
    _ = try pair.inviterReceives(own)
    let answer = try pair.inviterSends("mine")
    assertThrows(.authenticationFailed) { _ = try pair.inviterReceives(answer) }
    XCTAssertEqual(try pair.joinerReceives(answer), "mine")
  }

  /// A header that names the key from the invitation asks for a chain that never existed.
  func testAMessageUnderTheInvitationsKeyIsRefused() throws {
    var pair = try Pair()
    let published = Array(pair.associatedData[32..<64])
    let forged = [1] + published + [UInt8](repeating: 0, count: 8 + 16)
    assertThrows(.authenticationFailed) { _ = try pair.joinerReceives(forged) }
  }

  func testARatchetKeyOfLowOrderIsRefused() throws {
    var pair = try Pair()
    let forged = [1] + [UInt8](repeating: 0, count: 32 + 8 + 16)
    assertThrows(.publicKeyRefused) { _ = try pair.joinerReceives(forged) }
    assertThrows(.publicKeyRefused) { _ = try pair.inviterReceives(forged) }
  }

  func testAFullChainIsAnError() throws {
    var pair = try Pair()
    guard case .opening(let remote, let sending) = pair.joiner.conversation else { return XCTFail("not opening") }
    for (next, allowed) in [(UInt32.max - 1, true), (.max, false)] {
      pair.joiner.conversation = .opening(remote: remote, sending: Ratchet.Chain(key: sending.key, next: next))
      if allowed {
        XCTAssertEqual(try pair.joinerSends("last").prefix(41).suffix(4), [255, 255, 255, 254])
      } else {
        assertThrows(.chainExhausted) { _ = try pair.joinerSends("one more") }
      }
    }
  }

  func testAnyNumberInAHeaderIsAnswered() throws {
    var pair = try Pair()
    _ = try pair.inviterReceives(try pair.joinerSends("first"))
    let message = try pair.joinerSends("second")
    for number in [UInt32.max, .max - 1, 1 << 31, 1_002, 1_001, 2] as [UInt32] {
      for (offset, newKey) in [(37, false), (33, true), (37, true)] {
        var forged = message
        if newKey { forged[1] ^= 1 }
        forged.replaceSubrange(offset..<offset + 4, with: withUnsafeBytes(of: number.bigEndian) { Array($0) })
        XCTAssertThrowsError(try pair.inviterReceives(forged)) { error in
          XCTAssertTrue([.tooManySkipped, .authenticationFailed].contains(error as? CryptoError), "\(error)")
        }
      }
    }
    XCTAssertEqual(try pair.inviterReceives(message), "second")
  }
}
