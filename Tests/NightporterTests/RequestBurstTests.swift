import CNightporter
import PorterPlatform
import PorterStore
import XCTest

@testable import PorterEngine

/// Many strangers ask through a public address: a bounded number of notifications, and nothing lost.
final class RequestBurstTests: XCTestCase {
  private static let summary = "np:requests:1"

  private func round(_ meeting: AddressMeeting) -> JSON {
    JSON(take(np_background_refresh(meeting.alice.handle, 20_000)))
  }

  /// A sleeping alice, and strangers who ask.
  private func meet() throws -> (AddressMeeting, ask: (ClosedRange<Int>) throws -> Void, end: () -> Void) {
    let meeting = try AddressMeeting()
    let crowd = try Crowd(meeting)
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
    func ask(_ numbers: ClosedRange<Int>) throws {
      for number in numbers { try crowd.leave(try crowd.asker("asker \(number)")) }
    }
    return (meeting, ask, crowd.end)
  }

  private func inApp(_ meeting: AddressMeeting, _ work: () throws -> Void) rethrows {
    meeting.alice.send("/_app activate").assert("cmdOk")
    try work()
    awaitRest(of: meeting.alice)
    meeting.alice.send("/_app suspend 0").assert("cmdOk")
  }

  func testAFloodOfRequestsIsOneNotification() throws {
    let (meeting, ask, end) = try meet()
    defer { end() }
    try ask(1...100)
    let shown = round(meeting)
    XCTAssertEqual(shown.identifiers, [Self.summary], shown.description)
    XCTAssertEqual(shown.titles, ["100 contact requests"])
    XCTAssertEqual(shown.bodies, ["From: asker 100, asker 99 and 98 others"])
    XCTAssertEqual(shown["notifications"][0]["categoryIdentifier"].text, "NTF_CAT_MANY_EVENTS")
    XCTAssertEqual(shown["notifications"][0]["sound"].text, "default")
    XCTAssertEqual(shown["badge"].number, 0, "a request is no unread message")
    XCTAssertEqual(round(meeting).identifiers, [], "shown once")
    let tap = meeting.alice.respond(to: shown["notifications"][0])["result"]
    XCTAssertEqual(tap["outcome"].text, "waiting", tap.description)
    meeting.alice.dropEvents()
    meeting.alice.send("/_app activate").assert("cmdOk")
    let event = meeting.alice.event("ntfResponse")?["result"]
    XCTAssertEqual([event?["outcome"].text, event?["action"].text], ["applied", "open"], event?.description ?? "")
  }

  /// They come with one push each, so that no answer has many.
  func testRequestsThatComeOneByOneAreBundledFromTheEighthOn() throws {
    let (meeting, ask, end) = try meet()
    defer { end() }
    var single: [String] = []
    for number in 1...7 {
      try ask(number...number)
      let shown = round(meeting)
      XCTAssertEqual(shown.titles, ["asker \(number) wants to connect!"], shown.description)
      single += shown.identifiers
    }
    try ask(8...8)
    let bundled = round(meeting)
    XCTAssertEqual([bundled.identifiers, bundled.titles], [[Self.summary], ["8 contact requests"]])
    XCTAssertEqual(bundled.withdrawn.sorted(), single.sorted(), bundled.description)
    XCTAssertFalse(bundled["notifications"][0]["sound"].exists, "one sound in 30 s")
    try ask(9...9)
    let more = round(meeting)
    XCTAssertEqual([more.identifiers, more.titles], [[Self.summary], ["9 contact requests"]])
    XCTAssertEqual(more.bodies, ["From: asker 9, asker 8 and 7 others"])
    XCTAssertEqual(more.withdrawn, [], more.description)
  }

  /// Accepted, rejected or withdrawn: the summary comes again without them, and goes with the last.
  func testDecidedRequestsLeaveTheirSummary() throws {
    let (meeting, ask, end) = try meet()
    defer { end() }
    try ask(1...8)
    XCTAssertEqual(round(meeting).titles, ["8 contact requests"])
    inApp(meeting) {
      meeting.alice.send("/_accept 8").assert("acceptingContactRequest")
      for number in 4...7 { meeting.alice.send("/_reject \(number)").assert("contactRequestRejected") }
    }
    let less = round(meeting)
    XCTAssertEqual([less.identifiers, less.titles], [[Self.summary], ["3 contact requests"]], less.description)
    XCTAssertEqual(less.bodies, ["From: asker 3, asker 2 and asker 1"])
    XCTAssertFalse(less["notifications"][0]["sound"].exists)
    XCTAssertEqual(less.withdrawn, [])
    // With few left, the next one has its own notification.
    try ask(9...9)
    let next = round(meeting)
    XCTAssertEqual(next.titles, ["asker 9 wants to connect!"], next.description)
    inApp(meeting) { meeting.alice.send("/_delete_address 1").assert("userContactLinkDeleted") }
    let none = round(meeting)
    XCTAssertEqual(none["notifications"].count, 0, none.description)
    XCTAssertEqual(none.withdrawn.sorted(), [next.identifiers[0], Self.summary].sorted(), none.description)
    XCTAssertEqual(round(meeting).withdrawn, [])
  }

  /// On screen, the event withdraws or reduces it at once.
  func testAnAppOnScreenReducesAndWithdrawsTheSummary() throws {
    let (meeting, ask, end) = try meet()
    defer { end() }
    try ask(1...8)
    XCTAssertEqual(round(meeting).titles, ["8 contact requests"])
    meeting.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: meeting.alice)
    meeting.alice.dropEvents()
    func change() -> JSON? {
      while let event = meeting.alice.event(within: 20) {
        if event["result"]["type"].text == "notifications" { return event["result"] }
      }
      return nil
    }
    meeting.alice.send("/_reject 8").assert("contactRequestRejected")
    let less = try XCTUnwrap(change())
    XCTAssertEqual(less["notifications"][0]["notification"]["title"].text, "7 contact requests", less.description)
    XCTAssertEqual(less.withdrawn, [])
    meeting.alice.send("/_delete_address 1").assert("userContactLinkDeleted")
    XCTAssertEqual(try XCTUnwrap(change()).withdrawn, [Self.summary])
  }

  func testAHiddenPreviewNamesNobody() throws {
    let (meeting, ask, end) = try meet()
    defer { end() }
    inApp(meeting) {
      meeting.alice.send(#"/_save app settings {"notificationPreviewMode":"hidden"}"#).assert("cmdOk")
    }
    try ask(1...8)
    let shown = round(meeting)
    XCTAssertEqual([shown.titles, shown.bodies], [["8 contact requests"], [""]], shown.description)
    XCTAssertFalse(shown.description.contains("asker"), shown.description)
  }
}
