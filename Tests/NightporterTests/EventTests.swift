import CNightporter
import PorterPlatform
import PorterStore
import XCTest

/// Events about pushes and failures: each says what happened, and no more.
final class EventTests: XCTestCase {
  private func events(_ host: Host, _ type: String) -> [JSON] {
    var found: [JSON] = []
    while let event = host.event(within: 0) {
      if event["result"]["type"].text == type { found.append(event["result"]) }
    }
    return found
  }

  /// `ntfMessage` is about messages named by a push: there is none for messages the app fetches by itself.
  func testNtfMessageIsOnlyForAMessageThatAPushNamed() throws {
    let station = try Station()
    station.pair.send("to the app", from: station.bob)
    station.alice.event("newChatItems")
    // The answer to a command comes after the acknowledgement and its effects.
    station.suspend()
    XCTAssertEqual(events(station.alice, "ntfMessage").count, 0)
    // On a busy machine there was a push for it nevertheless.
    try station.remainingPushes()

    let early = try station.push(for: "first")
    station.pair.send("second", from: station.bob)
    let late = try station.nextPush()
    let service = try station.makeExtension()
    XCTAssertEqual(service.push(early).bodies, ["first", "second"])
    let markers = events(service, "ntfMessage")
    XCTAssertEqual(markers.count, 1, "of two messages, this push names one: \(markers)")
    XCTAssertEqual(markers.first?["connEntity"]["type"].text, "rcvDirectMsgConnection")
    XCTAssertEqual(service.push(late).bodies, [])
    XCTAssertEqual(events(service, "ntfMessage").count, 0)
  }

  /// A host that drives a push step by step, with one damaged record: the others are named, and the event says why one
  /// is not. Each message named by a push has its marker.
  func testStepByStepTheDamagedRecordIsReportedAndTheOthersHandled() throws {
    let station = try Station()
    let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    station.bob.send("/connect \(link)").assert("sentConfirmation")
    station.alice.event("contactConnected")
    station.bob.event("contactConnected")
    station.suspend()
    station.pair.send("hello", from: station.bob)
    let message = "{\"msgContent\":{\"type\":\"text\",\"text\":\"other\"},\"mentions\":{}}"
    station.bob.send("/_send @2 json [\(message)]").assert("newChatItems")
    let service = try station.makeExtension()
    service.send("/_start main=off snd_files=off").assert("chatStarted")
    let database = try Database(path: station.alice.prefix + "_chat.db")
    // The first pushes are about one connection only: there are also pushes for becoming connected.
    var (ask, both) = ("", JSON("[]"))
    while both.count < 2 {
      let data = JSON(try station.nextPush())["notificationData"]
      ask = "/_ntf conns \(data["nonce"].text) \(data["message"].text)"
      both = service.send(ask)["result"]["ntfConns"]
    }
    try database.run("UPDATE connections SET recipient_key = x'00' WHERE connection_id = 2")
    let named = service.send(ask)["result"]["ntfConns"]
    XCTAssertEqual(named.count, 1, named.description)
    let errors = events(service, "chatErrors")
    XCTAssertEqual(errors.count, 1)
    XCTAssertEqual(errors.first?["chatErrors"][0]["np"]["code"].text, "storeDamaged", errors.description)
    let (agent, queue) = (named[0]["agentConnId"].text, named[0]["agentDbQueueId"].number)
    let time = named[0]["expectedMsg_"]["msgTs"].text
    let taken = service.send("/_ntf conn messages \(agent):\(queue):\(time)")["result"]["receivedMsgs"]
    XCTAssertEqual(taken[0]["ntfMsgInfo"]["msgId"].text, named[0]["expectedMsg_"]["msgId"].text, taken.description)
    let markers = events(service, "ntfMessage")
    XCTAssertEqual(markers.map { $0["ntfMessage"]["msgId"].text }, [named[0]["expectedMsg_"]["msgId"].text])
    try database.close()
  }

  /// INC-41: the message is kept with its reason. The host is notified of the reason, and of nothing else in the
  /// message.
  func testINC41AMessageThatDoesNotOpenIsReportedWithItsReason() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.send("hello", from: pair.bob)
    let relay = try Database(path: pair.folder.file("relay.db"))
    try relay.execute(damageToWaitingMessages)
    try relay.close()
    pair.alice.send("/_app activate").assert("cmdOk")
    let event = try XCTUnwrap(pair.alice.event("messageError"))["result"]
    XCTAssertEqual(event["user"]["localDisplayName"].text, "alice")
    XCTAssertEqual(event["severity"].text, "error")
    XCTAssertFalse(event["errorMessage"].text.isEmpty)
    XCTAssertFalse(event.description.contains("hello"))
    XCTAssertEqual(pair.texts(pair.alice), [])
  }
}
