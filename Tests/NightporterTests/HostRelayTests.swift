import CNightporter
import Foundation
import PorterStore
import XCTest

@testable import PorterEngine

/// A host's transport that hangs or fails: every waiting caller is answered, and nothing is lost.
final class HostRelayTests: XCTestCase {
  /// Sends a command from its own thread.
  private func inBackground(_ command: String, _ host: Host) -> (XCTestExpectation, () -> JSON) {
    let handle = UInt(bitPattern: host.handle)
    let answered = expectation(description: command)
    let result = Box("")
    Thread.detachNewThread {
      result.value = take(chat_send_cmd(chat_ctrl(bitPattern: handle), command))
      answered.fulfill()
    }
    return (answered, { JSON(result.value) })
  }

  /// INC-39: a caller that waits for the relay gets an error.
  func testINC39CommandThatWaitsForTheRelayIsAnsweredWhenTheChatSuspends() throws {
    let meeting = try Meeting(connects: false)
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    wait(for: [answered], timeout: 60)
    // After 15 s it would have been another.
    XCTAssertEqual(result()["error"]["agentError"]["brokerErr"]["type"].text, "NETWORK", result().description)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
  }

  func testINC39CommandThatWaitsForTheRelayIsAnsweredWhenTheControllerIsFreed() throws {
    let meeting = try Meeting(connects: false)
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.free()
    wait(for: [answered], timeout: 60)
    XCTAssertEqual(result()["error"]["agentError"]["brokerErr"]["type"].text, "NETWORK", result().description)
  }

  /// The header promises 15 s, whatever the transport does.
  func testINC39CommandIsAnsweredInTimeThoughTheTransportHangs() throws {
    let meeting = try Meeting(connects: false)
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    wait(for: [answered], timeout: 20)
    let answer = result()
    XCTAssertEqual(answer["error"]["agentError"]["brokerErr"]["type"].text, "TIMEOUT", answer.description)
  }

  /// The host was promised at most one sending and one receiving call at a time, even if a call from before a
  /// suspension still hangs.
  func testTransportIsCalledOnceAtATimeAcrossSuspensions() throws {
    let meeting = try Meeting(connects: false)
    meeting.transport.hang(true)
    let (answered, _) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    let (second, result) = inBackground("/_connect 1", meeting.alice)
    awaitThat("the second waits") { meeting.alice.state["operations"]["sending"].number > 0 }
    meeting.transport.hang(false)
    wait(for: [answered, second], timeout: 60)
    result().assert("invitation")
    XCTAssertEqual(meeting.transport.mostSendingAtOnce, 1)
    XCTAssertLessThanOrEqual(meeting.transport.mostAtOnce, 2)
  }

  /// Abandoned requests whose turn has not come are not carried out: no caller would get the result. And however often
  /// the chat is suspended and activated behind a hanging transport, its waiting threads do not pile up.
  func testAbandonedExchangesAreNotCarriedOutAndLeaveNothingBehind() throws {
    let meeting = try Meeting()
    let (created, threads) = (meeting.transport.count(.create), Self.threads)
    meeting.transport.hang(true)
    let (first, _) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    for _ in 0..<6 {
      meeting.alice.send("/_app suspend 0").assert("cmdOk")
      meeting.alice.send("/_app activate").assert("cmdOk")
    }
    let later = (0..<6).map { _ in inBackground("/_connect 1", meeting.alice) }
    wait(for: [first] + later.map(\.0), timeout: 30)
    for (_, result) in later {
      XCTAssertEqual(result()["error"]["agentError"]["brokerErr"]["type"].text, "TIMEOUT", result().description)
    }
    awaitThat("the threads of earlier activations have ended") { Self.threads <= threads + 4 }
    meeting.transport.hang(false)
    // One call of a kind at a time, and in order: everything due before this one has been carried out.
    meeting.alice.send("/_connect 1").assert("invitation")
    // The one in progress, at most one that was next, and this one.
    XCTAssertLessThanOrEqual(meeting.transport.count(.create) - created, 3)
    XCTAssertEqual(meeting.transport.mostSendingAtOnce, 1)
    XCTAssertLessThanOrEqual(meeting.transport.mostAtOnce, 1 + RelayWays.receivingWays)
  }

