import PorterRelayCluster
import XCTest

@testable import PorterJetStream

/// How long an operator's command waits for a cluster.
final class PatienceTests: XCTestCase {
  func testItIsOfTheCommandAndNotOfEachQuestion() {
    let (patience, begin) = (Patience(), ContinuousClock.now)
    // Two requests made at the same time, which fail together.
    patience.begin(now: begin)
    patience.begin(now: begin)
    patience.end(now: begin + .seconds(15))
    patience.end(now: begin + .seconds(15))
    // Time without failures gives a tenth of it back.
    patience.begin(now: begin + .seconds(65))
    XCTAssertFalse(patience.isOver(now: begin + .seconds(94)))
    XCTAssertTrue(patience.isOver(now: begin + .seconds(95)))
    patience.end(now: begin + .seconds(95))
    XCTAssertTrue(patience.isOver(now: begin + .seconds(96)))
    patience.begin(now: begin + .seconds(1_000))
    XCTAssertFalse(patience.isOver(now: begin + .seconds(1_039)))
    XCTAssertTrue(patience.isOver(now: begin + .seconds(1_040)))
  }

  func testWithoutPatienceAQuestionIsAskedOnceAndItsFailureIsThrown() async {
    let patience = Patience()
    patience.begin(now: .now - Patience.longest)
    await Patience.$current.withValue(patience) {
      var asked = 0
      do throws(ClusterFailure) {
        try await patiently { () async throws(ClusterFailure) in
          asked += 1
          throw ClusterFailure("no leader")
        }
        XCTFail("it was answered")
      } catch { XCTAssertEqual(error.description, "no leader") }
      XCTAssertEqual(asked, 1)
    }
  }

  func testAQuestionThatIsAnsweredLaterIsAskedAgain() async throws {
    try await Patience.$current.withValue(Patience()) {
      var asked = 0
      let answer = try await patiently { () async throws(ClusterFailure) -> Int in
        asked += 1
        if asked < 3 { throw ClusterFailure("no leader") }
        return asked
      }
      XCTAssertEqual(answer, 3)
    }
  }
}
