import PorterMachines
import PorterPlatform
import XCTest

@testable import PorterEngine

/// Values that decide in addition to the pushes in progress.
final class PushRecordTests: XCTestCase {
  /// Of several pushes, the one that came last determines whether everything was checked; one that checked nothing does
  /// not count.
  func testTheLookThatCameLastCounts() {
    let table: [([(Int, PushFindings.Look)], Bool)] = [
      ([], false),
      ([(1, .none)], false),
      ([(1, .whole)], true),
      ([(1, .cut)], false),
      ([(1, .whole), (2, .cut)], false),
      ([(2, .cut), (1, .whole)], false),
      ([(1, .cut), (2, .whole)], true),
      ([(2, .whole), (1, .cut)], true),
      ([(2, .none), (1, .cut)], false),
      ([(1, .whole), (2, .none)], true),
      ([(3, .whole), (2, .cut), (1, .whole)], true),
    ]
    for (looks, expected) in table {
      var record = LookRecord()
      for (number, look) in looks { record.note(number, look) }
      XCTAssertEqual(record.isWhole, expected, "\(looks)")
    }
  }

  func testPatienceBeginsWithTheLaterOfRequestAndWaitAndDoubles() {
    let start = Moment(nanoseconds: 0)
    func end(asked: Int64?, since: Int64, givenUp: Int, now: Int64) -> Int64 {
      let asked = asked.map { start + .seconds($0) }
      return
        (MailboxPatience.end(asked: asked, since: start + .seconds(since), givenUp: givenUp, now: start + .seconds(now))
        - start).milliseconds
    }
    XCTAssertEqual(end(asked: 10, since: 3, givenUp: 0, now: 11), 12_000)
    XCTAssertEqual(end(asked: 3, since: 10, givenUp: 0, now: 11), 12_000)
    XCTAssertEqual(end(asked: nil, since: 3, givenUp: 0, now: 11), 13_000, "it will ask again")
    XCTAssertEqual(end(asked: 10, since: 3, givenUp: 1, now: 11), 14_000)
    XCTAssertEqual(end(asked: 10, since: 3, givenUp: 2, now: 11), 18_000)
    XCTAssertEqual(end(asked: 10, since: 3, givenUp: 40, now: 11), 42_000)
  }

  func testALookIsWholeOnlyWhenItCameToItsEnd() {
    var findings = PushFindings()
    XCTAssertEqual(findings.look, .none)
    findings.note(.decodedRepeat)
    XCTAssertEqual(findings.look, .none)
    findings.note(.claimNoneLeft)
    XCTAssertEqual(findings.look, .whole)
    for event: Push.Event in [.fetchOffline, .expire, .claimBusy, .claimFailed, .callWaits, .appWoke] {
      var cut = findings
      cut.note(event)
      XCTAssertEqual(cut.look, .cut, event.name)
    }
  }
}
