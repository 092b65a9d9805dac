import PorterCrypto
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterRelay

final class RelayAuthorizationTests: RelayTestCase {
  func testUnknownEntityAndWrongKeyAreIndistinguishable() throws {
    let mailbox = try newMailbox()
    let (wrong, unknown, message) = (try newKey(), try newAttempt(), try newAttempt())
    let boxKey = try BoxKeyPair.generate(randomness: randomness).publicKey
    let commands: [RelayCommand] = [
      .secureMailbox(senderKey: wrong.publicKey), .getMessage, .getMessageWithAge, .acknowledge(message: message),
      .acknowledgeAndGet(message: message),
      .enableNotifier(notifierKey: wrong.publicKey, boxKey: boxKey), .disableNotifier, .deleteMailbox,
    ]
    for command in commands {
      for (entity, key) in [
        (mailbox.recipient, wrong), (mailbox.recipient, mailbox.senderKey), (mailbox.sender, mailbox.recipientKey),
        (unknown, mailbox.recipientKey),
      ] {
        assertRefused(.auth) { try client.exchangeOrThrow(command, entity: entity, key: key) }
      }
      assertRefused(.auth) { try client.exchangeOrThrow(command, entity: mailbox.recipient, key: nil) }
      assertRefused(.auth) { try client.exchangeOrThrow(command, entity: nil, key: mailbox.recipientKey) }
    }
    for (entity, key) in [
      (mailbox.sender, wrong), (mailbox.sender, mailbox.recipientKey), (unknown, mailbox.senderKey),
    ] {
      assertRefused(.auth) { try client.send([1], to: entity, key: key, attempt: message, notify: false) }
    }
    assertRefused(.auth) { try client.send([1], to: mailbox.sender, key: nil, attempt: message, notify: false) }
    assertRefused(.auth) { try client.send([1], to: unknown, key: nil, attempt: message, notify: false) }
    XCTAssertNil(try head(of: mailbox))
  }

