import CNightporter
import Foundation
import PorterStore
import XCTest

/// A push ends before its deadline, and the next push shows whatever it had no time to show.
final class PushDeadlineTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// INC-07, INC-18, INC-30: another process holds the store's write lock all the time.
  func testINC30PushIsAnsweredBeforeItsDeadlineThoughTheStoreIsHeld() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    // Its duration is measured on the simulation's clock.
    let answer = repeating(while: \.isLate, of: notifier) { notifier.push(wake, deadline: 1_000) }
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    try holder.execute("COMMIT")
    try holder.close()
    // The engine stops waiting for the lock, and the next push finds everything unchanged.
    var bodies: [String] = []
    for _ in 0..<3 where bodies.isEmpty { bodies += self.bodies(of: notifier.push(wake, deadline: 10_000)) }
    XCTAssertEqual(bodies, ["hello"])
  }

  /// INC-31, INC-38: more messages than there is time for. Each is shown once, by this push or a later one.
  func testINC38MessagesAPushHasNoTimeForAreShownByALaterOne() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let texts = (0..<100).map { "text \($0)" }
    let messages = texts.map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }
    pair.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    var (shown, bundled, deadline): ([String], Int, Int32) = ([], 0, 220)
    for _ in 0..<200 where shown.count + bundled < texts.count {
      let before = shown.count + bundled
      let answer = notifier.push(wake, deadline: deadline)
      bundled = answer.bundled ?? bundled
      shown += bodies(of: answer).filter { $0.hasPrefix("text") }
      // A busy machine may need more for one message: 150 of them are the engine's reserve.
      if shown.count + bundled == before { deadline += 100 }
    }
    XCTAssertEqual(shown.count + bundled, texts.count, "by itself, or in the summary")
    XCTAssertEqual(shown, texts.filter(Set(shown).contains), "each once, in order")
  }

  /// INC-48: the platform freezes an extension after its answer, even if there was nothing to do.
  func testINC48ExtensionIsQuiescentAfterEveryAnswer() throws {
    let pair = try Pair()
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    for (payload, outcome) in [("garbage", "unknown"), (wake, "yielded")] {
      let answer = notifier.push(payload)
      XCTAssertEqual(answer["outcome"].text, outcome, answer.description)
      XCTAssertTrue(answer["quiescent"].flag, answer.description)
      XCTAssertTrue(notifier.state["quiescent"].flag)
      XCTAssertEqual(notifier.reopenStore(), "")
    }
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    XCTAssertEqual(bodies(of: notifier.push(wake)), ["hello"])
  }

  /// INC-48: the host closes the store while the push waits for the relay; the push ends immediately, and finds it
  /// closed.
  func testINC48APushCutOffBySuspendingEndsQuiescent() throws {
    for command in ["/_app suspend 0", "close", "free"] {
      let pair = try Pair()
      pair.alice.send("/_app suspend 0").assert("cmdOk")
      let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
      let transport = HostTransport(relay: pair.folder.file("relay.db"))
      transport.install(in: notifier)
      transport.hang(true)
      defer { transport.hang(false) }
      let (handle, payload) = (UInt(bitPattern: notifier.handle), wake)
      let answer = Box("")
      let answered = expectation(description: command)
      Thread.detachNewThread {
        answer.value = take(np_receive_push(chat_ctrl(bitPattern: handle), payload, 30_000))
        answered.fulfill()
      }
      transport.waitUntilInside()
      switch command {
      case "close": XCTAssertEqual(notifier.closeStore(), "")
      case "free": notifier.free()
      default: notifier.send(command).assert("cmdOk")
      }
      wait(for: [answered], timeout: 20)
      XCTAssertTrue(JSON(answer.value)["quiescent"].flag, answer.value)
    }
  }

  /// SimpleX's way of driving a push: the maximum number of requests in a command, each with a message.
  func testConnectionMessagesAcceptsTheMaximum() throws {
    let pair = try Pair()
    let connection = pair.alice.send("/_contacts 1")["result"]["contacts"][0]["activeConn"]["agentConnId"].text
    XCTAssertFalse(connection.isEmpty)
    pair.alice.free()
    let messages = (0..<64).map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }
    pair.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    let host = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    host.send("/_start main=off snd_files=off").assert("chatStarted")
    let requests = (0..<64).map { _ in "\(connection):1:2026-01-01T00:00:00.000Z" }
    host.send("/_ntf conn messages \(requests.joined(separator: ","))").assert("connNtfMessages")
    XCTAssertEqual(host.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"].count, 64)
    let tooMany = requests + requests.prefix(1)
    XCTAssertEqual(host.send("/_ntf conn messages \(tooMany.joined(separator: ","))").errorTag, "commandError")
  }

  private func bodies(of answer: JSON) -> [String] {
    let notifications = answer["notifications"]
    return (0..<notifications.count).map { notifications[$0]["body"].text }
  }
}
