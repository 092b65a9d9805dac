import Foundation
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay
import XCTest

/// The real program, with a relay's file between it and its client, and a device's real socket.
final class ProcessTests: XCTestCase {
  private var directory = URL(fileURLWithPath: "/")

  override func setUpWithError() throws {
    directory = URL(fileURLWithPath: "/tmp/porter-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

  private func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

  private func start(_ extra: [String] = []) throws -> ServerProcess {
    try ServerProcess(
      ["--relay", path("relay.db"), "--state", path("server.db"), "--local-socket", path("device.sock")] + extra,
      in: directory)
  }

  private func wakeSockets() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: path("relay.db.wake"))
  }

  func testTheWholeStorySurvivesSIGKILLAndARestart() throws {
    let socket = try DeviceSocket(path: path("device.sock"))
    defer { socket.shut() }
    var server = try start()
    let link = server.firstLine()
    let client = try ProcessClient(relay: path("relay.db"), link: try NotificationServerLink(parsing: link))
    defer { client.port.close() }

    let registered = try client.ask(client.newToken)
    guard case .token(let token, let serverKey) = registered.result else { return XCTFail("\(registered)") }
    let key = try client.boxKey.secretKey.agree(with: serverKey)
    guard case .verification(let nonce, let sealed) = try payload(of: socket.next()) else {
      return XCTFail("not a verification push")
    }
    let code = try VerificationCode(opening: sealed, nonce: nonce, with: key)
    XCTAssertEqual(try client.ask(.verify(token: token, code)).tokenStatus, .active)
    let mailboxes = [try client.newMailbox(), try client.newMailbox()]
    _ = try client.ask(.subscribe(token: token, mailboxes.map(\.credentials)))

    try client.send("one", to: mailboxes[0].sender)
    XCTAssertEqual(try entries(of: socket.next(), key), [mailboxes[0].credentials.notifier])

    server.kill()
    try client.send("two", to: mailboxes[1].sender)
    server = try start()
    XCTAssertEqual(server.firstLine(), link, "the link stays")
    XCTAssertEqual(try entries(of: socket.next(), key), mailboxes.map(\.credentials.notifier))
    XCTAssertEqual(try client.ask(.check(token: token)).tokenStatus, .active)

    // The device goes away; messages that arrive in the meantime are pushed when it is back.
    socket.shut()
    try client.send("three", to: mailboxes[0].sender)
    XCTAssertEqual(try client.ask(.check(token: token)).tokenStatus, .active)
    let again = try DeviceSocket(path: path("device.sock"))
    defer { again.shut() }
    XCTAssertEqual(try entries(of: again.next(), key), mailboxes.reversed().map(\.credentials.notifier))

    server.process.terminate()
    XCTAssertEqual(server.end(), 0)
  }

  private func payload(of push: JSONValue?) throws -> PushPayload {
    let push = try XCTUnwrap(push, "no push came")
    XCTAssertNotNil(push["payload"], "\(push)")
    return try PushPayload(decoding: try XCTUnwrap(push["payload"]).utf8)
  }

  private func entries(of push: JSONValue?, _ key: BoxSharedKey) throws -> [[UInt8]] {
    guard case .message(let nonce, let sealed, _) = try payload(of: push) else {
      XCTFail("not a message push")
      return []
    }
    return try NotificationBundle(opening: sealed, nonce: nonce, with: key).entries.map(\.notifier)
  }

  func testItEndsCleanlyOnSIGTERMAndSIGINT() throws {
    for signal in [SIGTERM, SIGINT] {
      let server = try start()
      XCTAssertTrue(server.firstLine().hasPrefix("ntf:"))
      XCTAssertEqual(try wakeSockets().count, 1)
      kill(server.process.processIdentifier, signal)
      XCTAssertEqual(server.end(), 0)
      XCTAssertEqual(try wakeSockets(), [], "its wake socket is removed")
      XCTAssertFalse(FileManager.default.fileExists(atPath: path("server.db-wal")), "its state is closed")
      XCTAssertEqual(try server.errorText(), "")
    }
  }

  func testTheLinkIsPrintedWithAndWithoutARunningServer() throws {
    let server = try start()
    let link = server.firstLine()
    let beside = try ServerProcess(["link", "--state", path("server.db")], in: directory)
    XCTAssertEqual(beside.firstLine(), link)
    XCTAssertEqual(beside.end(), 0)
    server.kill()
    let without = try ServerProcess(["link", "--state", path("server.db")], in: directory)
    XCTAssertEqual(without.firstLine(), link)
    XCTAssertEqual(without.end(), 0)
  }

  func testTheReadyDescriptorIsWrittenOnce() throws {
    // A shell passes the descriptor on; Foundation's Process cannot.
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = [
      "-c", "exec \"$0\" --relay \"$1\" --state \"$2\" --local-socket \"$3\" --ready-fd 7 7>\"$4\"",
      try ServerProcess.program().path, path("relay.db"), path("server.db"), path("device.sock"), path("ready"),
    ]
    process.standardOutput = Pipe()
    try process.run()
    for _ in 0..<2_400 where (try? Data(contentsOf: URL(fileURLWithPath: path("ready"))))?.isEmpty ?? true {
      usleep(25_000)
    }
    XCTAssertEqual(try String(contentsOfFile: path("ready"), encoding: .utf8), "ready\n")
    process.terminate()
    process.waitUntilExit()
    XCTAssertEqual(process.terminationStatus, 0)
  }

