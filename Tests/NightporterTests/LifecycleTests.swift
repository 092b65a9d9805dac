import CNightporter
import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

/// Start, activate, suspend, stop, close and reopen, in any order.
final class LifecycleTests: XCTestCase {
  /// INC-01: once the library reports that it is quiescent, the process has no file of the store open.
  func testINC01QuiescentMeansNoOpenFile() throws {
    let pair = try Pair()
    XCTAssertFalse(openFiles(in: pair.folder, beginning: "alice").isEmpty, "while active it has")
    for suspension in ["/_app suspend 3000000", "/_app suspend 0"] {
      pair.send("before", from: pair.bob)
      pair.alice.send(suspension).assert("cmdOk")
      if suspension.hasSuffix("3000000") { pair.alice.event("chatSuspended") }
      XCTAssertTrue(pair.alice.state["quiescent"].flag, pair.alice.state.description)
      XCTAssertEqual(openFiles(in: pair.folder, beginning: "alice"), [])
      pair.alice.send("/_app activate").assert("cmdOk")
    }
  }

  /// INC-22: a running extension does not keep the app from coming to the front; the store arbitrates.
  func testINC22AppActivatesImmediatelyWhileAnExtensionIsRunning() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    notifier.send("/_start main=off snd_files=off").assert("chatStarted")
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    pair.alice.event("newChatItems")
  }

  func testBackgroundRefreshBeforeTheStartIsRefused() throws {
    let pair = try Pair()
    pair.alice.free()
    let again = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    XCTAssertEqual(np_set_phase(again.handle, NP_PHASE_BACKGROUND_REFRESH), NP_ERROR_STATE)
    again.send("/_start").assert("chatStarted")
    again.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    XCTAssertEqual(np_set_phase(again.handle, NP_PHASE_BACKGROUND_REFRESH), NP_OK)
    again.event("newChatItems")
  }

  func testClosingTwiceAndReopeningTwiceIsHarmless() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    XCTAssertEqual(host.closeStore(), "")
    XCTAssertEqual(host.closeStore(), "")
    XCTAssertEqual(host.reopenStore(), "")
    XCTAssertEqual(host.reopenStore(), "")
    XCTAssertEqual(host.send("/u").errorTag, "noActiveUser")
  }

  func testFreeingWakesWaitingThreads() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let handle = UInt(bitPattern: host.handle)
    let woken = expectation(description: "chat_recv_msg returns")
    let thread = Promise<String>()
    Thread.detachNewThread {
      thread.fulfil((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/thread-self")) ?? "")
      let answer = take(chat_recv_msg(chat_ctrl(bitPattern: handle)))
      XCTAssertTrue(JSON(answer)["error"].exists, answer)
      woken.fulfill()
    }
    let status = "/proc/" + (thread.wait() ?? "") + "/status"
    try awaitThat("it sleeps") { try String(contentsOfFile: status, encoding: .utf8).contains("State:\tS") }
    host.free()
    wait(for: [woken], timeout: 60)
  }

  func testEventDescriptorIsReadableOnlyWhileEventsWait() throws {
    let pair = try Pair()
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    let descriptor = np_event_fd(pair.alice.handle)
    XCTAssertFalse(isReadable(descriptor))
    pair.send("hello", from: pair.bob)
    awaitThat("it is readable") { isReadable(descriptor) }
    awaitRest(of: pair.alice)
    pair.alice.dropEvents()
    XCTAssertFalse(isReadable(descriptor))
  }

  /// Random sequences of a host's calls: each is answered, `suspend 0` always ends quiescent, and the chat can always
  /// be brought back to a working state.
  func testAnyOrderOfCallsIsAnsweredAndCanBeRecovered() throws {
    let calls = [
      "/_start", "/_stop", "/_app activate", "/_app suspend 1000", "/_app suspend 0", "/_check running", "close",
      "reopen",
      "phase active", "phase background", "phase refresh", "/_app phase suspended", "/_resubscribe all",
    ]
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let sequences = Generator<[String]> { choices in
      var sequence: [String] = []
      choices.repeated(1...12) { _ in sequence.append(choices.element(of: calls)) }
      return sequence
    }
    forAll(sequences, runs: 150) { sequence in
      for call in sequence { Self.perform(call, host) }
      host.send("/_app suspend 0")
      try expect(host.state["quiescent"].flag, host.state.description)
      try expect(self.openFiles(in: folder, beginning: "a_").isEmpty, "no file is open")
      _ = host.reopenStore()
      host.send("/_app activate")
      let started = host.send("/_start")
      try expect(["chatStarted", "chatRunning"].contains(started["result"]["type"].text), started.description)
      try expect(host.send("/_check running")["result"]["type"].text == "chatRunning", host.state.description)
    }
  }

  private static func perform(_ call: String, _ host: Host) {
    switch call {
    case "close": _ = host.closeStore()
    case "reopen": _ = host.reopenStore()
    case "phase active": _ = np_set_phase(host.handle, NP_PHASE_ACTIVE)
    case "phase background": _ = np_set_phase(host.handle, NP_PHASE_BACKGROUND)
    case "phase refresh": _ = np_set_phase(host.handle, NP_PHASE_BACKGROUND_REFRESH)
    default:
      let answer = host.send(call)
      XCTAssertTrue(answer["result"].exists || answer["error"].exists, answer.description)
    }
  }

  private func isReadable(_ descriptor: Int32) -> Bool {
    var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&poller, 1, 0) == 1
  }

  /// Files of a store that this process has open, as the kernel lists them.
  private func openFiles(in folder: TemporaryFolder, beginning: String) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(folder.file(beginning)) }
  }
}
