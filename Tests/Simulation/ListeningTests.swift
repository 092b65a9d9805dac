import PorterEngine
import PorterInbox
import PorterJSON
import PorterPlatform
import XCTest

/// When an extension can be asked: an end of the channel costs more than most pushes have to wait for.
final class ListeningTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// The outcome of a push whose source never answers, and how long it took.
  private func hangingPush(
    deadline: Span, _ arrange: @escaping (SimulatedHouse, Cast, SimulatedHost) throws -> Void
  ) throws -> (JSONValue, Span) {
    var result: (JSONValue, Span)?
    _ = try SimulatedHouse.run(seed: 11) { house in
      let cast = try Cast(house)
      let inbox = Inbox()
      inbox.put("first", "hello")
      inbox.set(.neverAnswers)
      let notifier = try house.host("notifier", store: "alice", .extension, inbox: inbox)
      let start = house.clock.elapsed
      try arrange(house, cast, notifier)
      let answer = try notifier.push(wake, deadline: deadline)
      result = (answer, house.clock.elapsed - start)
      XCTAssertNil(try notifier.state()["channel"], "quiescent")
      notifier.end()
      cast.end()
    }
    return try XCTUnwrap(result)
  }

  func testAPushThatIsOverSoonOpensNoSocket() throws {
    _ = try SimulatedHouse.run(seed: 11) { house in
      let cast = try Cast(house)
      let before = house.socketsOpened
      XCTAssertEqual(try cast.present("hello")["notifications"]?.arrayValue?.map { $0["body"] }, ["hello"])
      XCTAssertEqual(house.socketsOpened, before)
      cast.end()
    }
  }

  func testAPushThatWaitsCanBeAskedAfterAMoment() throws {
    var channels: [Bool] = []
    let (answer, _) = try hangingPush(deadline: .seconds(2)) { house, _, notifier in
      for moment in [10, 30] {
        house.after(.milliseconds(Int64(moment))) { channels.append(try notifier.state()["channel"] != nil) }
      }
    }
    XCTAssertEqual(answer["outcome"], "expired", answer.text)
    XCTAssertEqual(channels, [false, true])
  }

  /// INC-22: an app that comes to the front before there is an end finds none to ask; the extension still yields to it.
  func testINC22AnAppThatStartsBeforeTheExtensionListensIsGivenWayTo() throws {
    for moment in [1, 19, 21] {
      let (answer, taken) = try hangingPush(deadline: .seconds(25)) { house, cast, _ in
        house.after(.milliseconds(Int64(moment)), cast.activate)
      }
      XCTAssertEqual(answer["outcome"], "yielded", "after \(moment) ms: \(answer.text)")
      XCTAssertLessThan(taken, .milliseconds(100), "after \(moment) ms")
    }
  }

  /// An app in a background round holds its lock, and does not want the store.
  func testAnAppThatDoesNotComeToTheFrontIsNotGivenWayTo() throws {
    let (answer, _) = try hangingPush(deadline: .seconds(2)) { house, cast, _ in
      house.after(.milliseconds(5)) {
        try cast.alice.reopenStore()
        try cast.alice.wake()
      }
    }
    XCTAssertEqual(answer["outcome"], "expired", answer.text)
  }
}
