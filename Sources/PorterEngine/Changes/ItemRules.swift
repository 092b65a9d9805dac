import PorterPlatform
import PorterSchema

/// Why a change of a message is not made.
enum ChangeRefusal: String, Hashable, Sendable, CaseIterable {
  /// Neither is it here, nor was it.
  case unknownMessage
  /// Only its author changes a message, and only its receiver confirms it.
  case notTheAuthor
  case tooOld
  case alreadyDeleted
  /// The two sides do not both allow it.
  case notAllowed
  /// The reaction is there already, or is not.
  case nothingToChange
  case tooManyReactions
}

/// What may be done to a message, by whom and until when: SimpleX's rules. A value that knows no store; its cases are a table
/// in the tests.
struct ItemRules {
  enum Side: Hashable, Sendable, CaseIterable {
    case user, contact
  }

  enum Verdict: Hashable, Sendable {
    case allowed
    /// Harmless: it was overtaken, or changes nothing.
    case ignored(ChangeRefusal)
    /// The sender should have known.
    case refused(ChangeRefusal)
  }

  /// A message, as far as the rules need to know it.
  struct Subject: Hashable, Sendable {
    var author: Side
    var isDeleted: Bool
    /// Since it was sent.
    var age: Span
  }

  /// Our user changes and deletes messages for a day. A contact's deletion may have been delayed on its way.
  static let changeable = Span.days(1)
  static let deletableByContact = Span.seconds(78 * 3_600)
  static let reactionsAtMost = 3

  /// Of our user's own message.
  static func edit(_ subject: Subject) -> Verdict { ownChange(subject) }

  /// For both sides. Here only, everything may be deleted at any time.
  static func deleteForBoth(_ subject: Subject) -> Verdict { ownChange(subject) }

  private static func ownChange(_ subject: Subject) -> Verdict {
    if subject.author != .user { return .refused(.notTheAuthor) }
    if subject.isDeleted { return .refused(.alreadyDeleted) }
    return subject.age < changeable ? .allowed : .refused(.tooOld)
  }

  /// The contact edits its message. Its clock and the relay's delay are not the user's fault, so that there is no limit.
  static func contactEdits(_ subject: Subject) -> Verdict {
    if subject.author != .contact { return .refused(.notTheAuthor) }
    return subject.isDeleted ? .ignored(.alreadyDeleted) : .allowed
  }

  /// `inFull`: nothing stays of it. That also takes what was only marked as deleted, and whose text is still there.
  static func contactDeletes(_ subject: Subject, inFull: Bool) -> Verdict {
    if subject.author != .contact { return .refused(.notTheAuthor) }
    let isInTime = subject.age < deletableByContact
    if subject.isDeleted { return inFull && isInTime ? .allowed : .ignored(.alreadyDeleted) }
    return isInTime ? .allowed : .refused(.tooOld)
  }

  /// The contact says that it received the message.
  static func contactConfirms(_ subject: Subject?) -> Verdict {
    guard let subject else { return .ignored(.unknownMessage) }
    return subject.author == .user ? .allowed : .refused(.notTheAuthor)
  }

  /// `reactions`: how many the side has at this message already, and whether this is one of them.
  static func react(
    adds: Bool, isThere: Bool, reactions: Int, isAllowed: Bool, isDeleted: Bool
  ) -> Verdict {
    guard isAllowed else { return .refused(.notAllowed) }
    if isDeleted { return .ignored(.alreadyDeleted) }
    if adds == isThere { return .ignored(.nothingToChange) }
    return adds && reactions >= reactionsAtMost ? .refused(.tooManyReactions) : .allowed
  }
}
