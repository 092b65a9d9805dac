import Foundation
import NIOCore
import PorterPushClient
import PorterServer
import PorterWebPush
import PushStandIns
import Synchronization
import XCTest

/// A push service, a subscription or a name that causes trouble delays only its own pushes.
final class IsolationTests: WebPushTestCase {
  private func endpoint(_ path: String) throws -> String { "https://localhost:\(try mock.port)/push/\(path)" }

  // MARK: Subscriptions made with another key

  func testARefusedSubscriptionDelaysNoOtherOfItsService() throws {
    let refused = try push(to: endpoint("of-another-key"))
    XCTAssertEqual(try outcome(), .accepted)
    for seconds in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600] {
      XCTAssertEqual(outcome(refused), .later(seconds: seconds), "with a new token, too")
      XCTAssertEqual(try outcome(), .accepted)
      let count = try mock.report().requests.count
      XCTAssertEqual(outcome(refused), .later(seconds: seconds), "not asked")
      XCTAssertEqual(try mock.report().requests.count, count)
      // From the third time on, longer than a connection stays idle.
      try clock.advance(by: .seconds(Int64(seconds)))
      try mock.setTime(clock.seconds)
    }
    XCTAssertEqual(outcome(try push(to: endpoint("of-another-key/2"))), .later(seconds: 30), "each for itself")
  }

  func testAServiceThatHasAcceptedNothingIsLeftAloneBrieflyWhenItRefusesTheKey() throws {
    let refused = try push(to: endpoint("of-another-key"))
    XCTAssertEqual(outcome(refused), .later(seconds: 30))
    let count = try mock.report().requests.count
    XCTAssertEqual(try outcome(), .later(seconds: 30), "not asked")
    XCTAssertEqual(try mock.report().requests.count, count)
    for seconds in [60, 120, 240] {
      try clock.advance(by: .seconds(30))
      try mock.setTime(clock.seconds)
      XCTAssertEqual(outcome(try push(to: endpoint("of-another-key/\(seconds)"))), .later(seconds: 30), "no longer")
      try clock.advance(by: .seconds(Int64(seconds)))
      try mock.setTime(clock.seconds)
      XCTAssertEqual(outcome(refused), .later(seconds: seconds))
    }
    try clock.advance(by: .seconds(30))
    try mock.setTime(clock.seconds)
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertEqual(outcome(try push(to: endpoint("of-another-key/last"))), .later(seconds: 30))
    XCTAssertEqual(try outcome(), .accepted, "accepted before")
  }

  // MARK: Names

  /// Resolves `localhost`, and blocks the caller for every other name until closed.
  private final class SlowNames: Sendable {
    private let state = Mutex((isClosed: false, asked: 0))

    func lookup(_ host: String, _ port: Int) throws -> [SocketAddress] {
      if host == "localhost" { return [try SocketAddress(ipAddress: "127.0.0.1", port: port)] }
      state.withLock { $0.asked += 1 }
      while !state.withLock({ $0.isClosed }) { usleep(1_000) }
      return []
    }

    func waitFor(_ count: Int) { while state.withLock({ $0.asked < count }) { usleep(1_000) } }
    func close() { state.withLock { $0.isClosed = true } }
  }

  func testNamesThatResolveSlowlyDelayNoServiceThatHasAnswered() throws {
    let slow = SlowNames()
    defer { slow.close() }
    try provider.close()
    let names = NameResolver(clock: clock) { try slow.lookup($0, $1) }
    provider = try WebPushProvider(options(), clock: clock, names: names, log: { _, _, _ in })
    XCTAssertEqual(try outcome(), .accepted)
    // Its connection is closed.
    try clock.advance(by: .minutes(5))
    try mock.setTime(clock.seconds)
    for number in 0..<20 { send(try push(to: "https://slow\(number).example/push")) }
    slow.waitFor(4)
    XCTAssertEqual(try outcome(), .accepted)
    try clock.advance(by: .seconds(15))
    XCTAssertEqual(outcomes.wait(20).values.filter { $0 == [.later(seconds: 30)] }.count, 20)
  }

  // MARK: Addresses

  /// Of a name with many addresses, those of the other family are reached although the first ones hang.
  func testAFamilyOfAddressesThatHangsDelaysAPushForSecondsOnly() throws {
    let hanging = try HangingPort()
    defer { hanging.close() }
    try provider.close()
    let port = try mock.port
    let names = NameResolver(clock: clock) { _, _ in
      try (0..<8).map { _ in try SocketAddress(ipAddress: "::1", port: hanging.port) }
        + [SocketAddress(ipAddress: "127.0.0.1", port: port)]
    }
    provider = try WebPushProvider(options(), clock: clock, names: names, log: { _, _, _ in })
    let start = NIODeadline.now()
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertLessThan(NIODeadline.now() - start, .seconds(7))
  }

  func testTranslatedAddressesAreJudgedByWhatTheyLeadTo() {
    let table = [
      ("64:ff9b::8.8.8.8", true), ("64:ff9b::10.0.0.1", false), ("64:ff9b::127.0.0.1", false),
      ("64:ff9b::169.254.169.254", false), ("64:ff9b:1::8.8.8.8", false), ("2001:4860:4860::8888", true),
    ]
    for (address, expected) in table { XCTAssertEqual(AddressRule.isPublic(literal: address), expected, address) }
  }

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

  // MARK: Room

  func testServicesThatHangLeaveRoomForOthers() throws {
    try restart(streams: 1)
    let others = try "https://127.0.0.1:\(mock.port)/push/other"
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertEqual(outcome(try push(to: others)), .accepted)
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#)
    for _ in 0..<1_500 { send(try push()) }
    XCTAssertEqual(outcomes.wait(476).values.filter { $0 == [.later(seconds: 1)] }.count, 476)
    for _ in 0..<1_000 { send(try push(to: others)) }
    XCTAssertEqual(outcomes.wait(488).values.filter { $0 == [.later(seconds: 1)] }.count, 964)
    // 512 are left, of which a third service gets half.
    XCTAssertEqual(outcomes.wait(0).count, 966)
  }
}
