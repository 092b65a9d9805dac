import Foundation
import NIOCore
import PorterAPNs
import PorterServer
import PushStandIns
import XCTest

/// Connections that end or hang, and unusable keys.
final class APNsConnectionTests: XCTestCase {
  private var mock: MockAPNs!
  private var provider: APNsProvider!
  private let clock = ManualClock()
  private let outcomes = Outcomes()
  private var sent = 0

  override func setUpWithError() throws {
    mock = try MockAPNs(streams: 20)
    provider = try APNsProvider(mock.options(), clock: clock)
  }

  override func tearDownWithError() throws {
    try provider.close()
    mock.close()
  }

  private func send(count: Int = 1) {
    for _ in 0..<count {
      sent += 1
      let push = ServedPush(
        kind: .message, token: [UInt8(sent)], isAlert: true, priority: 10, payload: Array(#"{"aps":{}}"#.utf8))
      provider.send(push, then: outcomes.note(sent))
    }
  }

  private func assertAllAccepted(_ count: Int, file: StaticString = #filePath, line: UInt = #line) {
    let ended = outcomes.wait(count)
    XCTAssertEqual(ended, (1...sent).reduce(into: [:]) { $0[$1] = [.accepted] }, file: file, line: line)
  }

  #if os(Linux)
    /// Otherwise a connection that a router has forgotten is found out only when a push on it goes unanswered.
    func testAnIdleConnectionIsProbedWithinAMinute() throws {
      send()
      assertAllAccepted(1)
      // The system's list changes while it is read, and a connection first has other timers.
      let end = Date() + 10
      var ticks: [Int] = []
      while ticks.isEmpty, Date() < end { ticks = try keepaliveTimers(port: mock.port) }
      XCTAssertFalse(ticks.isEmpty)
      for tick in ticks { XCTAssertLessThanOrEqual(tick, 60 * Int(sysconf(Int32(_SC_CLK_TCK)))) }
    }

    /// Of the established connections to the port; when they are due, in the system's ticks.
    private func keepaliveTimers(port: Int) throws -> [Int] {
      let name = ":" + String(port, radix: 16, uppercase: true)
      return try ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { try lines(of: $0) }
        .filter { $0[2].hasSuffix(name) && $0[3] == "01" && $0[5].hasPrefix("02:") }
        .map { Int($0[5].dropFirst(3), radix: 16) ?? .max }
    }

    private func lines(of path: String) throws -> [[Substring]] {
      // Foundation's other ways read no more of such a file than it says it has.
      let file = try XCTUnwrap(FileHandle(forReadingAtPath: path))
      return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n").dropFirst().map {
        $0.split(separator: " ")
      }
    }
  #endif

  func testAGoAwayInTheMiddleLosesNothingAndRepeatsNothing() throws {
    // Three are being processed, then the peer stops taking requests.
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#, #"{"hold":true}"#, #"{"goaway":true}"#)
    send(count: 10)
    // The old connection's fourth request, and the seven that are resent.
    try mock.waitForRequests(3 + 1 + 7)
    XCTAssertEqual(try mock.report().connections, 2)
    try mock.order(#"{"release": true}"#)
    assertAllAccepted(10)
    let requests = try mock.report().requests
    XCTAssertEqual(
      requests.filter { $0.connection == 1 }.map(\.path).prefix(3), ["/3/device/01", "/3/device/02", "/3/device/03"])
    XCTAssertEqual(
      Set(requests.filter { $0.connection == 2 }.map(\.path)),
      Set((4...10).map { String(format: "/3/device/%02x", $0) }))
  }

  func testPushesOfADroppedConnectionAreSentAgain() throws {
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#, #"{"drop":true}"#)
    send(count: 10)
    assertAllAccepted(10)
    XCTAssertEqual(try mock.report().connections, 2)
  }

  func testAPushWhoseConnectionIsDroppedTwiceIsGivenBack() throws {
    try mock.plan(#"{"drop":true}"#, #"{"drop":true}"#)
    send()
    XCTAssertEqual(outcomes.wait(1), [1: [.unreachable(.closed)]])
    send()
    XCTAssertEqual(outcomes.wait(1)[2], [.accepted])
  }

  func testAStreamThatIsResetIsSentAgain() throws {
    try mock.plan(#"{"reset":"refused"}"#, #"{"reset":"refused"}"#, #"{"reset":"other"}"#)
    send()
    assertAllAccepted(1)
    XCTAssertEqual(try mock.report().connections, 1)
  }

  func testAPushWhoseStreamIsResetTwiceWaitsAlone() throws {
    try mock.plan(#"{"reset":"other"}"#, #"{"reset":"other"}"#)
    send()
    XCTAssertEqual(outcomes.wait(1), [1: [.later(seconds: 60)]])
    send()
    XCTAssertEqual(outcomes.wait(1)[2], [.accepted])
    XCTAssertEqual(try mock.report().connections, 1)
  }

  func testAPushThatAloneGetsNoAnswerWaitsAlone() throws {
    try mock.plan(#"{"hold":true}"#)
    send()
    try mock.waitForRequests(1)
    send()
    XCTAssertEqual(outcomes.wait(1), [2: [.accepted]])
    try mock.plan(#"{"hold":true}"#)
    try clock.advance(by: .seconds(30))
    try mock.waitForRequests(3)
    try provider.settle()
    try clock.advance(by: .seconds(30))
    XCTAssertEqual(outcomes.wait(1)[1], [.later(seconds: 60)])
  }

  func testAPeerThatAnswersNothingIsUnreachable() throws {
    try mock.plan(#"{"hold":true}"#, #"{"hold":true}"#)
    send()
    for requests in 1...2 {
      try mock.waitForRequests(requests)
      try provider.settle()
      try clock.advance(by: .seconds(30))
    }
    XCTAssertEqual(outcomes.wait(1), [1: [.unreachable(.noAnswer(seconds: 30))]])
  }

  func testAPeerThatHangsIsGivenUpAfterTheTimeLimit() throws {
    try mock.plan(#"{"hold":true}"#)
    send()
    try mock.waitForRequests(1)
    try provider.settle()
    // Only its answer is awaited.
    XCTAssertEqual(clock.timers, [30])
    try clock.advance(by: .seconds(30))
    assertAllAccepted(1)
    XCTAssertEqual(try mock.report().connections, 2)
  }

  func testAPeerThatNeverBeginsIsGivenUpAfterTheTimeLimit() throws {
    try mock.order(#"{"deaf": true}"#)
    send(count: 3)
    try mock.order(#"{"awaitDeaf": 1}"#)
    try clock.advance(by: .seconds(30))
    XCTAssertEqual(Set(outcomes.wait(3).values), [[.unreachable(.noAnswer(seconds: 30))]])
    try mock.order(#"{"deaf": false}"#)
    send()
    XCTAssertEqual(outcomes.wait(1)[4], [.accepted])
  }

  func testAPeerThatIsGoneMakesPushesUnreachable() throws {
    mock.close()
    send(count: 3)
    XCTAssertEqual(Set(outcomes.wait(3).values), [[.unreachable(.connectionRefused)]])
  }

  func testACertificateThatIsNotAcceptedIsTheReason() throws {
    for (certificate, failure) in [
      ("expired", ProviderFailure.certificateExpired), ("early", .certificateNotYetValid),
      ("strange", .certificateNotTrusted), ("misnamed", .certificateForAnotherName),
    ] {
      try mock.order(#"{"certificate": "\#(certificate)"}"#)
      send()
      XCTAssertEqual(outcomes.wait(1)[sent], [.unreachable(failure)], certificate)
    }
    XCTAssertEqual(try mock.report().requests.count, 0)
    try mock.order(#"{"certificate": "good"}"#)
    send()
    XCTAssertEqual(outcomes.wait(1)[sent], [.accepted])
  }

  func testACertificateOfAnotherAuthorityIsRefused() throws {
    XCTAssertEqual(try failure { $0.authority = nil }, .certificateNotTrusted)
    XCTAssertEqual(try mock.report().requests.count, 0)
  }

  func testANameThatDoesNotResolveIsTheReason() throws {
    XCTAssertEqual(try failure { $0.host = "nowhere.invalid" }, .unresolved)
  }

  func testAPeerThatSpeaksNoTLSIsTheReason() throws {
    let plain = try PlainServer()
    defer { plain.close() }
    XCTAssertEqual(try failure { $0.port = plain.port }, .tls("WRONG_VERSION_NUMBER"))
  }

  /// Why a provider with other options cannot send a push.
  private func failure(_ change: (inout APNsOptions) -> Void) throws -> ProviderFailure? {
    var options = try mock.options()
    change(&options)
    let other = try APNsProvider(options, clock: clock)
    defer { try? other.close() }
    let push = ServedPush(kind: .message, token: [1], isAlert: true, priority: 10, payload: [])
    other.send(push, then: outcomes.note(1))
    guard case .unreachable(let failure)? = outcomes.wait(1)[1]?.first else { return nil }
    return failure
  }

  func testAKeyThatCannotBeUsedIsSaid() throws {
    func complaint(_ path: String, keyID: String = "ABCDE12345", topic: String = "org.example.app") -> String? {
      do throws(APNsError) {
        _ = try APNsOptions(environment: .sandbox, key: path, keyID: keyID, teamID: "TEAM567890", topic: topic)
        return nil
      } catch { return error.description }
    }
    XCTAssertNil(complaint(mock.key))
    XCTAssertEqual(complaint("/nowhere/key.p8"), "/nowhere/key.p8: No such file or directory")
    let path = mock.folder.appendingPathComponent("other.p8").path
    for (contents, permissions, expected) in [
      ("", 0o600, "\(path): not a private key in PEM"),
      ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0o600, "\(path): not a private key in PEM"),
      (
        try String(contentsOfFile: mock.key, encoding: .utf8), 0o640,
        "\(path): others can read this key (mode 640); run: chmod 600 \(path)"
      ),
    ] {
      try Data(contents.utf8).write(to: URL(fileURLWithPath: path))
      try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
      XCTAssertEqual(complaint(path), expected)
    }
    XCTAssertEqual(complaint(mock.key, keyID: "short"), "the key id has ten letters and digits")
    XCTAssertNotNil(complaint(mock.key, topic: "two words"))
  }
}
