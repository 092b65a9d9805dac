import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

@testable import PorterServer

/// A token's document in a cluster: what it holds, in how many bytes, and what leads to what was left out.
final class TokenDocumentTests: XCTestCase {
  override func setUp() { World.isShared = true }
  override func tearDown() { World.isShared = false }

  private func whole() throws -> TokenDocument {
    var document = TokenDocument()
    document.id = randomness.bytes(24)
    (document.provider, document.pushToken, document.state) = ("apns_test", [1], "active")
    (document.generation, document.period, document.usedAt, document.registeredAt) = (1, 20, -1, .max)
    document.checkedAt = 14
    let statuses = SubscriptionStatus.allCases.map(\.rawValue) + ["ACTIVF"]
    document.subscriptions = statuses.enumerated().map { index, status in
      .init(notifier: [2, UInt8(index)], seed: randomness.bytes(SigningKeyPair.seedCount), status: status)
    }
    document.notifications = [.init(notifier: [2, 3], milliseconds: 4, nonce: [5], metadata: [6])]
    document.pushes = [.init(kind: "message", version: 7, provider: "apns_test", dueAt: 8)]
    document.wake = .init(dueAt: 9, wokenAt: 10)
    document.answers = [.init(correlation: [11], json: [12], answeredAt: 13)]
    document.remember(after: nil)
    XCTAssertTrue(document.knows([11]))
    XCTAssertFalse(document.knows([12]))
    return document
  }

  func testADocumentIsReadAsItWasWritten() throws {
    let document = try whole()
    let bytes = document.encoded()
    XCTAssertEqual(try TokenDocument(decoding: bytes), document)
    for count in bytes.indices {
      XCTAssertThrowsError(try TokenDocument(decoding: Array(bytes.prefix(count)))) { error in
        XCTAssertEqual(error as? ServerError, .damaged(.token))
      }
    }
    XCTAssertThrowsError(try TokenDocument(decoding: bytes + [0]))
    XCTAssertThrowsError(try TokenDocument(decoding: [4] + bytes.dropFirst()))
  }

  func testDocumentsOfEarlierVersionsAreRead() throws {
    var document = try whole()
    // They did not say when.
    document.checkedAt = 0
    XCTAssertEqual(try TokenDocument(decoding: document.encodedAs(version: 2)), document)
    let bytes = document.encodedAs(version: 1)
    document.notifications[0].milliseconds = 4_000
    XCTAssertEqual(try TokenDocument(decoding: bytes), document)
  }

