import PorterSchema
import PorterStore
import XCTest

@testable import PorterEngine

/// A profile whose name has nothing that may be shown.
final class NamelessContactTests: XCTestCase {
  private let invisible = "\u{200B}"

  private func names(_ host: Host) -> [String] {
    host.send("/_contacts 1")["result"]["contacts"].elements.map { $0["localDisplayName"].text }
  }

  /// Each side has such a name: the confirmation carries the one, the hello the other.
  func testAContactWithoutAVisibleNameGetsOne() throws {
    let meeting = try Meeting(connects: false)
    for host in [meeting.alice, meeting.bob] {
      let store = try Database(path: host.prefix + "_chat.db")
      try store.run("UPDATE users SET display_name = ?", [.text(invisible)])
      try store.close()
    }
    meeting.connect()
    XCTAssertEqual(names(meeting.alice), ["contact"])
    XCTAssertEqual(names(meeting.bob), ["contact"])
  }

  func testAContactThatGivesUpItsNameKeepsIt() throws {
    let pair = try Pair()
    awaitRest(of: pair.bob)
    pair.bob.send("/_app suspend 0").assert("cmdOk")
    var profile = Profile(displayName: invisible)
    profile.fullName = "Bob B."
    try pair.bob.putIntoOutbox([.information(profile, replyMailbox: nil)])
    pair.bob.send("/_app activate").assert("cmdOk")
    let contact = try XCTUnwrap(pair.alice.event("contactUpdated"))["result"]["toContact"]
    XCTAssertEqual(contact["profile"]["displayName"].text, "bob", contact.description)
    XCTAssertEqual(contact["profile"]["fullName"].text, "Bob B.", contact.description)
    XCTAssertEqual(names(pair.alice), ["bob"])
  }
}
