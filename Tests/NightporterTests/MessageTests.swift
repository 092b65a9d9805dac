import Foundation
import XCTest

/// Quotes, profiles and searching: both sides have the same.
final class MessageTests: XCTestCase {
  private func items(_ host: Host, _ page: String) -> [JSON] {
    host.send("/_get chat @1 \(page)")["result"]["chat"]["chatItems"].elements
  }

  private func text(_ item: JSON) -> String { item["content"]["msgContent"]["text"].text }

  func testAReplyCarriesItsQuoteToBothSides() throws {
    let pair = try Pair()
    pair.send("are you there?", from: pair.bob)
    pair.alice.event("newChatItems", within: 20)
    let asked = try XCTUnwrap(items(pair.alice, "count=1").first)
    let sent = pair.alice.send(
      #"/_send @1 json [{"msgContent":{"type":"text","text":"yes"},"quotedItemId":\#(asked["meta"]["itemId"].number)}]"#
    )
    sent.assert("newChatItems")
    let ours = sent["result"]["chatItems"][0]["chatItem"]["quotedItem"]
    XCTAssertEqual(ours["content"]["text"].text, "are you there?", sent.description)
    XCTAssertEqual(ours["chatDir"]["type"].text, "directRcv")
    XCTAssertEqual(ours["itemId"].number, asked["meta"]["itemId"].number)
    XCTAssertEqual(ours["sharedMsgId"].text, asked["meta"]["itemSharedMsgId"].text)
    let event = pair.bob.event("newChatItems", within: 20)
    let theirs = try XCTUnwrap(event)["result"]["chatItems"][0]["chatItem"]["quotedItem"]
    XCTAssertEqual(theirs["content"]["text"].text, "are you there?")
    XCTAssertEqual(theirs["chatDir"]["type"].text, "directSnd", "bob wrote it")
    XCTAssertEqual(theirs["itemId"].number, items(pair.bob, "count=2").first?["meta"]["itemId"].number)
  }

  func testQuotingAnUnknownItemIsRefused() throws {
    let pair = try Pair()
    for id in [0, 77, Int.max] {
      let answer = pair.alice.send(
        #"/_send @1 json [{"msgContent":{"type":"text","text":"yes"},"quotedItemId":\#(id)}]"#)
      XCTAssertEqual(answer.errorTag, "chatItemNotFound", answer.description)
    }
    XCTAssertEqual(items(pair.alice, "count=1").count, 0)
  }

  /// A page counts matches, not the items searched.
  func testASearchFindsOldItems() throws {
    let pair = try Pair()
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    let texts = (0..<600).map { [3, 300, 555].contains($0) ? "ÄRGER number \($0)" : "text \($0)" }
    for part in [texts[..<300], texts[300...]] {
      let messages = part.map { #"{"msgContent":{"type":"text","text":"\#($0)"}}"# }
      pair.bob.send("/_send @1 json [\(messages.joined(separator: ","))]").assert("newChatItems")
    }
    func found(_ page: String) -> [String] { items(pair.bob, "\(page) search=ärger").map(text) }
    XCTAssertEqual(found("count=5"), ["ÄRGER number 3", "ÄRGER number 300", "ÄRGER number 555"])
    XCTAssertEqual(found("count=1"), ["ÄRGER number 555"])
    let ids = items(pair.bob, "count=600").map { $0["meta"]["itemId"].number }
    XCTAssertEqual(found("before=\(ids[555]) count=1"), ["ÄRGER number 300"])
    XCTAssertEqual(found("after=\(ids[3]) count=1"), ["ÄRGER number 300"])
    XCTAssertEqual(found("around=\(ids[300]) count=1"), ["ÄRGER number 3", "ÄRGER number 300"])
    XCTAssertEqual(found("count=0"), [])
    XCTAssertEqual(items(pair.bob, "count=5 search=nothing of that kind").count, 0)
  }

  func testABotIsShownAsOneToItsContacts() throws {
    let folder = try TemporaryFolder()
    let (alice, bot) = (
      try XCTUnwrap(Host.open(folder.file("alice")).host), try XCTUnwrap(Host.open(folder.file("bot")).host)
    )
    alice.begin("alice", relay: folder.file("relay.db"))
    let made = bot.send("/create bot helper answers questions")["result"]["user"]["profile"]
    XCTAssertEqual(made["peerType"].text, "bot", made.description)
    XCTAssertEqual(made["shortDescr"].text, "answers questions")
    bot.send(#"/_network {"relay":"\#(folder.file("relay.db"))"}"#).assert("cmdOk")
    bot.send("/_start").assert("chatStarted")
    XCTAssertEqual(bot.send("/u")["result"]["user"]["profile"]["peerType"].text, "bot")
    let link = alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
    bot.send("/connect \(link)").assert("sentConfirmation")
    let contact = alice.event("contactConnected", within: 20)?["result"]["contact"]["profile"]
    XCTAssertEqual(contact?["peerType"].text, "bot", contact?.description ?? "")
    XCTAssertEqual(contact?["shortDescr"].text, "answers questions")
  }

  func testAProfileTooLargeForAMessageIsRefused() throws {
    let folder = try TemporaryFolder()
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    let image = String(repeating: "A", count: 17_000)
    let answer = host.send(#"/_create user {"profile":{"displayName":"alice","image":"data:,\#(image)"}}"#)
    XCTAssertEqual(answer["error"]["np"]["code"].text, "messageTooLarge", answer.description)
  }

  func testContactsReceiveAChangedProfile() throws {
    let pair = try Pair()
    let answer = pair.alice.send(#"/_profile 1 {"displayName":"alicia","fullName":"A","shortDescr":"new"}"#)
    answer.assert("userProfileUpdated")
    XCTAssertEqual(answer["result"]["updateSummary"]["updateSuccesses"].number, 1, answer.description)
    let event = try XCTUnwrap(pair.bob.event("contactUpdated", within: 20))["result"]
    XCTAssertEqual(event["fromContact"]["profile"]["displayName"].text, "alice", event.description)
    XCTAssertEqual(event["toContact"]["profile"]["displayName"].text, "alicia")
    XCTAssertEqual(event["toContact"]["profile"]["shortDescr"].text, "new")
    XCTAssertEqual(event["toContact"]["contactId"].number, 1, "it is the same contact")
    pair.alice.send(#"/_profile 1 {"displayName":"alicia","fullName":"A","shortDescr":"new"}"#)
      .assert("userProfileNoChange")
  }

  /// An extension processes the change; the application reports it to its host when it wakes.
  func testAProfileReceivedByAnExtensionIsReportedLater() throws {
    let station = try Station()
    station.suspend()
    station.bob.send(#"/_profile 1 {"displayName":"bobby"}"#).assert("userProfileUpdated")
    XCTAssertEqual(try station.present(try station.push(for: "hi")).titles, ["bobby:"])
    station.alice.send("/_app activate").assert("cmdOk")
    let event = station.alice.event("contactUpdated", within: 20)
    XCTAssertEqual(event?["result"]["toContact"]["profile"]["displayName"].text, "bobby")
  }

  func testSettingsAreKeptWhole() throws {
    let pair = try Pair()
    pair.alice.send(#"/_settings @1 {"enableNtfs":"all","favorite":true,"sendRcpts":false}"#).assert("cmdOk")
    let settings = pair.alice.send("/_contacts 1")["result"]["contacts"][0]["chatSettings"]
    XCTAssertTrue(settings["favorite"].flag)
    XCTAssertTrue(settings["sendRcpts"].exists)
    XCTAssertFalse(settings["sendRcpts"].flag)
  }
}
