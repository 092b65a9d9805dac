import PorterCrypto
import PorterPlatform
import PorterSchema

/// Identifies a request and its answer. The server executes a request with a given id once, and gives a repeat the same
/// answer.
package struct CorrelationID: Hashable, Comparable, Sendable {
  package static let count = 24
  package let bytes: [UInt8]

  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  package static func < (left: CorrelationID, right: CorrelationID) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  package static func generate(randomness: some Randomness) throws(PushError) -> CorrelationID {
    guard let id = CorrelationID(bytes: randomness.bytes(count)) else { throw .crypto(.randomnessFailed) }
    return id
  }
}

/// A push address. Knowing it suffices to send pushes to the device, so it is never printed.
package struct PushToken: Hashable, Sendable, Redacted {
  package static let maximumCount = 256

  /// `apns_test` and the like: up to 32 lower-case letters, digits and underscores.
  package let provider: String
  package let bytes: [UInt8]

  /// Nil if `provider` is not a valid name, or the token is empty or longer than `maximumCount` bytes; for `webpush`,
  /// if it is not a `WebPushAddress`.
  package init?(provider: String, bytes: [UInt8]) {
    let isName = provider.utf8.allSatisfy {
      UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
        || $0 == UInt8(ascii: "_")
    }
    guard isName, 1...32 ~= provider.utf8.count else { return nil }
    if provider == PushProvider.webPush.rawValue {
      guard WebPushAddress(bytes: bytes) != nil else { return nil }
    } else {
      guard 1...Self.maximumCount ~= bytes.count else { return nil }
    }
    self.provider = provider
    self.bytes = bytes
  }

  package var webPush: WebPushAddress? {
    provider == PushProvider.webPush.rawValue ? WebPushAddress(bytes: bytes) : nil
  }
}

/// The right to be notified when something arrives in one mailbox.
package struct NotifierCredentials: Sendable {
  /// Its id at the relay.
  package let notifier: [UInt8]
  /// Signs the server's commands for this notifier at the relay.
  package let key: SigningKeyPair

  /// Nil unless `notifier` has the size of an id at the relay.
  package init?(notifier: [UInt8], key: SigningKeyPair) {
    guard notifier.count == NotificationServerLink.identifierCount else { return nil }
    self.notifier = notifier
    self.key = key
  }
}

/// A client's request to a notification server.
package struct ServerRequest: Sendable {
  /// The most items in one SNEW, SCHK or SDEL, so that any batch fits an envelope.
  package static let maximumBatch = 48

  package enum Command: Sendable {
    /// TNEW. The server answers with the token's id and its own key, and sends a verification push.
    /// If the request is repeated with the same push token and keys, it sends the push again.
    case newToken(PushToken, signingKey: SigningPublicKey, boxKey: BoxPublicKey)
    /// TVFY.
    case verify(token: [UInt8], VerificationCode)
    /// TCHK.
    case check(token: [UInt8])
    /// TRPL: the device got another push token; keys and subscriptions stay, and a new verification push is sent.
    case replace(token: [UInt8], with: PushToken)
    /// TDEL, with its subscriptions.
    case delete(token: [UInt8])
    /// TCRN: a `checkMessages` push every so many minutes; 0 for none, else at least 20.
    case setPeriod(token: [UInt8], minutes: Int)
    /// SNEW. Repeats are harmless: a subscribed notifier keeps its state, and its key is replaced.
    case subscribe(token: [UInt8], [NotifierCredentials])
    /// SCHK, by notifier id.
    case checkSubscriptions(token: [UInt8], [[UInt8]])
    /// SDEL, by notifier id.
    case unsubscribe(token: [UInt8], [[UInt8]])
  }

  package let correlation: CorrelationID
  /// The sender id of the mailbox in which the client expects the answer.
  package let replyMailbox: [UInt8]
  package let command: Command

  package init(correlation: CorrelationID, replyMailbox: [UInt8], command: Command) {
    self.correlation = correlation
    self.replyMailbox = replyMailbox
    self.command = command
  }

  /// Nil for TNEW, whose token does not exist yet.
  package var token: [UInt8]? {
    switch command {
    case .newToken: nil
    case .verify(let token, _), .check(let token), .replace(let token, _), .delete(let token), .setPeriod(let token, _),
      .subscribe(let token, _), .checkSubscriptions(let token, _), .unsubscribe(let token, _):
      token
    }
  }

  /// The name on the wire.
  package var commandName: String {
    switch command {
    case .newToken: "TNEW"
    case .verify: "TVFY"
    case .check: "TCHK"
    case .replace: "TRPL"
    case .delete: "TDEL"
    case .setPeriod: "TCRN"
    case .subscribe: "SNEW"
    case .checkSubscriptions: "SCHK"
    case .unsubscribe: "SDEL"
    }
  }
}
