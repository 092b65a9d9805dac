import Foundation
import NIOCore
import PorterServer
import PorterWebPush
import PushStandIns
import XCTest

final class WebPushTests: WebPushTestCase {
  // MARK: Requests

  func testAPushIsSealedForItsReceiverAndHasTheHeadersOfItsKind() throws {
    XCTAssertEqual(outcome(try push(.message, payload: "the message")), .accepted)
    XCTAssertEqual(outcome(try push(.verification)), .accepted)
    XCTAssertEqual(outcome(try push(.wake)), .accepted)
    let requests = try mock.report().requests
    XCTAssertEqual(requests.map(\.path), ["/push/0", "/push/1", "/push/2"])
    XCTAssertEqual(requests.map(\.body), ["the message", #"{"aps":{}}"#, #"{"aps":{}}"#])
    XCTAssertEqual(requests.map(\.ttl), ["\(21 * 86_400)", "86400", "1200"])
    XCTAssertEqual(requests.map(\.urgency), ["high", "normal", "low"])
    XCTAssertEqual(requests.map(\.topic), [nil, "verification", "wake"])
    XCTAssertEqual(Set(requests.map(\.authorization)).count, 1)
    XCTAssertEqual(try options().publicKey, try receiver().sender)
  }

  func testTheLongestPayloadFitsAndALongerOneIsDropped() throws {
    XCTAssertEqual(outcome(try push(payload: String(repeating: "x", count: 3_993))), .accepted)
    XCTAssertEqual(outcome(try push(payload: String(repeating: "x", count: 3_994))), .rejected(status: 413))
    XCTAssertEqual(try mock.report().requests.count, 1)
  }

  func testManyPushesShareAConnection() throws {
    for _ in 0..<300 { send(try push()) }
    XCTAssertEqual(outcomes.wait(300).values.filter { $0 == [.accepted] }.count, 300)
    XCTAssertEqual(try mock.report().connections, 1)
    XCTAssertEqual(Set(try mock.report().requests.map(\.path)).count, 300)
  }

  func testTheTokenIsRenewedBeforeItExpires() throws {
    try provider.close()
    var options = try options()
    options.idleTime = .hours(100)
    provider = try WebPushProvider(options, clock: clock)
    var tokens: [String] = []
    for hour in 0..<20 {
      try mock.setTime(clock.seconds)
      XCTAssertEqual(try outcome(), .accepted, "hour \(hour)")
      tokens.append(try XCTUnwrap(mock.report().requests.last).authorization)
      try clock.advance(by: .hours(1))
    }
    XCTAssertEqual(Set(tokens[0..<6]).count, 1)
    XCTAssertEqual(Set(tokens).count, 4)
  }

  // MARK: Answers

  func testEachAnswerHasItsOutcome() throws {
    let table: [(Int, PushOutcome)] = [
      (200, .accepted), (201, .accepted), (202, .accepted), (204, .accepted), (404, .invalid(.unregistered)),
      (410, .invalid(.unregistered)), (400, .rejected(status: 400)), (405, .rejected(status: 405)),
      (413, .rejected(status: 413)), (301, .rejected(status: 301)), (302, .rejected(status: 302)),
      (307, .rejected(status: 307)), (308, .rejected(status: 308)), (429, .later(seconds: 60)),
    ]
    for (status, expected) in table {
      try mock.plan(#"{"status":\#(status)}"#)
      XCTAssertEqual(try outcome(), expected, "\(status)")
    }
    try mock.plan(#"{"status":429,"retryAfter":7}"#)
    XCTAssertEqual(try outcome(), .later(seconds: 7))
    let form = DateFormatter()
    (form.locale, form.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(identifier: "GMT"))
    form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = form.string(from: Date(timeIntervalSince1970: Double(clock.seconds + 90)))
    try mock.plan(#"{"status":429,"retryAfter":"\#(date)"}"#)
    XCTAssertEqual(try outcome(), .later(seconds: 90))
    XCTAssertEqual(try mock.report().requests.count, table.count + 2, "no redirect is followed")
  }

  func testAServiceThatFailsIsLeftAloneForLongerEachTime() throws {
    for (index, seconds) in [30, 60, 120, 240, 480, 960, 1_920, 3_600, 3_600].enumerated() {
      try mock.plan(#"{"status":\#([500, 502, 503, 504][index % 4])}"#)
      XCTAssertEqual(try outcome(), .later(seconds: seconds))
      let count = try mock.report().requests.count
      XCTAssertEqual(try outcome(), .later(seconds: seconds), "not asked")
      XCTAssertEqual(try mock.report().requests.count, count)
      try clock.advance(by: .seconds(Int64(seconds)))
    }
    try mock.setTime(clock.seconds)
    XCTAssertEqual(try outcome(), .accepted)
    try mock.plan(#"{"status":503,"retryAfter":200}"#)
    XCTAssertEqual(try outcome(), .later(seconds: 200), "as long as it asks for; and its failures are counted anew")
  }

  func testATokenThatIsRefusedIsReplacedOnceAndThePushKept() throws {
    try mock.plan(#"{"status":401}"#)
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertEqual(Set(try mock.report().requests.map(\.authorization)).count, 2)
    try mock.plan(#"{"status":403}"#)
    let kept = try push()
    XCTAssertEqual(outcome(kept), .later(seconds: 30), "not another one so soon")
    // The computer's clock is wrong: no subscription ends.
    try mock.setTime(clock.seconds + 1_000_000)
    try clock.advance(by: .seconds(400))
    XCTAssertEqual(outcome(kept), .later(seconds: 60))
  }

  func testAConnectionThatIsDroppedIsMadeAgainAndThePushSentOnce() throws {
    try mock.plan(#"{"drop":true}"#)
    XCTAssertEqual(try outcome(), .accepted)
    try mock.plan(#"{"reset":"refused"}"#)
    XCTAssertEqual(try outcome(), .accepted)
    try mock.plan(#"{"goaway":true}"#)
    XCTAssertEqual(try outcome(), .accepted)
    try mock.plan(#"{"drop":true}"#, #"{"drop":true}"#)
    XCTAssertEqual(try outcome(), .later(seconds: 30))
  }

  func testAServiceThatHangsIsGivenUpAndDelaysNoOther() throws {
    try mock.plan(#"{"hold":true}"#)
    send(try push())
    try mock.waitForRequests(1)
    // A different name is a different service.
    XCTAssertEqual(outcome(try push(to: "https://127.0.0.1:\(mock.port)/push/other")), .accepted)
    try mock.plan(#"{"hold":true}"#)
    try clock.advance(by: .seconds(15))
    try mock.waitForRequests(3)
    try clock.advance(by: .seconds(15))
    XCTAssertEqual(outcomes.wait(1)[1], [.later(seconds: 30)])
  }

  func testAServiceThatIsGoneIsForLater() throws {
    let port = try mock.port
    mock.close()
    XCTAssertEqual(outcome(try push(to: "https://localhost:\(port)/push/1")), .later(seconds: 30))
  }

  func testACertificateOfAnotherAuthorityOrNameIsRefused() throws {
    var options = try options()
    options.authority = nil
    let other = try WebPushProvider(options, clock: clock)
    defer { try? other.close() }
    other.send(try push(), then: outcomes.note(1))
    XCTAssertEqual(outcomes.wait(1)[1], [.later(seconds: 30)])
    XCTAssertEqual(
      outcome(try push(to: "https://ip6-localhost:\(mock.port)/push/1")), .later(seconds: 30), "another name")
    XCTAssertEqual(try mock.report().requests.count, 0)
  }

  func testAConnectionThatIsNotUsedIsClosed() throws {
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertEqual(clock.timers, [300])
    try clock.advance(by: .minutes(5))
    try mock.setTime(clock.seconds)
    XCTAssertEqual(try outcome(), .accepted)
    XCTAssertEqual(try mock.report().connections, 2)
  }

  // MARK: Registrations

  func testAKeyThatIsNoPointEndsItsSubscriptionOnly() throws {
    var key = try hex(receiver().p256dh)
    key[64] ^= 1
    XCTAssertEqual(outcome(try push(key: key)), .invalid(.bad))
    XCTAssertEqual(try outcome(), .accepted)
  }

  func testEndpointsInTheOperatorsOwnNetworksAreRefused() throws {
    var options = try options()
    options.allowsPrivateAddresses = false
    let port = try mock.port
    let strict = try WebPushProvider(options, clock: clock)
    defer { try? strict.close() }
    let addresses = [
      "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
      "255.255.255.255", "[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
      "[2002:7f00:1::]", "[ff02::1]",
    ]
    for (index, address) in addresses.enumerated() {
      strict.send(try push(to: "https://\(address):\(port)/push/1"), then: outcomes.note(index))
      XCTAssertEqual(outcomes.wait(1)[index], [.invalid(.bad)], address)
    }
    // Names, and addresses that only the resolver recognises as such, are detected when they are resolved.
    for (index, name) in ["localhost", "2130706433", "127.1", "0x7f.1", "017700000001"].enumerated() {
      strict.send(try push(to: "https://\(name):\(port)/push/1"), then: outcomes.note(100 + index))
      XCTAssertEqual(outcomes.wait(1)[100 + index], [.later(seconds: 30)], name)
    }
    XCTAssertEqual(try mock.report().connections, 0)
  }

  func testWhatIsNoEndpointIsRefused() throws {
    for endpoint in [
      "http://localhost/push", "https://", "https:///push", "https://localhost", "https://localhost:0/x",
      "https://localhost:65536/x", "https://localhost:+1/x", "https://[::1/x", "https://[localhost]/x", "https://a]b/x",
      "ftp://localhost/x",
    ] {
      XCTAssertEqual(outcome(try push(to: endpoint)), .invalid(.bad), endpoint)
    }
  }

  func testWhatIsWrongWithTheKeyOrTheContactIsSaid() throws {
    func complaint(_ path: String, _ contact: String) -> String? {
      do throws(WebPushError) {
        _ = try WebPushOptions(key: path, contact: contact)
        return nil
      } catch { return error.description }
    }
    let key = mock.folder.appendingPathComponent("vapid.pem").path
    XCTAssertNil(complaint(key, "https://example.org/contact"))
    XCTAssertEqual(complaint("/nowhere.pem", "mailto:a@b"), "/nowhere.pem: No such file or directory")
    for contact in ["", "a@b", "mailto:a\"b", "mailto:a b", "http://example.org"] {
      XCTAssertNotNil(complaint(key, contact), contact)
    }
  }
}
