import PorterPlatform
import PorterRelay
import Synchronization
import XCTest

@testable import PorterRelayCluster

/// A body that is missing for now: the relay does not report the mailbox as empty, which its client would take as final.
final class MissingBodiesTests: ClusterTestCase {
  private lazy var port = makePort()
  private lazy var relay = RelayClient(port: port, randomness: randomness)

  private func assertUnavailable(_ mailbox: Fixture, _ line: UInt = #line) {
    XCTAssertThrowsError(try client.getMessage(mailbox.recipient, key: mailbox.key), line: line) { error in
      XCTAssertEqual(error as? RelayError, .unavailable, line: line)
    }
  }

  func testAMailboxIsNotEmptyWhileItsMessageMayComeBack() throws {
    let mailbox = try newMailbox()
    try send("hello", to: mailbox, by: relay)
    store.undoBodies()
    // The relay that accepted it is frozen.
    store.setMute(true)
    assertUnavailable(mailbox)
    clock.advance(.seconds(100))
    assertUnavailable(mailbox)
    XCTAssertEqual(restoreBodies(of: port).restored, 1)
    XCTAssertEqual(try receiveAll(mailbox), ["hello"])
  }

  /// Nor is an acknowledgement answered without the next message; its repeat is.
  func testAnAcknowledgementDoesNotSayThatNothingElseIsThere() throws {
    let mailbox = try newMailbox()
    try send("first", to: mailbox)
    let first = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
    try send("second", to: mailbox, by: relay)
    store.undoBodies()
    store.setMute(true)
    XCTAssertThrowsError(
      try client.acknowledgeAndGet(first.identifier, in: mailbox.recipient, key: mailbox.key)
    ) { XCTAssertEqual($0 as? RelayError, .unavailable) }
    store.setMute(false)
    XCTAssertEqual(try receiveAll(mailbox), ["second"])
  }

  func testAMessageThatNobodyHasIsSkippedInTheEnd() throws {
    let mailbox = try newMailbox()
    try send("hello", to: mailbox, by: relay)
    store.undoBodies()
    clock.advance(AcceptedBodies.span + .seconds(11))
    XCTAssertEqual(try receiveAll(mailbox), [])
  }

  /// However old the message is.
  func testAReplicaThatDoesNotAnswerMayHaveIt() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second"] { try send(text, to: mailbox) }
    let bodies = store.takeBodies()
    clock.advance(.seconds(600))
    store.hideBodies(true)
    assertUnavailable(mailbox)
    try send("third", to: mailbox)
    XCTAssertEqual(try client.getMessage(mailbox.recipient, key: mailbox.key)?.body, Array("third".utf8))
    store.putBack(bodies)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second", "third"])
  }

  /// The relay that stored it has ended; the sender has repeated it at this one.
  func testTheRelayOfARepeatHasItAsWell() throws {
    let mailbox = try newMailbox()
    let attempt = try RelayIdentifier.generate(randomness: randomness)
    try send("hello", to: mailbox, attempt: attempt)
    store.relays.withLock { $0 = [] }
    try send("hello", to: mailbox, attempt: attempt, by: relay)
    store.undoBodies()
    XCTAssertEqual(try makeClient().getMessage(mailbox.recipient, key: mailbox.key)?.body, Array("hello".utf8))
  }

  /// An app acknowledges the first while an extension asks.
  func testTheNextIsGivenIfTheFirstIsAcknowledgedMeanwhile() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second"] { try send(text, to: mailbox, by: relay) }
    let first = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
    store.undoBodies()
    let other = makeClient()
    // Once for the request, and once before a message that only a relay has is given.
    store.beforeSettling { [store] in
      store.beforeSettling {
        _ = try? other.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.key)
      }
    }
    XCTAssertEqual(
      try client.getMessage(mailbox.recipient, key: mailbox.key)?.body, Array("second".utf8))
  }

  /// A node that was frozen when the mailbox was made takes itself for the leader.
  func testAMailboxThatTheLeaderLacksIsNotDenied() throws {
    let before = store.records
    let mailbox = try newMailbox()
    try send("hello", to: mailbox)
    store.lag(as: before, untilSettled: 2)
    assertUnavailable(mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["hello"])
    // One that another relay has deleted is denied the second time.
    try makeClient().deleteMailbox(mailbox.recipient, key: mailbox.key)
    assertUnavailable(mailbox)
    XCTAssertThrowsError(try client.getMessage(mailbox.recipient, key: mailbox.key)) {
      XCTAssertEqual($0 as? RelayError, .auth)
    }
  }
}
