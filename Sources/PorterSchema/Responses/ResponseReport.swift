import PorterJSON

/// The outcome of a user's response to a notification: the answer of `np_notification_response` and the event
/// `ntfResponse`.
package struct ResponseReport: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// Kept until an app may carry it out.
    case waiting
    /// Begun, but not finished.
    case applying
    case applied
    case stale(Reason)

    package var name: String {
      switch self {
      case .waiting: "waiting"
      case .applying: "applying"
      case .applied: "applied"
      case .stale: "stale"
      }
    }
  }

  /// The reason nothing was left to carry it out on.
  package enum Reason: String, Hashable, Sendable, CaseIterable {
    case noSuchUser, noSuchChat, noSuchMessage, noSuchRequest, noSuchCall
    /// The notification concerned another profile's chat.
    case otherUser
    /// The notification's connection is not the chat's: another store, or one from a backup.
    case otherStore
    /// The contact cannot be written to, for example because it has left.
    case contactNotReady
    /// Another part refused it permanently.
    case refused
  }

  package var id: Int64
  package var action: NotificationAction
  package var outcome: Outcome
  /// Where to navigate.
  package var userID: Int64?
  package var chatID: String?
  /// The contact request that was answered or opened.
  package var contactRequestID: Int64?
  /// Whether the same response had been received before.
  package var isRepeat: Bool
  /// Whether a refresh in the background would carry it out, which the user expects without opening the app.
  package var waitsForRefresh = false

  package init(
    id: Int64, action: NotificationAction, outcome: Outcome, userID: Int64? = nil, chatID: String? = nil,
    contactRequestID: Int64? = nil, isRepeat: Bool = false
  ) {
    self.id = id
    self.action = action
    self.outcome = outcome
    self.userID = userID
    self.chatID = chatID
    self.contactRequestID = contactRequestID
    self.isRepeat = isRepeat
  }

  private var reason: Reason? {
    guard case .stale(let reason) = outcome else { return nil }
    return reason
  }

  var answerJSON: JSONValue {
    .tagged(
      "notificationResponse",
      [
        "responseId": .integer(id), "action": .string(action.rawValue), "outcome": .string(outcome.name),
        "reason": reason.map { .string($0.rawValue) }, "repeated": .bool(isRepeat),
        "refresh": waitsForRefresh ? true : nil,
      ])
  }

  var eventJSON: JSONValue {
    .tagged(
      "ntfResponse",
      [
        "responseId": .integer(id), "action": .string(action.rawValue), "outcome": .string(outcome.name),
        "reason": reason.map { .string($0.rawValue) }, "userId": userID.map { .integer($0) },
        "chatId": chatID.map { .string($0) }, "contactRequestId": contactRequestID.map { .integer($0) },
      ])
  }
}
