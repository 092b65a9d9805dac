import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterSchema
@testable import PorterStore

/// Mailboxes that hang, in an app: no other mailbox waits for them for a long time (INC-39). The clock stands still
/// where a test says so, so that no other wait ends.
final class HangingMailboxTests: XCTestCase {
  /// An app of alice's, not started yet, with something waiting in each of its mailboxes.
  private struct Launched {
    let station: Station
    let transport: HostTransport
    let app: Host
    let clock = MovedClock()
    let controller: Controller
    /// Bob's first, in the order in which they are checked.
    let mailboxes: [[UInt8]]
    let connections: [Int64]
    /// For the last message.
    let payload: String

    init(_ names: [String] = ["carol"]) throws {
      let (station, friends) = try CallStation.make(names)
      for (friend, name) in zip([station.bob] + friends, ["bob"] + names) {
        friend.send("/_send @1 text from \(name)").assert("newChatItems")
      }
      for friend in [station.bob] + friends { try awaitSent(friend) }
      let database = try Database(path: station.alice.prefix + "_chat.db")
      let ends = try database.rows("SELECT connection_id, recipient_id FROM connections ORDER BY connection_id") {
        ($0.integer(0), $0.blob(1))
      }
      try database.close()
      (connections, mailboxes) = (ends.map(\.0), ends.map(\.1))
      payload = try XCTUnwrap(station.allPushes().last)
      let prefix = station.alice.prefix
      station.alice.free()
      let configuration = Configuration(prefix: prefix, role: .app, confirmation: .yesUp, ports: Ports(clock: clock))
      controller = try XCTUnwrap(Controller.open(configuration).1)
      app = Host(try XCTUnwrap(Handles.add(controller)), prefix)
      transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      transport.install(in: app)
      self.station = station
    }

    /// The clock stands still from here on.
    func hang(_ indices: Range<Int>) {
      clock.stop()
      transport.hang(mailboxes: mailboxes[indices].map { $0 })
    }

    func begin() { app.send("/_start").assert("chatStarted") }

    /// Afterwards every mailbox is empty, and no request is in progress.
    func receiveAll(file: StaticString = #filePath, line: UInt = #line) {
      for _ in mailboxes { app.event("newChatItems", file: file, line: line) }
      awaitThat("no claim is left", file: file, line: line) { claims() == 0 }
    }

    /// Returns after the turn that asks, which then gives the request its time.
    func isAsked(_ index: Int) {
      transport.waitUntilAsked(for: mailboxes[index])
      awaitTurn()
    }

    /// Until what has begun in this turn of the engine has its time.
    func awaitTurn() { _ = app.state }

    /// Any call makes the engine check its timers.
    func move(_ span: Span) {
      clock.move(span)
      _ = app.state
    }

    func fetch(_ index: Int) -> Promise<FetchResult> {
      let result = Promise<FetchResult>()
      let connection = connections[index]
      _ = controller.call { $0.receiver.fetch(connection) { result.fulfil($0) } }
      return result
    }

    func result<Value: Sendable>(_ promise: Promise<Value>) -> Value? {
      for _ in 0..<3_000 {
        _ = app.state
        if let result = promise.wait(atMost: .milliseconds(10)) { return result }
      }
      return nil
    }

    /// The epoch of bob's connection.
    func epoch() throws -> Int64 {
      let database = try Database(path: app.prefix + "_chat.db")
      defer { try? database.close() }
      return try XCTUnwrap(database.integer("SELECT epoch FROM connections WHERE connection_id = \(connections[0])"))
    }

    func claims() -> Int? { controller.call { $0.claims.states.count } }

    /// Fetches one message, as a command does. It is already waiting for its mailbox on return.
    func takeOne(_ index: Int) -> Promise<ReceivedNotification> {
      let result = Promise<ReceivedNotification>()
      let connection = connections[index]
      _ = controller.call { engine in
        guard let stored = try? engine.context.store?.connection(connection) else { return }
        MessageFetchRun(engine, stored) { result.fulfil($0) }.begin()
      }
      return result
    }

    func answer(_ promise: Promise<String>, file: StaticString = #filePath, line: UInt = #line) throws -> JSON {
      awaitThat("it is answered", file: file, line: line) {
        _ = app.state
        return promise.wait(atMost: .milliseconds(10)) != nil
      }
      return JSON(try XCTUnwrap(promise.wait(atMost: .zero), file: file, line: line))
    }
  }

