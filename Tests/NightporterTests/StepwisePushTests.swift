import XCTest

/// A push that a host drives step by step, as SimpleX's extension does: the connections it is about, one message of
/// each, and the resulting events.
final class StepwisePushTests: XCTestCase {
  func testConnectionsThenMessagesThenEvents() throws {
    let station = try Station()
    station.suspend()
    let push = JSON(try station.push(for: "hello"))["notificationData"]
    let host = try station.makeExtension()
    host.send("/_start main=off snd_files=off").assert("chatStarted")

    let connections = host.send("/_ntf conns \(push["nonce"].text) \(push["message"].text)")
    connections.assert("ntfConns")
    let connection = connections["result"]["ntfConns"][0]
    XCTAssertEqual(connections["result"]["ntfConns"].count, 1, connections.description)
    XCTAssertEqual(connection["connEntity"]["contact"]["localDisplayName"].text, "bob", connection.description)
    let expected = connection["expectedMsg_"]
    XCTAssertTrue(expected["msgId"].exists, connection.description)

    let request = "\(connection["agentConnId"].text):\(connection["agentDbQueueId"].number):\(expected["msgTs"].text)"
    let answer = host.send("/_ntf conn messages \(request)")
    answer.assert("connNtfMessages")
    let received = answer["result"]["receivedMsgs"][0]
    XCTAssertEqual(received["ntfMsgInfo"]["msgId"].text, expected["msgId"].text, answer.description)

    let items = host.event("newChatItems")?["result"]["chatItems"][0]["chatItem"]
    XCTAssertEqual(items?["content"]["msgContent"]["text"].text, "hello", items?.description ?? "")
    let marker = host.event("ntfMessage")?["result"]["ntfMessage"]
    XCTAssertEqual(marker?["msgId"].text, expected["msgId"].text, marker?.description ?? "")
    // The relay has nothing more.
    let again = host.send("/_ntf conn messages \(request)")
    XCTAssertFalse(again["result"]["receivedMsgs"][0]["ntfMsgInfo"].exists, again.description)
  }

  func testAPushOfAnotherTokenNamesNoConnections() throws {
    let station = try Station()
    station.suspend()
    let push = JSON(try station.push(for: "hello"))["notificationData"]
    let host = try station.makeExtension()
    host.send("/_start main=off snd_files=off").assert("chatStarted")
    let forged = String(push["message"].text.reversed())
    let answer = host.send("/_ntf conns \(push["nonce"].text) \(forged)")
    XCTAssertTrue(answer["error"].exists, answer.description)
  }
}
