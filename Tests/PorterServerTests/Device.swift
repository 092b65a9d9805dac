import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import PorterServer
import XCTest

/// A client of the notification server.
final class Device {
  struct Mailbox {
    let ends: RelayClient.Mailbox
    let key: SigningKeyPair
    let notifier: RelayIdentifier
    let credentials: NotifierCredentials
    let metadataKey: BoxSharedKey
  }

  let world: World
  let relay: RelayClient
  let link: NotificationServerLink
  var pushToken: PushToken
  let signingKey: SigningKeyPair
  let boxKey: BoxKeyPair
  let replies: RelayClient.Mailbox
  private let port: EmbeddedRelay
  private let repliesKey: SigningKeyPair
  private(set) var token: [UInt8] = []
  private var serverBoxKey: BoxPublicKey?
  /// Bodies of all requests, for eavesdropping tests.
  private(set) var sent: [[UInt8]] = []

  init(_ world: World, provider: String = "apns_test", pushToken: [UInt8] = randomness.bytes(32)) throws {
    self.world = world
    link = world.server.link
    port = world.newPort()
    relay = RelayClient(port: port, randomness: randomness)
    self.pushToken = try XCTUnwrap(PushToken(provider: provider, bytes: pushToken))
    signingKey = try .generate(randomness: randomness)
    boxKey = try .generate(randomness: randomness)
    repliesKey = try .generate(randomness: randomness)
    replies = try relay.createMailbox(recipientKey: repliesKey)
  }

  deinit { port.close() }

  // MARK: Asking

  /// Sends a request without waiting for the result.
  @discardableResult
  func send(
    _ command: ServerRequest.Command, signedBy key: SigningKeyPair? = nil, correlation: CorrelationID? = nil
  ) throws -> CorrelationID {
    let request = ServerRequest(
      correlation: try correlation ?? .generate(randomness: randomness), replyMailbox: replies.sender.bytes,
      command: command)
    let conversation = try ServerConversation(server: link, key: boxKey)
    try deliver(try conversation.seal(request, signedBy: key ?? signingKey, randomness: randomness))
    return request.correlation
  }

  func deliver(_ body: [UInt8]) throws {
    sent.append(body)
    let mailbox = try XCTUnwrap(RelayIdentifier(bytes: link.mailbox))
    try relay.send(body, to: mailbox, key: nil, attempt: relay.newIdentifier(), notify: false)
  }

  /// The next answer; nil if none is waiting.
  func answer() throws -> ServerAnswer? {
    guard let message = try relay.getMessage(replies.recipient, key: repliesKey) else { return nil }
    try relay.acknowledge(message.identifier, in: replies.recipient, key: repliesKey)
    return try ServerConversation(server: link, key: boxKey).open(message.body)
  }

  func ask(
    _ command: ServerRequest.Command, signedBy key: SigningKeyPair? = nil, file: StaticString = #filePath,
    line: UInt = #line
  ) throws -> ServerAnswer {
    let correlation = try send(command, signedBy: key)
    // Time passes until a server whose relay failed has retried.
    for _ in 0..<10 {
      try world.run()
      if let answer = try answer() {
        XCTAssertEqual(answer.correlation, correlation, file: file, line: line)
        return answer
      }
      world.clock.advance(by: .seconds(2))
    }
    throw NothingCame(file: file, line: line)
  }

  // MARK: The token

  var newToken: ServerRequest.Command {
    .newToken(pushToken, signingKey: signingKey.publicKey, boxKey: boxKey.publicKey)
  }

  @discardableResult
  func register(file: StaticString = #filePath, line: UInt = #line) throws -> ServerAnswer {
    let answer = try ask(newToken, file: file, line: line)
    note(answer, file: file, line: line)
    return answer
  }

  /// Stores the answer to TNEW.
  func note(_ answer: ServerAnswer, file: StaticString = #filePath, line: UInt = #line) {
    guard case .token(let id, let key) = answer.result else {
      return XCTFail("not registered: \(answer)", file: file, line: line)
    }
    (token, serverBoxKey) = (id, key)
  }