  /// The store's key may be changed as soon as "/_stop" is answered.
  func testStoppingIsAnsweredWhenWhatHasBegunIsFinished() throws {
    let meeting = try Meeting()
    meeting.transport.hang(.create)
    let (connected, _) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    let (stopped, result) = inBackground("/_stop", meeting.alice)
    awaitThat("it stops") { meeting.alice.state["machines"]["chat_lifecycle"].text == "stopping" }
    XCTAssertFalse(result().exists, "not yet")
    meeting.transport.hang(nil)
    wait(for: [connected, stopped], timeout: 20)
    result().assert("chatStopped")
    XCTAssertEqual(meeting.alice.state["machines"]["chat_lifecycle"].text, "stopped")
    let keys = #"{"currentKey":"","newKey":"another key"}"#
    meeting.alice.send("/_db encryption \(keys)").assert("cmdOk")
  }

  /// M9: a hanging request for messages delays neither sending messages nor creating mailboxes.
  func testAHangingRequestForMessagesDelaysNothingThatIsSent() throws {
    let meeting = try Meeting()
    meeting.transport.hang(.get)
    defer { meeting.transport.hang(nil) }
    let message = #"[{"msgContent":{"type":"text","text":"hello"},"mentions":{}}]"#
    meeting.bob.send("/_send @1 json \(message)").assert("newChatItems")
    np_relay_ready(meeting.alice.handle)
    meeting.transport.waitUntilInside()
    XCTAssertGreaterThan(meeting.alice.state["operations"]["receiving"].number, 0)
    let sent = meeting.transport.count(.send)
    meeting.alice.send("/_send @1 json \(message)").assert("newChatItems")
    meeting.alice.send("/_connect 1").assert("invitation")
    XCTAssertGreaterThan(meeting.transport.count(.send), sent)
    XCTAssertGreaterThan(
      meeting.alice.state["operations"]["receiving"].number, 0, "the request for messages still hangs")
    meeting.bob.event("newChatItems", within: 10)
  }