  /// Two of four hang. Each has a second, then the next one is checked.
  func testINC39ARoundLooksIntoEveryMailboxThoughSomeHang() throws {
    let launched = try Launched(["carol", "dave", "erin"])
    launched.hang(0..<2)
    let round = launched.app.inBackground { take(np_background_refresh($0.handle, 30_000)) }
    for index in 0..<2 {
      launched.isAsked(index)
      launched.move(Durations.lateAnswer)
    }
    let events = try (0..<2).map { _ in try XCTUnwrap(launched.app.event("newChatItems"))["result"] }
    let names = events.map { $0["chatItems"][0]["chatInfo"]["contact"]["localDisplayName"].text }
    XCTAssertEqual(names, ["dave", "erin"], "\(events)")
    XCTAssertNil(round.wait(atMost: .zero), "it waits for the others")
    launched.move(.seconds(10))
    let answer = try launched.answer(round)
    XCTAssertEqual(answer.bodies.sorted(), ["from dave", "from erin"], answer.description)
    XCTAssertTrue(answer["quiescent"].flag, answer.description)
    launched.transport.hang(mailboxes: [])
    launched.clock.start()
    let next = JSON(take(np_background_refresh(launched.app.handle, 30_000)))
    XCTAssertEqual(next.bodies.sorted(), ["from bob", "from carol"], next.description)
  }

  /// Before the second is over, the app asks for the others only when it has an answer: one request at a time.
  func testOneMailboxIsAskedAtATimeWhileTheyAnswer() throws {
    let launched = try Launched(["carol", "dave"])
    launched.clock.stop()
    launched.begin()
    launched.receiveAll()
    awaitThat("all have been looked into") { launched.app.state["operations"]["receiving"].number == 0 }
    XCTAssertLessThanOrEqual(launched.transport.mostAtOnce, 2, "one that receives, and one that sends")
  }

  /// Six may hang. The seventh has its own ten seconds, counted from its request to the relay, not from when it began
  /// to wait.
  func testTheTimeOfARequestCountsFromWhenTheRelayIsAsked() throws {
    let launched = try Launched(["carol", "dave", "erin", "frank", "grace", "heidi"])
    launched.begin()
    launched.receiveAll()
    launched.hang(0..<7)
    var fetches: [Promise<FetchResult>] = []
    for index in 0..<RelayWays.receivingWays {
      fetches.append(launched.fetch(index))
      launched.isAsked(index)
      launched.move(Durations.lateAnswer)
    }
    fetches.append(launched.fetch(6))
    awaitThat("it waits for the relay") { launched.claims() == 7 }
    launched.move(.seconds(3))
    // The first one has an answer, and the last one is asked, 9 s after the first, 3 s after it began to wait.
    launched.transport.hang(mailboxes: launched.mailboxes[1..<7].map { $0 })
    XCTAssertEqual(launched.result(fetches[0]), .drained)
    launched.isAsked(6)
    launched.move(.seconds(9))
    for index in 1..<6 {
      XCTAssertEqual(launched.result(fetches[index]), .sourceFailed(.timeout), "\(index)")
    }
    XCTAssertNil(fetches[6].wait(atMost: .milliseconds(100)), "it has a second left")
    launched.move(.seconds(1))
    XCTAssertEqual(launched.result(fetches[6]), .sourceFailed(.timeout))
    launched.transport.hang(mailboxes: [])
  }

  /// A request that hangs is abandoned when its time is up, and its mailbox is free for the next request.
  func testINC39AMailboxThatHangsIsGivenUpInTime() throws {
    let launched = try Launched()
    launched.begin()
    launched.receiveAll()
    launched.hang(0..<1)
    let (first, waiting) = (launched.fetch(0), launched.fetch(0))
    launched.isAsked(0)
    let gets = launched.transport.count(.get)
    launched.move(.seconds(10))
    XCTAssertEqual(launched.result(first), .sourceFailed(.timeout))
    XCTAssertEqual(launched.result(waiting), .sourceFailed(.timeout), "it asked while the first did")
    XCTAssertEqual(launched.app.state["operations"]["receiving"].number, 0, "nothing waits for the request")
    XCTAssertEqual(launched.transport.count(.get), gets)
    XCTAssertEqual(launched.claims(), 0)
    let again = launched.fetch(0)
    awaitThat("it is asked beside the one that hangs") {
      _ = launched.app.state
      return launched.transport.count(.get) > gets
    }
    launched.transport.hang(mailboxes: [])
    XCTAssertEqual(launched.result(again), .drained)
  }

  /// The message is committed, and the relay may have dropped it. The app has its answer, and its mailbox is free.
  func testINC39AnAcknowledgementThatHangsEndsTheFetch() throws {
    let launched = try Launched()
    launched.clock.stop()
    launched.transport.hang(acknowledgementsIn: [launched.mailboxes[0]])
    launched.begin()
    launched.app.event("newChatItems")
    launched.transport.waitUntilAcknowledging(in: launched.mailboxes[0])
    launched.move(Durations.lateAnswer)
    launched.app.event("newChatItems")
    launched.move(.seconds(10))
    awaitThat("nothing waits for the request") {
      launched.app.state["operations"]["delivery"].number == 0 && launched.claims() == 0
    }
    launched.transport.hang(acknowledgementsIn: [])
    launched.clock.start()
    XCTAssertEqual(launched.result(launched.fetch(0)), .drained)
    let items = launched.app.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"].elements
    XCTAssertEqual(items.count { $0["content"]["msgContent"]["text"].text == "from bob" }, 1, "\(items)")
  }

