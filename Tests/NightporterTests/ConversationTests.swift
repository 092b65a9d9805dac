import CNightporter
import Foundation
import PorterStore
import XCTest

/// Two people, one relay: what one sends, the other receives once.
final class ConversationTests: XCTestCase {
  func testMessagesArriveOnceAndInOrderBothWays() throws {
    let pair = try Pair()
    let expected = (0..<40).map { "message \($0)" }
    for (index, text) in expected.enumerated() { pair.send(text, from: index % 3 == 0 ? pair.alice : pair.bob) }
    awaitThat("both have everything") { pair.texts(pair.alice).count >= 40 && pair.texts(pair.bob).count >= 40 }
    XCTAssertEqual(Set(pair.texts(pair.alice)), Set(expected))
    XCTAssertEqual(pair.texts(pair.alice).count, 40)
    XCTAssertEqual(pair.texts(pair.bob).count, 40)
    let fromBob = expected.enumerated().filter { $0.offset % 3 != 0 }.map(\.element)
    XCTAssertEqual(pair.texts(pair.alice).filter(Set(fromBob).contains), fromBob)
  }

  /// The engine's stack is small, and a mailbox holds 128 messages: the rest waits until there is room.
  func testHundredsOfMessagesInOneCommandArriveInOrder() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let texts = (0..<150).map { "text \($0)" }
    let messages = texts.map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }
    pair.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    pair.alice.send("/_app activate").assert("cmdOk")
    awaitThat("alice has them") { pair.texts(pair.alice).count >= texts.count }
    XCTAssertEqual(pair.texts(pair.alice), texts)
  }

  func testBadgeCountsUnreadItemsExceptInMutedChats() throws {
    let pair = try Pair()
    for number in 0..<3 {
      pair.send("text \(number)", from: pair.bob)
      pair.alice.event("newChatItems")
    }
    XCTAssertEqual(pair.alice.state["unread"].number, 3)
    pair.alice.send("/_settings @1 {\"enableNtfs\":\"none\",\"favorite\":false}").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
    pair.alice.send("/_settings @1 {\"enableNtfs\":\"all\",\"favorite\":false}").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 3)
    let items = pair.alice.send("/_get chat @1 count=10")["result"]["chat"]["chatItems"]
    pair.alice.send("/_read chat items @1 \(items[0]["meta"]["itemId"].number)").assert("itemsReadForChat")
    XCTAssertEqual(pair.alice.state["unread"].number, 2)
    pair.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(pair.alice.state["unread"].number, 0)
  }

  func testMessagesSentWhileTheOtherSideSleepsArriveWhenItWakes() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 2000000").assert("cmdOk")
    pair.alice.event("chatSuspended")
    XCTAssertTrue(pair.alice.state["quiescent"].flag, pair.alice.state.description)
    for number in 0..<5 { pair.send("text \(number)", from: pair.bob) }
    XCTAssertEqual(pair.alice.send("/_get chat @1 count=10")["error"]["np"]["code"].text, "storeClosed")
    pair.alice.send("/_app activate").assert("cmdOk")
    for _ in 0..<5 { pair.alice.event("newChatItems") }
    XCTAssertEqual(pair.texts(pair.alice), (0..<5).map { "text \($0)" })
  }

  func testDeletedContactIsGoneAndItsSenderGetsAnError() throws {
    let pair = try Pair()
    pair.alice.send("/_delete @1 full notify=off").assert("contactDeleted")
    XCTAssertEqual(pair.alice.send("/_get chat @1 count=1").errorTag, "contactNotFound")
    try awaitDeletion(ofMailbox: 1, relay: pair.folder.file("relay.db"))
    pair.send("anyone there?", from: pair.bob)
    let update = pair.bob.event("chatItemsStatusesUpdated")
    XCTAssertEqual(update?["result"]["chatItems"][0]["chatItem"]["meta"]["itemStatus"]["type"].text, "sndErrorAuth")
  }

  func testInvitationServesOnce() throws {
    let folder = try TemporaryFolder()
    let hosts = try ["alice", "bob", "carol"].map { name in
      let host = try XCTUnwrap(Host.open(folder.file(name)).host)
      host.begin(name, relay: folder.file("relay.db"))
      return host
    }
    let link = hosts[0].send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    // While the inviter is away the relay accepts both confirmations.
    hosts[0].send("/_app suspend 0").assert("cmdOk")
    hosts[1].send("/connect \(link)").assert("sentConfirmation")
    hosts[2].send("/connect \(link)").assert("sentConfirmation")
    hosts[0].send("/_app activate").assert("cmdOk")
    hosts[0].event("contactConnected")
    let store = try Database(path: folder.file("alice_chat.db"))
    defer { try? store.close() }
    let second = "SELECT count(*) FROM ledger WHERE state = 'quarantined'"
    try awaitThat("the second has come") { try store.integer(second) ?? 0 > 0 }
    XCTAssertEqual(try store.integer(second), 1)
    XCTAssertEqual(hosts[0].send("/_contacts 1")["result"]["contacts"].count, 1)
    XCTAssertEqual(hosts[2].send("/_contacts 1")["result"]["contacts"].count, 0)
  }

  func testInvalidLinks() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let link = host.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    for bad in [
      "nonsense", String(link.dropLast(3)), link.replacingOccurrences(of: "#1.", with: "#9."), link + "x",
      "https://example.org/" + link,
    ] {
      let tag = host.send("/connect \(bad)").errorTag
      XCTAssertTrue(["invalidConnReq", "unsupportedConnReq", "commandError"].contains(tag), "\(tag)")
    }
  }

  func testOverlongTextIsRefusedAsAWhole() throws {
    let pair = try Pair()
    let long = String(repeating: "x", count: 20_000)
    let answer = pair.alice.send(
      "/_send @1 json [{\"msgContent\":{\"type\":\"text\",\"text\":\"\(long)\"},\"mentions\":{}}]")
    XCTAssertEqual(answer["error"]["np"]["code"].text, "messageTooLarge")
    let names = (0..<1_500).map { "\"member \($0)\":1" }.joined(separator: ",")
    let mentioning = pair.alice.send(
      "/_send @1 json [{\"msgContent\":{\"type\":\"text\",\"text\":\"hello\"},\"mentions\":{\(names)}}]")
    XCTAssertEqual(mentioning["error"]["np"]["code"].text, "messageTooLarge", mentioning.description)
    XCTAssertEqual(pair.texts(pair.alice), [])
    pair.send(String(repeating: "y", count: 15_000), from: pair.alice)
    pair.bob.event("newChatItems")
    XCTAssertEqual(pair.texts(pair.bob).first?.count, 15_000)
  }
}
