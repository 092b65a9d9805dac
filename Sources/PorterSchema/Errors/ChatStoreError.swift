import PorterJSON

/// Something the store lacks or already has: the `storeError` of a `ChatError`.
package enum ChatStoreError: Hashable, Sendable {
  case duplicateName
  case userNotFound(Int64)
  case userNotFoundByName(String)
  case contactNotFound(Int64)
  case contactNotFoundByName(String)
  case contactNotReady(name: String)
  case duplicateContactLink
  case userContactLinkNotFound
  case contactRequestNotFound(Int64)
  case groupNotFound(Int64)
  case groupNotFoundByName(String)
  case noteFolderNotFound(Int64)
  case connectionNotFound(agentID: String)
  case connectionNotFoundById(Int64)
  case pendingConnectionNotFound(Int64)
  case profileNotFound(Int64)
  case chatItemNotFound(Int64)
  case badChatItem(Int64)
  case invalidQuote
  case uniqueID
  case largeMessage
  case internalError(String)
  /// The text is SQLite's, never a row's.
  case databaseException(String)
  /// Another process held the store's lock for longer than we may wait; the text names it (INC-18).
  case databaseBusy(String)

  package var json: JSONValue {
    switch self {
    case .duplicateName: .tagged("duplicateName")
    case .userNotFound(let id): .tagged("userNotFound", ["userId": .integer(id)])
    case .userNotFoundByName(let name): .tagged("userNotFoundByName", ["contactName": .string(name)])
    case .contactNotFound(let id): .tagged("contactNotFound", ["contactId": .integer(id)])
    case .contactNotFoundByName(let name): .tagged("contactNotFoundByName", ["contactName": .string(name)])
    case .contactNotReady(let name): .tagged("contactNotReady", ["contactName": .string(name)])
    case .duplicateContactLink: .tagged("duplicateContactLink")
    case .userContactLinkNotFound: .tagged("userContactLinkNotFound")
    case .contactRequestNotFound(let id): .tagged("contactRequestNotFound", ["contactRequestId": .integer(id)])
    case .groupNotFound(let id): .tagged("groupNotFound", ["groupId": .integer(id)])
    case .groupNotFoundByName(let name): .tagged("groupNotFoundByName", ["groupName": .string(name)])
    case .noteFolderNotFound(let id): .tagged("noteFolderNotFound", ["noteFolderId": .integer(id)])
    case .connectionNotFound(let id): .tagged("connectionNotFound", ["agentConnId": .string(id)])
    case .connectionNotFoundById(let id): .tagged("connectionNotFoundById", ["connId": .integer(id)])
    case .pendingConnectionNotFound(let id): .tagged("pendingConnectionNotFound", ["connId": .integer(id)])
    case .profileNotFound(let id): .tagged("profileNotFound", ["profileId": .integer(id)])
    case .chatItemNotFound(let id): .tagged("chatItemNotFound", ["itemId": .integer(id)])
    case .badChatItem(let id): .tagged("badChatItem", ["itemId": .integer(id)])
    case .invalidQuote: .tagged("invalidQuote")
    case .uniqueID: .tagged("uniqueID")
    case .largeMessage: .tagged("largeMsg")
    case .internalError(let message): .tagged("internalError", ["message": .string(message)])
    case .databaseException(let message): .tagged("dBException", ["message": .string(message)])
    case .databaseBusy(let message): .tagged("dBBusyError", ["message": .string(message)])
    }
  }
}

/// The problem with the store's file: the `databaseError` of a `ChatError`.
package enum DatabaseError: Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    case notADatabase
    case other(String)

    var json: JSONValue {
      switch self {
      case .notADatabase: .tagged("errorNotADatabase")
      case .other(let reason): .tagged("error", ["dbError": .string(reason)])
      }
    }
  }

  case encrypted
  case plaintext
  case noFile(String)
  case export(Cause)
  case open(Cause)

  package var json: JSONValue {
    switch self {
    case .encrypted: .tagged("errorEncrypted")
    case .plaintext: .tagged("errorPlaintext")
    case .noFile(let file): .tagged("errorNoFile", ["dbFile": .string(file)])
    case .export(let cause): .tagged("errorExport", ["sqliteError": cause.json])
    case .open(let cause): .tagged("errorOpen", ["sqliteError": cause.json])
    }
  }
}
