import PorterJSON
import PorterSchema

/// The categories and their actions, which a host registers with its platform.
package enum NotificationCategories {
  package static func json(in strings: StringTable) -> JSONValue {
    ["categories": .array(NotificationCategory.allCases.map { $0.json(in: strings) })]
  }
}

extension NotificationCategory {
  package var actions: [NotificationAction] {
    switch self {
    case .contactRequest: [.acceptContact, .acceptContactIncognito, .rejectContact]
    case .messageReceived: [.reply, .markRead]
    case .callInvitation: [.acceptCall, .rejectCall]
    case .contactConnected, .connectionEvent, .manyEvents, .checkMessage: []
    }
  }

  /// Shown by the platform instead of a body where its own settings hide previews.
  var placeholder: Phrase {
    switch self {
    case .contactRequest: .newContactRequest
    case .contactConnected: .contactIsConnected
    case .messageReceived: .newMessage
    case .callInvitation: .incomingCall
    case .manyEvents: .newEvents
    case .connectionEvent, .checkMessage: .encryptedMessage
    }
  }

  fileprivate func json(in strings: StringTable) -> JSONValue {
    [
      "identifier": .string(rawValue), "placeholder": .string(strings.text(placeholder, [])),
      "placeholderKey": .string(placeholder.rawValue),
      "actions": .array(actions.compactMap { $0.json(in: strings) }),
    ]
  }
}

extension NotificationAction {
  /// Nil for a tap, which has no button.
  fileprivate var title: Phrase? {
    switch self {
    case .open: nil
    case .acceptContact, .acceptCall: .accept
    case .acceptContactIncognito: .acceptIncognito
    case .rejectContact, .rejectCall: .reject
    case .markRead: .markAsRead
    case .reply: .reply
    }
  }

  /// The action cannot be undone, or is visible to others: the device must be unlocked first.
  private var needsUnlockedDevice: Bool {
    switch self {
    case .acceptContact, .acceptContactIncognito, .rejectContact, .markRead, .reply: true
    case .open, .acceptCall, .rejectCall: false
    }
  }

  private var isDestructive: Bool {
    switch self {
    case .rejectContact, .rejectCall: true
    case .open, .acceptContact, .acceptContactIncognito, .acceptCall, .markRead, .reply: false
    }
  }

  fileprivate func json(in strings: StringTable) -> JSONValue? {
    guard let identifier, let title else { return nil }
    return [
      "identifier": .string(identifier), "action": .string(rawValue), "title": .string(strings.text(title, [])),
      "titleKey": .string(title.rawValue), "foreground": .bool(opensApp),
      "authenticationRequired": .bool(needsUnlockedDevice), "destructive": .bool(isDestructive),
      "textInput": .bool(self == .reply),
    ]
  }
}
