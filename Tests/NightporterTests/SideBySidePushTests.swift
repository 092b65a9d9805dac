import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// The effects that one of two pushes in progress may have on the other: none, and the last one releases the store.
final class SideBySidePushTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func push(_ service: Host, _ payload: String, named name: String? = nil) -> Promise<String> {
    service.inBackground { host in
      guard let name else { return host.push(payload, deadline: 30_000).description }
      return take(np_receive_push_id(host.handle, name, payload, 30_000))
    }
  }

  private func answer(_ promise: Promise<String>, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
    JSON(try XCTUnwrap(promise.wait(atMost: .seconds(40)), "no answer", file: file, line: line))
  }

  private func awaitWaiting(_ service: Host, file: StaticString = #filePath, line: UInt = #line) {
    awaitThat("both are in progress", file: file, line: line) { service.state["pushesWaiting"].number == 1 }
  }

  // MARK: Releasing

  /// INC-48: the receiving time is over for both rounds of an app, which end in one step. One of them releases the app.
  func testOfTwoRoundsThatEndTogetherOneReleasesTheApp() throws {
    let pair = try Pair()
    pair.alice.free()
    pair.send("hello", from: pair.bob)
    let clock = MovedClock()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    let configuration = Configuration(
      prefix: pair.folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = try XCTUnwrap(Controller.open(configuration).1)
    defer { app.stop() }
    XCTAssertTrue(app.setRelay(transport.port))
    transport.hang(true)
    defer { transport.hang(false) }
    let answers = (0..<2).map { _ in
      let answer = Promise<String>()
      Thread.detachNewThread { answer.fulfil(app.refresh(deadline: .seconds(30))) }
      return answer
    }
    awaitThat("both are in progress") { JSON(app.state())["pushesWaiting"].number == 1 }
    clock.move(.seconds(18))
    // Any call makes the engine check its timers.
    _ = app.state()
    for answer in answers { XCTAssertEqual(try self.answer(answer)["outcome"].text, "expired") }
    let state = JSON(app.state())
    XCTAssertTrue(state["quiescent"].flag, state.description)
    XCTAssertEqual(state["machines"]["background_refresh"].text, "expired", state.description)
  }

  /// INC-48: a push that comes late in a round has its own time, and does not end with the earlier round.
  func testALaterRoundHasItsOwnTimeToReceive() throws {
    let pair = try Pair()
    pair.alice.free()
    let clock = MovedClock()
    let transport = HostTransport(relay: pair.folder.file("relay.db"))
    let configuration = Configuration(
      prefix: pair.folder.file("alice"), role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
    let app = try XCTUnwrap(Controller.open(configuration).1)
    defer { app.stop() }
    XCTAssertTrue(app.setRelay(transport.port))
    for command in ["/_start", "/_app suspend 0"] { XCTAssertFalse(app.send(command, retry: 0).isEmpty) }
    // The system's time begins with the host's report; the push arrives towards its end.
    XCTAssertTrue(app.setPhase(nil))
    clock.move(.seconds(20))
    transport.hang(true)
    defer { transport.hang(false) }
    pair.send("hello", from: pair.bob)
    let round = Promise<String>()
    Thread.detachNewThread { round.fulfil(app.refresh(deadline: .seconds(30))) }
    awaitThat("it receives") { JSON(app.state())["machines"]["background_refresh"].text == "running" }
    transport.waitUntilInside()
    clock.move(.seconds(6))
    for _ in 0..<5 { _ = app.state() }
    XCTAssertEqual(
      JSON(app.state())["machines"]["app_phase"].text, "bgRefresh", "26 s after the first, 6 after the last")
    XCTAssertEqual(JSON(app.state())["machines"]["background_refresh"].text, "running")
    transport.hang(false)
    let shown = try answer(round)
    XCTAssertNotEqual(shown["outcome"].text, "expired", shown.description)
  }

  /// INC-30, INC-48: the host suspends the process in the middle of two pushes. Each is answered, and nothing is open.
  func testASuspensionInTheMiddleOfTwoPushesAnswersBoth() throws {
    let station = try Station()
    station.suspend()
    let message = try station.push(for: "hello")
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let answers = [push(service, message), push(service, wake)]
    awaitWaiting(service)
    transport.waitUntilInside()
    service.send("/_app suspend 0").assert("cmdOk")
    XCTAssertTrue(service.state["quiescent"].flag, service.state.description)
    for answer in answers {
      let answer = try self.answer(answer)
      XCTAssertEqual(answer.bodies, [], answer.description)
      XCTAssertFalse(answer["outcome"].text.isEmpty, answer.description)
    }
    XCTAssertTrue(service.state["quiescent"].flag, service.state.description)
    transport.hang(false)
    XCTAssertEqual(try station.present(message).bodies, ["hello"])
    station.wake(expecting: ["hello"])
  }

  // MARK: Sending

  /// Whatever triggers it, such as another process's commit, nothing is sent before the content of a push is settled.
  func testNothingIsSentWhileAPushIsInTheMiddleOfItsWork() throws {
    let waiting = try CallStation()
    try waiting.leaveSomethingToSend()
    waiting.transport.hang(onlyGet: 1)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    waiting.transport.hang(.send)
    let controller = try XCTUnwrap(Handles.find(waiting.service.handle))
    let isStarted = controller.call { engine -> Bool in
      engine.storeChanged()
      return engine.lifecycle.isStarted
    }
    XCTAssertEqual(isStarted, true)
    XCTAssertEqual(waiting.service.state["operations"]["sending"].number, 0)
    waiting.transport.hang(nil)
    waiting.transport.hang(onlyGet: nil)
    XCTAssertEqual(try answer(first).bodies, ["from carol"])
    XCTAssertGreaterThan(waiting.transport.count(.send), 0)
  }

  /// One push has sent, and the relay does not answer. A push that settles its content alongside another one does not
  /// wait for that: the clock stands still, so no time limit for it expires.
  func testAPushBesideAnotherDoesNotWaitForWhatIsBeingSent() throws {
    let clock = MovedClock()
    let waiting = try CallStation(clock: clock)
    try waiting.leaveSomethingToSend()
    let bob = try CallStation.mailboxes(of: waiting.station)["bob"]
    waiting.transport.hang(.send)
    let first = waiting.push(waiting.message)
    awaitThat("it sends") { waiting.transport.count(.send) > 0 }
    waiting.transport.hang(mailboxes: [bob])
    let second = waiting.push(waiting.call)
    XCTAssertEqual(try answer(first).bodies, ["from carol"])
    waiting.transport.waitUntilAsked(for: bob)
    clock.stop()
    let third = try answer(waiting.push(waiting.message))
    XCTAssertEqual(third["outcome"].text, "nothingNew")
    let events = third["trace"].elements.map { $0["event"].text }
    XCTAssertTrue(events.contains("sent") && !events.contains("expire"), third.description)
    clock.start()
    waiting.transport.hang(mailboxes: [])
    waiting.transport.hang(nil)
    XCTAssertEqual(try answer(second).bodies, ["Incoming audio call"])
  }

  // MARK: One mailbox

  /// Of two pushes about one mailbox, the later one repeats a request that has no answer. The earlier one waits for
  /// that, although it takes as long: otherwise each would abandon the other's.
  func testTheRequestOfALaterPushIsNotGivenUpForAnEarlierOne() throws {
    let clock = MovedClock()
    let waiting = try CallStation(friends: [], clock: clock)
    let controller = try XCTUnwrap(Handles.find(waiting.service.handle))
    func holder() -> Int? {
      let rank = controller.call { engine -> Int? in
        engine.claims.states.first.flatMap { engine.claims.holder(of: $0.connectionID)?.rank }
      }
      return rank ?? nil
    }
    waiting.transport.hang(.get)
    let first = waiting.push(waiting.message)
    waiting.transport.waitUntilInside()
    let second = waiting.push(waiting.call)
    waiting.awaitPushes(2)
    clock.move(Durations.mailboxPatience)
    awaitThat("the later one asks") { holder() == 2 }
    waiting.transport.waitUntilInside(2)
    // The next request's time, which is twice as long, and once more.
    for _ in 0..<2 {
      clock.move(.seconds(4))
      // Any call makes the engine check its timers, and the next one happens in another turn.
      for _ in 0..<2 { XCTAssertEqual(holder(), 2) }
    }
    waiting.transport.hang(nil)
    let answers = try [answer(first), answer(second)]
    XCTAssertEqual(answers.flatMap(\.bodies).sorted(), ["Incoming audio call", "from bob"], "\(answers)")
  }

  // MARK: Another push's time

  /// A push waits for a writer in another process when the host reports that another push's time is up, which
  /// interrupts the engine's wait. The push tries again and shows its message: while it commits, and while it records
  /// what it shows.
  private func interrupted(afterCommit: Bool) throws {
    let station = try Station()
    station.suspend()
    let message = try station.push(for: "hello")
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    if afterCommit { transport.hang(onlyAcknowledgement: 1) } else { transport.hang(onlyGet: 1) }
    let first = push(service, message)
    if afterCommit { transport.waitUntilAcknowledging() } else { transport.waitUntilInside() }
    let second = push(service, wake, named: "second")
    awaitWaiting(service)
    let statements = try Statements(of: service)
    let holder = try Database(path: station.alice.prefix + "_chat.db")
    try holder.execute("BEGIN IMMEDIATE")
    transport.hang(onlyGet: nil)
    transport.hang(onlyAcknowledgement: nil)
    awaitThat("it waits for the writer") { statements.all.contains { $0.hasPrefix("BEGIN IMMEDIATE") } }
    XCTAssertEqual(np_expire_push_id(service.handle, "second"), NP_OK)
    XCTAssertEqual(try answer(second)["outcome"].text, "expired")
    XCTAssertNil(first.wait(atMost: .zero), "it has its own time")
    try holder.execute("COMMIT")
    try holder.close()
    let shown = try answer(first)
    XCTAssertEqual(shown["outcome"].text, "presented", shown.description)
    XCTAssertEqual(shown.bodies, ["hello"], shown.description)
    XCTAssertFalse(shown["recorded"].exists, "it is recorded as shown: \(shown)")
    XCTAssertTrue(shown["quiescent"].flag, shown.description)
    XCTAssertEqual(try station.present(message).bodies, [])
  }

  func testAPushThatCommitsIsNotInterruptedForAnother() throws { try interrupted(afterCommit: false) }
  func testAPushThatComposesIsNotInterruptedForAnother() throws { try interrupted(afterCommit: true) }

  /// The host reports that a push's time is up in the very turn in which the push ends: an interruption in the rest of
  /// that turn hits the other one's work.
  func testAPushIsNotInterruptedForOneThatHasJustEnded() throws {
    let station = try Station()
    station.suspend()
    let message = try station.push(for: "hello")
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let first = push(service, message)
    transport.waitUntilInside()
    let second = push(service, wake, named: "second")
    awaitWaiting(service)
    let controller = try XCTUnwrap(Handles.find(service.handle))
    let host = HostCall(handle: service.handle)
    let interruption = StoreError.sqlite(SQLiteError(kind: .interrupted))
    let isOthers = controller.call { engine -> [Bool] in
      let (lasting, ending) = (engine.pushes.running[0], engine.pushes.running[1])
      let before = engine.pushes.isOthersTime(interruption, lasting)
      Thread.detachNewThread { _ = np_expire_push_id(host.handle, "second") }
      while !engine.context.stop.isStopRequested { usleep(1_000) }
      engine.pushes.post(.expire, ending)
      XCTAssertEqual(engine.pushes.running.count, 1, "it has ended")
      return [before, engine.pushes.isOthersTime(interruption, lasting)]
    }
    XCTAssertEqual(isOthers, [false, true])
    XCTAssertEqual(try answer(second)["outcome"].text, "expired")
    // A failure after the retry is the push's own.
    let isStillOthers = Promise<Bool>()
    _ = controller.call { engine in
      let lasting = engine.pushes.running[0]
      engine.pushes.again(lasting, in: lasting.state) { pushes in
        isStillOthers.fulfil(pushes.isOthersTime(interruption, lasting))
      }
    }
    XCTAssertEqual(isStillOthers.wait(atMost: .seconds(30)), false)
    transport.hang(false)
    let shown = try answer(first)
    XCTAssertEqual(shown.bodies, ["hello"], shown.description)
  }

  /// One push waits for the notification server. Another one's time is up, and the code is still sent.
  func testAVerificationOutlivesAnotherPushThatExpires() throws {
    let station = try Station(activates: false)
    let verification = try station.register(station.token, of: station.alice)
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let first = push(service, verification)
    transport.waitUntilInside()
    let other = service.push(wake, deadline: 500)
    XCTAssertEqual(other["outcome"].text, "expired", other.description)
    XCTAssertNil(first.wait(atMost: .zero), "it has its own time")
    transport.hang(false)
    // The host's transport reports that something has arrived, whenever it may have.
    awaitThat("it is answered") {
      np_relay_ready(service.handle)
      return first.wait(atMost: .milliseconds(10)) != nil
    }
    XCTAssertEqual(try answer(first)["outcome"].text, "verified")
    XCTAssertTrue(service.state["quiescent"].flag)
  }
}
