import PorterSchema
import PorterStore

/// Features that user and contact allow each other, by both sides' profiles.
struct ContactFeatures {
  private let user: Preferences
  private let contact: Preferences

  init(_ user: StoredUser, _ contact: StoredContact) {
    let preferences = user.profileToSend.preferences ?? Preferences()
    self.user = preferences.overridden(by: Preferences(stored: contact.preferences) ?? Preferences())
    let profile = Profile(displayName: contact.displayName, fullName: contact.fullName, stored: contact.profile)
    self.contact = profile.preferences ?? Preferences()
  }

  func allow(_ feature: Preferences.Feature, _ side: ItemRules.Side) -> Bool {
    let enabled = user.enabled(feature, with: contact)
    switch side {
    case .user: return enabled.forUser
    case .contact: return enabled.forContact
    }
  }

  private var haveDisappearing: Bool { allow(.timedMessages, .user) && allow(.timedMessages, .contact) }

  /// How long our message is kept; nil if it does not disappear. None does without both sides' consent.
  func secondsToLive(wanted: Int64?) -> Int64? {
    haveDisappearing ? wanted ?? user.timedMessagesSeconds.flatMap { $0 > 0 ? $0 : nil } : nil
  }

  /// How long the contact's message is kept; the message says how long.
  func secondsToLive(received: Int64?) -> Int64? { haveDisappearing ? received : nil }
}
