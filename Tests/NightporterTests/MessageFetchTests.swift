import Foundation
import PorterPlatform
import XCTest

@testable import Nightporter
@testable import PorterEngine
@testable import PorterStore

/// One message for a command (`/_ntf conn messages`), whatever the relay reports, or does not report, about it and
/// about what waits after it.
final class MessageFetchTests: XCTestCase {
  /// An extension of alice's with two messages waiting; its commands name the first.
  private struct Waiting {
    let station: Station
    let clock = MovedClock()
    let transport: HostTransport
    let service: Host
    /// The push for both.
    let push: String
    let command: String
    let identifier: String

    init(receipts: Bool = false) throws {
      station = try Station()
      if receipts { station.alice.send("/_set receipts contacts 1 on").assert("cmdOk") }
      station.suspend()
      let data = JSON(try station.push(for: "one"))["notificationData"]
      push = try station.push(for: "two")
      service = try station.makeExtension(clock: clock)
      transport = HostTransport(relay: station.pair.folder.file("relay.db"))
      transport.install(in: service)
      service.send("/_start main=off snd_files=off").assert("chatStarted")
      let named = service.send("/_ntf conns \(data["nonce"].text) \(data["message"].text)")["result"]["ntfConns"][0]
      let expected = named["expectedMsg_"]
      identifier = expected["msgId"].text
      command =
        "/_ntf conn messages \(named["agentConnId"].text):\(named["agentDbQueueId"].number):\(expected["msgTs"].text)"
    }

    func fetch() -> JSON { service.send(command)["result"]["receivedMsgs"][0] }

    /// The result of a fetch whose time runs out while the relay does not answer.
    func fetchInVain(_ isHanging: () throws -> Void) throws -> JSON {
      let result = service.inBackground { [command] in $0.send(command).description }
      try isHanging()
      XCTAssertNil(result.wait(atMost: .zero), "it waits")
      clock.move(.seconds(10))
      awaitThat("its time is up") {
        // Any call makes the engine check its timers.
        _ = service.state
        return result.wait(atMost: .milliseconds(10)) != nil
      }
      return JSON(try XCTUnwrap(result.wait(atMost: .zero)))["result"]["receivedMsgs"][0]
    }

    /// Another process claims the connections, and this one is made to notice.
    func displace() throws {
      let database = try Database(path: station.alice.prefix + "_chat.db")
      try database.execute("UPDATE connections SET epoch = epoch + 1")
      try database.close()
      let left = try XCTUnwrap(Handles.find(service.handle)).call { engine -> Int in
        engine.claims.suspectAll()
        return engine.claims.states.count
      }
      XCTAssertEqual(left, 0, "no claim is left")
    }

    func begin(deadline: Int32 = 30_000) -> Promise<String> {
      service.inBackground { [push] in $0.push(push, deadline: deadline).description }
    }

    /// The push gets what it asked for as soon as the relay answers, and has asked once.
    func assertShows(_ push: Promise<String>, file: StaticString = #filePath, line: UInt = #line) throws {
      XCTAssertNil(push.wait(atMost: .zero), "it waits", file: file, line: line)
      transport.hang(mailboxes: [])
      let answer = JSON(try XCTUnwrap(push.wait(atMost: .seconds(40)), "no answer", file: file, line: line))
      XCTAssertEqual(answer.bodies, ["one", "two"], answer.description, file: file, line: line)
      XCTAssertEqual(answer.placeholders, [], answer.description, file: file, line: line)
      XCTAssertFalse(
        answer["trace"].elements.contains { $0["event"].text == "fetch.offline" }, answer.description, file: file,
        line: line)
      transport.hang(onlyGet: nil)
      transport.hang(onlyAcknowledgement: nil)
    }

    func assertTaken(_ result: JSON, more: Bool?, file: StaticString = #filePath, line: UInt = #line) {
      XCTAssertEqual(result["ntfMsgInfo"]["msgId"].text, identifier, result.description, file: file, line: line)
      let flag = result["ntfMsgInfo"]["flags"]["more"]
      XCTAssertEqual(flag.exists ? flag.flag : nil, more, result.description, file: file, line: line)
    }

    /// Alice has both, each once, whatever was lost.
    func assertBothArrive(file: StaticString = #filePath, line: UInt = #line) {
      service.free()
      station.wake(expecting: ["one", "two"], file: file, line: line)
    }
  }

