/// How a notification is shown while its app is on screen. The user looks at the app, so that a message of a chat that was heard a
/// moment ago is quietly listed.
package struct ForegroundPresentation: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let sound = ForegroundPresentation(rawValue: 1)
  package static let banner = ForegroundPresentation(rawValue: 2)
  package static let list = ForegroundPresentation(rawValue: 4)

  /// `isRecent`: the same chat made a sound within the last 30 s, or any contact that is not known yet.
  package init(of category: NotificationCategory, isRecent: Bool) {
    switch category {
    // The app shows the call itself, and fetches what the others announce.
    case .callInvitation, .connectionEvent, .checkMessage: self = []
    case .messageReceived, .manyEvents: self = isRecent ? .list : [.sound, .banner, .list]
    // A person is new: it is to be seen.
    case .contactRequest, .contactConnected: self = isRecent ? [.banner, .list] : [.sound, .banner, .list]
    }
  }

  package var names: [String] {
    [(Self.sound, "sound"), (.banner, "banner"), (.list, "list")].filter { contains($0.0) }.map(\.1)
  }
}
