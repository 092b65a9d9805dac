import PorterSchema

/// Something that may be worth notifying a user of.
package struct NotificationEvent: Hashable, Sendable {
  /// The profile it happened to.
  package struct Owner: Hashable, Sendable {
    package var id: Int64
    /// A profile visible only to a user who knows its password.
    package var isHidden: Bool
    package var showsNotifications: Bool

    package init(id: Int64, isHidden: Bool = false, showsNotifications: Bool = true) {
      self.id = id
      self.isHidden = isHidden
      self.showsNotifications = showsNotifications
    }

    package init(_ user: UserRecord) {
      self.init(
        id: user.id, isHidden: user.viewPassword != nil, showsNotifications: user.showsNotifications)
    }
  }

  /// The chat it happened in.
  package enum Chat: Hashable, Sendable {
    case contact(id: Int64, name: String)
    case group(id: Int64, name: String, member: String)

    /// The identifier that hosts use for conversations.
    package var id: String {
      switch self {
      case .contact(let id, _): "@\(id)"
      case .group(let id, _, _): "#\(id)"
      }
    }

    package init(_ contact: ContactRecord) { self = .contact(id: contact.id, name: contact.shownName) }
  }

  package struct Message: Hashable, Sendable {
    package var chat: Chat
    package var content: MessageContent
    package var fileName: String?
    package var direction: MessageDirection
    package var isDeleted: Bool
    package var mentionsUser: Bool

    package init(
      chat: Chat, content: MessageContent, fileName: String? = nil, direction: MessageDirection = .received,
      isDeleted: Bool = false, mentionsUser: Bool = false
    ) {
      self.chat = chat
      self.content = content
      self.fileName = fileName
      self.direction = direction
      self.isDeleted = isDeleted
      self.mentionsUser = mentionsUser
    }
  }

  package enum CallMedia: Hashable, Sendable, CaseIterable {
    case audio, video
  }

  package enum FileDirection: Hashable, Sendable, CaseIterable {
    case sent, received
  }

  /// An event on a connection reported by a push, before or without its message.
  package enum ConnectionEvent: Hashable, Sendable {
    case chat(Chat)
    /// A connection without a contact yet.
    case newContact
    case address
    case file(FileDirection)
  }

  package enum Kind: Hashable, Sendable {
    case contactRequest(id: Int64, name: String)
    case contactConnected(id: Int64, name: String)
    case message(Message)
    case call(Chat, CallMedia)
    /// It was over before the user answered it.
    case missedCall(Chat)
    case connection(ConnectionEvent)
    case many(Burst)
    case manyRequests(Requests)
  }

  /// Contact requests represented by one notification.
  package struct Requests: Hashable, Sendable {
    /// One for each request, latest first.
    package var names: [String]

    package init(from names: [String]) { self.names = names }
  }

  /// Messages represented by one notification. Each of them may be shown: the policy has checked them one by one.
  package struct Burst: Hashable, Sendable {
    package enum Scope: Hashable, Sendable {
      case chat(Chat)
      /// Each chat once, latest first.
      case chats([Chat])
    }

    package var count: Int
    package var scope: Scope

    package init(count: Int, _ scope: Scope) {
      self.count = count
      self.scope = scope
    }
  }

  package var identifier: NotificationIdentifier
  package var owner: Owner
  package var kind: Kind
  /// The conversation's setting; `all` where there is no conversation yet.
  package var filter: NotificationFilter

  package init(
    identifier: NotificationIdentifier, owner: Owner, kind: Kind, filter: NotificationFilter = .all
  ) {
    self.identifier = identifier
    self.owner = owner
    self.kind = kind
    self.filter = filter
  }
}

/// Identifies a notification, by what is known both from the push alone and from the message. So the text of a message
/// replaces the "message received" shown while its key was missing (INC-47), and the second of two pushes for one
/// message changes nothing (INC-34).
package enum NotificationIdentifier: Hashable, Sendable, CustomStringConvertible {
  /// `connection` is the agent's name of the connection, `message` the source's name of the message; both base64url.
  case message(connection: String, message: String)
  /// An event of a connection whose message is unknown.
  case connection(String)
  case contactRequest(user: Int64, id: Int64)
  case contactConnected(user: Int64, contact: Int64)
  /// `message` is the relay's name of the invitation, base64url: each of two calls of a contact has its own
  /// notification.
  case call(user: Int64, chat: String, message: String)
  /// Many messages, of one chat or of a profile.
  case many(user: Int64, chat: String?)
  /// Many contact requests of a profile.
  case manyRequests(user: Int64)

  /// The relay's name of the message that an identifier is about, base64url; nil if it is not about one.
  package static func message(in text: String) -> String? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    switch parts.count {
    case 4 where parts[0] == "np" && parts[1] == "message": return parts[3]
    case 5 where parts[0] == "np" && parts[1] == "call": return parts[4]
    default: return nil
    }
  }

  package var description: String {
    switch self {
    case .message(let connection, let message): "np:message:\(connection):\(message)"
    case .connection(let connection): "np:connection:\(connection)"
    case .contactRequest(let user, let id): "np:request:\(user):\(id)"
    case .contactConnected(let user, let contact): "np:connected:\(user):\(contact)"
    case .call(let user, let chat, let message): "np:call:\(user):\(chat):\(message)"
    case .manyRequests(let user): "np:requests:\(user)"
    case .many(let user, let chat): chat.map { "np:many:\(user):\($0)" } ?? "np:many:\(user)"
    }
  }
}