  /// The answer was lost, and the recipient has since secured the mailbox: the repeat is not taken for a stranger's.
  func testARepeatedSendingIsRecognisedThoughTheMailboxWasSecuredMeanwhile() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    let attempt = try newAttempt()
    try client.send([1], to: mailbox.sender, key: nil, attempt: attempt, notify: false)
    let message = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: recipientKey))
    try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    try client.send([1], to: mailbox.sender, key: nil, attempt: attempt, notify: false)
    try client.acknowledge(message.identifier, in: mailbox.recipient, key: recipientKey)
    try client.send([1], to: mailbox.sender, key: nil, attempt: attempt, notify: false)
    XCTAssertNil(try client.getMessage(mailbox.recipient, key: recipientKey), "it comes once")
    let other = try newAttempt()
    assertRefused(.auth) { try client.send([2], to: mailbox.sender, key: nil, attempt: other, notify: false) }
    let elsewhere = try client.createMailbox(recipientKey: try newKey(), senderKey: senderKey.publicKey)
    assertRefused(.auth) { try client.send([2], to: elsewhere.sender, key: nil, attempt: attempt, notify: false) }
  }

  func testAnyoneSendsUntilTheMailboxIsSecuredAndThenOnlyTheSender() throws {
    let (recipientKey, senderKey, other) = (try newKey(), try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    try client.send([1], to: mailbox.sender, key: nil, attempt: try newAttempt(), notify: false)
    // A sender that takes the mailbox for secured learns that it is not.
    let attempt = try newAttempt()
    assertRefused(.auth) {
      try client.send([2], to: mailbox.sender, key: senderKey, attempt: attempt, notify: false)
    }
    try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    assertRefused(.auth) {
      try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: other.publicKey)
    }
    assertRefused(.auth) { try client.send([3], to: mailbox.sender, key: nil, attempt: attempt, notify: false) }
    try client.send([4], to: mailbox.sender, key: senderKey, attempt: attempt, notify: false)
    var bodies: [[UInt8]] = []
    while let message = try client.getMessage(mailbox.recipient, key: recipientKey) {
      bodies.append(message.body)
      try client.acknowledge(message.identifier, in: mailbox.recipient, key: recipientKey)
    }
    XCTAssertEqual(bodies, [[1], [4]])
  }

  /// Two processes of one app send the same message: one is frozen while it waits to write, and the recipient has
  /// already answered the other.
  func testASenderThatWaitsToWriteIsNotRefusedForWhatItsOtherProcessHasSent() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    let attempt = try newAttempt()
    let frozen = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    let hello = Array("hello".utf8)
    frozen.admission = { [client] (_, _) throws(RelayError) in
      try client.send(hello, to: mailbox.sender, key: nil, attempt: attempt, notify: false)
      try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    }
    let request = RelayRequest(
      correlation: attempt, entity: mailbox.sender, command: .send(attempt: attempt, notify: false, body: hello))
    XCTAssertEqual(try frozen.send(request, attempt: attempt, notify: false, body: hello).answer, .done)
    let received = try XCTUnwrap(try client.getMessage(mailbox.recipient, key: recipientKey))
    XCTAssertEqual(received.body, hello)
    XCTAssertEqual(try client.acknowledge(received.identifier, in: mailbox.recipient, key: recipientKey), .done)
    XCTAssertNil(try client.getMessage(mailbox.recipient, key: recipientKey), "it is kept once")
    try frozen.database.close()
  }

  /// What nobody has sent yet needs the signature of the sender that the mailbox was secured for in the meantime.
  func testASenderThatWaitsToWriteIsRefusedAfterTheMailboxIsSecured() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    let late = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    late.admission = { [client] (_, _) throws(RelayError) in
      try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    }
    let attempt = try newAttempt()
    let request = RelayRequest(
      correlation: attempt, entity: mailbox.sender, command: .send(attempt: attempt, notify: false, body: [1]))
    assertRefused(.auth) { try late.send(request, attempt: attempt, notify: false, body: [1]) }
    XCTAssertNil(try client.getMessage(mailbox.recipient, key: recipientKey))
    try late.database.close()
  }

  /// An app's requests may cross: one process deletes the mailbox that another secures.
  func testAMailboxSecuredInTheMeantimeIsDeletedAllTheSame() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    let late = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    late.admission = { [client] (_, _) throws(RelayError) in
      try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    }
    var request = RelayRequest(correlation: try newAttempt(), entity: mailbox.recipient, command: .deleteMailbox)
    request.signature = recipientKey.sign(request.signedBytes)
    XCTAssertEqual(try late.deleteMailbox(request), .done)
    assertRefused(.auth) { try client.getMessage(mailbox.recipient, key: recipientKey) }
    try late.database.close()
  }

  /// An app listens while its extension secures a mailbox: it hears of what comes there.
  func testListeningIsNotRefusedForAMailboxSecuredInTheMeantime() throws {
    let (recipientKey, senderKey) = (try newKey(), try newKey())
    let mailbox = try client.createMailbox(recipientKey: recipientKey)
    let late = try RelayFile(path: path, ports: Ports(clock: clock, randomness: randomness), log: .silent)
    let correlation = try newAttempt()
    let signed = RelayRequest.signedBytes(correlation: correlation, entry: mailbox.recipient, of: .subscribe([]))
    let entry = RelayCommand.Entry(entity: mailbox.recipient, signature: recipientKey.sign(signed))
    let request = RelayRequest(correlation: correlation, entity: nil, command: .subscribe([entry]))
    let mailboxes = try late.authorizedMailboxes([entry], of: request)
    try client.secureMailbox(mailbox.recipient, key: recipientKey, senderKey: senderKey.publicKey)
    XCTAssertEqual(try late.subscribe([entry], mailboxes, nil), [.subscribed])
    try client.deleteMailbox(mailbox.recipient, key: recipientKey)
    XCTAssertEqual(try late.subscribe([entry], mailboxes, nil), [.auth])
    try late.database.close()
  }

  /// A signature is for one request: no part of it can be swapped for another's.
  func testSignatureCoversEverythingElse() throws {
    let (mailbox, other) = (try newMailbox(), try newMailbox())
    try send("there", to: mailbox)
    var request = RelayRequest(correlation: try newAttempt(), entity: mailbox.recipient, command: .getMessage)
    request.signature = mailbox.recipientKey.sign(request.signedBytes)
    func answer(_ request: RelayRequest) throws -> RelayAnswer {
      try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: request.correlation)
    }
    guard case .message = try answer(request) else { return XCTFail("the request itself is good") }
    var changed = request
    changed.correlation = try newAttempt()
    XCTAssertEqual(try answer(changed), .failed(.auth))
    changed = request
    changed.command = .deleteMailbox
    XCTAssertEqual(try answer(changed), .failed(.auth))
    changed = request
    changed.entity = other.recipient
    XCTAssertEqual(try answer(changed), .failed(.auth))
    for position in [0, 31, 32, 63] {
      changed = request
      changed.signature?[position] ^= 1
      XCTAssertEqual(try answer(changed), .failed(.auth))
    }
    // Nor is it valid without the prefix that separates a relay's signatures from other uses of a key.
    changed = request
    changed.signature = mailbox.recipientKey.sign(Array(request.signedBytes.dropFirst()))
    XCTAssertEqual(try answer(changed), .failed(.auth))
  }

  func testOneBadEntryDoesNotAffectABatch() throws {
    let (first, second) = (try newMailbox(), try newMailbox())
    try send("waits", to: second)
    let (unknown, wrong) = (try newAttempt(), try newKey())
    let results = try client.subscribe([
      (recipient: first.recipient, key: first.recipientKey), (recipient: unknown, key: wrong),
      (recipient: second.recipient, key: second.recipientKey), (recipient: first.recipient, key: wrong),
    ])
    XCTAssertEqual(results, [.subscribed, .auth, .waiting, .auth])
    XCTAssertEqual(try client.subscribe([]), [])
  }

  func testBatchLargerThanARequestIsSplit() throws {
    let mailbox = try newMailbox()
    let entries = Array(repeating: (recipient: mailbox.recipient, key: mailbox.recipientKey), count: 600)
    XCTAssertEqual(try client.subscribe(entries), Array(repeating: .subscribed, count: 600))
  }

  func testEntryOfABatchIsInvalidInAnotherRequest() throws {
    let (mailbox, service) = (try newMailbox(), try newKey())
    let correlation = try newAttempt()
    let signed = RelayRequest.signedBytes(correlation: correlation, entry: mailbox.recipient, of: .subscribe([]))
    let entry = RelayCommand.Entry(entity: mailbox.recipient, signature: mailbox.recipientKey.sign(signed))
    func answer(_ correlation: RelayIdentifier, _ command: RelayCommand) throws -> RelayAnswer {
      var request = RelayRequest(correlation: correlation, entity: nil, command: command)
      if case .subscribeNotifiers = command { request.signature = service.sign(request.signedBytes) }
      return try RelayAnswer(decoding: try relay.exchange(request.encoded()), correlation: correlation)
    }
    XCTAssertEqual(try answer(correlation, .subscribe([entry])), .subscriptions([.subscribed]))
    XCTAssertEqual(try answer(try newAttempt(), .subscribe([entry])), .subscriptions([.auth]))
    XCTAssertEqual(
      try answer(correlation, .subscribeNotifiers(service: service.publicKey, [entry])), .subscriptions([.auth]))
  }
}
