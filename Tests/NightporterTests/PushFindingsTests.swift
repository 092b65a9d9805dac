import Foundation
import PorterMachines
import XCTest

@testable import PorterEngine

/// A push's findings, and their precedence.
final class PushFindingsTests: XCTestCase {
  /// In the order given by `spec/machines/push.md`, each with the facts that lead to it when nothing else is found.
  private static let order: [(outcome: Push.Event, causes: [[Push.Event]])] = [
    (.releasedExpired, [[.expire]]),
    (.releasedStopped, [[.appStopped]]),
    (.releasedLocked, [[.storeLocked]]),
    (.releasedWrongSchema, [[.storeWrongSchema]]),
    (.releasedPresented, [[.commitDone, .composedShow], [.composedShow]]),
    (.releasedFailed, [[.storeFailed], [.claimDamaged], [.claimFailed], [.commitDamaged], [.commitFailed]]),
    (.releasedQuarantined, [[.decodedUndecryptable], [.verifyForged], [.commitQuarantined]]),
    (.releasedOffline, [[.fetchOffline], [.acknowledgeFailed], [.verifyFailed]]),
    (.releasedVerified, [[.verifyDone]]),
    (.releasedYielded, [[.appRunning], [.appWoke], [.storeBusy], [.claimBusy], [.commitStale]]),
    (.releasedUnknown, [[.payloadUnknown], [.decodedUnknown], [.claimMissing], [.fetchDenied]]),
    (.releasedNothingNew, [[], [.commitRepeat], [.fetchEmpty], [.commitDone], [.composedNothing]]),
  ]

  private func outcome(_ events: [Push.Event]) -> Push.Event {
    var findings = PushFindings()
    for event in events { findings.note(event) }
    return findings.outcome
  }

  /// Each pair of facts, in both orders of arrival.
  func testTheOutcomeIsTheFirstThatApplies() {
    for (rank, first) in Self.order.enumerated() {
      for cause in first.causes {
        XCTAssertEqual(outcome(cause), first.outcome, "\(cause)")
        for second in Self.order[rank...] {
          // If a message arrived, "everything that arrived" was not quarantined, and not everything is unknown.
          for other in second.causes where !softens(cause, other) {
            XCTAssertEqual(outcome(cause + other), first.outcome, "\(cause), then \(other)")
            XCTAssertEqual(outcome(other + cause), first.outcome, "\(other), then \(cause)")
          }
        }
      }
    }
  }

  private func softens(_ cause: [Push.Event], _ other: [Push.Event]) -> Bool {
    let both = cause + other
    return both.contains(.commitDone)
      && (both.contains(.commitQuarantined) || both.contains(.claimMissing) || both.contains(.fetchDenied))
  }

  func testWhatCameWellCountsForMoreThanWhatDidNotOpenOrIsUnknown() {
    XCTAssertEqual(outcome([.commitDone, .commitQuarantined]), .releasedNothingNew)
    XCTAssertEqual(outcome([.commitQuarantined, .commitDone]), .releasedNothingNew)
    XCTAssertEqual(outcome([.commitDone, .claimMissing]), .releasedNothingNew)
    XCTAssertEqual(outcome([.fetchDenied, .commitDone]), .releasedNothingNew)
    // The push itself did not open, or is unknown: other facts change nothing.
    XCTAssertEqual(outcome([.commitDone, .decodedUndecryptable]), .releasedQuarantined)
    XCTAssertEqual(outcome([.commitDone, .decodedUnknown]), .releasedUnknown)
  }

  func testADamagedRecordFailsAPushOnlyIfThereIsNothingToShow() {
    var findings = PushFindings()
    findings.noteDamage()
    XCTAssertEqual(findings.outcome, .releasedFailed)
    findings.note(.commitDone)
    findings.note(.composedShow)
    XCTAssertEqual(findings.outcome, .releasedPresented)
  }

  /// Every event leads to some outcome of the table, so that a new event is not forgotten.
  func testEveryEventIsInTheTableOrDecidesNothing() {
    let named = Set(Self.order.flatMap { $0.causes.flatMap { $0 } })
    for event in Push.Event.allCases where !named.contains(event) {
      XCTAssertEqual(outcome([event]), .releasedNothingNew, event.name)
    }
  }

  /// The page names the same order.
  func testThePageOfTheMachineNamesTheSameOrder() throws {
    let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("spec/machines/push.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let begin = "The outcome is the first of these that applies, when the store is released: "
    let start = try XCTUnwrap(text.range(of: begin), "the page no longer says so in these words")
    let sentence = text[start.upperBound...].prefix { $0 != "." && $0 != "\n" }
    // Without the text in brackets.
    let words = sentence.replacingOccurrences(of: #" *\([^)]*\)"#, with: "", options: .regularExpression)
    XCTAssertEqual(
      words.components(separatedBy: ", "), Self.order.map { String($0.outcome.name.dropFirst("released.".count)) })
  }

  // MARK: Notices

  /// Every outcome, by what kept the push from getting the store. A process that could not start work, as alongside
  /// another one or because it must rest, says nothing about the store.
  func testANoticeSaysOnlyWhatIsKnown() {
    for obstacle in [nil, PushNotice.Obstacle.store, .process] {
      let message = Push.State.allCases.compactMap { outcome in
        PushNotice.afterMessage(outcome, obstacle).map { "\(outcome) \($0)" }
      }
      XCTAssertEqual(
        message.sorted(),
        [
          "expired event", obstacle == .process ? "failed event" : "failed database", "locked locked",
          "offline event", "stopped appStopped", "wrongSchema migration",
        ])
      let round = Push.State.allCases.compactMap { outcome in
        PushNotice.afterRound(outcome, obstacle).map { "\(outcome) \($0)" }
      }
      XCTAssertEqual(round.sorted(), obstacle == .store ? ["failed database", "wrongSchema migration"] : [])
    }
  }
}
