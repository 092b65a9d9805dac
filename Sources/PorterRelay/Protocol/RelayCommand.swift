import PorterCrypto

/// A client's command to a relay. The sender, and the entity it concerns, are in `RelayRequest`.
package enum RelayCommand: Hashable, Sendable {
  /// One entity of a batch, with a signature by its own key.
  package struct Entry: Hashable, Sendable {
    package var entity: RelayIdentifier
    package var signature: [UInt8]

    package init(entity: RelayIdentifier, signature: [UInt8]) {
      self.entity = entity
      self.signature = signature
    }
  }

  /// One mailbox of a batch, with a key for asking about it, and a signature by the mailbox's own key.
  package struct SharedKey: Hashable, Sendable {
    package var entity: RelayIdentifier
    package var key: RelayCheckKey
    package var signature: [UInt8]
  }

  /// One mailbox of a batch, with a tag by the key shared for it.
  package struct Tagged: Hashable, Sendable {
    package var entity: RelayIdentifier
    package var tag: [UInt8]
  }

  // No entity yet; signed by the recipient's key.
  case createMailbox(recipientKey: SigningPublicKey, senderKey: SigningPublicKey?)

  // The recipient's end; signed by the recipient's key.
  case secureMailbox(senderKey: SigningPublicKey)
  case getMessage
  case getMessageWithAge
  case acknowledge(message: RelayIdentifier)
  /// Both in one exchange: the next message stays until it is acknowledged itself.
  case acknowledgeAndGet(message: RelayIdentifier)
  case enableNotifier(notifierKey: SigningPublicKey, boxKey: BoxPublicKey)
  case disableNotifier
  case deleteMailbox

  // The sender's end; signed by the sender's key once the mailbox is secured, unsigned before.
  case send(attempt: RelayIdentifier, notify: Bool, body: [UInt8])

  // Recipients' ends; each entry is signed by its recipient's key, the request is not.
  case subscribe([Entry])

  // Recipients' ends, for asking about many at the same time; each entry is signed by its recipient's key.
  /// Which of them have something waiting. The request is not signed.
  case check([Entry])
  /// Like `check`, by keys shared earlier: no signature is made or verified.
  case checkByKeys([Tagged])
  /// Like `check`, but also shares these keys with the relay.
  case shareCheckKeys([SharedKey])
  /// Like `subscribe`, under a key of the listening process, which signs the request.
  case listen(key: SigningPublicKey, [Entry])
  /// The mailboxes under this key that received something after the position.
  case arrivals(key: SigningPublicKey, after: RelayPosition, limit: UInt16)

  // A notification service; signed by the service's key, and each entry by its notifier's key.
  case subscribeNotifiers(service: SigningPublicKey, [Entry])
  case notifications(service: SigningPublicKey, limit: UInt16)
  case acknowledgeNotifications(service: SigningPublicKey, [BoxNonce])
  case dueNotifications(service: SigningPublicKey, limit: UInt16)
  /// Both in one exchange, and which of these mailboxes have something waiting; each entry is signed by its recipient's
  /// key.
  case acknowledgeAndGetNotifications(
    service: SigningPublicKey, limit: UInt16, acknowledged: [BoxNonce], mailboxes: [Entry])
}

extension RelayCommand {
  enum Tag: UInt8 {
    case createMailbox = 1
    case secureMailbox = 2
    case send = 3
    case getMessage = 4
    case acknowledge = 5
    case subscribe = 6
    case enableNotifier = 7
    case disableNotifier = 8
    case deleteMailbox = 9
    case subscribeNotifiers = 10
    case notifications = 11
    case acknowledgeNotifications = 12
    case dueNotifications = 13
    case check = 14
    case listen = 15
    case arrivals = 16
    case getMessageWithAge = 17
    case acknowledgeAndGet = 18
    case checkByKeys = 19
    case shareCheckKeys = 20
    case acknowledgeAndGetNotifications = 21
  }

  var tag: Tag {
    switch self {
    case .createMailbox: .createMailbox
    case .secureMailbox: .secureMailbox
    case .send: .send
    case .getMessage: .getMessage
    case .getMessageWithAge: .getMessageWithAge
    case .acknowledge: .acknowledge
    case .acknowledgeAndGet: .acknowledgeAndGet
    case .subscribe: .subscribe
    case .check: .check
    case .checkByKeys: .checkByKeys
    case .shareCheckKeys: .shareCheckKeys
    case .listen: .listen
    case .arrivals: .arrivals
    case .enableNotifier: .enableNotifier
    case .disableNotifier: .disableNotifier
    case .deleteMailbox: .deleteMailbox
    case .subscribeNotifiers: .subscribeNotifiers
    case .notifications: .notifications
    case .acknowledgeNotifications: .acknowledgeNotifications
    case .dueNotifications: .dueNotifications
    case .acknowledgeAndGetNotifications: .acknowledgeAndGetNotifications
    }
  }

