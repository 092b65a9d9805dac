import XCTest

@testable import PorterJetStream

final class RecentVersionsTests: XCTestCase {
  private let begin = ContinuousClock.now

  /// Numbers from 11 on; 14 and 15 replace the same one.
  private func noted() -> RecentVersions {
    let versions = RecentVersions(patience: .milliseconds(50))
    versions.note(11, "s.a", .init(number: 11, replaced: 9, writer: "w"), now: begin)
    versions.note(12, "s.probe", nil, now: begin)
    versions.note(13, "s.b", .init(number: 13, replaced: 0, writer: "w"), now: begin)
    versions.note(14, "s.a", .init(number: 14, replaced: 11, writer: "other"), now: begin)
    versions.note(15, "s.a", .init(number: 15, replaced: 11, writer: "w"), now: begin)
    return versions
  }

  func testAVersionIsTheOnlyOneIfNoOtherOneCameBefore() async {
    let versions = noted()
    let cases:
      [(what: String, number: UInt64, subject: String, replaced: UInt64, writer: String?, start: UInt64, isOnly: Bool)] =
        [
          ("nothing came between", 11, "s.a", 9, "w", 10, true),
          ("others' messages came between", 13, "s.b", 0, "w", 10, true),
          ("any process's version", 14, "s.a", 11, nil, 11, true),
          ("another one has replaced the same", 15, "s.a", 11, "w", 11, false),
          ("what came before is not asked for", 15, "s.a", 11, "w", 14, true),
          ("an earlier one lies in between", 14, "s.a", 11, "other", 10, false),
          ("it is another process's", 14, "s.a", 11, "w", 11, false),
          ("it replaces another one", 13, "s.b", 12, "w", 12, false),
          ("it is no version", 12, "s.probe", 0, nil, 11, false),
          ("it is another record's", 13, "s.a", 0, "w", 12, false),
          ("it is not known what came before", 11, "s.a", 9, "w", 9, false),
        ]
    for each in cases {
      let isOnly = await versions.isOnly(
        each.number, of: each.subject, replacing: each.replaced, by: each.writer, after: each.start)
      XCTAssertEqual(isOnly, each.isOnly, each.what)
    }
  }

  func testAProcessHasStoredNoVersionIfNoneIsKnownAndAllAre() async {
    let versions = noted()
    for (what, writer, start, end, hasNone) in [
      ("there is one", "w", 10, 15, false), ("it came before", "w", 11, 14, true),
      ("it comes later", "w", 13, 14, true),
      ("another one's", "other", 10, 13, true), ("and that", "other", 10, 14, false),
      ("it is not known what came before", "third", 9, 15, false), ("nor what comes", "third", 10, 16, false),
    ] as [(String, String, UInt64, UInt64, Bool)] {
      let found = await versions.hasNone(of: "s.a", by: writer, after: start, upTo: end)
      XCTAssertEqual(found, hasNone, what)
    }
  }

  func testNothingIsKnownBeforeTheFirstMessageAndAfterAReset() async {
    let versions = RecentVersions(patience: .milliseconds(50))
    let isKnown = await versions.isOnly(1, of: "s.a", replacing: 0, by: nil, after: 0)
    XCTAssertFalse(isKnown)
    let noted = noted()
    noted.reset()
    let isStillKnown = await noted.isOnly(13, of: "s.b", replacing: 0, by: "w", after: 12)
    XCTAssertFalse(isStillKnown)
  }

  /// The missing message may have been a version.
  func testWhatCameBeforeAMissingMessageIsNotKnown() async {
    let versions = noted()
    versions.note(17, "s.b", .init(number: 17, replaced: 13, writer: "w"), now: begin)
    let isAcrossKnown = await versions.isOnly(17, of: "s.b", replacing: 13, by: "w", after: 13)
    XCTAssertFalse(isAcrossKnown)
    let isAfterKnown = await versions.isOnly(17, of: "s.b", replacing: 13, by: "w", after: 16)
    XCTAssertTrue(isAfterKnown)
  }

