import Foundation
import NIOCore
import PorterAPNs
import PorterServer
import PushStandIns
import XCTest

/// The provider against a stand-in for Apple's service that shares no code with it.
final class APNsTests: XCTestCase {
  private var mock: MockAPNs!
  private var provider: APNsProvider!
  private let clock = ManualClock()
  private let outcomes = Outcomes()
  private var sent = 0

  private func begin(streams: Int? = nil, _ change: (inout APNsOptions) -> Void = { _ in }) throws {
    mock = try MockAPNs(streams: streams)
    var options = try mock.options()
    change(&options)
    provider = try APNsProvider(options, clock: clock)
  }

  override func tearDownWithError() throws {
    try provider?.close()
    mock?.close()
  }

  private func send(_ kind: ServedPush.Kind = .message, count: Int = 1) {
    for _ in 0..<count {
      sent += 1
      let isAlert = kind == .message
      let push = ServedPush(
        kind: kind, token: [0xab, UInt8(sent >> 8), UInt8(sent & 255)], isAlert: isAlert, priority: isAlert ? 10 : 5,
        payload: Array(#"{"aps":{},"number":\#(sent)}"#.utf8))
      provider.send(push, then: outcomes.note(sent))
    }
  }

  /// Sends a push and waits for its outcome.
  private func outcome(_ kind: ServedPush.Kind = .message) -> PushOutcome? {
    send(kind)
    return outcomes.wait(1)[sent]?.first
  }

  // MARK: Requests

  func testAPushHasTheHeadersOfItsKind() throws {
    try begin()
    XCTAssertEqual(outcome(.message), .accepted)
    XCTAssertEqual(outcome(.verification), .accepted)
    XCTAssertEqual(outcome(.wake), .accepted)
    let requests = try mock.report().requests
    XCTAssertEqual(requests.map(\.path), ["/3/device/ab0001", "/3/device/ab0002", "/3/device/ab0003"])
    XCTAssertEqual(requests.map(\.apns_push_type), ["alert", "background", "background"])
    XCTAssertEqual(requests.map(\.apns_priority), ["10", "5", "5"])
    XCTAssertEqual(requests.map(\.apns_collapse_id), [nil, "verification", "wake"])
    XCTAssertEqual(
      requests.map { (Int64($0.apns_expiration) ?? 0) - clock.seconds }, [21 * 86_400, 86_400, 1_200])
    XCTAssertEqual(requests[0].body, #"{"aps":{},"number":1}"#)
  }

  func testManyPushesShareAConnectionATokenAndTheStreamsThatThePeerAllows() throws {
    try begin(streams: 7)
    send(count: 200)
    XCTAssertEqual(outcomes.wait(200).values.filter { $0 == [.accepted] }.count, 200)
    let report = try mock.report()
    XCTAssertEqual(Set(report.requests.map(\.authorization)).count, 1)
    XCTAssertEqual(Set(report.requests.map(\.path)).count, 200)
    XCTAssertEqual(report.connections, 1)
    XCTAssertLessThanOrEqual(report.most, 7)
  }

  func testTheStreamsThatThePeerAllowsAreUsed() throws {
    try begin(streams: 5)
    try mock.plan(Array(repeating: #"{"hold":true}"#, count: 5))
    send(count: 6)
    try mock.waitForRequests(5)
    XCTAssertEqual(try mock.report().requests.count, 5)
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(6).count, 6)
    XCTAssertEqual(try mock.report().most, 5)
  }

  /// Apple begins with a single stream, and raises that on the open connection.
  func testWhatThePeerAllowsOnAnOpenConnectionIsUsedAndNotExceeded() throws {
    try begin(streams: 1)
    try mock.plan(Array(repeating: #"{"hold":true}"#, count: 1_600))
    send(count: 1_600)
    try mock.waitForRequests(1)
    for streams in [500, 1_500] {
      try provider.settle()
      let before = try mock.report()
      XCTAssertEqual(before.requests.count, before.most, "no more than are allowed")
      try mock.order(#"{"streams": \#(streams)}"#)
      try mock.waitForRequests(streams)
      XCTAssertEqual(try mock.report().most, streams)
    }
    XCTAssertEqual(provider.capacity, 3_000)
    // None of the open requests is given up; afterwards there are fewer.
    try mock.order(#"{"streams": 20}"#)
    for requests in stride(from: 1_520, through: 1_600, by: 20) {
      try mock.order(#"{"release": true}"#)
      try mock.waitForRequests(requests)
      try provider.settle()
      XCTAssertEqual(try mock.report().requests.count, requests)
    }
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(1_600).values.filter { $0 == [.accepted] }.count, 1_600)
    XCTAssertEqual(try mock.report().most, 20)
    XCTAssertEqual(try mock.report().connections, 1)
    XCTAssertEqual(provider.capacity, 2_000)
  }

  /// A peer that sets no bound could make the server use memory without one.
  func testThereAreNoMoreStreamsThanTheBound() throws {
    try begin(streams: 100) { $0.streams = 30 }
    try mock.plan(Array(repeating: #"{"hold":true}"#, count: 30))
    send(count: 100)
    try mock.waitForRequests(30)
    try provider.settle()
    XCTAssertEqual(try mock.report().requests.count, 30)
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(100).values.filter { $0 == [.accepted] }.count, 100)
  }

  // MARK: The provider token

  func testTheTokenIsRenewedBetweenTwentyAndSixtyMinutes() throws {
    try begin()
    var tokens: [String] = []
    // Every five minutes for two hours.
    for minute in stride(from: Int64(0), to: 120, by: 5) {
      try mock.setTime(clock.seconds)
      XCTAssertEqual(outcome(), .accepted, "minute \(minute)")
      tokens.append(try XCTUnwrap(mock.report().requests.last).authorization)
      try clock.advance(by: .minutes(5))
    }
    XCTAssertEqual(Set(tokens).count, 3)
    XCTAssertEqual(Set(tokens[0..<8]).count, 1)
    XCTAssertEqual(Set(tokens[8..<16]).count, 1)
  }

  func testAnExpiredTokenIsReplacedAtOnceAndOnce() throws {
    try begin()
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#)
    send(count: 2)
    try mock.waitForRequests(2)
    try clock.advance(by: .seconds(5))
    // Both answers say that the token has expired; the token that replaces it is younger.
    try mock.setTime(ManualClock.start + 3_603)
    try mock.order(#"{"release": true}"#)
    XCTAssertEqual(outcomes.wait(2), [1: [.accepted], 2: [.accepted]])
    XCTAssertEqual(Set(try mock.report().requests.map(\.authorization)).count, 2)
  }

  private let expired = PushOutcome.refused(.answer(status: 403, reason: "ExpiredProviderToken"))

  func testAClockThatIsWrongDoesNotMakeTokenAfterToken() throws {
    try begin()
    try mock.setTime(clock.seconds + 100_000)
    for _ in 0..<5 { XCTAssertEqual(outcome(), expired) }
    XCTAssertEqual(Set(try mock.report().requests.map(\.authorization)).count, 2)
    // The clock has been corrected.
    try mock.setTime(clock.seconds)
    XCTAssertEqual(outcome(), .accepted)
  }

  func testAfterAWrongClockWasSetATokenIsMadeImmediately() throws {
    try begin()
    try mock.setTime(clock.seconds + 100_000)
    for _ in 0..<2 { XCTAssertEqual(outcome(), expired) }
    clock.correct(by: 100_000)
    XCTAssertEqual(outcome(), .accepted)
    // Set back, it makes the token look as if it came from the future.
    clock.correct(by: -90_000)
    try mock.setTime(clock.seconds)
    XCTAssertEqual(outcome(), .accepted)
    let tokens = try mock.report().requests.map(\.authorization)
    // Time that only passes, and small corrections, change nothing.
    clock.correct(by: 20)
    XCTAssertEqual(outcome(), .accepted)
    XCTAssertEqual(try mock.report().requests.last?.authorization, tokens.last)
    XCTAssertEqual(Set(tokens).count, 4)
  }

  // MARK: Answers

  func testEachDocumentedAnswerHasItsOutcome() throws {
    try begin()
    let table: [(Int, String, PushOutcome)] = [
      (400, "BadDeviceToken", .invalid(.bad)), (400, "DeviceTokenNotForTopic", .invalid(.topic)),
      (410, "ExpiredToken", .ended(.expired, since: 1_700_000_000_000)),
      (410, "Unregistered", .ended(.unregistered, since: 1_700_000_000_000)),
      (400, "BadCollapseId", .rejected(status: 400)), (400, "BadExpirationDate", .rejected(status: 400)),
      (400, "BadMessageId", .rejected(status: 400)), (400, "BadPriority", .rejected(status: 400)),
      (400, "BadTopic", .refused(.answer(status: 400, reason: "BadTopic"))),
      (400, "DuplicateHeaders", .rejected(status: 400)),
      (400, "InvalidPushType", .rejected(status: 400)), (400, "MissingDeviceToken", .rejected(status: 400)),
      (400, "MissingTopic", .refused(.answer(status: 400, reason: "MissingTopic"))),
      (400, "PayloadEmpty", .rejected(status: 400)),
      (400, "TopicDisallowed", .refused(.answer(status: 400, reason: "TopicDisallowed"))),
      (403, "Forbidden", .rejected(status: 403)),
      (404, "BadPath", .rejected(status: 404)), (405, "MethodNotAllowed", .rejected(status: 405)),
      (413, "PayloadTooLarge", .rejected(status: 413)),
      (403, "BadCertificate", .refused(.answer(status: 403, reason: "BadCertificate"))),
      (403, "BadCertificateEnvironment", .refused(.answer(status: 403, reason: "BadCertificateEnvironment"))),
      (403, "InvalidProviderToken", .refused(.answer(status: 403, reason: "InvalidProviderToken"))),
      (403, "MissingProviderToken", .refused(.answer(status: 403, reason: "MissingProviderToken"))),
      (429, "TooManyProviderTokenUpdates", .refused(.answer(status: 429, reason: "TooManyProviderTokenUpdates"))),
    ]
    for (status, reason, expected) in table {
      try mock.plan(#"{"status":\#(status),"reason":"\#(reason)"}"#)
      XCTAssertEqual(outcome(), expected, reason)
    }
    // Tried once more on a new connection, and then given back.
    for (status, reason, expected) in [
      (503, "ServiceUnavailable", PushOutcome.unreachable(.answer(status: 503, reason: "ServiceUnavailable"))),
      (503, "Shutdown", .unreachable(.answer(status: 503, reason: "Shutdown"))),
      (400, "IdleTimeout", .unreachable(.answer(status: 400, reason: "IdleTimeout"))),
      (410, "Other", .failed(status: 410)),
    ] {
      let connections = try mock.report().connections
      try mock.plan(#"{"status":\#(status),"reason":"\#(reason)"}"#, #"{"status":\#(status),"reason":"\#(reason)"}"#)
      XCTAssertEqual(outcome(), expected, reason)
      XCTAssertGreaterThan(try mock.report().connections, connections, reason)
      try mock.plan(#"{"status":\#(status),"reason":"\#(reason)"}"#)
      XCTAssertEqual(outcome(), .accepted, reason)
    }
    try mock.plan(#"{"status":404,"body":"no JSON"}"#)
    XCTAssertEqual(outcome(), .rejected(status: 404))
  }

  func testThousandsOfRefusalsDoNotFillTheWindow() throws {
    try begin(streams: 20)
    let refusal = #"{"status":400,"reason":"\#(String(repeating: "A", count: 1_000))"}"#
    try mock.plan(Array(repeating: refusal, count: 200))
    send(count: 200)
    XCTAssertEqual(outcomes.wait(200).values.filter { $0 == [.rejected(status: 400)] }.count, 200)
    XCTAssertEqual(try mock.report().connections, 1)
  }

  private let unavailable = PushOutcome.unreachable(.answer(status: 503, reason: "ServiceUnavailable"))

  func testRetryAfterOfTheServiceIsKept() throws {
    try begin()
    try mock.plan(#"{"status":503,"reason":"ServiceUnavailable","retryAfter":90}"#)
    XCTAssertEqual(outcome(), unavailable)
    try clock.advance(by: .seconds(89))
    XCTAssertEqual(outcome(), unavailable)
    XCTAssertEqual(try mock.report().requests.count, 1)
    try clock.advance(by: .seconds(1))
    XCTAssertEqual(outcome(), .accepted)
    XCTAssertEqual(try mock.report().requests.count, 2)
  }

  func testTheServiceAsAWholeIsPausedForAQuarterOfAnHourAtMost() throws {
    try begin()
    try mock.plan(#"{"status":503,"reason":"ServiceUnavailable","retryAfter":7200}"#)
    XCTAssertEqual(outcome(), unavailable)
    try clock.advance(by: .seconds(899))
    XCTAssertEqual(outcome(), unavailable)
    try clock.advance(by: .seconds(1))
    XCTAssertEqual(outcome(), .accepted)
  }

  func testADeviceThatGetsTooManyWaitsAloneForAsLongAsItIsTold() throws {
    try begin()
    try mock.plan(#"{"status":429,"reason":"TooManyRequests","retryAfter":40}"#)
    XCTAssertEqual(outcome(), .later(seconds: 40))
    for (asked, kept) in [(3_600, 3_600), (100_000, 86_400)] {
      try mock.plan(#"{"status":429,"reason":"TooManyRequests","retryAfter":\#(asked)}"#)
      XCTAssertEqual(outcome(), .later(seconds: kept))
    }
    XCTAssertEqual(outcome(), .accepted, "another device's push is not delayed")
    XCTAssertEqual(clock.timers, [], "nothing waits here")
  }

  /// Sends a push to the first device and waits for its outcome.
  private func outcomeOfFirstDevice() -> PushOutcome? {
    sent += 1
    let push = ServedPush(kind: .message, token: [0xab, 0, 1], isAlert: true, priority: 10, payload: [])
    provider.send(push, then: outcomes.note(sent))
    return outcomes.wait(1)[sent]?.first
  }

  func testAPushThatAlwaysFailsIsLeftForLongerEachTimeAndDelaysNoOther() throws {
    for answer in [#"{"status":500,"reason":"InternalServerError"}"#, #"{"status":429,"reason":"TooManyRequests"}"#] {
      try tearDownWithError()
      try begin()
      for seconds in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900] {
        try mock.plan(answer)
        XCTAssertEqual(outcomeOfFirstDevice(), .later(seconds: seconds))
        XCTAssertEqual(outcome(), .accepted)
      }
      XCTAssertEqual(outcomeOfFirstDevice(), .accepted)
      try mock.plan(answer)
      XCTAssertEqual(outcomeOfFirstDevice(), .later(seconds: 1), "counted anew")
    }
  }

  /// Then the provider is paused, and an operator learns of it.
  func testAProviderThatFailsForEveryDeviceIsUnreachable() throws {
    try begin()
    for _ in 0..<64 {
      try mock.plan(#"{"status":500,"reason":"InternalServerError"}"#)
      guard case .later = outcome() else { return XCTFail("not deferred") }
    }
    try mock.plan(#"{"status":500,"reason":"InternalServerError"}"#)
    XCTAssertEqual(outcome(), .unreachable(.answer(status: 500, reason: "InternalServerError")))
    XCTAssertEqual(outcome(), .accepted)
    try mock.plan(#"{"status":500,"reason":"InternalServerError"}"#)
    guard case .later = outcome() else { return XCTFail("not counted anew") }
  }

  func testHoweverManyDevicesGetTooManyTheirPushesAreKept() throws {
    try begin()
    try mock.plan(Array(repeating: #"{"status":429,"reason":"TooManyRequests"}"#, count: 600))
    send(count: 600)
    XCTAssertEqual(outcomes.wait(600).values.filter { $0 == [.later(seconds: 1)] }.count, 600)
  }

  func testEveryRefusalOfTheTokenKeepsThePush() throws {
    try begin()
    for reason in ["BadEnvironmentKeyIdInToken", "UnrelatedKeyIdInToken", "OneOfNextYear"] {
      try mock.plan(#"{"status":403,"reason":"\#(reason)"}"#)
      XCTAssertEqual(
        outcome(), .refused(.answer(status: 403, reason: reason == "OneOfNextYear" ? nil : reason)), reason)
    }
    try mock.plan(#"{"status":403}"#)
    XCTAssertEqual(outcome(), .refused(.answer(status: 403, reason: nil)), "no reason")
  }
}
