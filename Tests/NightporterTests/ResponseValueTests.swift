import PorterMachines
import PorterSchema
import XCTest

@testable import PorterEngine

/// Decisions about a response that need no machine.
final class ResponseValueTests: XCTestCase {
  // MARK: Repeats

  private func identity(_ json: String) throws -> ResponseIdentity {
    ResponseIdentity(try UserResponse(parsing: json))
  }

  private func reply(_ text: String, connection: String?, identifier: String = "np:message:a:b") -> String {
    let connection = connection.map { ",\"agentConnId\":\"\($0)\"" } ?? ""
    return "{\"actionIdentifier\":\"NTF_ACT_REPLY\",\"identifier\":\"\(identifier)\",\"userText\":\"\(text)\","
      + "\"userInfo\":{\"userId\":1,\"chatId\":\"@1\"\(connection)}}"
  }

  func testWhatIsARepeat() throws {
    let first = try identity(reply("yes", connection: "AAAA"))
    let table: [(json: String, isRepeat: Bool)] = [
      (reply("yes", connection: "AAAA"), true),
      (reply("no", connection: "AAAA"), false),
      // The number in the identifier was reused, for a notification about another connection.
      (reply("yes", connection: "AAAB"), false),
      (reply("yes", connection: nil), false),
      (reply("yesAAAA", connection: nil), false),
      (reply("yes", connection: "AAAA", identifier: "np:message:a:c"), false),
    ]
    for (json, isRepeat) in table { XCTAssertEqual(try identity(json) == first, isRepeat, json) }
  }

  func testWhatHasNoRepeat() throws {
    let table: [(json: String, identifier: String?)] = [
      ("{}", nil),
      (#"{"identifier":"np:notice"}"#, nil),
      (#"{"identifier":"np:many:1","userInfo":{"userId":1}}"#, "np:many:1"),
      (#"{"identifier":"other"}"#, "other"),
      (reply("yes", connection: nil, identifier: "np:notice"), "np:notice"),
    ]
    for (json, identifier) in table { XCTAssertEqual(try identity(json).identifier, identifier, json) }
  }

  // MARK: Contact requests

  func testWhereARequestsNotificationLeads() {
    let table: [(state: ContactRequest.State, contact: Int64?, destination: RequestDestination, chat: String?)] = [
      (.none, nil, .nowhere, nil),
      (.received, nil, .request(7), "<@7"),
      (.accepting, nil, .request(7), "<@7"),
      (.accepted, 3, .contact(3), "@3"),
      (.accepted, nil, .nowhere, nil),
      (.rejected, nil, .nowhere, nil),
      (.withdrawn, nil, .nowhere, nil),
      (.withdrawn, 3, .nowhere, nil),
    ]
    XCTAssertEqual(Set(table.map(\.state)), Set(ContactRequest.State.allCases))
    for (state, contact, destination, chat) in table {
      let found = RequestDestination(state, id: 7, contactID: contact)
      XCTAssertEqual(found, destination, "\(state), contact \(String(describing: contact))")
      XCTAssertEqual(found.chatID, chat, "\(state), contact \(String(describing: contact))")
    }
  }

  /// An acceptance waits for the relay when the profile is active.
  func testWhichAcceptancesActivateTheProfile() {
    let destinations: [RequestDestination] = [.request(7), .contact(3), .nowhere]
    let table: [(action: NotificationAction, isIncognito: Bool, expected: [Bool])] = [
      (.acceptContact, false, [true, true, false]),
      (.acceptContact, true, [true, true, false]),
      (.acceptContactIncognito, false, [true, false, false]),
      (.acceptContactIncognito, true, [true, true, false]),
    ]
    for (action, isIncognito, expected) in table {
      XCTAssertEqual(
        destinations.map { $0.activatesProfile(action, isIncognito: isIncognito) }, expected,
        "\(action), incognito: \(isIncognito)")
    }
    for action in NotificationAction.allCases where ![.acceptContact, .acceptContactIncognito].contains(action) {
      for destination in destinations {
        XCTAssertFalse(destination.activatesProfile(action, isIncognito: false), "\(action), \(destination)")
      }
    }
  }
}
