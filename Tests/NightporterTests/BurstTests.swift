import CNightporter
import PorterStore
import XCTest

/// A burst of messages, through real pushes: one sound, one summary, and nothing lost.
final class BurstTests: XCTestCase {
  private func send(_ texts: [String], to contact: Int = 1, from host: Host) {
    let messages = texts.map { "{\"msgContent\":{\"type\":\"text\",\"text\":\"\($0)\"},\"mentions\":{}}" }
    host.send("/_send @\(contact) json [\(messages.joined(separator: ","))]").assert("newChatItems")
  }

  private func open(_ station: Station, _ work: () -> Void) {
    station.alice.send("/_app activate").assert("cmdOk")
    work()
    station.suspend()
  }

  func testABurstOfOneChatIsOneNotificationUntilItIsRead() throws {
    let station = try Station()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    station.suspend()
    try station.alice.forgetSounds()
    let summary = "np:many:1:@1"
    let seven = (1...7).map { "seven \($0)" }
    send(seven, from: station.bob)
    let few = try station.present(wake)
    XCTAssertEqual(few.bodies, seven)
    XCTAssertEqual(few["notifications"].elements.map { $0["sound"].text }, ["default"] + Array(repeating: "", count: 6))

    send((1...8).map { "eight \($0)" }, from: station.bob)
    let many = try station.present(wake)
    XCTAssertEqual(many["notifications"].count, 1, many.description)
    XCTAssertEqual(many.identifiers, [summary])
    XCTAssertEqual([many.titles, many.bodies], [["bob:"], ["8 new messages"]])
    XCTAssertEqual(many["notifications"][0]["categoryIdentifier"].text, "NTF_CAT_MANY_EVENTS")
    XCTAssertEqual(many["notifications"][0]["targetContentIdentifier"].text, "@1")
    XCTAssertFalse(many["notifications"][0]["sound"].exists, "the first of the seven was heard just now")
    XCTAssertEqual(many["badge"].number, 15)
    XCTAssertEqual(try station.present(wake).identifiers, [], "shown once")

    // The next burst is in the same summary; a single message has a notification of its own.
    send((1...9).map { "nine \($0)" }, from: station.bob)
    let more = try station.present(wake)
    XCTAssertEqual([more.identifiers, more.bodies], [[summary], ["17 new messages"]])
    send(["one"], from: station.bob)
    XCTAssertEqual(try station.present(wake).bodies, ["one"])

    // When some are read, the summary is updated silently; when all are, it is withdrawn, like the single
    // notifications.
    var items: [JSON] = []
    open(station) {
      items = station.alice.send("/_get chat @1 count=100")["result"]["chat"]["chatItems"].elements
      let eight = items.filter { $0["content"]["msgContent"]["text"].text.hasPrefix("eight") }
      XCTAssertEqual(eight.count, 8)
      let numbers = eight.map { String($0["meta"]["itemId"].number) }.joined(separator: ",")
      station.alice.send("/_read chat items @1 \(numbers)")
    }
    let less = try station.present(wake)
    XCTAssertEqual([less.identifiers, less.bodies], [[summary], ["9 new messages"]], less.description)
    XCTAssertFalse(less["notifications"][0]["sound"].exists)
    XCTAssertEqual(less["withdrawals"].count, 0)
    open(station) { station.alice.send("/_read chat @1").assert("cmdOk") }
    let none = try station.present(wake)
    XCTAssertEqual(none.bodies, [])
    XCTAssertEqual(none.withdrawn.sorted().first, summary)
    XCTAssertEqual(none.withdrawn.count, 1 + 7 + 1)
    XCTAssertEqual(station.pair.texts(station.alice).count, 0, "closed")
    XCTAssertEqual(items.count, 25, "nothing is lost")
  }

  /// INC-44. A tap then leads to the chat by its number.
  func testASummaryIsShownAnewThoughItsConnectionIsDamaged() throws {
    let station = try Station()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    station.suspend()
    send((1...9).map { "text \($0)" }, from: station.bob)
    let whole = try station.present(wake)
    XCTAssertEqual(whole.bodies, ["9 new messages"])
    XCTAssertTrue(whole["notifications"][0]["userInfo"]["agentConnId"].exists, whole.description)
    open(station) {
      let items = station.alice.send("/_get chat @1 count=3")["result"]["chat"]["chatItems"].elements
      let numbers = items.map { String($0["meta"]["itemId"].number) }.joined(separator: ",")
      station.alice.send("/_read chat items @1 \(numbers)")
    }
    let database = try Database(path: station.alice.prefix + "_chat.db")
    try database.execute("UPDATE connections SET recipient_key = x'00' WHERE contact_id = 1")
    try database.close()
    let less = try station.present(wake)
    XCTAssertEqual([less.identifiers, less.bodies], [["np:many:1:@1"], ["6 new messages"]], less.description)
    XCTAssertEqual(less["notifications"][0]["targetContentIdentifier"].text, "@1")
    XCTAssertFalse(less["notifications"][0]["userInfo"]["agentConnId"].exists)
    for (action, outcome, chat) in [(nil, "applied", "@1"), ("NTF_ACT_MARK_READ", "stale", "")] {
      let tap = station.alice.respond(to: less["notifications"][0], action)["result"]
      XCTAssertEqual(tap["outcome"].text, "waiting", tap.description)
      station.alice.dropEvents()
      station.alice.send("/_app activate").assert("cmdOk")
      let event = station.alice.event("ntfResponse")?["result"]
      XCTAssertEqual([event?["outcome"].text, event?["chatId"].text], [outcome, chat], event?.description ?? "none")
      station.suspend()
    }
  }

