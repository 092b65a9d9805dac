import PorterCrypto
import PorterPlatform
import PorterRelay
import XCTest

@testable import PorterRelayCluster

/// A clustered relay whose calls can fail.
final class ClusteredRelayTests: ClusterTestCase {
  // MARK: Failures

  /// Whichever call to the cluster fails, before or after taking effect: the sender repeats, and the message is there
  /// once.
  func testWhicheverCallFailsARepeatedSendingIsOneMessage() throws {
    for fault in MemoryStore.Fault.allCases {
      var call = 0
      var hasFailed = true
      while hasFailed {
        call += 1
        let mailbox = try newMailbox()
        try send("first", to: mailbox)
        let attempt = try RelayIdentifier.generate(randomness: randomness)
        // A relay that remembers nothing asks the most.
        let other = makeClient()
        store.fail(call: call, fault)
        do {
          try send("second", to: mailbox, attempt: attempt, by: other)
          hasFailed = false
        } catch {
          XCTAssertEqual(error as? RelayError, .unavailable)
          try send("second", to: mailbox, attempt: attempt)
        }
        store.fail(call: 0, fault)
        XCTAssertEqual(try receiveAll(mailbox), ["first", "second"], "call \(call) \(fault)")
        try send("second", to: mailbox, attempt: attempt)
        XCTAssertEqual(try receiveAll(mailbox), [], "call \(call) \(fault)")
      }
      XCTAssertGreaterThan(call, 3)
    }
  }

  /// As when a node that no longer leads refuses what the leader stores. The relay does not take its own message for an
  /// earlier one, whose body it would keep instead of this one's.
  func testAMessageThatIsStoredThoughItIsRefusedIsThere() throws {
    let (mailbox, notifiers) = try watchedMailbox()
    store.refuseNext()
    try send("first", to: mailbox)
    XCTAssertEqual(try notifiers.pendingNotifications().count, 1)
    XCTAssertEqual(try receiveAll(mailbox), ["first"])
    XCTAssertEqual(store.bodyCount, 0)
  }

  /// The sender cannot tell which of the two happened, and sends again.
  func testAMessageThatIsStoredThoughANodeHasNoRoomKeepsItsBody() throws {
    for room in [MemoryStore.Room.none, .noneElsewhere] {
      let mailbox = try newMailbox()
      let attempt = try RelayIdentifier.generate(randomness: randomness)
      store.setRoom(room)
      XCTAssertThrowsError(try send("first", to: mailbox, attempt: attempt))
      store.dropUnnamedBodies()
      XCTAssertEqual(store.bodyCount, room == .none ? 0 : 1)
      try send("first", to: mailbox, attempt: attempt)
      XCTAssertEqual(try receiveAll(mailbox), ["first"])
      XCTAssertEqual(store.bodyCount, 0)
    }
  }

  /// Notifications from before the service are there for it, even if the relay deferred the service while giving it
  /// those.
  func testWhicheverCallFailsAServiceGetsWhatCameBeforeIt() throws {
    for fault in MemoryStore.Fault.allCases {
      var call = 0
      var hasFailed = true
      while hasFailed {
        call += 1
        let mailbox = try newMailbox()
        let (key, boxKey) = (
          try SigningKeyPair.generate(randomness: randomness), try BoxKeyPair.generate(randomness: randomness)
        )
        let notifier = try client.enableNotifier(
          mailbox.recipient, key: mailbox.key, notifierKey: key.publicKey, boxKey: boxKey.publicKey)
        for text in ["first", "second"] { try send(text, to: mailbox) }
        let service = try SigningKeyPair.generate(randomness: randomness)
        let (other, again) = (makePort(), makePort())
        store.fail(call: call, fault)
        do {
          _ = try notifiers(of: service, at: other).subscribe([(notifier: notifier.identifier, key: key)])
          hasFailed = false
        } catch {
          store.fail(call: 0, fault)
          let answer = try notifiers(of: service, at: again).subscribe([(notifier: notifier.identifier, key: key)])
          XCTAssertEqual(answer, [.waiting])
        }
        store.fail(call: 0, fault)
        let due = try notifiers(of: service, at: again).dueNotifications().notifications
        XCTAssertGreaterThanOrEqual(due.count, 2, "call \(call) \(fault)")
        try notifiers(of: service, at: again).acknowledge(due)
        _ = try notifiers(of: service, at: again).subscribe([(notifier: notifier.identifier, key: key)])
        XCTAssertEqual(
          try notifiers(of: service, at: again).dueNotifications().notifications.count, 0, "again: \(call) \(fault)")
      }
      XCTAssertGreaterThan(call, 4)
    }
  }

