import PorterCrypto

/// A token's status at its server, in the interface's words.
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

/// The state of a subscription at the server.
package enum SubscriptionStatus: String, Hashable, Sendable, CaseIterable {
  /// Accepted; the relay has not been asked yet.
  case new = "NEW"
  case pending = "PENDING"
  case active = "ACTIVE"
  /// The relay does not answer; the server keeps trying.
  case inactive = "INACTIVE"
  /// Another server subscribed.
  case end = "END"
  /// The relay does not know the notifier, or no longer does.
  case deleted = "DELETED"
  /// The relay refuses the notifier's key; or, in the answer to SCHK, the server has no such subscription.
  case refused = "AUTH"
  /// The relay failed for another reason.
  case failed = "ERR"
}

/// Why a server refused a request.
package enum ServerRefusal: String, Hashable, Sendable, CaseIterable {
  /// No such token, not signed with its key, a wrong code, or the token is not in a state that allows it.
  case authorization = "AUTH"
  /// A period below 20 minutes, more than the server keeps for one token, or a new token when it has as many as it
  /// keeps.
  case quota = "QUOTA"
  /// The request was not understood.
  case syntax = "SYNTAX"
  /// The server has no credentials for the token's push provider, so it could not send anything.
  case noCredentials = "NO_CREDENTIALS"
  /// The server could not use its store; asking again later may help.
  case `internal` = "INTERNAL"
}

/// A notification server's answer.
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
    /// To TNEW and TRPL: the token's id, and the key for agreeing on its push key.
    case token(id: [UInt8], boxKey: BoxPublicKey)
    /// To requests with no other answer; `tokenStatus` is set.
    case done
    /// To SNEW, SCHK and SDEL: one for each notifier in the request, in order.
    case subscriptions([Subscription])
    case refused(ServerRefusal)
  }

  package var correlation: CorrelationID
  package var result: Result
  /// Part of every answer about an existing token, so that a client learns at its next contact, whatever it asked, that
  /// its token has become invalid (INC-63). Nil if the token does not exist, or no longer does, or the request was not
  /// proven to be its owner's.
  package var tokenStatus: ServerTokenStatus?

  package init(correlation: CorrelationID, result: Result, tokenStatus: ServerTokenStatus?) {
    self.correlation = correlation
    self.result = result
    self.tokenStatus = tokenStatus
  }
}
