import PorterSchema
import PropertyTesting

extension Make {
  static var serverAnswer: Generator<AgentError.ServerAnswer> {
    Generator { choices in
      choices.element(of: [
        .block, .session, .authentication, .crypto, .quota, .noMessage, .largeMessage, .expired, .service, .internal,
        .commandSyntax, .commandProhibited, .commandUnknown, .store(choices.draw(text)),
      ])
    }
  }

  static var brokerKind: Generator<AgentError.BrokerKind> {
    Generator { choices in
      choices.element(of: [
        .response(choices.draw(text)), .unexpected(choices.draw(text)), .network(reason: choices.draw(text)), .host,
        .transportVersion, .timeout,
      ])
    }
  }

  static var messageKind: Generator<AgentError.MessageKind> {
    Generator { choices in
      choices.element(of: [
        .message, .version, .duplicate, .prohibited(choices.draw(text)), .link(choices.draw(text)), .decryption,
        .ratchetHeader, .queue(choices.draw(text)),
      ])
    }
  }

  static var agentError: Generator<AgentError> {
    Generator { choices in
      let context = choices.draw(text)
      return choices.element(of: [
        .command(choices.element(of: AgentError.CommandKind.allCases), context: context),
        .connection(choices.element(of: AgentError.ConnectionKind.allCases), context: context),
        .noUser, .relay(server: context, choices.draw(serverAnswer)),
        .notificationServer(server: context, choices.draw(serverAnswer)),
        .broker(server: context, choices.draw(brokerKind)), .message(choices.draw(messageKind)), .internal(context),
        .critical(offersRestart: choices.flag(), context), .inactive,
      ])
    }
  }

  static var errorType: Generator<ChatError.ErrorType> {
    Generator { choices in
      let (number, words) = (choices.draw(id), choices.draw(text))
      let contact = choices.draw(contact)
      return choices.element(of: [
        .noActiveUser, .noConnectionUser(agentConnectionID: words), .userUnknown, .userExists(name: words),
        .differentActiveUser(commanded: number, active: 1), .cantDeleteActiveUser(number), .cantDeleteLastUser(number),
        .cantHideLastUser(number), .hiddenUserAlwaysMuted(number), .emptyUserPassword(number),
        .userAlreadyHidden(number), .userNotHidden(number), .invalidDisplayName(given: words, valid: ""),
        .chatNotStarted, .chatNotStopped, .chatStoreChanged, .invalidConnReq, .unsupportedConnReq,
        .contactNotReady(contact), .contactNotActive(contact), .contactDisabled(contact),
        .connectionDisabled(choices.draw(connection)), .noCurrentCall, .agentVersion, .commandError(message: words),
        .agentCommandError(message: words), .internalError(message: words), .exception(message: words),
      ])
    }
  }

  static var storeError: Generator<StoreError> {
    Generator { choices in
      let (number, words) = (choices.draw(id), choices.draw(text))
      return choices.element(of: [
        .duplicateName, .userNotFound(number), .userNotFoundByName(words), .contactNotFound(number),
        .contactNotFoundByName(words), .contactNotReady(name: words), .userContactLinkNotFound,
        .contactRequestNotFound(number), .groupNotFound(number), .groupNotFoundByName(words),
        .noteFolderNotFound(number), .connectionNotFound(agentID: words), .connectionNotFoundById(number),
        .pendingConnectionNotFound(number), .profileNotFound(number), .chatItemNotFound(number), .badChatItem(number),
        .uniqueID, .largeMessage, .internalError(words), .databaseException(words), .databaseBusy(words),
      ])
    }
  }

  static let nightporterErrors: [NightporterError] = [
    .commandSyntax(position: 3, expected: "a name"), .commandTooLarge(bytes: 2, limit: 1), .textNotUTF8,
    .notSupported("groups"), .controllerInvalid, .storeClosed, .storeReadOnly, .storeFull, .storeDamaged,
    .storeSealingUnavailable, .ownershipLost, .ownedElsewhere(holder: "12@34/ab"), .roleNotAllowed("repairing keys"),
    .relayMissing, .relayUnavailable("no such file"), .notificationServerMissing,
    .messageTooLarge(bytes: 2, limit: 1), .deadlinePassed,
  ]

  /// The kinds that the public types declare; `errorDatabase`, which they leave out, has a test of its own.
  static var chatError: Generator<ChatError> {
    Generator { choices in
      switch choices.number(below: 4) {
      case 0: return .error(choices.draw(errorType))
      case 1: return .agent(choices.draw(agentError), connection: choices.draw(text))
      case 2: return .store(choices.draw(storeError))
      default: return .nightporter(choices.element(of: nightporterErrors.filter { $0 != .storeDamaged }))
      }
    }
  }
}