  func testEachFailureHasItsExitStatusAndAdvice() throws {
    try Data("no database".utf8).write(to: URL(fileURLWithPath: path("text")))
    let socket = ["--local-socket", path("device.sock")]
    let cases: [([String], Int32, String)] = [
      ([], 2, "--state is missing"),
      (["--state", path("s"), "--relay", path("r")], 2, "--local-socket is missing"),
      (["--state", path("s")] + socket, 2, "--relay is missing"),
      (["--state", path("s"), "--relay", "https://relay"] + socket, 2, "a relay on the network is for porter-push"),
      (["--sate", path("s")], 2, "unknown option --sate"),
      (["--state"], 2, "--state needs a value"),
      (["--state", path("s"), "--relay", path("r"), "--ready-fd", "x"] + socket, 2, "--ready-fd"),
      (["--state", path("s"), "--relay", path("r"), "--provider", "apns_dev=smoke:x"] + socket, 2, "NAME=local:PATH"),
      (
        ["--state", path("s"), "--relay", path("r"), "--local-socket", "/" + String(repeating: "x", count: 200)], 2,
        "bytes"
      ),
      (["link", "--state", path("s"), "--verbose"], 2, "--verbose is not valid here"),
      (["link", "--state", path("never")], 3, "no link"),
      (["--state", path("missing/s"), "--relay", path("r")] + socket, 3, "directory"),
      (["--state", path("text"), "--relay", path("r")] + socket, 3, "not a notification server's"),
      (["--state", path("s"), "--relay", path("missing/r")] + socket, 4, "relay"),
      (["--help"], 0, ""),
    ]
    for (arguments, status, text) in cases {
      let process = try ServerProcess(arguments, in: directory)
      XCTAssertEqual(process.end(), status, "\(arguments)")
      let errors = try process.errorText()
      XCTAssertTrue(text.isEmpty || errors.contains(text), "\(arguments): \(errors)")
    }
    let running = try start()
    _ = running.firstLine()
    let second = try start()
    XCTAssertEqual(second.end(), 5)
    XCTAssertTrue(try second.errorText().contains("another porter-server"))
  }
}

/// A client in this process, using the relay's file.
private final class ProcessClient {
  struct Mailbox {
    let sender: RelayIdentifier
    let credentials: NotifierCredentials
  }

  let port: EmbeddedRelay
  let boxKey: BoxKeyPair
  private let relay: RelayClient
  private let link: NotificationServerLink
  private let signingKey: SigningKeyPair
  private let repliesKey: SigningKeyPair
  private let replies: RelayClient.Mailbox

  init(relay path: String, link: NotificationServerLink) throws {
    port = EmbeddedRelay(path: path, ports: .system, log: .silent)
    relay = RelayClient(port: port, randomness: randomness)
    self.link = link
    boxKey = try .generate(randomness: randomness)
    signingKey = try .generate(randomness: randomness)
    repliesKey = try .generate(randomness: randomness)
    replies = try relay.createMailbox(recipientKey: repliesKey)
    _ = try relay.subscribe([(recipient: replies.recipient, key: repliesKey)])
  }

  var newToken: ServerRequest.Command {
    get throws {
      .newToken(
        try XCTUnwrap(PushToken(provider: "apns_test", bytes: randomness.bytes(32))), signingKey: signingKey.publicKey,
        boxKey: boxKey.publicKey)
    }
  }

  /// Waits for the answer like a program: on the relay's descriptor.
  func ask(_ command: ServerRequest.Command) throws -> ServerAnswer {
    let conversation = try ServerConversation(server: link, key: boxKey)
    let request = ServerRequest(
      correlation: try .generate(randomness: randomness), replyMailbox: replies.sender.bytes, command: command)
    try relay.send(
      conversation.seal(request, signedBy: signingKey, randomness: randomness),
      to: XCTUnwrap(RelayIdentifier(bytes: link.mailbox)), key: nil, attempt: relay.newIdentifier(), notify: false)
    while true {
      if let message = try relay.getMessage(replies.recipient, key: repliesKey) {
        try relay.acknowledge(message.identifier, in: replies.recipient, key: repliesKey)
        let answer = try conversation.open(message.body)
        if answer.correlation == request.correlation { return answer }
        continue
      }
      var waiting = pollfd(fd: try XCTUnwrap(port.wakeDescriptor), events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, 20_000) > 0 else { throw NothingCame(file: #filePath, line: #line) }
      port.drainWake()
    }
  }

  func newMailbox() throws -> Mailbox {
    let (key, notifierKey) = (
      try SigningKeyPair.generate(randomness: randomness), try SigningKeyPair.generate(randomness: randomness)
    )
    let ends = try relay.createMailbox(recipientKey: key)
    let notifier = try relay.enableNotifier(
      ends.recipient, key: key, notifierKey: notifierKey.publicKey,
      boxKey: BoxKeyPair.generate(randomness: randomness).publicKey)
    return Mailbox(
      sender: ends.sender,
      credentials: try XCTUnwrap(NotifierCredentials(notifier: notifier.identifier.bytes, key: notifierKey)))
  }

  func send(_ text: String, to mailbox: RelayIdentifier) throws {
    try relay.send(Array(text.utf8), to: mailbox, key: nil, attempt: relay.newIdentifier(), notify: true)
  }
}
