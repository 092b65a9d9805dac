import PorterJSON
import PorterPlatform
import PorterPush
import PorterSchema
import XCTest

@testable import PorterEngine

/// Decisions about an envelope, as tables.
final class ScopeRulesTests: XCTestCase {
  private let day: Int64 = 86_400_000

  private func time(day number: Int64, plus milliseconds: Int64 = 0) -> WallTime {
    WallTime(milliseconds: number * day + milliseconds)
  }

  func testWhichOutcomePrevails() {
    let table: [(version: Int64, command: String, expires: Int64, HandedPush.Outcome)] = [
      (1, "a", 11, .current), (2, "a", 11, .current), (3, "a", 11, .unknownVersion), (3, "x", 9, .unknownVersion),
      (1, "x", 11, .unknownCommand), (1, "x", 9, .expired), (1, "a", 9, .expired), (1, "a", 10, .expired),
    ]
    for (version, command, expires, outcome) in table {
      let found = HandedPush.Outcome(
        version: version, command: command, expires: time(day: expires), known: 2, commands: ["a", "b"],
        at: time(day: 10))
      XCTAssertEqual(found, outcome, "\(version) \(command) \(expires)")
    }
    let any = HandedPush.Outcome(
      version: 1, command: "x", expires: time(day: 11), known: 1, commands: nil, at: time(day: 10))
    XCTAssertEqual(any, .current)
    let none = HandedPush.Outcome(
      version: 1, command: "x", expires: time(day: 11), known: 1, commands: [], at: time(day: 10))
    XCTAssertEqual(none, .unknownCommand)
  }

  /// An envelope is accepted exactly as long as its name would be remembered.
  func testWhatIsForgottenIsNotTakenAnyMore() throws {
    for (expires, arrived, newest, isAdmitted) in [
      (131, 100, 100, true), (100, 100, 100, true), (70, 100, 100, true), (69, 100, 100, false),
      // The relay has set its clock back.
      (70, 90, 101, false), (72, 90, 101, true),
    ] as [(Int64, Int64, Int64, Bool)] {
      let envelope = try XCTUnwrap(
        ApplicationEnvelope(
          identifier: [UInt8](repeating: 1, count: 16), version: 1, command: "a", expires: time(day: expires)))
      let admission = ScopeAdmission.of(envelope, arrivedAt: time(day: arrived), newest: time(day: newest))
      XCTAssertEqual(admission == .admitted, isAdmitted, "\(expires) \(arrived) \(newest)")
      let isRemembered = envelope.expires >= ScopeAdmission.oldestExpiry(at: time(day: newest))
      XCTAssertEqual(isRemembered, isAdmitted, "\(expires) \(arrived) \(newest)")
    }
    let tooLong = try XCTUnwrap(
      ApplicationEnvelope(
        identifier: [UInt8](repeating: 1, count: 16), version: 1, command: "a", expires: time(day: 131, plus: 1)))
    XCTAssertNotEqual(
      ScopeAdmission.of(tooLong, arrivedAt: time(day: 100), newest: time(day: 100)), .admitted)
  }

  func testAnAnswerHasRoomForSoMany() {
    var content = PushContent()
    for _ in 0..<ScopeLimits.pushesAtOnce {
      XCTAssertTrue(content.takeRoom(1))
      content.applicationPushes.append(.null)
    }
    XCTAssertFalse(content.takeRoom(1))
    content = PushContent()
    XCTAssertTrue(content.takeRoom(ScopeLimits.bytesAtOnce))
    content.applicationPushes.append(.null)
    XCTAssertFalse(content.takeRoom(1))
  }
}
