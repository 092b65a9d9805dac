import NIOCore
import PorterServer
import PorterWebPush
import PushStandIns
import XCTest

/// A push service, a subscription or a name that causes trouble delays only its own pushes.
final class IsolationTests: WebPushTestCase {
  // MARK: Connections without room

  func testAServiceThatTakesNoRequestsIsGivenUpAfterTheTimeLimit() throws {
    try restart(streams: 0)
    for connections in 1...2 {
      for _ in 0..<3 { send(try push()) }
      try mock.waitForConnections(connections)
      try provider.settle()
      try clock.advance(by: .seconds(15))
      let pause = 30 * connections
      XCTAssertEqual(outcomes.wait(3).values.filter { $0 == [.later(seconds: pause)] }.count, 3)
      try clock.advance(by: .seconds(Int64(pause)))
      try mock.setTime(clock.seconds)
    }
  }

  func testAServiceThatAnswersSlowlyGivesBackWhatItDoesNotReach() throws {
    try restart(streams: 1)
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#)
    send(try push())
    try mock.waitForRequests(1)
    try clock.advance(by: .seconds(5))
    send(try push())
    send(try push())
    try provider.settle()
    try clock.advance(by: .seconds(5))
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(1)[1], [.accepted])
    try mock.waitForRequests(2)
    try clock.advance(by: .seconds(10))
    XCTAssertEqual(outcomes.wait(1)[3], [.later(seconds: 1)])
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(1)[2], [.accepted])
    XCTAssertEqual(try outcome(), .accepted, "it is not left alone")
  }
}
