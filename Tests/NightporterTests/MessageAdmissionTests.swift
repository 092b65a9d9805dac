import CNightporter
import Foundation
import PorterMachines
import PorterPlatform
import XCTest

@testable import PorterEngine

/// The messages a fetch still admits when its app leaves the screen.
final class MessageAdmissionTests: XCTestCase {
  /// In every state of the machine `operations`.
  func testAnAppThatIsLeavingTakesInNothingAndAnyOtherProcessWhatItHasAskedFor() {
    var taken: [MessageAdmission: Set<Operations.State>] = [:]
    for admission in MessageAdmission.allCases {
      for state in Operations.State.allCases {
        XCTAssertFalse(admission.admits(isLeaving: true, state), "\(admission) \(state)")
        if admission.admits(isLeaving: false, state) { taken[admission, default: []].insert(state) }
      }
    }
    let receiving: Set<Operations.State> = [.running, .drainingNotifications, .stoppingNotifications]
    XCTAssertEqual(taken[.followed], receiving, "what came unasked, as long as more may be asked for")
    XCTAssertEqual(
      taken[.asked], receiving.union([.drainingReceiving, .stoppingReceiving]), "what was asked for, while fetches end")
  }

  /// A request to the notification server keeps the network from coming to rest, and the answer to an acknowledgement
  /// brings the next message. No process would show it for now, so it is left to its push.
  func testABacklogThatTheAppLeavesBehindIsShownByItsPush() throws {
    for leaving in ["/_app phase background", "/_app suspend 20000000"] {
      let station = try Station()
      try station.awaitWatched(1)
      let (alice, transport) = try reopen(station.alice, of: station)
      let mailbox = try XCTUnwrap(try CallStation.mailboxes(of: station)["bob"])
      transport.hang(acknowledgementsIn: [mailbox])
      for text in ["one", "two", "three"] { station.pair.send(text, from: station.bob) }
      awaitThat("the first one is committed") {
        np_relay_ready(alice.handle)
        return alice.state["operations"]["delivery"].number > 0
      }
      transport.waitUntilAcknowledging(in: mailbox)
      // An app also asks the server when it starts.
      awaitThat("the server has answered") { alice.state["operations"]["notifications"].number == 0 }
      transport.hang(.send)
      let token = station.token
      let checked = alice.inBackground { $0.send("/_ntf check apns_test \(token)").description }
      transport.waitUntilSending()
      awaitThat("the server is asked") { alice.state["operations"]["notifications"].number > 0 }
      alice.send(leaving).assert("cmdOk")
      transport.hang(acknowledgementsIn: [])
      awaitThat("what has begun is acknowledged") { alice.state["operations"]["delivery"].number == 0 }
      XCTAssertEqual(station.pair.texts(alice), ["one"], leaving)
      transport.hang(nil)
      alice.send("/_app suspend 3000000").assert("cmdOk")
      alice.event("chatSuspended")
      XCTAssertNotNil(checked.wait(atMost: .seconds(30)))
      XCTAssertEqual(try station.present(try station.allPushes().last ?? "").bodies, ["two", "three"], leaving)
      alice.send("/_app activate").assert("cmdOk")
      XCTAssertEqual(station.pair.texts(alice), ["one", "two", "three"])
    }
  }

  /// The host that asked for it is leaving the screen, and shows nothing either.
  func testWhatACommandFetchesWhileTheAppLeavesIsShownByItsPush() throws {
    let station = try Station()
    try station.awaitWatched(1)
    let (alice, transport) = try reopen(station.alice, of: station)
    let mailbox = try XCTUnwrap(try CallStation.mailboxes(of: station)["bob"])
    transport.hang(mailboxes: [mailbox])
    let push = try station.push(for: "hello")
    let data = JSON(push)["notificationData"]
    let named = alice.send("/_ntf conns \(data["nonce"].text) \(data["message"].text)")["result"]["ntfConns"][0]
    let message = "\(named["agentDbQueueId"].number):\(named["expectedMsg_"]["msgTs"].text)"
    let command = "/_ntf conn messages \(named["agentConnId"].text):\(message)"
    let fetched = alice.inBackground { $0.send(command).description }
    transport.waitUntilAsked(for: mailbox)
    alice.send("/_app phase background").assert("cmdOk")
    transport.hang(mailboxes: [])
    let answer = JSON(try XCTUnwrap(fetched.wait(atMost: .seconds(30))))
    XCTAssertEqual(answer["result"]["receivedMsgs"][0]["type"].text, "error", answer.description)
    XCTAssertEqual(station.pair.texts(alice), [])
    alice.send("/_app suspend 3000000").assert("cmdOk")
    alice.event("chatSuspended")
    XCTAssertEqual(try station.present(push).bodies, ["hello"])
  }

  /// A push is left to the app on screen, whose own fetch hangs, and the user leaves before it is over. Nothing would
  /// be shown before the next message.
  func testAPushThatAnAppOnScreenLeavesBehindComesAgain() throws {
    for leaving in ["/_app phase background", "/_app suspend 100000"] {
      let station = try Station()
      try station.awaitWatched(1)
      let (alice, transport) = try reopen(station.alice, of: station)
      let mailbox = try XCTUnwrap(try CallStation.mailboxes(of: station)["bob"])
      transport.hang(mailboxes: [mailbox])
      station.pair.send("hello", from: station.bob)
      np_relay_ready(alice.handle)
      transport.waitUntilAsked(for: mailbox)
      let push = try station.nextPush()
      XCTAssertEqual(try station.present(push)["outcome"].text, "yielded", leaving)
      alice.send(leaving).assert("cmdOk")
      transport.stopListening()
      let again = try station.nextPush()
      let answer = try station.present(again)
      XCTAssertEqual(answer.bodies, ["hello"], "\(leaving): \(answer)")
      transport.hang(mailboxes: [])
      alice.send("/_app activate").assert("cmdOk")
      awaitRest(of: alice)
      XCTAssertEqual(station.pair.texts(alice), ["hello"])
    }
  }

  /// The same app in another process, with its own transport.
  private func reopen(_ host: Host, of station: Station) throws -> (Host, HostTransport) {
    host.free()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    let reopened = try XCTUnwrap(Host.open(host.prefix).host)
    transport.install(in: reopened)
    reopened.send("/_start").assert("chatStarted")
    awaitRest(of: reopened)
    return (reopened, transport)
  }
}
