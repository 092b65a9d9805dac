import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// A relay whose clock, or whose cluster's clock, is wrong loses no message and no notification (INC-14).
final class WrongClockTests: ClusterTestCase {
  private let long = Span.days(30)

  /// A relay that knows the cluster's time.
  private func relay() -> ClusterPort {
    let port = makePort()
    port.relay.note(time: clock.wall().milliseconds)
    return port
  }

  private func assertRefused(_ body: () throws -> Void, line: UInt = #line) {
    XCTAssertThrowsError(try body(), line: line) { XCTAssertEqual($0 as? RelayError, .unavailable, line: line) }
  }

  func testARelayWhoseClockIsBehindStoresNothingAsIfItWereOld_INC14() throws {
    let port = relay()
    client = RelayClient(port: port, randomness: randomness)
    clock.setWall(ahead: .zero - long)
    let mailbox = try newMailbox()
    assertRefused { try send("early", to: mailbox) }
    XCTAssertEqual(port.relay.clockProblem, "the clock differs from the cluster's by -2592000 s")
    clock.setWall(ahead: .zero)
    XCTAssertNil(port.relay.clockProblem)
    try send("accepted", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["accepted"])
  }

  func testARelayWhoseClockIsAheadEndsNoMessageAndNoNotification_INC14() throws {
    let port = relay()
    client = RelayClient(port: port, randomness: randomness)
    let (mailbox, service) = (try newMailbox(), try SigningKeyPair.generate(randomness: randomness))
    let (key, boxKey) = (
      try SigningKeyPair.generate(randomness: randomness), try BoxKeyPair.generate(randomness: randomness)
    )
    let notifier = try client.enableNotifier(
      mailbox.recipient, key: mailbox.key, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
    let server = notifiers(of: service, at: port)
    _ = try server.subscribe([(notifier: notifier.identifier, key: key)])
    try send("hello", to: mailbox)
    clock.advance(.seconds(60))
    clock.setWall(ahead: long)
    assertRefused { _ = try server.dueNotifications() }
    assertRefused { _ = try receiveAll(mailbox) }
    clock.setWall(ahead: .zero)
    XCTAssertEqual(try server.dueNotifications().notifications.count, 1)
    XCTAssertEqual(ended.all, [])
    XCTAssertEqual(try receiveAll(mailbox), ["hello"])
  }

  func testAClusterWhoseClockJumpsIsNotBelieved() throws {
    let port = relay()
    client = RelayClient(port: port, randomness: randomness)
    let mailbox = try newMailbox()
    try send("kept", to: mailbox)
    port.relay.note(time: clock.wall().milliseconds + long.milliseconds)
    assertRefused { _ = try receiveAll(mailbox) }
    port.relay.note(time: clock.wall().milliseconds + 59_000)
    XCTAssertEqual(try receiveAll(mailbox), ["kept"])
  }
}