  func pushKey() throws -> BoxSharedKey { try boxKey.secretKey.agree(with: try XCTUnwrap(serverBoxKey)) }

  /// The code of the last verification push to this device.
  func code(file: StaticString = #filePath, line: UInt = #line) throws -> VerificationCode {
    let pushes = world.provider.take().filter { $0.pushToken == pushToken }
    let push = try XCTUnwrap(pushes.last, "no push came", file: file, line: line)
    XCTAssertEqual(push.type, .background, file: file, line: line)
    XCTAssertEqual(push.priority, 5, file: file, line: line)
    guard case .verification(let nonce, let sealed) = try PushPayload(decoding: push.payload.utf8) else {
      throw NothingCame(file: file, line: line)
    }
    return try VerificationCode(opening: sealed, nonce: nonce, with: pushKey())
  }

  /// From an unregistered token to ACTIVE.
  func activate(file: StaticString = #filePath, line: UInt = #line) throws {
    try register(file: file, line: line)
    let answer = try ask(.verify(token: token, code(file: file, line: line)), file: file, line: line)
    XCTAssertEqual(answer.result, .done, file: file, line: line)
    XCTAssertEqual(answer.tokenStatus, .active, file: file, line: line)
  }

  func status(file: StaticString = #filePath, line: UInt = #line) throws -> ServerTokenStatus? {
    try ask(.check(token: token), file: file, line: line).tokenStatus
  }

  // MARK: Mailboxes

  /// A mailbox with a notifier, not yet known to the server.
  func newMailbox() throws -> Mailbox {
    let (key, notifierKey) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let metadataKey = try BoxKeyPair.generate(randomness: randomness)
    let ends = try relay.createMailbox(recipientKey: key)
    let notifier = try relay.enableNotifier(
      ends.recipient, key: key, notifierKey: notifierKey.publicKey, boxKey: metadataKey.publicKey)
    return Mailbox(
      ends: ends, key: key, notifier: notifier.identifier,
      credentials: try XCTUnwrap(NotifierCredentials(notifier: notifier.identifier.bytes, key: notifierKey)),
      metadataKey: try metadataKey.secretKey.agree(with: notifier.relayBoxKey))
  }

  func subscribedMailboxes(_ count: Int, file: StaticString = #filePath, line: UInt = #line) throws -> [Mailbox] {
    let mailboxes = try (0..<count).map { _ in try newMailbox() }
    let answer = try ask(.subscribe(token: token, mailboxes.map(\.credentials)), file: file, line: line)
    XCTAssertEqual(
      answer.result, .subscriptions(mailboxes.map { .init(notifier: $0.notifier.bytes, status: .active) }), file: file,
      line: line)
    return mailboxes
  }

  /// The device's app is on screen, and is woken for this mailbox.
  func listen(to mailbox: Mailbox) throws {
    _ = try relay.subscribe([(recipient: mailbox.ends.recipient, key: mailbox.key)])
  }

  func fetchAll(_ mailbox: Mailbox) throws {
    while let message = try relay.getMessage(mailbox.ends.recipient, key: mailbox.key) {
      try relay.acknowledge(message.identifier, in: mailbox.ends.recipient, key: mailbox.key)
    }
  }

  /// Sends a message; returns its id at the relay.
  @discardableResult
  func receive(_ text: String, in mailbox: Mailbox, notify: Bool = true) throws -> RelayIdentifier {
    try relay.send(
      Array(text.utf8), to: mailbox.ends.sender, key: nil, attempt: relay.newIdentifier(), notify: notify)
    return try XCTUnwrap(try relay.getMessage(mailbox.ends.recipient, key: mailbox.key)).identifier
  }
}

/// Fails a test that cannot continue.
struct NothingCame: Error, CustomStringConvertible {
  let description: String

  init(file: StaticString, line: UInt) { description = "nothing arrived in time at \(file):\(line)" }
}