  /// A summary keeps its identifier: a doubled response is a repeat, but a tap on the summary of more or fewer messages
  /// is not.
  func testATapOnASummaryCountsOnceUntilItIsShownAnew() throws {
    let station = try Station()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    station.suspend()
    for (texts, body) in [(1...8, "8 new messages"), (9...17, "17 new messages")] {
      send(texts.map { "text \($0)" }, from: station.bob)
      try tapTwice(try station.present(wake), body, station)
    }
    open(station) {
      let items = station.alice.send("/_get chat @1 count=8")["result"]["chat"]["chatItems"].elements
      let numbers = items.map { String($0["meta"]["itemId"].number) }.joined(separator: ",")
      station.alice.send("/_read chat items @1 \(numbers)")
    }
    try tapTwice(try station.present(wake), "9 new messages", station)
  }

  /// Likewise while the taps wait for the app: each is carried out once when it is active.
  func testATapThatWaitsIsNoTapOnTheSummaryThatIsShownAnew() throws {
    let station = try Station()
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    station.suspend()
    var repeated: [Bool] = []
    for texts in [1...8, 9...17] {
      send(texts.map { "text \($0)" }, from: station.bob)
      let answer = try station.present(wake)
      XCTAssertEqual(answer.identifiers, ["np:many:1:@1"], answer.description)
      for _ in 0..<2 {
        let tap = station.alice.respond(to: answer["notifications"][0])["result"]
        XCTAssertEqual(tap["outcome"].text, "waiting", tap.description)
        repeated.append(tap["repeated"].flag)
      }
    }
    XCTAssertEqual(repeated, [false, true, false, true])
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    for _ in 0..<2 {
      let event = station.alice.event("ntfResponse")?["result"]
      XCTAssertEqual([event?["outcome"].text, event?["chatId"].text], ["applied", "@1"])
    }
    awaitRest(of: station.alice)
    station.alice.expectNone("ntfResponse")
  }

  private func tapTwice(_ answer: JSON, _ body: String, _ station: Station, line: UInt = #line) throws {
    XCTAssertEqual([answer.identifiers, answer.bodies], [["np:many:1:@1"], [body]], answer.description, line: line)
    open(station) {
      let taps = (0..<2).map { _ in station.alice.respond(to: answer["notifications"][0])["result"] }
      XCTAssertEqual(taps.map { $0["outcome"].text }, ["applied", "applied"], "\(taps)", line: line)
      XCTAssertEqual(taps.map { $0["repeated"].flag }, [false, true], "\(taps)", line: line)
      let events = station.alice.waitingEvents().filter { $0 == "ntfResponse" }
      XCTAssertEqual(events.count, 1, line: line)
    }
  }

  /// The placeholder of a message in a burst is withdrawn, since the summary stands for the message; its chat has
  /// already sounded.
  func testAPlaceholderGivesWayToTheSummary() throws {
    let station = try Station()
    station.suspend()
    try station.alice.forgetSounds()
    let push = try station.push(for: "one")
    let offline = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: offline)
    transport.fail(.get)
    let early = offline.push(push)
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    XCTAssertEqual(early["notifications"][0]["sound"].text, "default")
    send((2...8).map { "more \($0)" }, from: station.bob)
    let service = try station.makeExtension()
    let late = service.push(push)
    XCTAssertEqual([late.identifiers, late.bodies], [["np:many:1:@1"], ["8 new messages"]], late.description)
    XCTAssertFalse(late["notifications"][0]["sound"].exists)
    XCTAssertEqual(late["withdrawals"].elements.map(\.text), early.identifiers)
    var markers = 0
    while let event = service.event(within: 0) { markers += event["result"]["type"].text == "ntfMessage" ? 1 : 0 }
    XCTAssertEqual(markers, 1, "of the message that the push named")
  }

  func testABurstOfSeveralChatsNamesThemAsThePreviewModeAllows() throws {
    let station = try Station()
    for _ in 0..<3 {
      let link = station.alice.send("/_connect 1")["result"]["connLinkInvitation"]["connFullLink"].text
      station.bob.send("/connect \(link)").assert("sentConfirmation")
      station.alice.event("contactConnected")
      station.bob.event("contactConnected")
    }
    let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#
    let expected = [
      ("message", "From: bob, bob and 2 other chats"), ("contact", "From: bob, bob and 2 other chats"),
      ("hidden", "From 4 chats"),
    ]
    for (mode, body) in expected {
      open(station) {
        station.alice.send("/_save app settings {\"notificationPreviewMode\":\"\(mode)\"}").assert("cmdOk")
        station.alice.send("/_read user 1").assert("cmdOk")
      }
      for contact in 1...4 { send((1...5).map { "hello \($0)" }, to: contact, from: station.bob) }
      let answer = try station.present(wake)
      XCTAssertEqual(answer.identifiers, ["np:many:1"], answer.description)
      XCTAssertEqual(answer.titles, ["20 new messages"])
      XCTAssertEqual(answer.bodies, [body])
      XCTAssertEqual(answer["badge"].number, 20)
      XCTAssertFalse(answer["notifications"][0]["threadIdentifier"].exists)
    }
    // The contact is deleted with its messages: the rest of the summary is shown.
    open(station) { station.alice.send("/_delete @4 full notify=off").assert("contactDeleted") }
    let less = try station.present(wake)
    XCTAssertEqual(
      [less.identifiers, less.titles, less.bodies], [["np:many:1"], ["15 new messages"], ["From 3 chats"]])
  }
}
