/// How a notification is shown while its app is on screen. The user is looking at the app, so a message of a chat that
/// made a sound a moment ago is listed quietly.
package struct ForegroundPresentation: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let sound = ForegroundPresentation(rawValue: 1)
  package static let banner = ForegroundPresentation(rawValue: 2)
  package static let list = ForegroundPresentation(rawValue: 4)

  /// `isRecent`: the same chat, or any contact not known yet, made a sound within the last 30 s.
  package init(of category: NotificationCategory, isRecent: Bool) {
    switch category {
    // The app shows the call itself, and fetches what the others announce.
    case .callInvitation, .connectionEvent, .checkMessage: self = []
    case .messageReceived, .manyEvents: self = isRecent ? .list : [.sound, .banner, .list]
    // A new person must be visible.
    case .contactRequest, .contactConnected: self = isRecent ? [.banner, .list] : [.sound, .banner, .list]
    }
  }

  package var names: [String] {
    [(Self.sound, "sound"), (.banner, "banner"), (.list, "list")].filter { contains($0.0) }.map(\.1)
  }
}