  func testARelayThatDoesNotSayWhatWaitsIsAsked() throws {
    let waiting = try Waiting()
    waiting.transport.speakAnEarlierVersion()
    waiting.assertTaken(waiting.fetch(), more: true)
    waiting.service.event("ntfMessage")
    let last = waiting.fetch()
    XCTAssertFalse(last["ntfMsgInfo"]["flags"]["more"].flag, last.description)
    XCTAssertTrue(last["ntfMsgInfo"]["flags"]["more"].exists, last.description)
    let nothing = waiting.fetch()
    XCTAssertEqual(nothing["type"].text, "info", nothing.description)
    XCTAssertFalse(nothing["ntfMsgInfo"].exists, nothing.description)
    waiting.assertBothArrive()
  }

  func testWhatIsCommittedIsTheResultThoughTheAnswerToItsAcknowledgementIsLost() throws {
    let waiting = try Waiting()
    waiting.transport.lose(get: 2)
    waiting.assertTaken(waiting.fetch(), more: nil)
    // The relay has dropped it: it is not delivered again.
    waiting.service.event("ntfMessage")
    waiting.assertBothArrive()
  }

  /// The relay delivers it again, and the command names it again: its marker was already sent.
  func testAMessageHasItsMarkerOnceThoughItIsAskedForAgain() throws {
    let waiting = try Waiting()
    waiting.transport.fail(acknowledgement: 1)
    waiting.assertTaken(waiting.fetch(), more: nil)
    waiting.service.event("ntfMessage")
    waiting.assertTaken(waiting.fetch(), more: true)
    while let event = waiting.service.event(within: 0.2) {
      XCTAssertNotEqual(event["result"]["type"].text, "ntfMessage", event.description)
    }
    waiting.assertBothArrive()
  }

  /// The same holds for a push.
  func testAMessageHasItsMarkerThoughTheAnswerToItsAcknowledgementIsLost() throws {
    let waiting = try Waiting()
    waiting.transport.lose(get: 2)
    let answer = JSON(try XCTUnwrap(waiting.begin().wait(atMost: .seconds(40))))
    XCTAssertTrue(answer["trace"].elements.contains { $0["event"].text == "acknowledgeFailed" }, answer.description)
    let marker = waiting.service.event("ntfMessage")?["result"]["ntfMessage"]
    XCTAssertEqual(marker?["msgId"].text, waiting.identifier, "of the first message")
    waiting.assertBothArrive()
  }

  func testWhatIsCommittedIsTheResultThoughTheRelayDoesNotSayWhatWaits() throws {
    let waiting = try Waiting()
    waiting.transport.speakAnEarlierVersion()
    // The first is the message, the second is refused by an earlier version.
    waiting.transport.lose(get: 3)
    waiting.assertTaken(waiting.fetch(), more: nil)
    waiting.service.event("ntfMessage")
    waiting.assertBothArrive()
  }

  func testAFetchThatFailsSaysSo() throws {
    let waiting = try Waiting()
    waiting.transport.fail(.get)
    let failed = waiting.fetch()
    XCTAssertEqual(failed["ntfMsgError"]["brokerErr"]["type"].text, "NETWORK", failed.description)
    waiting.transport.fail(nil)
    waiting.assertTaken(waiting.fetch(), more: true)
    waiting.assertBothArrive()
  }

  /// INC-39: no wait for the relay exceeds its deadline.
  func testINC39EachWaitOfAFetchEnds() throws {
    let waiting = try Waiting()
    waiting.transport.hang(onlyGet: 1)
    let early = try waiting.fetchInVain { waiting.transport.waitUntilInside() }
    XCTAssertEqual(early["ntfMsgError"]["brokerErr"]["type"].text, "TIMEOUT", early.description)
    XCTAssertEqual(waiting.service.state["operations"]["receiving"].number, 0, "nothing waits for the request")
    waiting.transport.hang(onlyGet: nil)
    waiting.transport.waitUntilOutside()
    waiting.transport.hang(onlyAcknowledgement: 1)
    waiting.assertTaken(try waiting.fetchInVain { waiting.transport.waitUntilAcknowledging() }, more: nil)
    XCTAssertEqual(waiting.service.state["operations"]["delivery"].number, 0, "nothing waits for the request")
    // It may have been carried out.
    waiting.service.event("ntfMessage")
    waiting.transport.hang(onlyAcknowledgement: nil)
    waiting.transport.waitUntilOutside()
    waiting.assertBothArrive()
  }

