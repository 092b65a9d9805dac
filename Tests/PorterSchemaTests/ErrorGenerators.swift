import PorterJSON
import PorterSchema
import PropertyTesting

/// Every case of every kind of error.
enum EveryCase {
  static func serverAnswers(_ words: String) -> [AgentError.ServerAnswer] {
    [
      .block, .session, .authentication, .crypto, .quota, .noMessage, .largeMessage, .expired, .service, .internal,
      .commandSyntax, .commandProhibited, .commandUnknown, .store(words),
    ]
  }

  static func brokerKinds(_ words: String) -> [AgentError.BrokerKind] {
    [.response(words), .unexpected(words), .network(reason: words), .host, .transportVersion, .timeout]
  }

  static func messageKinds(_ words: String) -> [AgentError.MessageKind] {
    [
      .message, .version, .duplicate, .prohibited(words), .link(words), .decryption, .ratchetHeader, .queue(words),
    ]
  }

  static func agentErrors(_ words: String) -> [AgentError] {
    AgentError.CommandKind.allCases.map { .command($0, context: words) }
      + AgentError.ConnectionKind.allCases.map { .connection($0, context: words) }
      + serverAnswers(words).flatMap { [.relay(server: words, $0), .notificationServer(server: words, $0)] }
      + brokerKinds(words).map { .broker(server: words, $0) } + messageKinds(words).map(AgentError.message)
      + [
        .noUser, .internal(words), .critical(offersRestart: true, words), .critical(offersRestart: false, words),
        .inactive,
      ]
  }

  static func errorTypes(
    _ number: Int64, _ words: String, _ contact: ContactRecord, _ connection: ConnectionRecord
  ) -> [ChatError.ErrorType] {
    [
      .noActiveUser, .userUnknown, .userExists(name: words),
      .differentActiveUser(commanded: number, active: 1), .cantDeleteActiveUser(number),
      .cantHideLastUser(number), .hiddenUserAlwaysMuted(number), .emptyUserPassword(number),
      .userAlreadyHidden(number), .userNotHidden(number), .invalidDisplayName(given: words, valid: ""),
      .chatNotStarted, .chatNotStopped, .chatStoreChanged, .invalidConnReq, .unsupportedConnReq,
      .contactNotReady(contact), .contactNotActive(contact),
      .invalidChatItemUpdate, .invalidChatItemDelete, .noCurrentCall,
      .commandError(message: words), .internalError(message: words),
    ]
  }

  static func storeErrors(_ number: Int64, _ words: String) -> [ChatStoreError] {
    [
      .duplicateName, .userNotFound(number), .userNotFoundByName(words), .contactNotFound(number),
      .contactNotFoundByName(words), .contactNotReady(name: words), .duplicateContactLink, .userContactLinkNotFound,
      .contactRequestNotFound(number), .groupNotFound(number), .groupNotFoundByName(words),
      .noteFolderNotFound(number), .connectionNotFound(agentID: words), .connectionNotFoundById(number),
      .pendingConnectionNotFound(number), .profileNotFound(number), .chatItemNotFound(number), .badChatItem(number),
      .invalidQuote, .uniqueID, .largeMessage, .internalError(words), .databaseException(words), .databaseBusy(words),
    ]
  }

  static func databaseErrors(_ words: String) -> [DatabaseError] {
    [
      .encrypted, .plaintext, .noFile(words), .export(.notADatabase), .export(.other(words)), .open(.notADatabase),
      .open(.other(words)),
    ]
  }

  static let nightporterErrors: [NightporterError] = [
    .commandSyntax(position: 3, expected: "a name"), .commandTooLarge(bytes: 2, limit: 1), .textNotUTF8,
    .notSupported("groups"), .controllerInvalid, .storeClosed, .storeReadOnly, .storeFull, .storeDamaged,
    .storeMissing, .storeNotADatabase, .storeKeyMissing, .storeKeyWrong, .storeKeyInvalid, .storeKeyForgotten,
    .storeKeyNotRaw, .storeKeyNoMemory, .storeNotSealed, .storeFormatNewer, .storeCipherUnavailable,
    .storePageDamaged(file: "log", page: 7), .storeCutOff(file: "store", page: 0),
    .ownershipLost(holder: "app 12@34/ab"), .ownedElsewhere(holder: "12@34/ab"), .roleNotAllowed("repairing keys"),
    .relayMissing, .relayUnavailable("no such file"), .networkStopped, .notificationServerMissing, .invitationUsed,
    .invitationOwn, .profileShown,
    .stringsInvalid(key: "From: %@", "a text"),
    .messageTooLarge(bytes: 2, limit: 1), .responseInvalid("a JSON object"), .responsesTooMany(limit: 1),
    .scopeNotFound, .scopesTooMany(limit: 1),
  ]

  static func migrationResults(_ words: String) -> [MigrationResult] {
    [
      .ok, .invalidConfirmation, .errorNotADatabase(file: words),
      .errorMigration(file: words, .upgrade([.init(name: words, canBeUndone: true)])),
      .errorMigration(file: words, .noWayDown([words])),
      .errorSQL(file: words, reason: words),
      .agentError(.inactive),
    ] + nightporterErrors.map { .nightporter(file: words, $0) }
  }

  /// All but database errors, which the public package does not declare.
  static func chatErrors(
    _ number: Int64, _ words: String, _ contact: ContactRecord, _ connection: ConnectionRecord
  ) -> [ChatError] {
    errorTypes(number, words, contact, connection).map(ChatError.error)
      + agentErrors(words).map { .agent($0, connection: words) } + storeErrors(number, words).map(ChatError.store)
      + nightporterErrors.filter { !isOfDatabase($0) }.map(ChatError.nightporter)
  }

  /// The public package has no type for these errors.
  static func isOfDatabase(_ error: NightporterError) -> Bool {
    ChatError.nightporter(error).json["type"] == "errorDatabase"
  }
}

extension Make {
  static var agentError: Generator<AgentError> {
    Generator { choices in choices.element(of: EveryCase.agentErrors(choices.draw(text))) }
  }

  static var chatError: Generator<ChatError> {
    Generator { choices in
      let (contact, connection) = (choices.draw(contact), choices.draw(connection))
      return choices.element(
        of: EveryCase.chatErrors(choices.draw(id), choices.draw(text), contact, connection))
    }
  }
}
