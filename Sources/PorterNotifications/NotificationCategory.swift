/// What kind of notification it is; a host registers one category of the platform for each, with its actions.
package enum NotificationCategory: String, Hashable, Sendable, CaseIterable {
  case contactRequest = "NTF_CAT_CONTACT_REQUEST"
  case contactConnected = "NTF_CAT_CONTACT_CONNECTED"
  case messageReceived = "NTF_CAT_MESSAGE_RECEIVED"
  case callInvitation = "NTF_CAT_CALL_INVITATION"
  case connectionEvent = "NTF_CAT_CONNECTION_EVENT"
  case manyEvents = "NTF_CAT_MANY_EVENTS"
  /// Set by the notification server on the push itself; never on what we show.
  case checkMessage = "NTF_CAT_CHECK_MESSAGE"

  package enum Action: String, Hashable, Sendable, CaseIterable {
    case acceptContact = "NTF_ACT_ACCEPT_CONTACT"
    case acceptContactIncognito = "NTF_ACT_ACCEPT_CONTACT_INCOGNITO"
    case acceptCall = "NTF_ACT_ACCEPT_CALL"
    case rejectCall = "NTF_ACT_REJECT_CALL"

    package var title: Phrase {
      switch self {
      case .acceptContact, .acceptCall: .accept
      case .acceptContactIncognito: .acceptIncognito
      case .rejectCall: .reject
      }
    }

    /// Whether the platform brings the app to the front for it.
    package var opensApp: Bool { self != .rejectCall }
  }

  package var actions: [Action] {
    switch self {
    case .contactRequest: [.acceptContact, .acceptContactIncognito]
    case .callInvitation: [.acceptCall, .rejectCall]
    case .contactConnected, .messageReceived, .connectionEvent, .manyEvents, .checkMessage: []
    }
  }

  /// What the platform shows instead while it hides previews.
  package var placeholder: Phrase {
    switch self {
    case .contactRequest: .newContactRequest
    case .contactConnected: .contactConnectedPlaceholder
    case .messageReceived, .manyEvents: .newMessagePlaceholder
    case .callInvitation: .callPlaceholder
    case .connectionEvent, .checkMessage: .eventPlaceholder
    }
  }
}
