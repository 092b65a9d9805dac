import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// Nodes that were cut off from each other undo bodies that they had acknowledged. The relay that accepted the messages
/// restores them.
final class RestoredBodiesTests: ClusterTestCase {
  private lazy var port = makePort()
  private lazy var relay = RelayClient(port: port, randomness: randomness)

  /// The number of missing bodies, or nil if some were not checked.
  private func restore() -> Int? {
    let (restored, isComplete) = restoreBodies(of: port)
    return isComplete ? restored : nil
  }

  func testWhatWaitsIsThereAgainInOrder() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    for text in ["read", "first", "second"] { try send(text, to: mailbox, by: relay) }
    try send("third", to: other, by: relay)
    let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
    try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key)
    XCTAssertEqual(restore(), 0)
    store.undoBodies()
    XCTAssertEqual(restore(), 3)
    XCTAssertEqual(restore(), 0)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second"])
    XCTAssertEqual(try receiveAll(other), ["third"])
    XCTAssertEqual(store.bodyCount, 0)
  }

  /// Another relay has accepted it, and has not checked whether the cluster still has it.
  func testAMessageThatIsAskedForIsThereInOrder() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second"] { try send(text, to: mailbox, by: relay) }
    store.undoBodies()
    try send("third", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second", "third"])
    try send("fourth", to: mailbox, by: relay)
    store.undoBodies()
    clock.advance(AcceptedBodies.span + .seconds(11))
    try send("fifth", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["fifth"], "no relay has the fourth")
  }

  /// The cluster stores the record without an answer in time; the sender repeats, and only the repeat is answered.
  func testAMessageThatWasAcceptedWithoutAnAnswerIsThereAgain() throws {
    let mailbox = try newMailbox()
    for step in 1...8 {
      let attempt = try RelayIdentifier.generate(randomness: randomness)
      store.fail(call: step, .after)
      let isAnswered = (try? send("\(step)", to: mailbox, attempt: attempt, by: relay)) != nil
      store.fail(call: 0, .after)
      if !isAnswered { try send("\(step)", to: mailbox, attempt: attempt, by: relay) }
      store.undoBodies()
      XCTAssertEqual(try receiveAll(mailbox), ["\(step)"])
    }
  }

  func testOneWhoseMessageIsAcknowledgedMeanwhileIsNotNamedAgain() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second"] { try send(text, to: mailbox, by: relay) }
    let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
    store.undoBodies()
    // As another relay does while the body is being stored.
    let before = store.records
    try client.acknowledge(message.identifier, in: mailbox.recipient, key: mailbox.key)
    store.lag(as: before, untilSettled: 2)
    XCTAssertEqual(restore(), 1)
    XCTAssertEqual(try receiveAll(mailbox), ["second"])
    store.dropUnnamedBodies()
    XCTAssertEqual(store.bodyCount, 0, "nothing is left that no record names")
  }

  /// A node that no longer leads refuses the record that the leader stores.
  func testABodyThatIsNamedThoughThatIsRefusedIsKept() throws {
    let mailbox = try newMailbox()
    try send("first", to: mailbox, by: relay)
    store.undoBodies()
    store.refuseNext()
    XCTAssertEqual(restore(), 1)
    XCTAssertEqual(try receiveAll(mailbox), ["first"])
  }

  func testAFailureIsReportedAndTheNextTryEndsIt() throws {
    let mailbox = try newMailbox()
    for text in ["first", "second", "third"] { try send(text, to: mailbox, by: relay) }
    store.undoBodies()
    for call in 1...12 {
      store.fail(call: call, .after)
      if restore() != nil { break }
      XCTAssertLessThan(call, 12)
    }
    store.fail(call: 0, .before)
    XCTAssertEqual(restore(), 0)
    XCTAssertEqual(try receiveAll(mailbox), ["first", "second", "third"])
  }

  func testOneMailboxsTroubleKeepsNoOtherBack() throws {
    let mailboxes = try (1...9).map { _ in try newMailbox() }
    for mailbox in mailboxes { try send("hello", to: mailbox, by: relay) }
    let damaged = try XCTUnwrap(store.records.keys.sorted().first)
    store.undoBodies()
    store.damageRecords { $0 == damaged }
    let (restored, isComplete) = restoreBodies(of: port)
    XCTAssertEqual(restored, 8)
    XCTAssertFalse(isComplete)
    XCTAssertEqual(store.bodyCount, 8)
  }

  /// A push that came while the body was missing found nothing.
  func testARestoredMessageIsAnnounced() throws {
    let (mailbox, service) = try watchedMailbox()
    try send("hello", to: mailbox, by: relay)
    try service.acknowledge(try service.dueNotifications().notifications)
    store.undoBodies()
    // The body and the record are stored, and then there is no answer.
    store.fail(call: 8, .before)
    XCTAssertNil(restore())
    XCTAssertEqual(store.bodyCount, 1)
    store.fail(call: 0, .before)
    XCTAssertEqual(try service.dueNotifications().notifications.count, 0)
    XCTAssertEqual(restore(), 0)
    XCTAssertEqual(try service.dueNotifications().notifications.count, 1)
    XCTAssertEqual(restore(), 0)
    XCTAssertEqual(try service.dueNotifications().notifications.count, 1, "once")
    XCTAssertEqual(try receiveAll(mailbox), ["hello"])
  }

  /// Two minutes, and 64 MB.
  func testOnlyWhatWasAcceptedLatelyIsKept() throws {
    let mailbox = try newMailbox()
    try send("old", to: mailbox, by: relay)
    clock.advance(AcceptedBodies.span + .seconds(10))
    try send("new", to: mailbox, by: relay)
    clock.advance(.seconds(1))
    store.undoBodies()
    XCTAssertEqual(restore(), 1)
    XCTAssertEqual(try receiveAll(mailbox), ["new"])
    let bodies = AcceptedBodies()
    let parts = ClusterKey.Parts(mailbox: [], generation: [])
    for number in 0..<6_000 {
      let message = try RelayIdentifier.generate(randomness: randomness)
      let bytes = [UInt8](repeating: UInt8(number % 256), count: 16_384)
      bodies.note(.init(key: "", parts: parts, message: message, bytes: bytes, at: clock.now()))
    }
    let kept = bodies.all(now: clock.now())
    XCTAssertEqual(kept.count, AcceptedBodies.mostBytes / (16_384 + 384))
    XCTAssertEqual(kept.last?.bytes.first, UInt8(5_999 % 256))
  }
}
