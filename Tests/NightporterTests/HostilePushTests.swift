import CNightporter
import Foundation
import PorterPlatform
import PorterRelay
import PorterStore
import PropertyTesting
import XCTest

/// Malformed and forged pushes, and controllers in the wrong state.
final class HostilePushTests: XCTestCase {
  /// INC-41: whatever bit is wrong, nothing is shown and only the payload itself is kept.
  func testINC41AFlippedBitIsNeverPresented() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let data = JSON(push)["notificationData"]
    let nonce = try XCTUnwrap(TextEncoding.base64URLDecoded(data["nonce"].text))
    let message = try XCTUnwrap(TextEncoding.base64URLDecoded(data["message"].text))
    let service = try station.makeExtension()
    let positions = Generator<Int>.number(0...(nonce.count + message.count) * 8 - 1)
    forAll(positions, runs: 200) { position in
      var bytes = nonce + message
      bytes[position / 8] ^= 1 << (position % 8)
      let answer = service.push(Self.payload(nonce: bytes.prefix(nonce.count), message: bytes.dropFirst(nonce.count)))
      try expectEqual(answer["outcome"].text, "quarantined", answer.description)
      try expect(answer.bodies.isEmpty && answer["badge"].number == 0, answer.description)
      try expect(answer["quiescent"].flag, answer.description)
    }
    service.free()
    let database = try Database(path: station.alice.prefix + "_chat.db")
    XCTAssertEqual(
      try database.integer("SELECT count(*) FROM quarantined_pushes"), 20, "the last ones are kept, and no more")
    try database.close()
    XCTAssertEqual(try station.present(push).bodies, ["hello"], "the true one still serves")
    station.wake(expecting: ["hello"])
  }

  func testAPayloadForAnotherTokenIsNeverPresented() throws {
    let station = try Station()
    let other = TextEncoding.hex(SystemRandomness().bytes(32))
    try station.activate(other, of: station.bob)
    station.suspend()
    let mine = try station.push(for: "for alice")
    // Bob's own device gets a push that alice's must not open.
    station.suspend(station.bob)
    station.alice.send("/_app activate").assert("cmdOk")
    station.pair.send("for bob", from: station.alice)
    let theirs = try station.nextPush(to: other)
    station.suspend()
    let answer = try station.present(theirs)
    XCTAssertEqual(answer["outcome"].text, "quarantined", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertEqual(try station.present(mine).bodies, [], "alice's app had received it")
  }

  /// INC-41: a code that does not open with the push key is forged; it does not mean that a server could not be
  /// reached.
  func testINC41AForgedVerificationIsQuarantined() throws {
    let station = try Station(activates: false)
    let verification = try station.register(station.token, of: station.alice)
    station.suspend()
    let data = JSON(verification)["notificationData"]
    var code = try XCTUnwrap(TextEncoding.base64URLDecoded(data["verification"].text))
    code[code.count - 1] ^= 1
    let forged = verification.replacingOccurrences(of: data["verification"].text, with: TextEncoding.base64URL(code))
    XCTAssertNotEqual(forged, verification)
    let answer = try station.present(forged)
    XCTAssertEqual(answer["outcome"].text, "quarantined", answer.description)
    XCTAssertEqual(answer.bodies, [])
    let database = try Database(path: station.alice.prefix + "_chat.db")
    XCTAssertEqual(try database.integer("SELECT count(*) FROM quarantined_pushes"), 1)
    try database.close()
    XCTAssertEqual(try station.present(verification)["outcome"].text, "verified", "the true one still serves")
  }

  /// A failed verification ends its push immediately: if the push waited for its deadline, it would be `expired`.
  func testAVerificationThatFailsEndsItsPush() throws {
    let station = try Station(activates: false)
    let verification = try station.register(station.token, of: station.alice)
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.send)
    let answer = service.push(verification, deadline: 30_000)
    XCTAssertEqual(answer["outcome"].text, "offline", answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    XCTAssertEqual(try station.present(verification)["outcome"].text, "verified", "the code still serves")
  }

  func testAPayloadWithoutATokenIsUnknown() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let service = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    let random = SystemRandomness()
    let answer = service.push(Self.payload(nonce: random.bytes(24), message: random.bytes(2_704)))
    XCTAssertEqual(answer["outcome"].text, "unknown", answer.description)
    XCTAssertTrue(answer["quiescent"].flag)
  }

  /// A controller that is freed while its push waits still answers that push.
  func testFreeingDuringAPushAnswersIt() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    let service = try station.makeExtension()
    XCTAssertEqual(service.useRelayThatNeverAnswers(), NP_OK)
    let first = service.inBackground { $0.push(push, deadline: 30_000).description }
    awaitThat("it is under way") { !service.state["machines"]["push"].text.isEmpty }
    service.free()
    let answer = JSON(try XCTUnwrap(first.wait(atMost: .seconds(30))))
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
  }

  func testAStoppedAppIsReported() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.wake(expecting: ["hello"])
    station.alice.send("/_stop").assert("chatStopped")
    let answer = try station.present(push)
    XCTAssertEqual(answer["outcome"].text, "stopped", answer.description)
    XCTAssertEqual(answer.bodies, [])
    XCTAssertEqual(answer.titles, ["Encrypted message: app is stopped"])
  }

  /// A chat that the user stopped stays stopped for pushes to the app too, even if one of them has started its process;
  /// the extension still learns of it.
  func testAPushToAStoppedAppReportsItAndStartsNothing() throws {
    let station = try Station()
    station.suspend()
    let push = try station.push(for: "hello")
    station.wake(expecting: ["hello"])
    station.alice.send("/_stop").assert("chatStopped")
    XCTAssertEqual(station.alice.push(push)["outcome"].text, "stopped")
    // Work in progress when it was stopped is finished first, on a busy machine after the push.
    awaitThat("it stays stopped") { station.alice.state["machines"]["chat_lifecycle"].text == "stopped" }
    station.alice.free()
    let again = try XCTUnwrap(Host.open(station.alice.prefix).host)
    let answer = again.push(push)
    XCTAssertEqual(answer["outcome"].text, "stopped", answer.description)
    // A command is handled after the turn that answered the push.
    again.send("/_check running")
    XCTAssertEqual(again.state["machines"]["chat_lifecycle"].text, "opened")
    XCTAssertEqual(try station.present(push)["outcome"].text, "stopped")
    again.send("/_start").assert("chatStarted")
    XCTAssertEqual(again.push(push)["withdrawals"].elements.map(\.text), ["np:notice"])
    XCTAssertEqual(again.push(push)["outcome"].text, "nothingNew")
  }

  /// The app was updated and migrated the store while the extension's process was still running (INC-23).
  func testAStoreOfANewerSchemaIsLeftAlone() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let push = try station.push(for: "hello")
    XCTAssertEqual(service.push(push).bodies, ["hello"])
    let version = try replaceSchemaVersion(of: station.alice, by: 999)
    let answer = service.push(try station.push(for: "more"))
    XCTAssertEqual(answer["outcome"].text, "wrongSchema", answer.description)
    XCTAssertTrue(answer["quiescent"].flag)
    XCTAssertFalse(answer["badge"].exists)
    let (opening, host) = Host.open(station.alice.prefix, isExtension: true)
    XCTAssertNil(host)
    XCTAssertEqual(JSON(opening)["type"].text, "errorMigration", opening)
    XCTAssertEqual(try replaceSchemaVersion(of: station.alice, by: version), 999)
    station.wake(expecting: ["hello", "more"])
  }

  /// INC-30, INC-31: the platform's "time is up" at any moment of a push.
  func testINC30INC31ExpiryAtAnyMomentGivesOneAnswerAndLosesNothing() throws {
    let station = try Station()
    station.suspend()
    let seed = ProcessInfo.processInfo.environment["PORTER_SEED"].flatMap(UInt64.init) ?? .random(in: 0...999_999)
    print("expiry at any moment: PORTER_SEED=\(seed)")
    let choices = Choices(seed: seed)
    var (shown, bundled): ([String], Int) = ([], 0)
    var placeholders: [String] = []
    var outcomes: [String: Int] = [:]
    var typical: Double = 0.02
    let count = 100
    // Half of the pushes fetch from the relay's file, directly; half through a transport with its own thread and
    // delays.
    let services = [try station.makeExtension(), try station.makeExtension()]
    let transport = SlowTransport(file: station.pair.folder.file("relay.db"))
    XCTAssertEqual(services[1].use(transport), NP_OK)
    for number in 0..<count {
      let service = services[number % 2]
      let push = try station.push(for: "text \(number)")
      let delay = typical * 1.5 * Double(choices.number(below: 1_000_000)) / 1_000_000
      let start = Date()
      let first = service.inBackground { $0.push(push, deadline: 5_000).description }
      usleep(UInt32(delay * 1_000_000))
      let expired = np_expire_push(service.handle)
      let text = try XCTUnwrap(first.wait(atMost: .seconds(30)))
      let taken = -start.timeIntervalSinceNow
      if expired == NP_ERROR_NOTHING_PENDING { typical = max(0.002, typical * 0.8 + taken * 0.2) }
      let answer = JSON(text)
      outcomes[answer["outcome"].text, default: 0] += 1
      XCTAssertTrue(["presented", "expired"].contains(answer["outcome"].text), text)
      // On a busy machine the answer may be sent without the engine, and says so; the engine then releases everything
      // at its next step.
      if !answer["quiescent"].flag { XCTAssertTrue(service.state["quiescent"].flag, text) }
      shown += answer.bodies.filter { !$0.hasSuffix("new messages") }
      bundled = answer.bundled ?? bundled
      placeholders += answer["notifications"].elements.filter { $0["body"].text == "message received" }
        .map { $0["identifier"].text }
    }
    XCTAssertEqual(placeholders.count, Set(placeholders).count, "each is announced once")
    XCTAssertFalse(placeholders.isEmpty, "no push expired before its message came")
    for service in services { XCTAssertEqual(np_expire_push(service.handle), NP_ERROR_NOTHING_PENDING) }
    let last = services[0].push(try station.push(for: "last"))
    shown += last.bodies.filter { !$0.hasSuffix("new messages") }
    bundled = last.bundled ?? bundled
    let expected = (0..<count).map { "text \($0)" } + ["last"]
    XCTAssertEqual(shown.count, Set(shown).count, "nothing shown twice: \(outcomes)")
    XCTAssertTrue(Set(shown).isSubset(of: expected), "\(shown)")
    // On a busy machine a push may find a burst.
    XCTAssertEqual(shown.count + bundled, expected.count, "all shown: \(outcomes)")
    XCTAssertEqual(last["badge"].number, count + 1)
    XCTAssertNotNil(outcomes["expired"], "the race was never met: \(outcomes)")
    station.wake(expecting: expected)
  }

  private func replaceSchemaVersion(of host: Host, by version: Int32) throws -> Int32 {
    let database = try Database(path: host.prefix + "_chat.db")
    defer { try? database.close() }
    let former = try database.integer("PRAGMA user_version")
    try database.setUserVersion(version)
    return Int32(clamping: former ?? 0)
  }

  private static func payload(nonce: some Collection<UInt8>, message: some Collection<UInt8>) -> String {
    let (nonce, message) = (TextEncoding.base64URL(nonce), TextEncoding.base64URL(message))
    return #"{"aps":{"mutable-content":1},"notificationData":{"nonce":"\#(nonce)","message":"\#(message)"}}"#
  }
}

