import CNightporter
import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A placeholder whose message is deleted at the relay before any process has it, for example because its time was up:
/// it is withdrawn once the mailbox is found empty.
final class VanishedMessageTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// A sleeping app, a push for `text`, and the placeholder an extension shows while its relay is out of reach.
  private func announced(_ station: Station, _ text: String = "hello") throws -> (push: String, shown: [String]) {
    let push = try station.push(for: text)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    transport.fail(.get)
    let early = service.push(push)
    XCTAssertEqual(early.placeholders, ["message received"], early.description)
    return (push, early.identifiers)
  }

  private func atRelay(_ station: Station, _ statements: String) throws {
    let relay = try Database(path: station.pair.folder.file("relay.db"))
    try relay.execute(statements)
    try relay.close()
  }

  private func empty(_ station: Station) throws { try atRelay(station, "DELETE FROM message") }

  func testALaterPushWithdrawsThePlaceholder() throws {
    let station = try Station()
    station.suspend()
    let early = try announced(station)
    try empty(station)
    let later = try station.present(try station.push(for: "more"))
    XCTAssertEqual(later.bodies, ["more"], later.description)
    XCTAssertEqual(later.withdrawn, early.shown, later.description)
    let repeated = try station.present(early.push)
    XCTAssertEqual(repeated["outcome"].text, "nothingNew", repeated.description)
    XCTAssertEqual(repeated.withdrawn, [], "once")
  }

  func testItsOwnPushDeliveredAgainWithdrawsThePlaceholder() throws {
    let station = try Station()
    station.suspend()
    let early = try announced(station)
    try empty(station)
    XCTAssertEqual(try station.present(early.push).withdrawn, early.shown)
    XCTAssertEqual(try station.present(early.push).withdrawn, [])
  }

  /// With several connections, the relay is asked about all of them, and none is claimed.
  func testARoundWithdrawsThePlaceholder() throws {
    for friends in [[], ["carol"]] {
      let station = try CallStation.make(friends).0
      let early = try announced(station)
      try empty(station)
      let round = try station.present(wake)
      XCTAssertEqual(round.withdrawn, early.shown, round.description)
      XCTAssertEqual(try station.present(wake).withdrawn, [])
    }
  }

  func testABackgroundRoundWithdrawsThePlaceholder() throws {
    let station = try Station()
    station.suspend()
    let early = try announced(station)
    try empty(station)
    let round = JSON(take(np_background_refresh(station.alice.handle, 10_000)))
    XCTAssertEqual(round.withdrawn, early.shown, round.description)
  }

  func testAnAppThatComesToTheScreenWithdrawsThePlaceholder() throws {
    let station = try Station()
    station.suspend()
    let early = try announced(station)
    try empty(station)
    station.alice.dropEvents()
    station.alice.send("/_app activate").assert("cmdOk")
    var withdrawn: [String] = []
    while withdrawn.isEmpty, let event = station.alice.event(within: 20) {
      guard event["result"]["type"].text == "notifications" else { continue }
      withdrawn = event["result"].withdrawn
    }
    XCTAssertEqual(withdrawn, early.shown)
  }

  /// The relay is restored from a backup: the message is still shown.
  func testAMessageThatComesAfterAllIsShown() throws {
    let station = try Station()
    station.suspend()
    let early = try announced(station)
    try atRelay(station, "CREATE TABLE kept AS SELECT * FROM message; DELETE FROM message")
    XCTAssertEqual(try station.present(early.push).withdrawn, early.shown)
    try atRelay(station, "INSERT INTO message SELECT * FROM kept; DROP TABLE kept")
    let late = try station.present(early.push)
    XCTAssertEqual(late.bodies, ["hello"], late.description)
    XCTAssertEqual(late.identifiers, early.shown)
    XCTAssertEqual(late["badge"].number, 1)
    XCTAssertEqual(late.withdrawn, [])
    station.wake(expecting: ["hello"])
  }

  /// Another process announces a message that arrived after this one had asked: its placeholder stays.
  func testWhatIsAnnouncedAfterTheQuestionStays() throws {
    let station = try Station()
    station.suspend()
    _ = try announced(station)
    let service = try station.makeExtension()
    let transport = HostTransport(relay: station.pair.folder.file("relay.db"))
    transport.install(in: service)
    try empty(station)
    transport.hang(true)
    let round = service.inBackground { [wake] in $0.push(wake, deadline: 30_000).description }
    transport.waitUntilInside()
    let second = try announced(station, "more")
    try empty(station)
    transport.hang(false)
    let answer = JSON(try XCTUnwrap(round.wait(atMost: .seconds(40))))
    XCTAssertFalse(answer.withdrawn.contains(second.shown[0]), answer.description)
    XCTAssertEqual(answer.withdrawn.count, 1, answer.description)
    XCTAssertEqual(try station.present(wake).withdrawn, second.shown)
  }
}
