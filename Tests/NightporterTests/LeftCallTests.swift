import CNightporter
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterEngine

/// A call rings in the app on screen, and the user leaves the app: from then on its notification rings.
final class LeftCallTests: XCTestCase {
  /// Bob calls alice, whose app is on screen and shows the call itself.
  private func call(_ station: Station) throws {
    station.bob.send("/_call invite @1 \(CallStation.audio)").assert("cmdOk")
    station.alice.event("callInvitation")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
  }

  /// The notifications of alice's waiting events.
  private func shown(_ station: Station) -> [JSON] {
    var shown: [JSON] = []
    while let event = station.alice.event(within: 0) {
      if event["result"]["type"].text == "notifications" { shown += event["result"]["notifications"].elements }
    }
    return shown
  }

  func testACallThatTheUserLeavesRingsAsANotification() throws {
    for leaving in ["/_app phase background", "/_app suspend 5000000", "/_app suspend 0"] {
      let station = try Station()
      try call(station)
      station.alice.send(leaving).assert("cmdOk")
      let calls = shown(station)
      XCTAssertEqual(calls.map { $0["notification"]["body"].text }, ["Incoming audio call"], leaving)
      let content = try XCTUnwrap(calls.first)["notification"]
      XCTAssertEqual(calls[0]["presentation"].elements.map(\.text), ["sound", "banner", "list"], leaving)
      XCTAssertEqual(content["sound"].text, "default", leaving)
      XCTAssertEqual(content["categoryIdentifier"].text, "NTF_CAT_CALL_INVITATION", leaving)
      XCTAssertEqual(content["userInfo"]["chatId"].text, "@1", leaving)
      if leaving.hasSuffix("background") { station.alice.send("/_app suspend 0").assert("cmdOk") }
      XCTAssertEqual(shown(station).count, 0, "once: \(leaving)")
      // Its end replaces it.
      station.bob.send("/_call end @1").assert("cmdOk")
      try awaitSent(station.bob)
      let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
      let missed = try station.present(wake)
      XCTAssertEqual(missed.bodies, ["Missed call"], missed.description)
      XCTAssertEqual(missed.identifiers, [content["identifier"].text], leaving)
    }
  }

  func testACallRejectedAfterTheUserReturnsIsWithdrawn() throws {
    let station = try Station()
    try call(station)
    station.alice.send("/_app suspend 0").assert("cmdOk")
    let identifier = try XCTUnwrap(shown(station).first)["notification"]["identifier"].text
    station.alice.send("/_app activate").assert("cmdOk")
    station.alice.send("/_call reject @1").assert("cmdOk")
    var withdrawn: [String] = []
    while withdrawn.isEmpty, let event = station.alice.event(within: 20) {
      if event["result"]["type"].text == "notifications" { withdrawn = event["result"].withdrawn }
    }
    XCTAssertEqual(withdrawn, [identifier])
    station.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertEqual(shown(station).flatMap { $0["notification"]["body"].text.isEmpty ? [] : [$0] }.count, 0)
  }

  /// Answered, over, or of a chat or profile that the user has muted.
  func testOtherCallsAreNotShown() throws {
    let offer =
      #"{"callType":{"media":"audio","capabilities":{"encryption":false}},"#
      + #""rtcSession":{"rtcSession":"o","rtcIceCandidates":"i"}}"#
    let deeds: [(name: String, deed: (Station) throws -> Void)] = [
      ("offered", { $0.alice.send("/_call offer @1 \(offer)").assert("cmdOk") }),
      (
        "ended",
        {
          $0.bob.send("/_call end @1").assert("cmdOk")
          $0.alice.event("callEnded")
        }
      ),
      ("muted", { $0.alice.send(#"/_settings @1 {"enableNtfs":"none","favorite":false}"#).assert("cmdOk") }),
      ("profile muted", { $0.alice.send("/_mute user 1").assert("userPrivacy") }),
      (
        "expired",
        { station in
          let database = try Database(path: station.alice.prefix + "_chat.db")
          try database.execute("UPDATE calls SET deadline = 0")
          try database.close()
        }
      ),
    ]
    for (name, deed) in deeds {
      let station = try Station()
      try call(station)
      try deed(station)
      awaitRest(of: station.alice)
      station.alice.dropEvents()
      station.alice.send("/_app suspend 0").assert("cmdOk")
      XCTAssertEqual(shown(station).count, 0, name)
    }
  }
}
