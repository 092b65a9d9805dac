/// What a user can do with a notification. The raw values are the words in answers and events.
package enum NotificationAction: String, Hashable, Sendable, CaseIterable {
  case open, acceptContact, acceptContactIncognito, rejectContact, acceptCall, rejectCall, markRead, reply

  /// A platform's name for the action. We define none for a tap.
  package var identifier: String? {
    switch self {
    case .open: nil
    case .acceptContact: "NTF_ACT_ACCEPT_CONTACT"
    case .acceptContactIncognito: "NTF_ACT_ACCEPT_CONTACT_INCOGNITO"
    case .rejectContact: "NTF_ACT_REJECT_CONTACT"
    case .acceptCall: "NTF_ACT_ACCEPT_CALL"
    case .rejectCall: "NTF_ACT_REJECT_CALL"
    case .markRead: "NTF_ACT_MARK_READ"
    case .reply: "NTF_ACT_REPLY"
    }
  }

  /// Nil for an action that is not one of ours.
  package init?(identifier: String) {
    if identifier == Self.tap {
      self = .open
    } else if let action = Self.allCases.first(where: { $0.identifier == identifier }) {
      self = action
    } else {
      return nil
    }
  }

  /// The identifier Apple's platforms use for a tap.
  package static let tap = "com.apple.UNNotificationDefaultActionIdentifier"

  /// Whether it brings the app to the foreground: only an app on screen carries it out.
  package var opensApp: Bool {
    switch self {
    case .open, .acceptContact, .acceptContactIncognito, .acceptCall: true
    case .rejectContact, .rejectCall, .markRead, .reply: false
    }
  }
}