  /// The tag and the fields after it.
  package func encoded() -> [UInt8] {
    var bytes = [tag.rawValue]
    switch self {
    case .createMailbox(let recipientKey, let senderKey):
      bytes += recipientKey.bytes
      bytes.append(optional: senderKey?.bytes)
    case .secureMailbox(let senderKey): bytes += senderKey.bytes
    case .getMessage, .getMessageWithAge, .disableNotifier, .deleteMailbox: break
    case .acknowledge(let message), .acknowledgeAndGet(let message): bytes += message.bytes
    case .enableNotifier(let notifierKey, let boxKey): bytes += notifierKey.bytes + boxKey.bytes
    case .send(let attempt, let notify, let body):
      bytes.reserveCapacity(2 + RelayIdentifier.count + body.count)
      bytes += attempt.bytes
      bytes.append(notify ? 1 : 0)
      bytes += body
    case .subscribe(let entries), .check(let entries):
      bytes.append(list: entries) { $0 += $1.entity.bytes + $1.signature }
    case .checkByKeys(let entries): bytes.append(list: entries) { $0 += $1.entity.bytes + $1.tag }
    case .shareCheckKeys(let entries):
      bytes.append(list: entries) { $0 += $1.entity.bytes + $1.key.bytes + $1.signature }
    case .listen(let key, let entries):
      bytes += key.bytes
      bytes.append(list: entries) { $0 += $1.entity.bytes + $1.signature }
    case .arrivals(let key, let position, let limit):
      bytes += key.bytes + position.bytes
      bytes.append(unsigned16: limit)
    case .subscribeNotifiers(let service, let entries):
      bytes += service.bytes
      bytes.append(list: entries) { $0 += $1.entity.bytes + $1.signature }
    case .notifications(let service, let limit), .dueNotifications(let service, let limit):
      bytes += service.bytes
      bytes.append(unsigned16: limit)
    case .acknowledgeNotifications(let service, let nonces):
      bytes += service.bytes
      bytes.append(list: nonces) { $0 += $1.bytes }
    case .acknowledgeAndGetNotifications(let service, let limit, let nonces, let entries):
      bytes += service.bytes
      bytes.append(unsigned16: limit)
      bytes.append(list: nonces) { $0 += $1.bytes }
      bytes.append(list: entries) { $0 += $1.entity.bytes + $1.signature }
    }
    return bytes
  }

  /// Throws `syntax`, or `size` for a list or message that is too long.
  package init(decoding bytes: [UInt8]) throws(RelayError) {
    var reader = RelayReader(bytes)
    try self.init(reading: &reader)
    try reader.end()
  }

  init(reading reader: inout RelayReader) throws(RelayError) {
    guard let tag = Tag(rawValue: try reader.byte()) else { throw .syntax }
    switch tag {
    case .createMailbox:
      self = .createMailbox(
        recipientKey: try reader.signingKey(),
        senderKey: try reader.optional { (reader) throws(RelayError) in try reader.signingKey() })
    case .secureMailbox: self = .secureMailbox(senderKey: try reader.signingKey())
    case .send: self = try Self.send(reading: &reader)
    case .getMessage: self = .getMessage
    case .getMessageWithAge: self = .getMessageWithAge
    case .acknowledge: self = .acknowledge(message: try reader.identifier())
    case .acknowledgeAndGet: self = .acknowledgeAndGet(message: try reader.identifier())
    case .subscribe: self = .subscribe(try Self.entries(reading: &reader))
    case .check: self = .check(try Self.entries(reading: &reader))
    case .checkByKeys:
      self = .checkByKeys(
        try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in
          Tagged(entity: try reader.identifier(), tag: Array(try reader.bytes(AuthenticationKey.tagCount)))
        })
    case .shareCheckKeys:
      self = .shareCheckKeys(
        try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in
          SharedKey(entity: try reader.identifier(), key: try reader.checkKey(), signature: try reader.signature())
        })
    case .listen: self = .listen(key: try reader.signingKey(), try Self.entries(reading: &reader))
    case .arrivals:
      self = .arrivals(
        key: try reader.signingKey(), after: try reader.position(), limit: try reader.unsigned16())
    case .enableNotifier:
      self = .enableNotifier(notifierKey: try reader.signingKey(), boxKey: try reader.boxKey())
    case .disableNotifier: self = .disableNotifier
    case .deleteMailbox: self = .deleteMailbox
    case .subscribeNotifiers:
      self = .subscribeNotifiers(service: try reader.signingKey(), try Self.entries(reading: &reader))
    case .notifications: self = .notifications(service: try reader.signingKey(), limit: try reader.unsigned16())
    case .acknowledgeNotifications:
      self = .acknowledgeNotifications(service: try reader.signingKey(), try Self.nonces(reading: &reader))
    case .dueNotifications: self = .dueNotifications(service: try reader.signingKey(), limit: try reader.unsigned16())
    case .acknowledgeAndGetNotifications:
      self = .acknowledgeAndGetNotifications(
        service: try reader.signingKey(), limit: try reader.unsigned16(),
        acknowledged: try Self.nonces(reading: &reader),
        mailboxes: try Self.entries(reading: &reader))
    }
  }

  private static func send(reading reader: inout RelayReader) throws(RelayError) -> RelayCommand {
    let attempt = try reader.identifier()
    let flags = try reader.byte()
    // Bits unknown to this version may have a meaning that a relay must not ignore.
    guard flags <= 1 else { throw .syntax }
    let body = reader.remainder()
    guard body.count <= RelayLimits.body else { throw .size }
    return .send(attempt: attempt, notify: flags == 1, body: Array(body))
  }

  private static func nonces(reading reader: inout RelayReader) throws(RelayError) -> [BoxNonce] {
    try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in try reader.boxNonce() }
  }

  private static func entries(reading reader: inout RelayReader) throws(RelayError) -> [Entry] {
    try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in
      Entry(entity: try reader.identifier(), signature: try reader.signature())
    }
  }
}
