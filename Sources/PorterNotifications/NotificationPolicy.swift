import PorterSchema

/// How much of a conversation a notification may show.
package enum PreviewMode: String, Hashable, Sendable, CaseIterable {
  /// Names and texts.
  case message
  /// Names only.
  case contact
  case hidden
}

/// Decides what may be shown, in one place for app and extension (INC-45).
package struct NotificationPolicy: Hashable, Sendable {
  package var previewMode: PreviewMode
  /// The app requires a code or a fingerprint before showing anything, so nothing is shown outside it either.
  package var hasAppLock: Bool

  package init(previewMode: PreviewMode = .message, hasAppLock: Bool = false) {
    self.previewMode = previewMode
    self.hasAppLock = hasAppLock
  }

  package var hidesNames: Bool { hasAppLock || previewMode == .hidden }

  package enum Silence: String, Hashable, Sendable, CaseIterable {
    /// Not even the existence of a hidden profile may be revealed.
    case hiddenProfile
    case mutedProfile
    case mutedChat
    case notMentioned
    case ownMessage
    case deletedMessage
  }

  package enum Verdict: Hashable, Sendable {
    case show(PreviewMode)
    /// Nothing at all is shown, not even a placeholder (INC-37).
    case silent(Silence)
  }

  package func verdict(for event: NotificationEvent) -> Verdict {
    if let silence = Self.silence(of: event.owner) { return .silent(silence) }
    if let silence = silence(of: event.kind, event.filter) { return .silent(silence) }
    return .show(hasAppLock ? .hidden : previewMode)
  }

  /// Whether a call of a contact with this filter is shown, and so must be shown in time.
  package static func showsCalls(to owner: NotificationEvent.Owner, _ filter: NotificationFilter) -> Bool {
    silence(of: owner) == nil && silence(filter, isForUser: true) == nil
  }

  /// Whether a message of a contact with this filter is shown.
  package static func showsMessage(
    to owner: NotificationEvent.Owner, _ filter: NotificationFilter, mentionsUser: Bool
  ) -> Bool {
    silence(of: owner) == nil && silence(filter, isForUser: mentionsUser) == nil
  }

  /// Whether events outside any chat, such as a contact request, are shown.
  package static func showsRequests(to owner: NotificationEvent.Owner) -> Bool { silence(of: owner) == nil }

  private static func silence(of owner: NotificationEvent.Owner) -> Silence? {
    if owner.isHidden { return .hiddenProfile }
    return owner.showsNotifications ? nil : .mutedProfile
  }

  private func silence(of kind: NotificationEvent.Kind, _ filter: NotificationFilter) -> Silence? {
    switch kind {
    case .message(let message):
      if message.direction == .sent { return .ownMessage }
      if message.isDeleted { return .deletedMessage }
      return Self.silence(filter, isForUser: message.mentionsUser)
    // Whether an event mentions the user is known only with its message.
    case .connection: return Self.silence(filter, isForUser: false)
    // A call is addressed to the user as much as a mention is.
    case .call, .missedCall: return Self.silence(filter, isForUser: true)
    case .contactRequest, .contactConnected, .many, .manyRequests: return nil
    }
  }

  private static func silence(_ filter: NotificationFilter, isForUser: Bool) -> Silence? {
    switch filter {
    case .all: nil
    case .none: .mutedChat
    case .mentions: isForUser ? nil : .notMentioned
    }
  }
}
