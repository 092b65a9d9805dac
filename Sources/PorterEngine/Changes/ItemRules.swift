import PorterPlatform
import PorterSchema

/// Why a message was not changed.
enum ChangeRefusal: String, Hashable, Sendable, CaseIterable {
  /// The message is not here and never was.
  case unknownMessage
  /// Only the author may change a message, and only the receiver may confirm it.
  case notTheAuthor
  case tooOld
  case alreadyDeleted
  /// Not allowed by both sides.
  case notAllowed
  /// The reaction to add is already there, or the one to remove is not.
  case nothingToChange
  case tooManyReactions
}

/// What may be done to a message, by which side and until when: SimpleX's rules. A value without access to the store;
/// its cases are a table in the tests.
struct ItemRules {
  enum Side: Hashable, Sendable, CaseIterable {
    case user, contact
  }

  enum Verdict: Hashable, Sendable {
    case allowed
    /// Harmless: overtaken, or without effect.
    case ignored(ChangeRefusal)
    /// The sender should have known.
    case refused(ChangeRefusal)
  }

  /// The properties of a message that the rules need.
  struct Subject: Hashable, Sendable {
    var author: Side
    var isDeleted: Bool
    /// Time since it was sent.
    var age: Span
  }

  /// Our user may change and delete messages for a day. A contact's deletion may have been delayed on its way.
  static let changeable = Span.days(1)
  static let deletableByContact = Span.seconds(78 * 3_600)
  static let reactionsAtMost = 3

  /// Our user edits their own message.
  static func edit(_ subject: Subject) -> Verdict { ownChange(subject) }

  /// Our user deletes a message for both sides. On this side alone, everything may be deleted at any time.
  static func deleteForBoth(_ subject: Subject) -> Verdict { ownChange(subject) }

  private static func ownChange(_ subject: Subject) -> Verdict {
    if subject.author != .user { return .refused(.notTheAuthor) }
    if subject.isDeleted { return .refused(.alreadyDeleted) }
    return subject.age < changeable ? .allowed : .refused(.tooOld)
  }

  /// The contact edits its message. Its clock and the relay's delay are not the user's fault, so there is no limit.
  static func contactEdits(_ subject: Subject) -> Verdict {
    if subject.author != .contact { return .refused(.notTheAuthor) }
    return subject.isDeleted ? .ignored(.alreadyDeleted) : .allowed
  }

  /// `inFull`: nothing of it remains. That also deletes messages that were only marked as deleted, whose text is still
  /// there.
  static func contactDeletes(_ subject: Subject, inFull: Bool) -> Verdict {
    if subject.author != .contact { return .refused(.notTheAuthor) }
    let isInTime = subject.age < deletableByContact
    if subject.isDeleted { return inFull && isInTime ? .allowed : .ignored(.alreadyDeleted) }
    return isInTime ? .allowed : .refused(.tooOld)
  }

  /// The contact confirms that it received the message.
  static func contactConfirms(_ subject: Subject?) -> Verdict {
    guard let subject else { return .ignored(.unknownMessage) }
    return subject.author == .user ? .allowed : .refused(.notTheAuthor)
  }

  /// `reactions`: how many the side already has on this message; `isThere`: whether this is one of them.
  static func react(
    adds: Bool, isThere: Bool, reactions: Int, isAllowed: Bool, isDeleted: Bool
  ) -> Verdict {
    guard isAllowed else { return .refused(.notAllowed) }
    if isDeleted { return .ignored(.alreadyDeleted) }
    if adds == isThere { return .ignored(.nothingToChange) }
    return adds && reactions >= reactionsAtMost ? .refused(.tooManyReactions) : .allowed
  }
}
