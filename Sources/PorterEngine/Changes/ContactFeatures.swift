import PorterSchema
import PorterStore

/// What user and contact allow each other, by both sides' profiles.
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

  /// How long a message of ours stays; nil for one that does not disappear. Without both sides' consent none does.
  func secondsToLive(wanted: Int64?) -> Int64? {
    haveDisappearing ? wanted ?? user.timedMessagesSeconds.flatMap { $0 > 0 ? $0 : nil } : nil
  }

  /// The same of the contact's, which says how long.
  func secondsToLive(received: Int64?) -> Int64? { haveDisappearing ? received : nil }
}
