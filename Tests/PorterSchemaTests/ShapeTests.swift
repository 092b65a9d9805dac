import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting
import XCTest

/// What we write fits the types that the public package `simplex-chat` declares.
final class ShapeTests: XCTestCase {
  func testEveryResponseFitsThePublicTypes() throws { try assertFit("R.ChatResponse", Samples.publicResponse) }

  func testEveryEventFitsThePublicTypes() throws { try assertFit("E.ChatEvent", Samples.publicEvent) }

  func testEveryErrorFitsThePublicTypes() throws { try assertFit("T.ChatError", Make.chatError.map(\.json)) }

  func testNotifiedEntitiesFitThePublicTypes() throws {
    try assertFit("T.ConnectionEntity", Samples.entity.map(\.json))
    try assertFit("T.AgentErrorType", Make.agentError.map(\.json))
  }

  /// The check itself finds a missing member, a wrong type, an unknown member and an unknown tag.
  func testTheCheckFindsFaults() throws {
    let faults: [(JSONValue, String)] = [
      (["type": "activeUser"], "user is missing"),
      (["type": "cmdOk", "user_": "alice"], "expected an object"),
      (["type": "chatStarted", "extra": 1], "extra is not known"),
      (["type": "chatStartled"], "no alternative is tagged"),
      (["type": "usersList", "users": [["user": 1, "unreadCount": true]]], "expected an int, found True"),
    ]
    for (value, expected) in faults {
      let output = try runPeer("shapes.py", input: JSONValue(["R.ChatResponse", value]).text + "\n")
      XCTAssertTrue(output.contains(expected), "\(value.text): \(output)")
    }
  }

  /// `errorDatabase` is in the interface but not among the package's types, so its JSON is written out here.
  func testDatabaseErrors() {
    let expected: [(DatabaseError, String)] = [
      (.encrypted, #"{"type":"errorEncrypted"}"#),
      (.plaintext, #"{"type":"errorPlaintext"}"#),
      (.noFile("a.db"), #"{"type":"errorNoFile","dbFile":"a.db"}"#),
      (.export(.notADatabase), #"{"type":"errorExport","sqliteError":{"type":"errorNotADatabase"}}"#),
      (.open(.other("x")), #"{"type":"errorOpen","sqliteError":{"type":"error","dbError":"x"}}"#),
    ]
    for (error, text) in expected {
      XCTAssertEqual(ChatError.database(error).json.text, #"{"type":"errorDatabase","databaseError":\#(text)}"#)
    }
  }

  private func assertFit(
    _ type: String, _ generator: Generator<JSONValue>, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    // One process for all: each starts in 0.3 s.
    var lines: [String] = []
    forAll(generator, runs: 400, file: file, line: line) { lines.append(JSONValue([.string(type), $0]).text) }
    let output = try runPeer("shapes.py", input: lines.joined(separator: "\n") + "\n", file: file, line: line)
    XCTAssertEqual(
      output, "checked \(lines.count)\n", "again with: PORTER_SEED (see above)", file: file, line: line)
  }
}

enum Samples {
  static var entity: Generator<ConnectionEntity> {
    Generator { choices in
      ConnectionEntity(connection: choices.draw(Make.connection), contact: choices.draw(Make.contact.optional))
    }
  }

  /// The responses that the package declares. Those it leaves out are in `ResponseTests`.
  static var publicResponse: Generator<JSONValue> {
    Generator { choices in
      let user = choices.draw(Make.user)
      let contact = choices.draw(Make.contact)
      let pending = choices.draw(Make.pending)
      let all: [() -> Response] = [
        { .activeUser(user) },
        { .usersList([UserSummary(user: user, unreadCount: choices.draw(Make.id))]) },
        {
          let profile = choices.draw(Make.profile)
          return .userProfileUpdated(
            user, ProfileChange(from: profile, to: profile, successes: 1, failures: 0, changedContacts: [contact]))
        },
        { .userProfileNoChange(user) }, { .chatStarted }, { .chatRunning }, { .chatStopped },
        { .cmdOk(choices.flag() ? user : nil) },
        { .apiChats(user, choices.draw(Make.chat.array(0...2))) },
        { .newChatItems(user, choices.draw(Make.itemInChat.array(0...2))) },
        { .invitation(user, link: "np:x", pending) }, { .sentConfirmation(user, pending) },
        { .contactAlreadyExists(user, contact) },
        {
          let plans: [InvitationPlan] = [.ok, .ownLink, .connecting(nil), .connecting(contact), .known(contact)]
          return .connectionPlan(user, link: "np:x", choices.element(of: plans))
        },
        { .contactsList(user, [contact]) }, { .contactDeleted(user, contact) },
        { .contactConnectionDeleted(user, pending) },
      ]
      return choices.element(of: all)().json
    }
  }

  static var publicEvent: Generator<JSONValue> {
    Generator { choices in
      let user = choices.draw(Make.user)
      let contact = choices.draw(Make.contact)
      let item = choices.draw(Make.itemInChat)
      let statuses: [SubscriptionStatus] = [.active, .pending, .noSubscription, .removed(reason: "gone")]
      let all: [Event] = [
        .contactConnecting(user, contact), .contactSndReady(user, contact), .contactConnected(user, contact),
        .contactUpdated(user, from: contact, to: contact), .contactDeletedByContact(user, contact),
        .newChatItems(user, [item]), .chatItemUpdated(user, item), .chatItemsStatusesUpdated(user, [item]),
        .chatItemsDeleted(
          user, [ChatItemDeletion(deleted: item, remaining: choices.flag() ? item : nil)], byUser: false),
        .subscriptionStatus(server: "s", choices.element(of: statuses), connections: ["a"]),
        .messageError(user, severity: "warning", message: "m"),
        .chatErrors(choices.draw(Make.chatError.array(0...2))),
      ]
      return choices.element(of: all).json
    }
  }
}
