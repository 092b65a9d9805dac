import PorterJSON

/// Failures of connections, the relay and the notification server: the `agentError` of a `ChatError`.
package enum AgentError: Hashable, Sendable {
  /// The reason the connection layer rejected a command.
  package enum CommandKind: String, Hashable, Sendable, CaseIterable {
    case prohibited = "PROHIBITED"
    case syntax = "SYNTAX"
    case noConnection = "NO_CONN"
    case size = "SIZE"
    case large = "LARGE"
  }

  package enum ConnectionKind: String, Hashable, Sendable, CaseIterable {
    case notFound = "NOT_FOUND"
    case duplicate = "DUPLICATE"
    case oneWay = "SIMPLEX"
    case notAccepted = "NOT_ACCEPTED"
    case notAvailable = "NOT_AVAILABLE"
  }

  /// A server's rejection of a request.
  package enum ServerAnswer: Hashable, Sendable {
    case block, session, authentication, crypto, quota, noMessage, largeMessage, expired, service, `internal`
    case commandSyntax, commandProhibited, commandUnknown
    case store(String)
  }

  /// The reason a server could not be reached.
  package enum BrokerKind: Hashable, Sendable {
    case response(String)
    case unexpected(String)
    case network(reason: String)
    case host
    case transportVersion
    case timeout
  }

  /// The problem with a message from the contact.
  package enum MessageKind: Hashable, Sendable {
    case message, version, duplicate
    case prohibited(String)
    case link(String)
    case decryption
    case ratchetHeader
    case queue(String)
  }

  case command(CommandKind, context: String)
  case connection(ConnectionKind, context: String)
  case noUser
  case relay(server: String, ServerAnswer)
  case notificationServer(server: String, ServerAnswer)
  case broker(server: String, BrokerKind)
  case message(MessageKind)
  case `internal`(String)
  case critical(offersRestart: Bool, String)
  case inactive

  /// Whether the same command may succeed later unchanged.
  package var isTemporary: Bool {
    switch self {
    case .broker(_, .network), .broker(_, .timeout), .broker(_, .host), .broker(_, .transportVersion), .inactive: true
    case .critical(let offersRestart, _): offersRestart
    case .command, .connection, .noUser, .relay, .notificationServer, .broker, .message, .internal: false
    }
  }

  package var json: JSONValue {
    switch self {
    case .command(let kind, let context):
      .tagged("CMD", ["cmdErr": .tagged(kind.rawValue), "errContext": .string(context)])
    case .connection(let kind, let context):
      .tagged("CONN", ["connErr": .tagged(kind.rawValue), "errContext": .string(context)])
    case .noUser: .tagged("NO_USER")
    case .relay(let server, let answer): .tagged("SMP", ["serverAddress": .string(server), "smpErr": answer.json])
    case .notificationServer(let server, let answer):
      .tagged("NTF", ["serverAddress": .string(server), "ntfErr": answer.json])
    case .broker(let server, let kind):
      .tagged("BROKER", ["brokerAddress": .string(server), "brokerErr": kind.json])
    case .message(let kind): .tagged("AGENT", ["agentErr": kind.json])
    case .internal(let reason): .tagged("INTERNAL", ["internalErr": .string(reason)])
    case .critical(let offersRestart, let reason):
      .tagged("CRITICAL", ["offerRestart": .bool(offersRestart), "criticalErr": .string(reason)])
    case .inactive: .tagged("INACTIVE")
    }
  }
}

extension AgentError.ServerAnswer {
  var json: JSONValue {
    switch self {
    case .block: .tagged("BLOCK")
    case .session: .tagged("SESSION")
    case .authentication: .tagged("AUTH")
    case .crypto: .tagged("CRYPTO")
    case .quota: .tagged("QUOTA")
    case .noMessage: .tagged("NO_MSG")
    case .largeMessage: .tagged("LARGE_MSG")
    case .expired: .tagged("EXPIRED")
    case .service: .tagged("SERVICE")
    case .internal: .tagged("INTERNAL")
    case .commandSyntax: .tagged("CMD", ["cmdErr": .tagged("SYNTAX")])
    case .commandProhibited: .tagged("CMD", ["cmdErr": .tagged("PROHIBITED")])
    case .commandUnknown: .tagged("CMD", ["cmdErr": .tagged("UNKNOWN")])
    case .store(let reason): .tagged("STORE", ["storeErr": .string(reason)])
    }
  }
}

extension AgentError.BrokerKind {
  var json: JSONValue {
    switch self {
    case .response(let reason): .tagged("RESPONSE", ["respErr": .string(reason)])
    case .unexpected(let reason): .tagged("UNEXPECTED", ["respErr": .string(reason)])
    case .network(let reason):
      .tagged("NETWORK", ["networkError": .tagged("connectError", ["connectError": .string(reason)])])
    case .host: .tagged("HOST")
    case .transportVersion: .tagged("TRANSPORT", ["transportErr": .tagged("version")])
    case .timeout: .tagged("TIMEOUT")
    }
  }
}

extension AgentError.MessageKind {
  var json: JSONValue {
    switch self {
    case .message: .tagged("A_MESSAGE")
    case .version: .tagged("A_VERSION")
    case .duplicate: .tagged("A_DUPLICATE")
    case .prohibited(let reason): .tagged("A_PROHIBITED", ["prohibitedErr": .string(reason)])
    case .link(let reason): .tagged("A_LINK", ["linkErr": .string(reason)])
    case .decryption: .tagged("A_CRYPTO", ["cryptoErr": .tagged("DECRYPT_CB")])
    case .ratchetHeader: .tagged("A_CRYPTO", ["cryptoErr": .tagged("RATCHET_HEADER")])
    case .queue(let reason): .tagged("A_QUEUE", ["queueErr": .string(reason)])
    }
  }
}
