import CNightporter
import Foundation
import XCTest

/// A host's transport that hangs or fails: everyone who waits is answered, and nothing is lost.
final class HostRelayTests: XCTestCase {
  /// Alice reaches the relay through the host, bob by himself.
  private struct Meeting {
    let folder: TemporaryFolder
    let transport: HostTransport
    let alice: Host
    let bob: Host

    init() throws {
      folder = try TemporaryFolder()
      transport = HostTransport(relay: folder.file("relay.db"))
      alice = try XCTUnwrap(Host.open(folder.file("alice")).host)
      transport.install(in: alice)
      alice.send("/_create user {\"profile\":{\"displayName\":\"alice\",\"fullName\":\"\"}}").assert("activeUser")
      alice.send("/_start").assert("chatStarted")
      bob = try XCTUnwrap(Host.open(folder.file("bob")).host)
      bob.begin("bob", relay: folder.file("relay.db"))
    }

    func invite() {
      let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      bob.send("/connect \(link)").assert("sentConfirmation")
    }

    func connect() {
      invite()
      for _ in 0..<40 {
        np_relay_ready(alice.handle)
        if alice.event(within: 0.2)?["result"]["type"].text == "contactConnected" { return }
      }
      XCTFail("not connected")
    }
  }

  /// Sends a command from a thread of its own; its answer, and how long it took.
  private func inBackground(_ command: String, _ host: Host) -> (XCTestExpectation, () -> (JSON, TimeInterval)) {
    let handle = UInt(bitPattern: host.handle)
    let answered = expectation(description: command)
    let result = Box<(String, TimeInterval)>(("", 0))
    Thread.detachNewThread {
      let start = Date()
      let text = take(chat_send_cmd(chat_ctrl(bitPattern: handle), command))
      result.value = (text, -start.timeIntervalSinceNow)
      answered.fulfill()
    }
    return (answered, { (JSON(result.value.0), result.value.1) })
  }

  /// INC-39: whoever waits for the relay is told that nothing will come.
  func testINC39CommandThatWaitsForTheRelayIsAnsweredWhenTheChatSuspends() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    wait(for: [answered], timeout: 5)
    XCTAssertEqual(result().0["error"]["agentError"]["type"].text, "BROKER", result().0.description)
    XCTAssertTrue(meeting.alice.state["quiescent"].flag)
  }

  func testINC39CommandThatWaitsForTheRelayIsAnsweredWhenTheControllerIsFreed() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.free()
    wait(for: [answered], timeout: 5)
    XCTAssertTrue(result().0["error"].exists, result().0.description)
  }

  /// The header promises 15 s, whatever the transport does.
  func testINC39CommandIsAnsweredInTimeThoughTheTransportHangs() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    defer { meeting.transport.hang(false) }
    let (answered, result) = inBackground("/_connect 1", meeting.alice)
    wait(for: [answered], timeout: 20)
    let (answer, seconds) = result()
    XCTAssertEqual(answer["error"]["agentError"]["brokerErr"]["type"].text, "TIMEOUT", answer.description)
    XCTAssertLessThan(seconds, 17)
  }

  /// The host was promised one call at a time, also when one of before a suspension still hangs.
  func testTransportIsCalledOnceAtATimeAcrossSuspensions() throws {
    let meeting = try Meeting()
    meeting.transport.hang(true)
    let (answered, _) = inBackground("/_connect 1", meeting.alice)
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.alice.send("/_app activate").assert("cmdOk")
    let (second, result) = inBackground("/_connect 1", meeting.alice)
    usleep(200_000)
    meeting.transport.hang(false)
    wait(for: [answered, second], timeout: 10)
    result().0.assert("invitation")
    XCTAssertEqual(meeting.transport.mostAtOnce, 1)
  }

  /// A transport that is refused stays the host's: it is not released.
  func testRelayIsTakenBeforeTheStartOnly() throws {
    let meeting = try Meeting()
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

  /// Suspending while a message is on its way is no refusal by the relay: it goes out after the next activation, once.
  func testMessageThatWasBeingSentWhenTheChatSuspendedArrivesOnce() throws {
    let meeting = try Meeting()
    meeting.connect()
    meeting.transport.hang(true)
    meeting.alice.send("/_send @1 text hello").assert("newChatItems")
    meeting.transport.waitUntilInside()
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    meeting.transport.hang(false)
    meeting.alice.send("/_app activate").assert("cmdOk")
    meeting.bob.event("newChatItems")
    usleep(300_000)
    let items = meeting.bob.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"]
    XCTAssertEqual(items.count, 1, items.description)
    let sent = meeting.alice.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"][0]
    XCTAssertEqual(sent["meta"]["itemStatus"]["type"].text, "sndSent", sent.description)
  }

  /// The relay wakes once for a message. A fetch that failed is made up for without being woken again.
  func testFetchThatFailedIsTriedAgainByItself() throws {
    let meeting = try Meeting()
    meeting.connect()
    meeting.transport.fail(.get)
    meeting.bob.send("/_send @1 text hello").assert("newChatItems")
    np_relay_ready(meeting.alice.handle)
    usleep(200_000)
    meeting.transport.fail(nil)
    meeting.alice.event("newChatItems")
  }

  /// Before the mailbox is secured it refuses what the joining side signs, so a hello that is sent earlier is answered
  /// in vain, and the connection never becomes ready.
  func testNothingIsSentToTheOtherSideBeforeOurMailboxTakesItsAnswer() throws {
    let meeting = try Meeting()
    meeting.transport.fail(.secure)
    meeting.invite()
    for _ in 0..<5 {
      np_relay_ready(meeting.alice.handle)
      usleep(100_000)
    }
    XCTAssertGreaterThan(meeting.transport.count(.secure), 0)
    XCTAssertEqual(meeting.transport.count(.send), 0)
    meeting.transport.fail(nil)
    for _ in 0..<40 {
      np_relay_ready(meeting.alice.handle)
      if meeting.alice.event(within: 0.2)?["result"]["type"].text == "contactConnected" { return }
    }
    XCTFail("the contact never became ready")
  }
}

/// A value that one thread sets before it signals, and another reads afterwards.
final class Box<Value>: @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}
