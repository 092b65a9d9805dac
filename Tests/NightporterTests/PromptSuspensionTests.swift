import CNightporter
import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import WatchedFiles
import XCTest

/// A suspension is answered immediately, whatever the engine is busy with; work it interrupts is done later.
final class PromptSuspensionTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func messages(_ texts: [String]) -> String {
    "[" + texts.map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }.joined(separator: ",")
      + "]"
  }

  /// Runs a command on its own thread, and signals when it has been answered.
  private func start(_ command: String, _ host: Host) -> (done: XCTestExpectation, answer: Box<String>) {
    let (handle, answer) = (UInt(bitPattern: host.handle), Box(""))
    let done = expectation(description: command)
    Thread.detachNewThread {
      answer.value = take(chat_send_cmd(chat_ctrl(bitPattern: handle), command))
      done.fulfill()
    }
    return (done, answer)
  }

  private func openFiles(_ folder: TemporaryFolder, _ beginning: String) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(folder.file(beginning)) }
  }

  private func texts(_ host: Host, _ contacts: ClosedRange<Int>) -> [String] {
    contacts.flatMap { contact in
      let items = host.send("/_get chat @\(contact) count=1000")["result"]["chat"]["chatItems"]
      return (0..<items.count).map { items[$0]["content"]["msgContent"]["text"].text }
    }
  }

  private func expectTexts(
    _ expected: [String], of host: Host, _ contacts: ClosedRange<Int> = 1...1, line: UInt = #line
  ) {
    let end = Date(timeIntervalSinceNow: 240)
    while texts(host, contacts).count < expected.count, end.timeIntervalSinceNow > 0 { usleep(50_000) }
    awaitRest(of: host, line: line)
    let received = texts(host, contacts)
    XCTAssertEqual(received.count, expected.count, line: line)
    XCTAssertTrue(received.sorted() == expected.sorted(), line: line)
  }

  /// Waits until it is in a transaction, or is waiting for one, as behind a lock that another process holds.
  /// Returns its state.
  @discardableResult
  private func awaitWait(of host: Host, line: UInt = #line) -> JSON {
    var state = JSON("")
    awaitThat("the engine waits", line: line) {
      state = host.state
      return state["busy"]["doing"].text == "in a transaction, or waiting for one"
    }
    return state
  }

  /// `busyTimeout` of `Database.Options`.
  private static let longestWait = Duration.seconds(3)

  /// Expects that a command has waited for a lock. If a busy machine stalled the test for longer than the engine waits,
  /// the command was refused; repeats it then, as the answer advises. A refusal before that is a failure.
  private func expectSent(
    _ command: String, _ answer: JSON, _ wait: Duration, by host: Host, file: StaticString = #filePath,
    line: UInt = #line
  ) {
    let isStalled = wait >= Self.longestWait && answer["error"]["np"]["code"].text == "ownedElsewhere"
    (isStalled ? host.send(command) : answer).assert("newChatItems", file, line)
  }

  /// INC-01: a host that gets the event ends its background task, and is frozen.
  func testINC01NothingIsHeldWhenTheHostHearsOfTheSuspension() throws {
    let (folder, files) = (try TemporaryFolder(), WatchedFiles())
    let controller = try XCTUnwrap(
      Controller.open(
        Configuration(
          prefix: folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(files: files))
      ).1)
    defer { controller.stop() }
    for command in [#"/_create user {"profile":{"displayName":"alice","fullName":""}}"#, "/_start"] {
      XCTAssertTrue(JSON(controller.send(command, retry: 0))["result"].exists, command)
    }
    files.atClose { usleep(50_000) }
    Thread.detachNewThread { _ = controller.send("/_app suspend 1000", retry: 0) }
    while case .event(let text)? = controller.events.take(atMost: .seconds(20)) {
      guard JSON(text)["result"]["type"].text == "chatSuspended" else { continue }
      return XCTAssertEqual(openFiles(folder, "alice"), [])
    }
    XCTFail("it was never suspended")
  }

  // MARK: A thousand messages

  /// INC-01: a thousand messages wait in eight mailboxes. Without an interruption, all of them would be received first.
  func testINC01SuspendingDoesNotWaitForAThousandMessages() throws {
    let pair = try makeFriends(8)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    // As many as eight mailboxes hold.
    var texts: [String] = []
    for contact in 1...8 {
      let some = (0..<125).map { "\(contact): \($0)" }
      pair.bob.send("/_send @\(contact) json \(messages(some))").assert("newChatItems")
      texts += some
    }
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertTrue(pair.alice.state["quiescent"].flag, pair.alice.state.description)
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])

    // Likewise for a delay, a stop, and closing the controller's store.
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertEqual(pair.alice.closeStore(), "")
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])
    XCTAssertEqual(pair.alice.reopenStore(), "")
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.alice.send("/_app suspend 1000").assert("cmdOk")
    pair.alice.event("chatSuspended", within: 20)
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertLessThan(self.texts(pair.alice, 1...8).count, texts.count, "or it was never cut off")
    expectTexts(texts, of: pair.alice, 1...8)
  }

  // MARK: A lock that is not released

  /// Two hosts with this many contacts of each other.
  private func makeFriends(_ count: Int) throws -> Pair {
    let pair = try Pair()
    for _ in 1..<count {
      let link = pair.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      pair.bob.send("/connect \(link)").assert("sentConfirmation")
      pair.alice.event("contactConnected", within: 20)
      pair.bob.event("contactConnected", within: 20)
    }
    return pair
  }

  /// INC-01, INC-07: a peer frozen inside a commit has the store's lock when each of the suspending calls arrives.
  /// `InterruptionTests` counts what they wait for.
  func testINC07EachSuspensionBesideTheHolderOfTheLockReleasesEverything() throws {
    let pair = try makeFriends(3)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    var texts: [String] = []
    for contact in 1...3 {
      pair.bob.send("/_send @\(contact) json \(messages(["to \(contact)"]))").assert("newChatItems")
      texts.append("to \(contact)")
    }
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    for (name, suspend) in [
      ("suspend 0", { pair.alice.send("/_app suspend 0").assert("cmdOk") }),
      ("close", { XCTAssertEqual(pair.alice.closeStore(), "") }),
      ("phase", { XCTAssertEqual(np_set_phase(pair.alice.handle, NP_PHASE_SUSPENDED), NP_OK) }),
      (
        "a delay of 1 ms",
        {
          pair.alice.send("/_app suspend 1000").assert("cmdOk")
          pair.alice.event("chatSuspended", within: 20)
        }
      ),
    ] as [(String, () -> Void)] {
      if name == "phase" { XCTAssertEqual(pair.alice.reopenStore(), "") }
      try holder.execute("BEGIN IMMEDIATE")
      let activation = start("/_app activate", pair.alice)
      awaitWait(of: pair.alice)
      suspend()
      XCTAssertTrue(pair.alice.state["quiescent"].flag, "\(name): \(pair.alice.state)")
      wait(for: [activation.done], timeout: 30)
      try holder.execute("COMMIT")
    }
    try holder.close()
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])
    pair.alice.send("/_app activate").assert("cmdOk")
    expectTexts(texts, of: pair.alice, 1...3)
  }

  /// The same holds when the controller is freed.
  func testFreeingDoesNotWaitForTheHolderOfTheLock() throws {
    let pair = try makeFriends(3)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    for contact in 1...3 {
      pair.bob.send("/_send @\(contact) json \(messages(["to \(contact)"]))").assert("newChatItems")
    }
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    let activation = start("/_app activate", pair.alice)
    awaitWait(of: pair.alice)
    pair.alice.free()
    wait(for: [activation.done], timeout: 30)
    try holder.execute("COMMIT")
    try holder.close()
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])
    let again = try XCTUnwrap(Host.open(pair.folder.file("alice")).host)
    again.send("/_start").assert("chatStarted")
    expectTexts((1...3).map { "to \($0)" }, of: again, 1...3)
  }

  /// INC-07, INC-48: an extension that waits for the lock reports it before its deadline, or when it is expired, and
  /// has released everything by then.
  func testINC48APushWaitingForALockEndsInTimeAndQuiescent() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    let notifier = try XCTUnwrap(Host.open(pair.alice.prefix, isExtension: true).host)
    for expires in [false, true] {
      let told = try repeating(while: \.isLate, of: notifier) {
        let answer = notifier.inBackground { [wake] in $0.push(wake, deadline: expires ? 30_000 : 2_000).description }
        if expires {
          awaitThat("the push waits") { notifier.state["busy"].exists }
          XCTAssertEqual(np_expire_push(notifier.handle), NP_OK)
        }
        return JSON(try XCTUnwrap(answer.wait(atMost: .seconds(30))))
      }
      XCTAssertEqual(told["outcome"].text, "expired", told.description)
      XCTAssertTrue(told["quiescent"].flag, told.description)
      XCTAssertGreaterThan(told["holders"].count, 0, "INC-18: \(told)")
      XCTAssertTrue(notifier.state["quiescent"].flag)
    }
    try holder.execute("COMMIT")
    try holder.close()
    XCTAssertEqual(openFiles(pair.folder, "alice"), [])
    XCTAssertEqual(notifier.push(wake)["notifications"][0]["body"].text, "hello")
  }

  /// A push in an app ends in time too, without interrupting the app's other work.
  func testTheEndOfAPushDoesNotInterruptAnAppsOtherWork() throws {
    let pair = try Pair()
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    let command = "/_send @1 json \(messages(["patient"]))"
    let begin = ContinuousClock.now
    let sending = start(command, pair.alice)
    awaitWait(of: pair.alice)
    let answer = pair.alice.push(wake, deadline: 500)
    XCTAssertEqual(answer["outcome"].text, "expired", answer.description)
    try holder.execute("COMMIT")
    let waited = ContinuousClock.now - begin
    try holder.close()
    wait(for: [sending.done], timeout: 30)
    expectSent(command, JSON(sending.answer.value), waited, by: pair.alice)
    expectTexts(["patient"], of: pair.bob)
  }

  // MARK: Reports meanwhile

  /// `np_state` answers while the engine waits for another process, and then reports what it is doing.
  func testStateIsReportedWhileTheEngineIsBusy() throws {
    let pair = try Pair()
    let holder = try Database(path: pair.folder.file("alice_chat.db"))
    try holder.execute("BEGIN IMMEDIATE")
    let command = "/_send @1 json \(messages(["slow"]))"
    let begin = ContinuousClock.now
    let sending = start(command, pair.alice)
    let state = awaitWait(of: pair.alice)
    XCTAssertGreaterThan(state["busy"]["milliseconds"].number, 0)
    XCTAssertFalse(state["quiescent"].flag)
    XCTAssertTrue(state["holds"].elements.contains { $0.text.hasPrefix("the engine is in a transaction") })
    XCTAssertTrue(state["holds"].elements.contains { $0.text == "the store is open" })
    XCTAssertEqual(state["machines"]["chat_lifecycle"].text, "active")
    for name in ["role", "operations", "blocked", "instance", "presence", "claims", "eventsWaiting"] {
      XCTAssertTrue(state[name].exists, name)
    }
    try holder.execute("COMMIT")
    let waited = ContinuousClock.now - begin
    try holder.close()
    wait(for: [sending.done], timeout: 30)
    expectSent(command, JSON(sending.answer.value), waited, by: pair.alice)
    XCTAssertFalse(pair.alice.state["busy"].exists)
  }
}
