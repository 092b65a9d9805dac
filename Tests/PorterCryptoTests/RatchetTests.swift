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

  func testMessagesOutOfOrderAndLostAreReadAndDoubledOnesAreNamed() throws {
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
}
