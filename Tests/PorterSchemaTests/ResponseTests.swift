import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting
import XCTest

/// The answers that the public package does not declare, written out from the interface's description; and properties
/// of all answers.
final class ResponseTests: XCTestCase {
  private let profile = ProfileRecord(id: 1, profile: Profile(displayName: "alice"))
  private var user: UserRecord {
    UserRecord(id: 1, contactID: 1, localDisplayName: "alice", profile: profile, isActive: true, activeOrder: 1)
  }
  private let moment = WallTime(milliseconds: 1_700_000_000_123)

  func testTokenAnswers() {
    let token = DeviceToken(provider: .test, token: "00ff")
    XCTAssertEqual(
      Response.ntfToken(token, .invalidExpired, .instant, server: "ntf:a@b").json.text,
      #"{"type":"ntfToken","token":{"pushProvider":"apns_test","token":"00ff"},"status":"INVALID,EXPIRED","#
        + #""ntfMode":"INSTANT","ntfServer":"ntf:a@b"}"#)
    XCTAssertEqual(
      Response.ntfTokenStatus(.registered).json.text, #"{"type":"ntfTokenStatus","status":"REGISTERED"}"#)
    XCTAssertEqual(
      TokenStatus.allCases.map(\.rawValue).sorted(),
      [
        "ACTIVE", "CONFIRMED", "EXPIRED", "INVALID", "INVALID,BAD", "INVALID,EXPIRED", "INVALID,TOPIC",
        "INVALID,UNREGISTERED", "NEW", "REGISTERED",
      ])
  }

  func testHostsReadNoTokenAsNotificationsOff() {
    XCTAssertEqual(
      Answer.error(.noToken).text,
      #"{"error":{"type":"errorAgent","agentError":{"type":"CMD","cmdErr":{"type":"PROHIBITED"},"#
        + #""errContext":"no token"},"agentConnId":""}}"#)
  }

  /// INC-44: each item of a batch has its own result, in the requested order.
  func testNotifiedMessages() {
    let message = NotificationMessage(id: "bXNn", timestamp: moment)
    XCTAssertEqual(
      NotificationMessage(id: "bXNn", timestamp: moment, flags: .init(notification: true, more: false)).json["flags"]?
        .text,
      #"{"notification":true,"more":false}"#)
    XCTAssertEqual(
      Response.connNtfMessages([.information(message), .information(nil), .error(.inactive)]).json.text,
      #"{"type":"connNtfMessages","receivedMsgs":[{"type":"info","ntfMsgInfo":{"msgId":"bXNn","#
        + #""msgTs":"2023-11-14T22:13:20.123Z"}},{"type":"info"},{"type":"error","ntfMsgError":{"type":"INACTIVE"}}]}"#)
  }

  func testNotifiedConnections() {
    let connection = ConnectionRecord(id: 4, agentID: "Y29ubg", status: .ready, isInitiator: true, created: moment)
    let entity = ConnectionEntity(connection: connection, contact: nil)
    let message = NotificationMessage(id: "bXNn", timestamp: moment)
    func answer(_ expected: NotificationMessage?) -> JSONValue {
      let notified = NotifiedConnection(
        user: user, agentConnectionID: "Y29ubg", queueID: 9, entity: entity, expected: expected)
      return Response.ntfConns([notified]).json["ntfConns"]?.arrayValue?.first ?? .null
    }
    XCTAssertEqual(answer(message)["expectedMsg_"], message.json)
    XCTAssertNil(answer(nil)["expectedMsg_"])
    XCTAssertEqual(answer(nil)["agentDbQueueId"], 9)
    XCTAssertEqual(answer(nil)["agentConnId"], "Y29ubg")
    XCTAssertEqual(answer(nil)["connEntity"]?["type"], "rcvDirectMsgConnection")
    let event = Event.ntfMessage(user, entity, message).json
    XCTAssertEqual(event["ntfMessage"]?.text, #"{"msgId":"bXNn","msgTs_":"2023-11-14T22:13:20.123Z"}"#)
  }

  func testChatAnswers() {
    let chat = ChatRecord(info: .direct(contact), items: [], stats: ChatStats())
    let place = NavigationInfo(afterUnread: 1, afterTotal: 2)
    let answer = Response.apiChat(user, chat, place).json
    XCTAssertEqual(answer["chat"], chat.json)
    XCTAssertEqual(answer["navInfo"]?.text, #"{"afterUnread":1,"afterTotal":2}"#)
    XCTAssertNil(Response.apiChat(user, chat, nil).json["navInfo"])
    XCTAssertEqual(Response.itemsReadForChat(user, chat.info).json["chatInfo"], chat.info.json)
    XCTAssertEqual(Response.userPrivacy(user: user, updated: user).json["updatedUser"], user.json)
    XCTAssertEqual(Response.contactAliasUpdated(user, contact).json["toContact"], contact.json)
    XCTAssertEqual(Event.chatSuspended.text, #"{"result":{"type":"chatSuspended"}}"#)
    let saved = AppSettings(text: #"{"theirs":[1],"appLock":null}"#)
    XCTAssertEqual(
      saved.map { Response.appSettings($0.completed(with: .defaults)).json.text },
      #"{"type":"appSettings","appSettings":{"theirs":[1],"appLock":false,"notificationPreviewMode":"message"}}"#)
    XCTAssertEqual(Response.callInvitations([]).json.text, #"{"type":"callInvitations","callInvitations":[]}"#)
  }

  func testServerTest() {
    let failure = ServerTestFailure(step: .connect, error: .broker(server: "s", .timeout))
    XCTAssertEqual(
      Response.serverTestResult(user, server: "s", failure: failure).json["testFailure"]?.text,
      #"{"testStep":"connect","testError":{"type":"BROKER","brokerAddress":"s","brokerErr":{"type":"TIMEOUT"}}}"#)
    XCTAssertNil(Response.serverTestResult(user, server: "s", failure: nil).json["testFailure"])
  }

  func testAnswersHaveExactlyOneOfResultAndError() {
    XCTAssertEqual(Answer.result(.chatStarted).text, #"{"result":{"type":"chatStarted"}}"#)
    XCTAssertEqual(
      Answer.error(.error(.noActiveUser)).text, #"{"error":{"type":"error","errorType":{"type":"noActiveUser"}}}"#)
  }

  func testMigrationResults() {
    let expected: [(MigrationResult, String)] = [
      (.ok, #"{"type":"ok"}"#),
      (.invalidConfirmation, #"{"type":"invalidConfirmation"}"#),
      (.errorNotADatabase(file: "f"), #"{"type":"errorNotADatabase","dbFile":"f"}"#),
      (
        .errorMigration(file: "f", .upgrade([.init(name: "m2", canBeUndone: true)])),
        #"{"type":"errorMigration","dbFile":"f","migrationError":{"type":"upgrade","upMigrations":"#
          + #"[{"upName":"m2","withDown":true}]}}"#
      ),
      (
        .errorMigration(file: "f", .noWayDown(["m9"])),
        #"{"type":"errorMigration","dbFile":"f","migrationError":{"type":"migrationError","mtrError":"#
          + #"{"type":"noDown","dbMigrations":["m9"]}}}"#
      ),
      (
        .errorSQL(file: "f", reason: "r"), #"{"type":"errorSQL","dbFile":"f","migrationSQLError":"r"}"#
      ),
      (.agentError(.inactive), #"{"type":"agentError","agentError":{"type":"INACTIVE"}}"#),
      (
        .nightporter(file: "f", .storePageDamaged(file: "log", page: 7)),
        #"{"type":"errorSQL","dbFile":"f","migrationSQLError":"sealed store is damaged: log, page 7","#
          + #""np":{"code":"storePageDamaged","advice":"restore the store from a backup; nothing of the damaged part"#
          + #" was used","file":"log","page":7}}"#
      ),
      (
        .nightporter(file: "f", .storeKeyMissing),
        #"{"type":"errorNotADatabase","dbFile":"f","#
          + #""np":{"code":"storeKeyMissing","advice":"open the store with its key"}}"#
      ),
    ]
    for (result, text) in expected { XCTAssertEqual(result.json.text, text) }
  }

  func testEveryErrorOfOursHasACodeAndAdvice() {
    let errors = EveryCase.nightporterErrors
    XCTAssertEqual(Set(errors.map(\.code)).count, errors.count)
    for error in errors {
      let json = ChatError.nightporter(error).json
      XCTAssertEqual(json["np"]?["code"]?.stringValue, error.code)
      XCTAssertFalse(json["np"]?["advice"]?.stringValue?.isEmpty ?? true)
      XCTAssertNotNil(json["type"]?.stringValue)
    }
  }

  func testWhatIsWrittenIsReadBack() {
    forAll(Make.profile) { try expectEqual(Profile(json: $0.json), $0) }
    forAll(Make.preferences) { try expectEqual(Preferences(json: $0.json), $0) }
    forAll(Make.content) { content in
      let further = MessageContent(content.kind, others: JSONObject([("newer", ["deep": [.string(content.text)]])]))
      for written in [content, further] { try expectEqual(MessageContent(json: written.json), written) }
    }
    forAll(Make.chat) { try expectEqual(try JSONValue(parsing: $0.json.text), $0.json) }
  }

  func testOddContentIsKeptAndShown() {
    let voice: JSONValue = ["type": "voice", "text": "hm", "duration": "long"]
    XCTAssertEqual(MessageContent(json: voice), .init(.unknown(tag: "voice", text: "hm", json: voice)))
    let poll: JSONValue = ["type": "poll", "text": "which?", "options": ["a"]]
    XCTAssertEqual(MessageContent(json: poll)?.text, "which?")
    // Members that a known kind does not have are kept.
    for known: JSONValue in [
      ["type": "text", "text": "a", "newer": ["deep": [1]], "image": "data:"],
      ["type": "voice", "text": "", "duration": 3, "newer": nil],
      ["type": "unknown", "tag": "poll", "text": "b", "json": ["type": "poll"], "newer": 1],
    ] {
      XCTAssertEqual(MessageContent(json: known)?.json, known)
    }
    XCTAssertNil(MessageContent(json: ["type": "text"]))
    XCTAssertNil(MessageContent(json: ["text": "a"]))
    XCTAssertNil(MessageContent(json: "text"))
  }

  /// `always` is granted to the other side; a feature that one side forbids is available only to the contact of a side
  /// that always grants it.
  func testPreferencesOfBothSides() {
    let table: [(FeatureAllowed, FeatureAllowed, user: Bool, contact: Bool)] = [
      (.always, .always, true, true), (.always, .yes, true, true), (.always, .no, false, true),
      (.yes, .always, true, true), (.yes, .yes, true, true), (.yes, .no, false, false),
      (.no, .always, true, false), (.no, .yes, false, false), (.no, .no, false, false),
    ]
    for (own, other, user, contact) in table {
      let merged = Preferences(allowed: [.voice: own]).merged(with: Preferences(allowed: [.voice: other]))
      let expected: JSONValue = ["forUser": .bool(user), "forContact": .bool(contact)]
      XCTAssertEqual(merged["voice"]?["enabled"], expected, "\(own), \(other)")
    }
  }

  func testTokensAndSecretsAreNotPrinted() {
    let token = DeviceToken(provider: .production, token: "deadbeef")
    let secret = SecretText("hunter2")
    let command = Command.hideUser(1, password: secret)
    for value in [token, secret, command] as [Any] {
      var dumped = ""
      dump(value, to: &dumped)
      for text in ["\(value)", String(reflecting: value), dumped] {
        XCTAssertFalse(text.contains("deadbeef") || text.contains("hunter2"), text)
      }
    }
  }

  private var contact: ContactRecord {
    ContactRecord(
      id: 2, localDisplayName: "bob", profile: ProfileRecord(id: 2, profile: Profile(displayName: "bob")),
      connection: nil, created: moment, updated: moment)
  }
}