  /// The stream was made anew: what was noted is of the earlier one.
  func testNumbersThatComeAgainAreOfAnotherStream() async {
    let versions = noted()
    versions.note(2, "s.a", .init(number: 2, replaced: 1, writer: "w"), now: begin)
    XCTAssertEqual(versions.last, 2)
    for number in 3...13 as ClosedRange<UInt64> { versions.note(number, "s.probe", nil, now: begin) }
    let isEarlierKnown = await versions.isOnly(13, of: "s.b", replacing: 0, by: "w", after: 12)
    XCTAssertFalse(isEarlierKnown)
    let isKnown = await versions.isOnly(2, of: "s.a", replacing: 1, by: "w", after: 1)
    XCTAssertTrue(isKnown)
  }

  func testWhatIsOldIsForgotten() async {
    let versions = noted()
    versions.note(16, "s.b", .init(number: 16, replaced: 13, writer: "w"), now: begin + .milliseconds(10_001))
    let isOldKnown = await versions.isOnly(16, of: "s.b", replacing: 13, by: "w", after: 14)
    XCTAssertFalse(isOldKnown)
    let isNewKnown = await versions.isOnly(16, of: "s.b", replacing: 13, by: "w", after: 15)
    XCTAssertTrue(isNewKnown)
  }

  func testMoreThanThereIsRoomForAreForgotten() async {
    let versions = RecentVersions(patience: .milliseconds(50), most: 100)
    for number in UInt64(1)...1_000 {
      versions.note(number, "s.\(number)", .init(number: number, replaced: 0, writer: "w"), now: begin)
    }
    XCTAssertEqual(versions.count, 100)
    let isOldKnown = await versions.isOnly(1_000, of: "s.1000", replacing: 0, by: "w", after: 899)
    XCTAssertFalse(isOldKnown)
    let isNewKnown = await versions.isOnly(1_000, of: "s.1000", replacing: 0, by: "w", after: 900)
    XCTAssertTrue(isNewKnown)
  }

  func testWhatHasNotComeYetIsAwaited() async {
    let versions = RecentVersions(patience: .seconds(30))
    versions.note(1, "s.a", .init(number: 1, replaced: 0, writer: "w"))
    let asked = (UInt64(2)...5).map { number in
      Task { await versions.isOnly(number, of: "s.\(number)", replacing: 0, by: "w", after: 1) }
    }
    while versions.waiting < 4 { await Task.yield() }
    for number in UInt64(2)...4 {
      versions.note(number, "s.\(number)", .init(number: number, replaced: 0, writer: number == 3 ? "other" : "w"))
    }
    var answers: [Bool] = []
    for each in asked.dropLast() { answers.append(await each.value) }
    XCTAssertEqual(answers, [true, false, true])
    versions.reset()
    let isLastKnown = await asked[3].value
    XCTAssertFalse(isLastKnown)
    XCTAssertEqual(versions.waiting, 0)
  }

  func testNobodyWaitsForALateConsumerAgain() async {
    let versions = RecentVersions(patience: .milliseconds(20))
    versions.note(1, "s.a", .init(number: 1, replaced: 0, writer: "w"))
    let isKnown = await versions.isOnly(5, of: "s.a", replacing: 1, by: "w", after: 1)
    XCTAssertFalse(isKnown)
    let asked = ContinuousClock.now
    for number in UInt64(6)...1_005 { _ = await versions.isOnly(number, of: "s.a", replacing: 1, by: "w", after: 1) }
    XCTAssertLessThan(.now - asked, .seconds(10), "waiting for each takes twenty seconds at least")
    for number in UInt64(2)...5 { versions.note(number, "s.b", nil) }
    versions.note(6, "s.a", .init(number: 6, replaced: 1, writer: "w"))
    let isKnownAgain = await versions.isOnly(6, of: "s.a", replacing: 1, by: "w", after: 1)
    XCTAssertTrue(isKnownAgain)
  }
}
