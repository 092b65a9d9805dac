import CNightporter
import Foundation
import PorterPlatform
import XCTest

/// Several pushes at the same time on one controller, and several threads that fetch step by step.
final class SeveralPushesTests: XCTestCase {
  /// One fewer than a burst, which would be shown as one notification.
  private static let count = 7
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// A station with messages and a push for each.
  private func pushes(_ station: Station) throws -> [(text: String, push: String)] {
    station.suspend()
    return try (0..<Self.count).map { number in ("text \(number)", try station.push(for: "text \(number)")) }
  }

  /// INC-31, INC-34, INC-48: eight threads, eight pushes. Each push is answered, each message is in one answer, and the
  /// store is closed when the last push has ended.
  func testEightPushesShowEachMessageOnce() throws {
    for isLocal in [true, false] {
      let station = try Station()
      let pushes = try pushes(station)
      let service = try station.makeExtension()
      let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      if !isLocal { transport.install(in: service) }
      let payloads = pushes.map(\.push) + [wake]
      let answers = payloads.map { payload in service.inBackground { $0.push(payload, deadline: 30_000).description } }
      let answered = try answers.map { JSON(try XCTUnwrap($0.wait(atMost: .seconds(40)))) }
      for answer in answered {
        XCTAssertTrue(["presented", "nothingNew"].contains(answer["outcome"].text), answer.description)
      }
      XCTAssertEqual(answered.flatMap(\.bodies).sorted(), pushes.map(\.text), "isLocal \(isLocal)")
      XCTAssertTrue(service.state["quiescent"].flag, service.state.description)
      XCTAssertTrue(answered.contains { $0["quiescent"].flag })
      station.wake(expecting: pushes.map(\.text))
    }
  }

  /// Pushes that arrive while one waits for the relay find its mailbox emptied for them as well.
  func testAMailboxThatSeveralPushesNameIsFetchedFromOnce() throws {
    let station = try Station()
    let pushes = try pushes(station)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let first = pushes[0].push
    var answers = [service.inBackground { $0.push(first, deadline: 30_000).description }]
    transport.waitUntilInside()
    // Each of these names every connection.
    let wake = wake
    answers += (0..<6).map { _ in service.inBackground { $0.push(wake, deadline: 30_000).description } }
    try awaitWaiting(6, in: service)
    transport.hang(false)
    for answer in answers { XCTAssertNotNil(answer.wait(atMost: .seconds(40))) }
    XCTAssertEqual(transport.count(.get), Self.count + 1, "one for each message, and one that finds nothing")
  }

  /// The relay has dropped each acknowledged message, although the answer with the next one was lost: that one stays,
  /// and comes with the next push.
  func testAnAcknowledgementsAnswerThatIsLostLosesNoMessage() throws {
    let station = try Station()
    let pushes = try pushes(station)
    let wake = wake
    var shown: [String] = []
    // Of one message, or of two: the second one came with an answer.
    for lost in [2, 3, 2] {
      let service = try station.makeExtension()
      let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      transport.install(in: service)
      transport.lose(get: lost)
      let answer = service.push(wake, deadline: 30_000)
      XCTAssertEqual(answer.bodies.count, lost - 1, answer.description)
      XCTAssertTrue(answer["quiescent"].flag, answer.description)
      shown += answer.bodies
    }
    shown += try station.present(wake).bodies
    XCTAssertEqual(shown, pushes.map(\.text))
    station.wake(expecting: pushes.map(\.text))
  }

  /// One push hangs at the relay. Another expires in its own time, or by its name, and the first one continues.
  func testAWaitingPushExpiresInItsOwnTime() throws {
    let station = try Station()
    let pushes = try pushes(station)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let (first, second) = (pushes[0].push, pushes[1].push)
    let running = service.inBackground { $0.push(first, deadline: 30_000).description }
    transport.waitUntilInside()
    let waiting = service.push(second, deadline: 500)
    XCTAssertEqual(waiting["outcome"].text, "expired", waiting.description)
    XCTAssertFalse(waiting["quiescent"].flag, "the first one is at work: \(waiting)")
    // What it names can be read because the store is open.
    XCTAssertFalse(waiting.placeholders.isEmpty, waiting.description)
    XCTAssertNil(running.wait(atMost: .zero), "it is not affected")

    let third = pushes[2].push
    let named = service.inBackground { $0.push(third, named: "third", deadline: 30_000).description }
    try awaitWaiting(1, in: service)
    XCTAssertEqual(np_expire_push_id(service.handle, "another"), NP_ERROR_NOTHING_PENDING)
    XCTAssertEqual(np_expire_push_id(service.handle, nil), NP_ERROR_NULL)
    XCTAssertEqual(np_expire_push_id(service.handle, "third"), NP_OK)
    XCTAssertEqual(JSON(try XCTUnwrap(named.wait(atMost: .seconds(20))))["outcome"].text, "expired")
    XCTAssertNil(running.wait(atMost: .zero), "it is not affected")

    XCTAssertEqual(np_expire_push(service.handle), NP_OK)
    let ended = JSON(try XCTUnwrap(running.wait(atMost: .seconds(20))))
    XCTAssertEqual(ended["outcome"].text, "expired", ended.description)
    XCTAssertEqual(np_expire_push(service.handle), NP_ERROR_NOTHING_PENDING)
    XCTAssertEqual(np_expire_push_id(service.handle, "third"), NP_ERROR_NOTHING_PENDING)
    transport.hang(false)
    XCTAssertTrue(service.state["quiescent"].flag, service.state.description)
    XCTAssertEqual(try station.present(pushes[3].push).bodies, pushes.map(\.text))
  }