  /// As stored by a server of an earlier version: pushes are sent, its key is used, and it becomes a new document.
  func testAServerGoesOnFromADocumentOfAnEarlierVersion() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    let key = TokenDocument.key(device.token)
    let stored = try XCTUnwrap(try store.records([key])[0])
    let earlier = try TokenDocument(decoding: stored.bytes).encodedAs(version: 2)
    XCTAssertNotNil(try store.replace([SharedChange(key, earlier, revision: stored.revision)])[0])
    // The daily check signs with the subscription's key.
    try device.relay.disableNotifier(mailbox.ends.recipient, key: mailbox.key)
    world.clock.advance(by: .days(1) + .seconds(61))
    try world.run()
    XCTAssertEqual(
      try device.ask(.checkSubscriptions(token: device.token, [mailbox.notifier.bytes])).result,
      .subscriptions([.init(notifier: mailbox.notifier.bytes, status: .refused)]))
    XCTAssertEqual(try store.records([key])[0]?.bytes.first, 3)
  }

  // MARK: Size

  /// `scale_jetstream.py` measures documents of this size.
  func testADocumentOfTenSubscriptionsTakesTwoKilobytes() throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    _ = try device.ask(.setPeriod(token: device.token, minutes: 20))
    var mailboxes: [Device.Mailbox] = []
    for _ in 0..<10 { mailboxes += try device.subscribedMailboxes(1) }
    world.clock.advance(by: ServerTimes.answerInDocument + .seconds(1))
    for mailbox in mailboxes { try device.receive("hello", in: mailbox) }
    for _ in 0..<5 {
      try world.run()
      world.clock.advance(by: .seconds(7))
    }
    let bytes = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0]).bytes
    let document = try TokenDocument(decoding: bytes)
    XCTAssertEqual(document.subscriptions.count, 10)
    XCTAssertEqual(document.notifications.count, NotificationBundle.maximumEntries)
    XCTAssertTrue((1_950...2_050).contains(bytes.count), "\(bytes.count) bytes")
  }

  // MARK: Answers

  private func answers(of device: Device) throws -> Int {
    let store = try XCTUnwrap(device.world.store)
    let bytes = try XCTUnwrap(try store.records([TokenDocument.key(device.token)])[0]).bytes
    return try TokenDocument(decoding: bytes).answers.count
  }

  /// Repeats a request; nil if no answer comes.
  private func again(_ command: ServerRequest.Command, _ correlation: CorrelationID, _ device: Device) throws
    -> ServerAnswer?
  {
    try device.send(command, correlation: correlation)
    try device.world.run()
    return try device.answer()
  }

  func testAnswersLeaveTheDocumentAfterAnHour() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let command = ServerRequest.Command.setPeriod(token: device.token, minutes: 30)
    let correlation = CorrelationID.new()
    let first = try XCTUnwrap(try again(command, correlation, device))
    world.clock.advance(by: ServerTimes.answerInDocument - .seconds(1))
    _ = try device.ask(.setPeriod(token: device.token, minutes: 40))
    XCTAssertGreaterThan(try answers(of: device), 1)
    world.clock.advance(by: .seconds(2))
    _ = try device.ask(.setPeriod(token: device.token, minutes: 50))
    XCTAssertEqual(try answers(of: device), 2)
    XCTAssertEqual(try again(command, correlation, device), first)
    XCTAssertEqual(try device.ask(.check(token: device.token)).tokenStatus, .active)
  }

  /// A server ends after it has stored the document and before it has stored the answer. What follows makes the answer
  /// leave the document; it is stored then, and given again.
  private func assertAnswerIsStored(
    by whatFollows: (World, Device) throws -> Void, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let world = try World()
    let (device, store) = (try Device(world), try XCTUnwrap(world.store))
    try device.activate()
    let command = ServerRequest.Command.setPeriod(token: device.token, minutes: 30)
    let correlation = CorrelationID.new()
    let first = try XCTUnwrap(try again(command, correlation, device))
    let key = SharedKey(.answers, TextEncoding.base64URL(correlation.bytes))
    let record = try XCTUnwrap(try store.records([key])[0])
    XCTAssertNotNil(try store.replace([SharedChange(key, [], revision: record.revision)])[0])
    try whatFollows(world, device)
    XCTAssertEqual(try store.records([key])[0]?.bytes, record.bytes, file: file, line: line)
    XCTAssertEqual(try again(command, correlation, device), first, file: file, line: line)
  }

  func testAnAnswerIsStoredBeforeItLeavesTheDocument() throws {
    try assertAnswerIsStored { world, device in
      world.clock.advance(by: ServerTimes.answerInDocument + .seconds(1))
      _ = try device.ask(.setPeriod(token: device.token, minutes: 40))
      XCTAssertEqual(try answers(of: device), 1)
    }
  }

  func testAnAnswerIsStoredBeforeLaterOnesDisplaceIt() throws {
    try assertAnswerIsStored { _, device in
      for _ in 0..<TokenDocument.mostAnswers { _ = try device.ask(.setPeriod(token: device.token, minutes: 40)) }
    }
  }

  /// The wall clock jumped between the answer and the document: if another server is faster, the request is carried out
  /// again, and must not be taken for a repeat.
  func testANewAnswerStaysHoweverOldItSeems() throws {
    let before = try whole()
    var document = before
    document.answers.append(.init(correlation: [14], json: [15], answeredAt: 16))
    document.remember(after: before)
    let removed = document.removeAnswers(before: WallTime(milliseconds: 1_000_000), of: before)
    XCTAssertEqual(removed, before.answers)
    XCTAssertEqual(document.answers.map(\.correlation), [[14]])
  }
}

extension CorrelationID {
  fileprivate static func new() -> CorrelationID {
    guard let correlation = try? CorrelationID.generate(randomness: randomness) else { preconditionFailure() }
    return correlation
  }
}

extension TokenDocument {
  /// As earlier servers stored it: numbers of eight bytes, lengths of four, and keys with their public halves.
  func encodedAs(version: UInt8) -> [UInt8] {
    var bytes = [version]
    for each in [id, Array(provider.utf8), pushToken, signingKey, clientBoxKey, boxKey, pushKey, code] {
      bytes.append(fixed: each)
    }
    bytes.append(fixed: Array(state.utf8))
    for each in [generation, period, usedAt, registeredAt] { bytes.append(signed64: each) }
    bytes.append(list: subscriptions) { bytes, each in
      bytes.append(fixed: each.notifier)
      bytes.append(fixed: SigningKeyPair(seed: each.seed)?.exposeForStorage() ?? [])
      bytes.append(fixed: Array(each.status.utf8))
    }
    bytes.append(list: notifications) { bytes, each in
      bytes.append(fixed: each.notifier)
      bytes.append(signed64: each.milliseconds)
      bytes.append(fixed: each.nonce)
      bytes.append(fixed: each.metadata)
    }
    bytes.append(list: pushes) { bytes, each in
      bytes.append(fixed: Array(each.kind.utf8))
      bytes.append(signed64: each.version)
      bytes.append(fixed: Array(each.provider.utf8))
      bytes.append(signed64: each.dueAt)
    }
    bytes.append(list: wake.map { [$0] } ?? []) { bytes, each in
      bytes.append(signed64: each.dueAt)
      bytes.append(signed64: each.wokenAt)
    }
    bytes.append(list: answers) { bytes, each in
      bytes.append(fixed: each.correlation)
      bytes.append(fixed: each.json)
      bytes.append(signed64: each.answeredAt)
    }
    bytes.append(fixed: past)
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func append(fixed bytes: [UInt8]) {
    append(unsigned32: UInt32(bytes.count))
    append(contentsOf: bytes)
  }
}