  /// Another process has claimed the connection in the meantime: the command still gets its result.
  func testINC39TheWaitOfAFetchThatWasDisplacedEnds() throws {
    let waiting = try Waiting()
    waiting.transport.hang(onlyGet: 1)
    let early = try waiting.fetchInVain {
      waiting.transport.waitUntilInside()
      try waiting.displace()
    }
    XCTAssertEqual(early["ntfMsgError"]["brokerErr"]["type"].text, "TIMEOUT", early.description)
    XCTAssertEqual(waiting.service.state["operations"]["receiving"].number, 0, "nothing waits for the request")
    waiting.transport.hang(onlyGet: nil)
    waiting.transport.waitUntilOutside()
    waiting.assertBothArrive()
  }

  /// So does a command that has committed its message, which is the result and has its marker.
  func testINC39TheWaitOfAnAcknowledgementThatWasDisplacedEnds() throws {
    let waiting = try Waiting()
    waiting.transport.hang(onlyAcknowledgement: 1)
    let taken = try waiting.fetchInVain {
      waiting.transport.waitUntilAcknowledging()
      try waiting.displace()
    }
    waiting.assertTaken(taken, more: nil)
    XCTAssertEqual(waiting.service.state["operations"]["delivery"].number, 0, "nothing waits for the request")
    waiting.service.event("ntfMessage")
    waiting.transport.hang(onlyAcknowledgement: nil)
    waiting.transport.waitUntilOutside()
    waiting.assertBothArrive()
  }

  /// Likewise for the check of what is waiting, with a relay that must be asked.
  func testINC39TheLookAtWhatWaitsEnds() throws {
    let waiting = try Waiting()
    waiting.transport.speakAnEarlierVersion()
    waiting.transport.hang(onlyGet: 3)
    waiting.assertTaken(
      try waiting.fetchInVain {
        waiting.transport.waitUntilAcknowledging()
        waiting.service.event("ntfMessage")
        waiting.transport.waitUntilInside()
      }, more: nil)
    waiting.transport.hang(onlyGet: nil)
    waiting.transport.waitUntilOutside()
    waiting.assertBothArrive()
  }

  /// Its sender asks for a receipt, which waits neither for a push nor for the app.
  func testWhatAMessageAsksForIsSentThoughACommandTookItIn() throws {
    let waiting = try Waiting(receipts: true)
    waiting.assertTaken(waiting.fetch(), more: true)
    awaitThat("bob has the receipt") {
      let items = waiting.station.bob.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"].elements
      return items.contains { $0["meta"]["itemStatus"]["type"].text == "sndRcvd" }
    }
    waiting.assertBothArrive()
  }

  // MARK: What other work asks since

  /// A push has since claimed the mailbox, and makes its own request: when the command's time is up, only the command's
  /// request is affected.
  func testAPushKeepsItsRequestWhenThatOfADisplacedCommandIsGivenUp() throws {
    for isAcknowledging in [false, true] {
      let waiting = try Waiting()
      let mailbox = try CallStation.mailboxes(of: waiting.station)["bob"]
      if isAcknowledging { waiting.transport.hang(onlyAcknowledgement: 1) } else { waiting.transport.hang(onlyGet: 1) }
      var push: Promise<String>?
      let result = try waiting.fetchInVain {
        if isAcknowledging { waiting.transport.waitUntilAcknowledging() } else { waiting.transport.waitUntilInside() }
        try waiting.displace()
        waiting.transport.hang(mailboxes: [mailbox])
        push = waiting.begin()
        waiting.transport.waitUntilInside(2)
      }
      if isAcknowledging {
        waiting.assertTaken(result, more: nil)
      } else {
        XCTAssertEqual(result["ntfMsgError"]["brokerErr"]["type"].text, "TIMEOUT", result.description)
      }
      XCTAssertEqual(waiting.service.state["machines"]["push"].text, "fetching")
      try waiting.assertShows(try XCTUnwrap(push))
    }
  }

  /// Likewise for a push whose time is up, and a later push.
  func testAPushKeepsItsRequestWhenThatOfADisplacedPushIsGivenUp() throws {
    let waiting = try Waiting()
    let mailbox = try CallStation.mailboxes(of: waiting.station)["bob"]
    waiting.transport.hang(mailboxes: [mailbox])
    let first = waiting.begin(deadline: 10_000)
    waiting.transport.waitUntilInside()
    try waiting.displace()
    let second = waiting.begin()
    waiting.transport.waitUntilInside(2)
    waiting.clock.move(.seconds(10))
    awaitThat("its time is up") {
      _ = waiting.service.state
      return first.wait(atMost: .milliseconds(10)) != nil
    }
    XCTAssertEqual(JSON(try XCTUnwrap(first.wait(atMost: .zero)))["outcome"].text, "expired")
    XCTAssertEqual(waiting.service.state["machines"]["push"].text, "fetching")
    try waiting.assertShows(second)
  }
}