extension Host {
  /// Runs `work` with this host on another thread.
  func inBackground<Value: Sendable>(_ work: @escaping @Sendable (HostCall) -> Value) -> Promise<Value> {
    let promise = Promise<Value>()
    let call = HostCall(handle: handle)
    Thread.detachNewThread { promise.fulfil(work(call)) }
    return promise
  }

  /// A transport whose requests are never answered.
  func useRelayThatNeverAnswers() -> np_error {
    var relay = np_relay()
    relay.size = MemoryLayout<np_relay>.size
    relay.exchange = { _, _, _, _, _, timeout in
      usleep(UInt32(max(0, min(timeout, 1_000))) * 1_000)
      return NP_ERROR_TIMEOUT
    }
    return np_set_relay(handle, &relay)
  }
}

/// The relay, reached as if through a network: each exchange takes a moment.
final class SlowTransport {
  private let relay: EmbeddedRelay

  init(file: String) {
    relay = EmbeddedRelay(path: file, ports: .system, log: .silent)
  }

  deinit { relay.close() }

  func exchange(_ request: [UInt8]) -> [UInt8]? {
    usleep(UInt32.random(in: 0...4_000))
    return try? relay.exchange(request)
  }
}

extension Host {
  func use(_ transport: SlowTransport) -> np_error {
    var relay = np_relay()
    relay.size = MemoryLayout<np_relay>.size
    relay.context = Unmanaged.passRetained(transport).toOpaque()
    relay.exchange = { context, request, length, answer, answerLength, _ in
      guard let context, let answer, let answerLength else { return NP_ERROR_NULL }
      let transport = Unmanaged<SlowTransport>.fromOpaque(context).takeUnretainedValue()
      let bytes = Array(UnsafeBufferPointer(start: request, count: length))
      guard let reply = transport.exchange(bytes), let memory = malloc(max(1, reply.count)) else {
        return NP_ERROR_SYSTEM
      }
      reply.withUnsafeBytes { source in
        if let base = source.baseAddress { memcpy(memory, base, reply.count) }
      }
      answer.pointee = memory.assumingMemoryBound(to: UInt8.self)
      answerLength.pointee = reply.count
      return NP_OK
    }
    relay.release = { context in
      if let context { Unmanaged<SlowTransport>.fromOpaque(context).release() }
    }
    return np_set_relay(handle, &relay)
  }
}

/// A controller's handle, for another thread.
struct HostCall: @unchecked Sendable {
  let handle: chat_ctrl?

  func push(_ payload: String, deadline: Int32) -> JSON { JSON(take(np_receive_push(handle, payload, deadline))) }
  func send(_ command: String) -> JSON { JSON(take(chat_send_cmd(handle, command))) }
}
