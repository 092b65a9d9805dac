import PorterJSON

/// One notification, as a host passes it to the platform.
package struct NotificationContent: Hashable, Sendable {
  /// The destination of a tap.
  package struct Destination: Hashable, Sendable {
    package var userID: Int64?
    package var chatID: String?
    package var contactRequestID: Int64?
    /// The agent's name of the connection, or of the invitation that a request carries, base64url. Unlike the numbers
    /// it is never reused, so a tap on a notification from before a restore leads nowhere else. A summary of several
    /// chats has the latest one's.
    package var connection: String?

    package init(
      userID: Int64? = nil, chatID: String? = nil, contactRequestID: Int64? = nil, connection: String? = nil
    ) {
      self.userID = userID
      self.chatID = chatID
      self.contactRequestID = contactRequestID
      self.connection = connection
    }

    package var json: JSONValue {
      .compact([
        "chatId": chatID.map(JSONValue.string),
        "contactRequestId": contactRequestID.map(JSONValue.integer),
        "userId": userID.map(JSONValue.integer),
        "agentConnId": connection.map(JSONValue.string),
      ])
    }
  }

  /// The same for the same subject, whichever process reports it and however often, so a later notification replaces an
  /// earlier one (INC-34, INC-47).
  package var identifier: String
  package var title: ShownText
  package var body: ShownText
  package var category: NotificationCategory
  package var targetContentIdentifier: String?
  /// Groups a conversation's notifications. Left out where names are hidden: it would reveal which messages come from
  /// the same contact.
  package var threadIdentifier: String?
  package var userInfo: Destination
  /// The resulting number on the app's icon; set only if it has been counted. Never a default of 0, which would clear
  /// it (INC-61).
  package var badge: Int64?
  /// Whether it makes a sound.
  package var isHeard = true

  package init(
    identifier: String, title: ShownText, body: ShownText, category: NotificationCategory,
    targetContentIdentifier: String? = nil, threadIdentifier: String? = nil, userInfo: Destination = Destination(),
    badge: Int64? = nil
  ) {
    self.identifier = identifier
    self.title = title
    self.body = body
    self.category = category
    self.targetContentIdentifier = targetContentIdentifier
    self.threadIdentifier = threadIdentifier
    self.userInfo = userInfo
    self.badge = badge
  }

  /// An element of `notifications` in the answer of `np_receive_push`.
  package func json(in strings: StringTable = .english) -> JSONValue {
    .compact([
      "identifier": .string(identifier),
      "title": .string(title.text(in: strings)),
      "titleKey": title.key,
      "titleArguments": title.arguments,
      "body": .string(body.text(in: strings)),
      "bodyKey": body.key,
      "bodyArguments": body.arguments,
      "categoryIdentifier": .string(category.rawValue),
      "targetContentIdentifier": targetContentIdentifier.map(JSONValue.string),
      "threadIdentifier": threadIdentifier.map(JSONValue.string),
      "userInfo": userInfo.json,
      "sound": isHeard ? "default" : nil,
      "badge": badge.map(JSONValue.integer),
    ])
  }
}

extension ShownText {
  fileprivate var key: JSONValue? {
    guard case .phrase(let phrase, _) = self else { return nil }
    return .string(phrase.rawValue)
  }

  /// A text, a count, or `{"key": …}` for a phrase within the phrase.
  fileprivate var arguments: JSONValue? {
    guard case .phrase(_, let arguments) = self, !arguments.isEmpty else { return nil }
    let values = arguments.map { argument -> JSONValue in
      switch argument {
      case .text(let text): .string(text)
      case .phrase(let phrase): .compact(["key": .string(phrase.rawValue)])
      case .count(let count): JSONValue(count)
      }
    }
    return .array(values)
  }
}