  /// M9: the same holds for a request for the notification server's answers, which an app makes whenever it is
  /// activated. It does not keep messages from being received, either.
  func testAHangingRequestForTheServersAnswersDelaysNothing() throws {
    let station = try Station()
    let (bob, prefix) = (station.bob, station.alice.prefix)
    station.alice.free()
    let answers = try replyMailbox(prefix)
    let alice = try XCTUnwrap(Host.open(prefix).host)
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: alice)
    transport.hang(mailboxes: [answers])
    defer { transport.hang(mailboxes: []) }
    alice.send("/_start").assert("chatStarted")
    transport.waitUntilAsked(for: answers)
    let message = #"[{"msgContent":{"type":"text","text":"hello"},"mentions":{}}]"#
    alice.send("/_send @1 json \(message)").assert("newChatItems")
    alice.send("/_connect 1").assert("invitation")
    bob.event("newChatItems", within: 10)
    bob.send("/_send @1 json \(message)").assert("newChatItems")
    awaitRest(of: bob)
    np_relay_ready(alice.handle)
    alice.event("newChatItems", within: 10)
    XCTAssertGreaterThan(alice.state["operations"]["notifications"].number, 0, "the request for answers still hangs")
  }

  private func replyMailbox(_ prefix: String) throws -> [UInt8] {
    let store = try Database(path: prefix + "_chat.db")
    defer { try? store.close() }
    return try XCTUnwrap(store.rows("SELECT reply_recipient_id FROM token") { $0.blob(0) }.first)
  }

  /// Threads of this process.
  private static var threads: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
  }

  /// A host may report news for each of many messages; they are fetched once, and once more.
  func testRepeatedNewsIsFetchedOnce() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    np_relay_ready(meeting.alice.handle)
    meeting.transport.waitUntilInside()
    let looks = { [transport = meeting.transport] in
      [.arrivals, .subscribe, .check].map(transport.count).reduce(0, +)
    }
    let before = looks()
    for _ in 0..<500 { np_relay_ready(meeting.alice.handle) }
    meeting.alice.send("/u").assert("activeUser")
    meeting.transport.hang(false)
    let message = "/_send @1 json [{\"msgContent\":{\"type\":\"text\",\"text\":\"late\"},\"mentions\":{}}]"
    meeting.bob.send(message).assert("newChatItems")
    np_relay_ready(meeting.alice.handle)
    meeting.alice.event("newChatItems")
    XCTAssertLessThan(looks() - before, 12)
  }

  /// The context belongs to the host again once `np_ctrl_free` has returned, since no exchange was in progress; so does
  /// the event descriptor's number.
  func testAFreedControllerHasReleasedTheTransportAndItsDescriptors() throws {
    let folder = try TemporaryFolder()
    for round in 0..<60 {
      let host = try XCTUnwrap(Host.open(folder.file("alice")).host)
      let released = Box(false)
      var vtable = np_relay()
      vtable.size = MemoryLayout<np_relay>.size
      vtable.context = Unmanaged.passUnretained(released).toOpaque()
      vtable.exchange = { _, _, _, _, _, _ in NP_ERROR_SYSTEM }
      vtable.release = { context in
        if let context { Unmanaged<Box<Bool>>.fromOpaque(context).takeUnretainedValue().value = true }
      }
      XCTAssertEqual(np_set_relay(host.handle, &vtable), NP_OK)
      if round == 0 {
        host.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
      }
      host.send("/_start").assert("chatStarted")
      XCTAssertTrue(host.send("/_connect 1")["error"].exists)
      let descriptor = np_event_fd(host.handle)
      XCTAssertGreaterThanOrEqual(descriptor, 0)
      host.free()
      XCTAssertTrue(released.value, "round \(round)")
      XCTAssertEqual(fcntl(descriptor, F_GETFD), -1, "round \(round)")
      withExtendedLifetime(released) {}
    }
  }

  /// A transport that is refused stays the host's: it is not released.
  func testRelayCanBeSetBeforeTheStartOnly() throws {
    let meeting = try Meeting(connects: false)
    for suspension in [nil, "/_app suspend 0"] {
      if let suspension { meeting.alice.send(suspension).assert("cmdOk") }
      let released = Box(0)
      var vtable = np_relay()
      vtable.size = MemoryLayout<np_relay>.size
      vtable.context = Unmanaged.passUnretained(released).toOpaque()
      vtable.release = { context in
        if let context { Unmanaged<Box<Int>>.fromOpaque(context).takeUnretainedValue().value += 1 }
      }
      vtable.exchange = { _, _, _, _, _, _ in NP_ERROR_SYSTEM }
      XCTAssertEqual(np_set_relay(meeting.alice.handle, &vtable), NP_ERROR_STATE)
      XCTAssertEqual(released.value, 0)
    }
  }

  /// Suspending while a message is being sent is not a refusal by the relay: the message is sent after the next
  /// activation, once.
  func testMessageBeingSentDuringASuspensionArrivesOnce() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text hello").assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.transport.hang(false)
    meeting.alice.send("/_app activate").assert("cmdOk")
    try meeting.expectBobHas(["hello"])
    let sent = meeting.alice.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"][0]
    XCTAssertEqual(sent["meta"]["itemStatus"]["type"].text, "sndSent", sent.description)
  }

  /// The relay wakes once per message. A failed fetch is retried without another wake-up.
  func testAFailedFetchIsRetriedAutomatically() throws {
    let meeting = try Meeting()
    meeting.transport.fail(.get)
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    let gets = meeting.transport.count(.get)
    np_relay_ready(meeting.alice.handle)
    awaitThat("a fetch has failed") { meeting.transport.count(.get) > gets }
    meeting.transport.fail(nil)
    meeting.alice.event("newChatItems")
  }

  /// A proxy's page is no verdict of the relay's: the request is repeated, in both directions.
  func testARequestAnsweredByAProxyIsRepeated() throws {
    let meeting = try Meeting()
    meeting.transport.garble(.get)
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    let gets = meeting.transport.count(.get)
    np_relay_ready(meeting.alice.handle)
    awaitThat("a fetch has failed") { meeting.transport.count(.get) > gets }
    meeting.transport.garble(.send)
    meeting.alice.event("newChatItems")
    let sends = meeting.transport.count(.send)
    meeting.alice.send("/_send @1 text there").assert("newChatItems")
    awaitThat("a message has not been sent") { meeting.transport.count(.send) > sends }
    meeting.transport.garble(nil)
    try meeting.expectBobHas(["hello", "there"])
  }

  /// The app on screen has lost the relay's news, and an extension leaves a push to it. The extension's clock stands
  /// still, so the app's answer is never too late.
  func testAPushLeftToTheAppMakesItFetchWithoutNews() throws {
    let meeting = try Meeting()
    let clock = MovedClock()
    clock.stop()
    let notifier = try Host.open(meeting.alice.prefix, isExtension: true, clock: clock)
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    NightporterTests.awaitRest(of: meeting.bob)
    let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
    XCTAssertEqual(notifier.push(wake)["outcome"].text, "yielded")
    meeting.alice.event("newChatItems")
  }

  /// An invalid length, such as the -1 of a read that failed, is no answer.
  func testAnInvalidLengthIsRefused() throws {
    let pair = try Pair()
    pair.alice.free()
    let host = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    var relay = np_relay()
    relay.size = MemoryLayout<np_relay>.size
    relay.exchange = { _, _, _, answer, length, _ in
      answer?.pointee = malloc(1)?.assumingMemoryBound(to: UInt8.self)
      length?.pointee = -1
      return NP_OK
    }
    XCTAssertEqual(np_set_relay(host.handle, &relay), NP_OK)
    let answer = JSON(take(np_background_refresh(host.handle, 2_000)))
    XCTAssertEqual(answer["outcome"].text, "offline", answer.description)
  }

  /// R15: an extension took what arrived while the app slept. The app listens again, and retries until the relay has
  /// answered.
  func testAfterAnExtensionTheAppListensUntilTheRelayHasAnswered() throws {
    let meeting = try Meeting()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.bob.send("/_send @1 text one").assert("newChatItems")
    awaitRest(of: meeting.bob)
    let notifier = try XCTUnwrap(Host.open(meeting.folder.file("alice"), isExtension: true).host)
    HostTransport(relay: meeting.folder.file("relay.db")).install(in: notifier)
    XCTAssertEqual(notifier.push(#"{"aps":{},"notificationData":{"checkMessages":true}}"#).bodies, ["one"])
    meeting.bob.send("/_send @1 text two").assert("newChatItems")
    awaitRest(of: meeting.bob)
    let before = meeting.transport.count(.subscribe)
    meeting.transport.fail(.subscribe)
    meeting.alice.send("/_app activate").assert("cmdOk")
    awaitThat("two attempts have failed") { meeting.transport.count(.subscribe) > before + 1 }
    XCTAssertEqual(meeting.texts(meeting.alice), ["one"])
    meeting.transport.fail(nil)
    awaitThat("alice has both") { meeting.texts(meeting.alice) == ["one", "two"] }
  }

  /// Until the mailbox is secured it refuses anything signed by the joining side, so an earlier hello would be answered
  /// in vain, and the connection would never become ready.
  func testNothingIsSentBeforeOurMailboxAcceptsTheAnswer() throws {
    let meeting = try Meeting(connects: false)
    meeting.transport.fail(.secure)
    meeting.invite()
    awaitThat("the relay has refused it three times") {
      np_relay_ready(meeting.alice.handle)
      return meeting.transport.count(.secure) >= 3
    }
    XCTAssertEqual(meeting.transport.count(.send), 0)
    meeting.transport.fail(nil)
    meeting.awaitConnected()
  }
}

/// A value that one thread sets before it signals, and another reads afterwards.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
