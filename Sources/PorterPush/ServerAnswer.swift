import PorterCrypto

/// A token as its server sees it; the interface's words.
package enum ServerTokenStatus: String, Hashable, Sendable, CaseIterable {
  case new = "NEW"
  case registered = "REGISTERED"
  case confirmed = "CONFIRMED"
  case active = "ACTIVE"
  case invalid = "INVALID"
  case invalidBad = "INVALID,BAD"
  case invalidTopic = "INVALID,TOPIC"
  case invalidExpired = "INVALID,EXPIRED"
  case invalidUnregistered = "INVALID,UNREGISTERED"
  case expired = "EXPIRED"
}

/// How a subscription stands at the server.
package enum SubscriptionStatus: String, Hashable, Sendable, CaseIterable {
  /// Taken in, the relay not asked yet.
  case new = "NEW"
  case pending = "PENDING"
  case active = "ACTIVE"
  /// The relay does not answer; the server goes on trying.
  case inactive = "INACTIVE"
  /// Another server subscribed.
  case end = "END"
  /// The relay knows no such notifier (any more).
  case deleted = "DELETED"
  /// The relay refuses the notifier's key; or, from SCHK, the server has no such subscription.
  case refused = "AUTH"
  /// The relay failed for another reason.
  case failed = "ERR"
}

/// Why a server did not do what it was asked.
package enum ServerRefusal: String, Hashable, Sendable, CaseIterable {
  /// No such token, not signed with its key, a wrong code, or the token is not in a state that allows it.
  case authorization = "AUTH"
  /// A period below 20 minutes, or more than the server keeps for one token.
  case quota = "QUOTA"
  /// The request was not understood.
  case syntax = "SYNTAX"
  /// The server has no credentials for the token's push provider, so it could send nothing.
  case noCredentials = "NO_CREDENTIALS"
  /// The server could not use its store; asking again later may help.
  case `internal` = "INTERNAL"
}

/// What a notification server answers.
package struct ServerAnswer: Hashable, Sendable {
  package struct Subscription: Hashable, Sendable {
    package var notifier: [UInt8]
    package var status: SubscriptionStatus

    package init(notifier: [UInt8], status: SubscriptionStatus) {
      self.notifier = notifier
      self.status = status
    }
  }

  package enum Result: Hashable, Sendable {
    /// To TNEW and TRPL: the token's id, and the key to agree on its push key with.
    case token(id: [UInt8], boxKey: BoxPublicKey)
    /// To all that has nothing else to tell; `tokenStatus` is there.
    case done
    /// To SNEW, SCHK and SDEL: each notifier that was asked about, in that order.
    case subscriptions([Subscription])
    case refused(ServerRefusal)
  }

  package var correlation: CorrelationID
  package var result: Result
  /// With every answer about a token that exists, so that a client hears at its next contact, whatever it asked, that
  /// its token has become invalid (INC-63). Nil if the token does not exist (any more), or the request was not proven
  /// to be its owner's.
  package var tokenStatus: ServerTokenStatus?

  package init(correlation: CorrelationID, result: Result, tokenStatus: ServerTokenStatus?) {
    self.correlation = correlation
    self.result = result
    self.tokenStatus = tokenStatus
  }
}
