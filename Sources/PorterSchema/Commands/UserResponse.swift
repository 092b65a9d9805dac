import PorterJSON

/// A user's response to a notification, reported by a host through `np_notification_response`.
package struct UserResponse: Hashable, Sendable {
  package var action: NotificationAction
  /// The notification's; nil for one that is not ours.
  package var identifier: String?
  package var userID: Int64?
  package var chatID: String?
  package var contactRequestID: Int64?
  /// The agent's name of the notification's connection, base64url.
  package var connection: String?
  /// Only for a reply.
  package var text: String?

  /// The longest accepted identifier; ours are less than half as long.
  private static let longestWord = 256
}

extension UserResponse {
  /// Fails with `responseInvalid`, which states what was expected and quotes nothing.
  package init(parsing text: String) throws(ChatError) {
    let bytes = text.utf8.count
    guard bytes <= Command.maximumBytes else {
      throw .nightporter(.commandTooLarge(bytes: bytes, limit: Command.maximumBytes))
    }
    guard let json = try? JSONValue(parsing: text), json.objectValue != nil else { throw Self.failure("a JSON object") }
    self.action = try Self.action(json)
    identifier = try Self.word(json, "identifier", "identifier as a text of 1 to 256 bytes")
    let destination = json["userInfo"] ?? .object(JSONObject())
    guard destination.objectValue != nil else { throw Self.failure("userInfo as an object") }
    userID = try Self.number(destination, "userId", "userInfo.userId as a number")
    contactRequestID = try Self.number(destination, "contactRequestId", "userInfo.contactRequestId as a number")
    connection = try Self.word(destination, "agentConnId", "userInfo.agentConnId as a text of 1 to 256 bytes")
    let chat = try Self.word(destination, "chatId", "userInfo.chatId as a text of 1 to 256 bytes")
    let target = try Self.word(
      json, "targetContentIdentifier", "targetContentIdentifier as a text of 1 to 256 bytes")
    chatID = chat ?? target
    self.text = json["userText"]?.stringValue
    try requireWhatItsActionNeeds()
  }

  private static func action(_ json: JSONValue) throws(ChatError) -> NotificationAction {
    guard let member = json["actionIdentifier"], member != .null else { return .open }
    guard let identifier = member.stringValue, let action = NotificationAction(identifier: identifier) else {
      throw failure("actionIdentifier as np_categories lists it")
    }
    return action
  }

  private func requireWhatItsActionNeeds() throws(ChatError) {
    guard action != .open else { return }
    // A repeat is recognised by this.
    guard identifier != nil else { throw Self.failure("identifier, which every action needs") }
    guard userID != nil else { throw Self.failure("userInfo.userId, which every action needs") }
    switch action {
    case .open: break
    case .acceptContact, .acceptContactIncognito, .rejectContact:
      guard contactRequestID != nil else { throw Self.failure("userInfo.contactRequestId") }
    case .acceptCall, .rejectCall, .markRead:
      guard chatID != nil else { throw Self.failure("userInfo.chatId or targetContentIdentifier") }
    case .reply:
      guard chatID != nil else { throw Self.failure("userInfo.chatId or targetContentIdentifier") }
      guard let text, !text.allSatisfy(\.isWhitespace) else { throw Self.failure("userText that is not blank") }
    }
  }

  /// Nil if it is left out.
  private static func word(
    _ json: JSONValue, _ name: String, _ expected: NightporterError.StaticText
  ) throws(ChatError) -> String? {
    guard let member = json[name], member != .null else { return nil }
    guard let word = member.stringValue, (1...longestWord).contains(word.utf8.count) else { throw failure(expected) }
    return word
  }

  private static func number(
    _ json: JSONValue, _ name: String, _ expected: NightporterError.StaticText
  ) throws(ChatError) -> Int64? {
    guard let member = json[name], member != .null else { return nil }
    guard let number = member.integerValue else { throw failure(expected) }
    return number
  }

  private static func failure(_ expected: NightporterError.StaticText) -> ChatError {
    .nightporter(.responseInvalid(expected))
  }
}
