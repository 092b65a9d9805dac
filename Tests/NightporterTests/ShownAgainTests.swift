import Foundation
import PorterStore
import XCTest

/// Notifications due for removal, then shown again under the same identifier: they stay on screen.
final class ShownAgainTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func notify(_ mode: String, _ host: Host, line: UInt = #line) {
    host.send(#"/_settings @1 {"enableNtfs":"\#(mode)","favorite":false}"#).assert("cmdOk", #filePath, line)
  }

  private func edit(_ text: String, of host: Host, line: UInt = #line) {
    let items = host.send("/_get chat @1 count=1")["result"]["chat"]["chatItems"]
    let item = items[0]["meta"]["itemId"].number
    host.send("/_update item @1 \(item) text \(text)").assert("chatItemUpdated", #filePath, line)
  }

  /// Edits, and waits until the relay has the new text.
  private func editAndSend(_ text: String, of host: Host, line: UInt = #line) throws {
    edit(text, of: host, line: line)
    try awaitThat("it is sent") {
      let store = try Database(path: host.prefix + "_chat.db")
      defer { try? store.close() }
      return try store.integer("SELECT count(*) FROM outbox") == 0
    }
  }

  /// Identifiers that the app on screen must show next.
  private func shown(_ host: Host, line: UInt = #line) throws -> [String] {
    let event = try XCTUnwrap(host.screenEvent(line: line), line: line)
    XCTAssertEqual(event["withdrawals"].count, 0, event.description, line: line)
    return event["notifications"].elements.map { $0["notification"]["identifier"].text }
  }

  /// Identifiers that the app on screen must remove next.
  private func removed(_ host: Host, line: UInt = #line) throws -> [String] {
    let event = try XCTUnwrap(host.screenEvent(line: line), line: line)
    XCTAssertEqual(event["notifications"].count, 0, event.description, line: line)
    return event.withdrawn
  }

  /// A mention on screen that an edit then takes away, so that the app removes it.
  private func removedMention(_ station: Station) throws -> [String] {
    notify("mentions", station.alice)
    station.alice.dropEvents()
    station.pair.send("look, @alice", from: station.bob)
    let identifiers = try shown(station.alice)
    edit("look, all", of: station.bob)
    XCTAssertEqual(try removed(station.alice), identifiers)
    return identifiers
  }

  private func withdrawals(_ station: Station) throws -> [String] {
    station.suspend()
    let answer = try station.present(wake)
    XCTAssertEqual(answer["work"].text, "ran", answer.description)
    return answer["withdrawals"].elements.map(\.text)
  }

  func testAMentionThatIsBackOnScreenIsNotWithdrawnByTheNextPush() throws {
    let station = try Station()
    let identifiers = try removedMention(station)
    edit("look again, @alice", of: station.bob)
    XCTAssertEqual(try shown(station.alice), identifiers)
    XCTAssertEqual(try withdrawals(station), [])
  }

  /// One answer contains the identifier once, whichever part the host applies first.
  func testAMentionThatAnExtensionShowsAgainIsNotWithdrawn() throws {
    let station = try Station()
    let identifiers = try removedMention(station)
    station.suspend()
    try editAndSend("look again, @alice", of: station.bob)
    let answer = try station.present(wake)
    XCTAssertEqual(answer.identifiers, identifiers, answer.description)
    XCTAssertEqual(answer["withdrawals"].count, 0, answer.description)
    XCTAssertEqual(try station.present(wake)["withdrawals"].count, 0)
  }

  func testAMessageOfAChatThatIsMutedForAWhileIsNotWithdrawn() throws {
    let station = try Station()
    station.alice.dropEvents()
    station.pair.send("look", from: station.bob)
    let identifiers = try shown(station.alice)
    notify("none", station.alice)
    edit("look, all", of: station.bob)
    XCTAssertEqual(try removed(station.alice), identifiers)
    notify("all", station.alice)
    edit("look again", of: station.bob)
    XCTAssertEqual(try shown(station.alice), identifiers)
    XCTAssertEqual(try withdrawals(station), [])
  }

  /// It never left the ledger's shown state, and replaces what it said before.
  func testAMessageOfAProfileThatIsHiddenForAWhileIsNotWithdrawn() throws {
    let station = try Station()
    station.alice.dropEvents()
    station.pair.send("look", from: station.bob)
    let identifiers = try shown(station.alice)
    station.alice.send(#"/_create user {"profile":{"displayName":"work"}}"#).assert("activeUser")
    station.alice.send(#"/_hide user 1 "open sesame""#).assert("userPrivacy")
    XCTAssertTrue(Set(try removed(station.alice)).isSuperset(of: identifiers))
    station.alice.send(#"/_unhide user 1 "open sesame""#).assert("userPrivacy")
    station.alice.send("/_unmute user 1").assert("userPrivacy")
    edit("look again", of: station.bob)
    XCTAssertEqual(try shown(station.alice), identifiers)
    // Anything else that was hidden is named once more.
    XCTAssertTrue(Set(try withdrawals(station)).isDisjoint(with: identifiers))
  }

  // MARK: Removed again

  func testWhatIsShownAgainOnScreenIsRemovedWhenItIsRead() throws {
    let station = try Station()
    let identifiers = try removedMention(station)
    edit("look again, @alice", of: station.bob)
    XCTAssertEqual(try shown(station.alice), identifiers)
    station.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(try removed(station.alice), identifiers)
  }

  /// The first removal was recorded with an answer while the app was not on screen.
  func testWhatAnExtensionShowsAgainIsRemovedWhenItIsRead() throws {
    let station = try Station()
    let identifiers = try removedMention(station)
    XCTAssertEqual(try withdrawals(station), identifiers)
    try editAndSend("look again, @alice", of: station.bob)
    XCTAssertEqual(try station.present(wake).identifiers, identifiers)
    station.alice.send("/_app activate").assert("cmdOk")
    awaitRest(of: station.alice)
    station.alice.dropEvents()
    station.alice.send("/_read chat @1").assert("cmdOk")
    XCTAssertEqual(try removed(station.alice), identifiers)
  }
}