  /// The app has the mailbox, and its relay hangs twice: the command gets its result in time, and the mailbox, which
  /// comes too late for it, is given back.
  func testINC39ACommandWaitsNoLongerForTheMailboxThanForTheRelay() throws {
    let launched = try Launched([])
    launched.hang(0..<1)
    launched.transport.hang(acknowledgementsIn: [launched.mailboxes[0]])
    launched.begin()
    launched.isAsked(0)
    launched.move(.seconds(5))
    let taking = launched.takeOne(0)
    launched.move(.seconds(1))
    launched.transport.hang(mailboxes: [])
    launched.transport.waitUntilAcknowledging(in: launched.mailboxes[0])
    launched.awaitTurn()
    launched.move(.seconds(8))
    XCTAssertNil(taking.wait(atMost: .milliseconds(100)), "it has a second left")
    launched.move(.seconds(1))
    XCTAssertEqual(launched.result(taking), .error(.broker(server: "host", .timeout)))
    XCTAssertEqual(launched.claims(), 1, "the app still has it")
    launched.move(.seconds(1))
    awaitThat("no claim is left") { launched.claims() == 0 }
    launched.transport.hang(acknowledgementsIn: [])
  }

  /// Each has its own time for the mailbox, and for the relay. A command whose time is up takes no new epoch, which
  /// would cost another process its claim.
  func testINC39EachOfSeveralCommandsForOneMailboxEndsInTime() throws {
    let launched = try Launched([])
    launched.begin()
    launched.receiveAll()
    let epoch = try launched.epoch()
    launched.hang(0..<1)
    let first = launched.takeOne(0)
    launched.isAsked(0)
    launched.move(.seconds(3))
    let second = launched.takeOne(0)
    launched.move(.seconds(3))
    let third = launched.takeOne(0)
    launched.move(.seconds(4))
    let timeout = ReceivedNotification.error(.broker(server: "host", .timeout))
    XCTAssertEqual(launched.result(first), timeout, "10 s")
    launched.awaitTurn()
    XCTAssertNil(third.wait(atMost: .milliseconds(100)), "4 s")
    launched.move(.seconds(6))
    XCTAssertEqual(launched.result(third), timeout, "10 s")
    XCTAssertNil(second.wait(atMost: .milliseconds(100)), "it has had the mailbox for 6 s")
    launched.move(.seconds(4))
    XCTAssertEqual(launched.result(second), timeout, "10 s")
    awaitThat("no claim is left") { launched.claims() == 0 }
    XCTAssertEqual(try launched.epoch(), epoch + 2)
    launched.transport.hang(mailboxes: [])
  }

  /// Callers that arrive before the relay is asked share one answer, and a later caller gets another.
  func testCallersThatComeBeforeTheQuestionShareItsAnswer() throws {
    let launched = try Launched([])
    launched.begin()
    launched.receiveAll()
    launched.hang(0..<1)
    let gets = launched.transport.count(.get)
    let early = (Promise<FetchResult>(), Promise<FetchResult>())
    _ = launched.controller.call { [bob = launched.connections[0]] engine in
      engine.receiver.fetch(bob) { early.0.fulfil($0) }
      engine.receiver.fetch(bob) { early.1.fulfil($0) }
    }
    launched.isAsked(0)
    let late = launched.fetch(0)
    launched.transport.hang(mailboxes: [])
    for promise in [early.0, early.1, late] { XCTAssertEqual(launched.result(promise), .drained) }
    XCTAssertEqual(launched.transport.count(.get) - gets, 2)
  }

  /// The message is committed, and its acknowledgement is not answered: this is the only moment for its marker.
  func testINC39AMessageOfAPushHasItsMarkerThoughItsAcknowledgementHangs() throws {
    let launched = try Launched([])
    launched.transport.hang(acknowledgementsIn: launched.mailboxes)
    // The app asks as well when it starts: the message must not come before the push.
    launched.hang(0..<1)
    launched.begin()
    let push = launched.app.inBackground { [payload = launched.payload] in
      $0.push(payload, deadline: 30_000).description
    }
    awaitThat("the push waits for the mailbox") { launched.app.state["machines"]["push"].text == "claiming" }
    launched.transport.hang(mailboxes: [])
    launched.transport.waitUntilAcknowledging(in: launched.mailboxes[0])
    launched.awaitTurn()
    launched.move(.seconds(10))
    launched.app.event("ntfMessage")
    launched.transport.hang(acknowledgementsIn: [])
    _ = try launched.answer(push)
  }

  /// Its mailbox's turn has not come, since others hang: a command's request is made before that.
  func testAMailboxThatACommandWaitsForIsAskedNow() throws {
    let launched = try Launched()
    launched.begin()
    launched.receiveAll()
    launched.hang(0..<1)
    _ = launched.fetch(0)
    launched.isAsked(0)
    let fetch = launched.fetch(1)
    awaitThat("it waits for its turn") { launched.claims() == 2 }
    let taking = launched.takeOne(1)
    XCTAssertEqual(launched.result(fetch), .drained, "while the first one hangs, and is not late")
    launched.move(Durations.lateAnswer)
    XCTAssertEqual(launched.result(taking), .information(nil))
    launched.transport.hang(mailboxes: [])
  }
}
