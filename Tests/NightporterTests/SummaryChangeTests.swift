import Foundation
import PorterStore
import XCTest

/// The text of a summary on screen after the user has changed what may be shown.
final class SummaryChangeTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func send(_ texts: [String], to contact: Int = 1, from host: Host) {
    let messages = texts.map { #"{"msgContent":{"type":"text","text":"\#($0)"},"mentions":{}}"# }
    host.send("/_send @\(contact) json [\(messages.joined(separator: ","))]").assert("newChatItems")
  }

  private func hellos(_ count: Int) -> [String] { (1...count).map { "hello \($0)" } }

  private func open(_ station: Station, _ work: () -> Void) {
    station.alice.send("/_app activate").assert("cmdOk")
    work()
    station.suspend()
  }

  private func notify(_ mode: String, _ host: Host, _ contact: Int = 1) {
    host.send(#"/_settings @\#(contact) {"enableNtfs":"\#(mode)","favorite":false}"#).assert("cmdOk")
  }

  private func lastItem(_ host: Host, _ contact: Int = 1) -> Int {
    host.send("/_get chat @\(contact) count=1")["result"]["chat"]["chatItems"][0]["meta"]["itemId"].number
  }

  private func readLast(_ host: Host, _ contact: Int = 1) {
    host.send("/_read chat items @\(contact) \(lastItem(host, contact))").assert("itemsReadForChat")
  }

  private func deleteLast(_ host: Host) throws {
    host.send("/_delete item @1 \(lastItem(host)) broadcast").assert("chatItemsDeleted")
    try awaitThat("it is sent") {
      let store = try Database(path: host.prefix + "_chat.db")
      defer { try? store.close() }
      return try store.integer("SELECT count(*) FROM outbox") == 0
    }
  }

  /// Bob is each of alice's contacts, from 1 on; her app is suspended.
  private func station(chats: Int) throws -> Station {
    let station = try Station()
    for _ in 1..<chats {
      let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      station.bob.send("/connect \(link)").assert("sentConfirmation")
      station.alice.event("contactConnected")
      station.bob.event("contactConnected")
    }
    station.suspend()
    return station
  }

  // MARK: Muted chats

  /// The user may have dismissed it, too.
  func testINC37ASummaryOfAMutedChatIsWithdrawnWhenItsContactDeletesAMessage() throws {
    for mode in ["none", "mentions"] {
      let station = try station(chats: 1)
      send(hellos(9), from: station.bob)
      XCTAssertEqual(try station.present(wake).identifiers, ["np:many:1:@1"])
      open(station) { notify(mode, station.alice) }
      try deleteLast(station.bob)
      let answer = try station.present(wake)
      XCTAssertEqual(answer.identifiers, [], answer.description)
      XCTAssertEqual(answer["withdrawals"].elements.map(\.text), ["np:many:1:@1"], answer.description)
    }
  }

  func testASummaryOfAMutedChatIsWithdrawnFromTheScreenWhenAMessageIsRead() throws {
    let station = try station(chats: 1)
    send(hellos(9), from: station.bob)
    XCTAssertEqual(try station.present(wake).identifiers, ["np:many:1:@1"])
    station.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    notify("none", station.alice)
    readLast(station.alice)
    let event = try XCTUnwrap(station.alice.screenEvent())
    XCTAssertEqual(event["notifications"].count, 0, event.description)
    XCTAssertEqual(event["withdrawals"].elements.map(\.text), ["np:many:1:@1"], event.description)
  }

  /// It counts and names what may be shown now, with new messages and without.
  func testASummaryOfSeveralChatsLeavesOutTheMutedOnes() throws {
    let station = try station(chats: 4)
    for contact in [4, 2, 1] { send(hellos(5), to: contact, from: station.bob) }
    send(["for @alice"] + hellos(4), to: 3, from: station.bob)
    let first = try station.present(wake)
    XCTAssertEqual([first.identifiers, first.titles], [["np:many:1"], ["20 new messages"]], first.description)

    open(station) { notify("none", station.alice, 4) }
    for (contact, count) in [(1, 7), (2, 7), (3, 6)] { send(hellos(count), to: contact, from: station.bob) }
    let more = try station.present(wake)
    XCTAssertEqual(
      [more.identifiers, more.titles, more.bodies], [["np:many:1"], ["35 new messages"], ["From: bob, bob and bob"]])

    open(station) {
      notify("mentions", station.alice, 3)
      readLast(station.alice)
    }
    let less = try station.present(wake)
    XCTAssertEqual(
      [less.identifiers, less.titles, less.bodies], [["np:many:1"], ["24 new messages"], ["From: bob, bob and bob"]],
      "11, 12, and of the third the one that mentions alice")

    open(station) {
      for contact in 1...3 { notify("none", station.alice, contact) }
      readLast(station.alice, 2)
    }
    let none = try station.present(wake)
    XCTAssertEqual(none.identifiers, [], none.description)
    XCTAssertEqual(none["withdrawals"].elements.map(\.text), ["np:many:1"])
  }

  // MARK: Chats that are named or hidden

  /// A tap on it leads to the chat.
  func testWhatIsLeftOfOneChatIsSaidOfTheChat() throws {
    let station = try station(chats: 3)
    for (contact, count) in [(1, 7), (2, 7), (3, 6)] { send(hellos(count), to: contact, from: station.bob) }
    let whole = try station.present(wake)
    XCTAssertEqual([whole.identifiers, whole.titles], [["np:many:1"], ["20 new messages"]], whole.description)
    open(station) { for contact in 2...3 { station.alice.send("/_read chat @\(contact)").assert("cmdOk") } }
    let left = try station.present(wake)
    XCTAssertEqual([left.identifiers, left.titles, left.bodies], [["np:many:1"], ["bob:"], ["7 new messages"]])
    XCTAssertEqual(left["notifications"][0]["targetContentIdentifier"].text, "@1")
    open(station) {
      XCTAssertEqual(station.alice.respond(to: left["notifications"][0])["result"]["outcome"].text, "applied")
      XCTAssertEqual(station.alice.event("ntfResponse")?["result"]["chatId"].text, "@1")
    }
  }

  func testFewMessagesOfOneChatBesideACrowdedOneHaveASummaryOfTheChat() throws {
    let station = try station(chats: 2)
    send(hellos(7), from: station.bob)
    send(hellos(14), to: 2, from: station.bob)
    let answer = try station.present(wake)
    XCTAssertEqual(answer.identifiers, ["np:many:1:@1", "np:many:1:@2"], answer.description)
    XCTAssertEqual(answer.bodies, ["7 new messages", "14 new messages"])
    XCTAssertEqual(answer["notifications"].elements.map { $0["targetContentIdentifier"].text }, ["@1", "@2"])
  }

  /// Otherwise it would say that so many messages have the same sender.
  func testASummaryOfAChatIsOneOfItsProfileOnceChatsAreHidden() throws {
    let station = try station(chats: 1)
    send(hellos(9), from: station.bob)
    XCTAssertEqual(try station.present(wake).titles, ["bob:"])
    open(station) {
      station.alice.send(#"/_save app settings {"notificationPreviewMode":"hidden"}"#).assert("cmdOk")
    }
    try deleteLast(station.bob)
    let answer = try station.present(wake)
    XCTAssertEqual(answer.identifiers, ["np:many:1:@1"], answer.description)
    XCTAssertEqual([answer.titles, answer.bodies], [["8 new messages"], ["From 1 chat"]])
    XCTAssertFalse(answer["notifications"][0]["targetContentIdentifier"].exists)
    XCTAssertFalse(answer["notifications"][0]["threadIdentifier"].exists)
  }

  // MARK: Taps

  /// In a store restored from a backup, the profile's number may belong to another profile.
  func testATapOnASummaryFromBeforeARestoreKeepsTheProfile() throws {
    for isRestored in [false, true] {
      let station = try station(chats: 1)
      open(station) {
        station.alice.send(#"/_save app settings {"notificationPreviewMode":"hidden"}"#).assert("cmdOk")
        station.alice.send(#"/_create user {"profile":{"displayName":"work","fullName":""}}"#).assert("activeUser")
      }
      send(hellos(8), from: station.bob)
      let summary = try station.present(wake)["notifications"][0]
      XCTAssertEqual(summary["identifier"].text, "np:many:1", summary.description)
      if isRestored {
        let store = try Database(path: station.alice.prefix + "_chat.db")
        try store.execute("UPDATE connections SET agent_id = randomblob(24)")
        try store.close()
      }
      open(station) {
        XCTAssertEqual(station.alice.respond(to: summary)["result"]["outcome"].text, "applied")
        let event = station.alice.event("ntfResponse")?["result"] ?? JSON("")
        XCTAssertEqual(event["userId"].exists, !isRestored, event.description)
        XCTAssertEqual(station.alice.send("/u")["result"]["user"]["userId"].number, isRestored ? 2 : 1)
      }
    }
  }
}