  /// A push that is expired makes way for the next, which has its whole time.
  func testExpiringTheRunningPushLetsTheNextOneRun() throws {
    let station = try Station()
    let pushes = try pushes(station)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let (first, second) = (pushes[0].push, pushes[1].push)
    let running = service.inBackground { $0.push(first, deadline: 30_000).description }
    transport.waitUntilInside()
    let next = service.inBackground { $0.push(second, deadline: 30_000).description }
    try awaitWaiting(1, in: service)
    XCTAssertEqual(np_expire_push(service.handle), NP_OK)
    let expired = JSON(try XCTUnwrap(running.wait(atMost: .seconds(20))))
    XCTAssertEqual(expired["outcome"].text, "expired", expired.description)
    XCTAssertFalse(expired["quiescent"].flag, "the next one continues with the open store: \(expired)")
    transport.hang(false)
    let answer = JSON(try XCTUnwrap(next.wait(atMost: .seconds(40))))
    XCTAssertEqual(answer["outcome"].text, "presented", answer.description)
    XCTAssertEqual(answer.bodies, pushes.map(\.text))
    XCTAssertTrue(answer["quiescent"].flag)
  }

  /// INC-33: a host that never reads its answers cannot make an unlimited number of pushes wait.
  func testTheQueueIsBounded() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.hang(true)
    let push = try station.push(for: "hello")
    let answers = (0..<64).map { _ in service.inBackground { $0.push(push, deadline: 30_000).description } }
    try awaitWaiting(63, in: service)
    let refused = service.push(push, deadline: 30_000)
    XCTAssertEqual(refused["outcome"].text, "expired", refused.description)
    XCTAssertEqual(refused["reason"].text, "64 pushes are waiting")
    XCTAssertTrue(answers.allSatisfy { $0.wait(atMost: .zero) == nil }, "they are not affected")
    service.free()
    transport.hang(false)
    for answer in answers { XCTAssertNotNil(answer.wait(atMost: .seconds(20)), "each is answered") }
  }

  /// Concurrent `/_ntf conn messages` commands for one connection take different messages, over the embedded relay and
  /// over a host's transport; each reports whether more are waiting.
  func testConcurrentConnectionMessagesAreDifferentMessages() throws {
    for isLocal in [true, false] {
      let station = try Station()
      let connection = station.alice.send("/_contacts 1")["result"]["contacts"][0]["activeConn"]["agentConnId"].text
      _ = try pushes(station)
      let service = try station.makeExtension()
      if !isLocal { HostTransport(relay: station.pair.folder.file("relay.db")).install(in: service) }
      service.send("/_start main=off snd_files=off").assert("chatStarted")
      let command = "/_ntf conn messages \(connection):1:2026-01-01T00:00:00.000Z"
      // One for each message, and one that finds the mailbox empty.
      let answers = (0...Self.count).map { _ in service.inBackground { $0.send(command).description } }
      let messages = try answers.map { answer in
        JSON(try XCTUnwrap(answer.wait(atMost: .seconds(40))))["result"]["receivedMsgs"][0]
      }
      for message in messages { XCTAssertEqual(message["type"].text, "info", message.description) }
      let received = messages.filter { $0["ntfMsgInfo"].exists }
      let identifiers = received.map { $0["ntfMsgInfo"]["msgId"].text }
      XCTAssertFalse(identifiers.contains(""), "\(messages)")
      XCTAssertEqual(Set(identifiers).count, Self.count, "isLocal \(isLocal)")
      let flags = received.map { $0["ntfMsgInfo"]["flags"] }
      XCTAssertTrue(flags.allSatisfy { $0["notification"].flag }, "\(flags)")
      XCTAssertEqual(flags.filter { $0["more"].exists && !$0["more"].flag }.count, 1, "one was the last: \(flags)")
      let more = service.send(command)["result"]["receivedMsgs"][0]
      XCTAssertFalse(more["ntfMsgInfo"].exists, more.description)
    }
  }

  private func awaitWaiting(_ count: Int, in host: Host, file: StaticString = #filePath, line: UInt = #line) throws {
    let end = Date(timeIntervalSinceNow: 20)
    while host.state["pushesWaiting"].number != count {
      guard end.timeIntervalSinceNow > 0 else {
        return XCTFail("\(count) pushes do not wait: \(host.state)", file: file, line: line)
      }
      usleep(5_000)
    }
  }
}

extension HostCall {
  fileprivate func push(_ payload: String, named identifier: String, deadline: Int32) -> JSON {
    JSON(take(np_receive_push_id(handle, identifier, payload, deadline)))
  }
}