  func testWhicheverCallFailsAMessageIsGivenUntilItIsAcknowledged() throws {
    for fault in MemoryStore.Fault.allCases {
      var call = 0
      var hasFailed = true
      while hasFailed {
        call += 1
        let mailbox = try newMailbox()
        for text in ["first", "second"] { try send(text, to: mailbox) }
        let first = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
        let other = makeClient()
        store.fail(call: call, fault)
        do {
          let outcome = try other.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.key)
          XCTAssertEqual(outcome, .done)
          hasFailed = false
        } catch {
          _ = try client.acknowledge(first.identifier, in: mailbox.recipient, key: mailbox.key)
        }
        store.fail(call: 0, fault)
        XCTAssertEqual(try receiveAll(mailbox), ["second"], "call \(call) \(fault)")
      }
    }
  }

  /// The answer was lost, and the recipient has since secured the mailbox: the repeat is not taken for a stranger's.
  func testARepeatedSendingIsRecognisedThoughTheMailboxWasSecuredMeanwhile() throws {
    let key = try SigningKeyPair.generate(randomness: randomness)
    let senderKey = try SigningKeyPair.generate(randomness: randomness)
    let made = try client.createMailbox(recipientKey: key)
    let attempt = try RelayIdentifier.generate(randomness: randomness)
    try client.send([1], to: made.sender, key: nil, attempt: attempt, notify: false)
    try client.secureMailbox(made.recipient, key: key, senderKey: senderKey.publicKey)
    try client.send([1], to: made.sender, key: nil, attempt: attempt, notify: false)
    let message = try XCTUnwrap(try client.getMessage(made.recipient, key: key))
    try client.acknowledge(message.identifier, in: made.recipient, key: key)
    XCTAssertNil(try client.getMessage(made.recipient, key: key), "it comes once")
    let other = try RelayIdentifier.generate(randomness: randomness)
    XCTAssertThrowsError(try client.send([2], to: made.sender, key: nil, attempt: other, notify: false)) {
      XCTAssertEqual($0 as? RelayError, .auth)
    }
  }

  /// An unsigned message is compared with the record, without a question first.
  func testAStrangersSendingIsRefusedThoughARelayRemembersTheMailboxAsOpen() throws {
    let key = try SigningKeyPair.generate(randomness: randomness)
    let senderKey = try SigningKeyPair.generate(randomness: randomness)
    let made = try client.createMailbox(recipientKey: key)
    let other = makeClient()
    func send(_ body: UInt8, _ attempt: RelayIdentifier? = nil, key: SigningKeyPair? = nil) throws {
      let attempt = try attempt ?? RelayIdentifier.generate(randomness: randomness)
      try other.send([body], to: made.sender, key: key, attempt: attempt, notify: false)
    }
    try send(1)
    XCTAssertEqual(try store.requests { try send(2) }, ["addBody", "replace"])
    try send(3)
    try client.secureMailbox(made.recipient, key: key, senderKey: senderKey.publicKey)
    let asked = try store.requests {
      XCTAssertThrowsError(try send(4)) { XCTAssertEqual($0 as? RelayError, .auth) }
    }
    XCTAssertEqual(Array(asked.prefix(2)), ["addBody", "replace"], "it was admitted by what the relay remembers")
    store.dropUnnamedBodies()
    XCTAssertEqual(store.bodyCount, 3)
    try send(5, key: senderKey)
    var bodies: [UInt8] = []
    while let message = try client.getMessage(made.recipient, key: key) {
      bodies += message.body
      try client.acknowledge(message.identifier, in: made.recipient, key: key)
    }
    XCTAssertEqual(bodies, [1, 2, 3, 5])
  }

  /// The repeat reaches a relay that remembers the mailbox as open, and without the message.
  func testARepeatIsRecognisedByARelayThatRemembersTheMailboxAsOpen() throws {
    let key = try SigningKeyPair.generate(randomness: randomness)
    let senderKey = try SigningKeyPair.generate(randomness: randomness)
    let made = try client.createMailbox(recipientKey: key)
    let (other, attempt) = (makeClient(), try RelayIdentifier.generate(randomness: randomness))
    func send(_ body: UInt8, _ attempt: RelayIdentifier, by relay: RelayClient) throws {
      try relay.send([body], to: made.sender, key: nil, attempt: attempt, notify: false)
    }
    try send(1, RelayIdentifier.generate(randomness: randomness), by: other)
    try send(2, attempt, by: client)
    try client.secureMailbox(made.recipient, key: key, senderKey: senderKey.publicKey)
    let asked = try store.requests { try send(2, attempt, by: other) }
    XCTAssertEqual(Array(asked.prefix(2)), ["addBody", "replace"], "it was admitted by what the relay remembers")
    XCTAssertEqual(store.bodyCount, 2, "the second body of the same message is dropped")
  }

  func testOutOfReachEveryRequestIsUnavailableAndNothingIsRefused() throws {
    let mailbox = try newMailbox()
    store.setOutOfReach(true)
    for body: () throws -> Void in [
      { try self.send("x", to: mailbox) }, { _ = try self.receiveAll(mailbox) }, { _ = try self.newMailbox() },
      { _ = try self.client.check([(mailbox.recipient, mailbox.key)]) },
    ] {
      XCTAssertThrowsError(try body()) { XCTAssertEqual($0 as? RelayError, .unavailable) }
    }
    store.setOutOfReach(false)
    try send("x", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["x"])
  }

  /// Clients can cause it, and it says nothing about the cluster.
  func testWhatConcernsOneMailboxIsItsOwnTrouble() throws {
    let mailbox = try newMailbox()
    try send("x", to: mailbox)
    let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: mailbox.key))
    var request = RelayRequest(
      correlation: try .generate(randomness: randomness), entity: mailbox.recipient,
      command: .acknowledge(message: message.identifier))
    request.signature = mailbox.key.sign(request.signedBytes)
    store.refuseAll()
    guard case .failed(_, isOwn: true) = makePort().outcome(of: request.encoded()) else {
      return XCTFail("too many changes")
    }
    store.damageRecords()
    guard case .failed(_, isOwn: true) = makePort().outcome(of: request.encoded()) else {
      return XCTFail("a damaged record")
    }
    store.setOutOfReach(true)
    guard case .failed(_, isOwn: false) = makePort().outcome(of: request.encoded()) else {
      return XCTFail("no answer of the cluster")
    }
  }

  // MARK: Between relays

  func testARecordThatAnotherRelayChangedIsReadAgain() throws {
    let mailbox = try newMailbox()
    let other = makeClient()
    for number in 0..<20 { try send("\(number)", to: mailbox, by: number % 2 == 0 ? client : other) }
    XCTAssertEqual(try receiveAll(mailbox), (0..<20).map(String.init))
  }

  func testAMailboxThatIsMadeAgainHasOtherNamesAndNoMessages() throws {
    let mailbox = try newMailbox()
    try send("gone", to: mailbox)
    try client.deleteMailbox(mailbox.recipient, key: mailbox.key)
    XCTAssertEqual(store.bodyCount, 0)
    XCTAssertThrowsError(try send("x", to: mailbox)) { XCTAssertEqual($0 as? RelayError, .auth) }
    let again = try client.createMailbox(recipientKey: mailbox.key, senderKey: mailbox.senderKey.publicKey)
    XCTAssertNotEqual(again.recipient, mailbox.recipient)
    XCTAssertThrowsError(try send("x", to: mailbox)) { XCTAssertEqual($0 as? RelayError, .auth) }
    XCTAssertNil(try client.getMessage(again.recipient, key: mailbox.key))
  }

  // MARK: Bounds

  func testMessagesAreKeptForTwentyOneDaysAndThenMakeRoom() throws {
    let mailbox = try newMailbox()
    for number in 0..<128 { try send("\(number)", to: mailbox) }
    XCTAssertThrowsError(try send("x", to: mailbox)) { XCTAssertEqual($0 as? RelayError, .quota) }
    clock.advance(.days(21))
    XCTAssertEqual(try client.getMessage(mailbox.recipient, key: mailbox.key)?.body, Array("0".utf8))
    clock.advance(.milliseconds(1))
    XCTAssertNil(try client.getMessage(mailbox.recipient, key: mailbox.key))
    try send("new", to: mailbox)
    XCTAssertEqual(try receiveAll(mailbox), ["new"])
    XCTAssertEqual(store.bodyCount, 0, "the expired ones are gone")
  }

  func testTheLast256AttemptsAreRemembered() throws {
    let mailbox = try newMailbox()
    var attempts: [RelayIdentifier] = []
    for number in 0..<(MailboxRecord.mostPast + 1) {
      attempts.append(try .generate(randomness: randomness))
      try send("\(number)", to: mailbox, attempt: attempts[number])
      XCTAssertEqual(try receiveAll(mailbox), ["\(number)"])
    }
    try send("again", to: mailbox, attempt: attempts[1])
    XCTAssertEqual(try receiveAll(mailbox), [])
    try send("again", to: mailbox, attempt: attempts[0])
    XCTAssertEqual(try receiveAll(mailbox), ["again"], "as relay-cluster.md says")
  }
}
