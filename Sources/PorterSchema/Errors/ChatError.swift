import PorterJSON

/// The failure of a command or an event, and the one error type of this module.
///
/// The cases and their JSON are those of the interface this library follows; `nightporter` is for failures it has no
/// word for.
package enum ChatError: Error, Hashable, Sendable {
  case error(ErrorType)
  /// `connection` is the agent's name of the connection concerned, base64url; empty if there is none.
  case agent(AgentError, connection: String = "")
  case store(ChatStoreError)
  case database(DatabaseError)
  case nightporter(NightporterError)

  package var json: JSONValue {
    switch self {
    case .error(let error): .tagged("error", ["errorType": error.json])
    case .agent(let error, let connection):
      .tagged("errorAgent", ["agentError": error.json, "agentConnId": .string(connection)])
    case .store(let error): .tagged("errorStore", ["storeError": error.json])
    case .database(let error): .tagged("errorDatabase", ["databaseError": error.json])
    case .nightporter(let error): error.json
    }
  }

  /// A command rejected because of its text.
  package static func command(_ message: String) -> ChatError { .error(.commandError(message: message)) }

  /// An inconsistent state in our own code; never caused by input alone.
  package static func `internal`(_ message: String) -> ChatError { .error(.internalError(message: message)) }

  /// There is no device token: hosts take this answer to `/_ntf get` to mean "notifications are off", not as a failure.
  package static let noToken = ChatError.agent(.command(.prohibited, context: "no token"))
}

extension ChatError {
  /// The `errorType` of a `ChatError` with tag `error`.
  package enum ErrorType: Hashable, Sendable {
    case noActiveUser
    case userUnknown
    case userExists(name: String)
    case differentActiveUser(commanded: Int64, active: Int64)
    case cantDeleteActiveUser(Int64)
    case cantHideLastUser(Int64)
    case hiddenUserAlwaysMuted(Int64)
    case emptyUserPassword(Int64)
    case userAlreadyHidden(Int64)
    case userNotHidden(Int64)
    case invalidDisplayName(given: String, valid: String)
    case chatNotStarted
    case chatNotStopped
    case chatStoreChanged
    /// The text is not an invitation of ours.
    case invalidConnReq
    /// It is an invitation, but of a kind or version that this library does not support.
    case unsupportedConnReq
    case contactNotReady(ContactRecord)
    case contactNotActive(ContactRecord)
    /// The message is not the user's, too old, or deleted.
    case invalidChatItemUpdate
    case invalidChatItemDelete
    case noCurrentCall
    case commandError(message: String)
    case internalError(message: String)

    var json: JSONValue {
      switch self {
      case .noActiveUser: .tagged("noActiveUser")
      case .userUnknown: .tagged("userUnknown")
      case .userExists(let name): .tagged("userExists", ["contactName": .string(name)])
      case .differentActiveUser(let commanded, let active):
        .tagged(
          "differentActiveUser", ["commandUserId": .integer(commanded), "activeUserId": .integer(active)])
      case .cantDeleteActiveUser(let id): Self.user("cantDeleteActiveUser", id)
      case .cantHideLastUser(let id): Self.user("cantHideLastUser", id)
      case .hiddenUserAlwaysMuted(let id): Self.user("hiddenUserAlwaysMuted", id)
      case .emptyUserPassword(let id): Self.user("emptyUserPassword", id)
      case .userAlreadyHidden(let id): Self.user("userAlreadyHidden", id)
      case .userNotHidden(let id): Self.user("userNotHidden", id)
      case .invalidDisplayName(let given, let valid):
        .tagged("invalidDisplayName", ["displayName": .string(given), "validName": .string(valid)])
      case .chatNotStarted: .tagged("chatNotStarted")
      case .chatNotStopped: .tagged("chatNotStopped")
      case .chatStoreChanged: .tagged("chatStoreChanged")
      case .invalidConnReq: .tagged("invalidConnReq")
      case .unsupportedConnReq: .tagged("unsupportedConnReq")
      case .contactNotReady(let contact): .tagged("contactNotReady", ["contact": contact.json])
      case .contactNotActive(let contact): .tagged("contactNotActive", ["contact": contact.json])
      case .invalidChatItemUpdate: .tagged("invalidChatItemUpdate")
      case .invalidChatItemDelete: .tagged("invalidChatItemDelete")
      case .noCurrentCall: .tagged("noCurrentCall")
      case .commandError(let message): .tagged("commandError", ["message": .string(message)])
      case .internalError(let message): .tagged("internalError", ["message": .string(message)])
      }
    }

    private static func user(_ tag: String, _ id: Int64) -> JSONValue { .tagged(tag, ["userId": .integer(id)]) }
  }
}
