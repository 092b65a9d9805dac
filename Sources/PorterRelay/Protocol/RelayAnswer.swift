import PorterCrypto
import PorterPlatform

/// A message as the relay delivers it.
package struct RelayMessage: Hashable, Sendable {
  package var identifier: RelayIdentifier
  /// When the relay accepted it, by the relay's wall clock.
  package var timestamp: WallTime
  /// Whether the sender asked for a notification.
  package var notify: Bool
  package var body: [UInt8]
  /// How many milliseconds the relay has had it, by the clock used for retention; nil if the relay did not say.
  package var age: UInt32?

  package init(identifier: RelayIdentifier, timestamp: WallTime, notify: Bool, body: [UInt8], age: UInt32? = nil) {
    self.identifier = identifier
    self.timestamp = timestamp
    self.notify = notify
    self.body = body
    self.age = age
  }
}

/// Tells a notification service that a message is waiting; only the recipient can read which one.
package struct RelayNotification: Hashable, Sendable {
  package var notifier: RelayIdentifier
  package var timestamp: WallTime
  /// The nonce of `metadata`; also identifies this notification when it is acknowledged.
  package var nonce: BoxNonce
  /// `RelayMessageMetadata`, sealed for the recipient.
  package var metadata: [UInt8]

  package init(notifier: RelayIdentifier, timestamp: WallTime, nonce: BoxNonce, metadata: [UInt8]) {
    self.notifier = notifier
    self.timestamp = timestamp
    self.nonce = nonce
    self.metadata = metadata
  }
}

/// The notifications that a service may push now, and when to ask for those that the relay still withholds.
package struct RelayDueNotifications: Hashable, Sendable {
  package var notifications: [RelayNotification]
  /// Milliseconds until the next one is due; nil if none is withheld.
  package var nextIn: UInt32?

  package init(notifications: [RelayNotification], nextIn: UInt32?) {
    self.notifications = notifications
    self.nextIn = nextIn
  }
}

/// The result for one entity of a subscription.
package enum RelaySubscription: UInt8, Hashable, Sendable {
  /// Subscribed; no message is waiting.
  case subscribed = 0
  /// Subscribed, and a message is already waiting.
  case waiting = 1
  /// No such entity, or the wrong key.
  case auth = 2
}

package enum RelayAnswer: Hashable, Sendable {
  case done
  case failed(RelayError)
  case mailbox(recipient: RelayIdentifier, sender: RelayIdentifier)
  case message(RelayMessage)
  /// Whether there was such a message, and the message that is now the oldest, with its age.
  case acknowledged(wasThere: Bool, next: RelayMessage?)
  case subscriptions([RelaySubscription])
  case notifier(RelayIdentifier, boxKey: BoxPublicKey)
  case notifications([RelayNotification])
  case dueNotifications(RelayDueNotifications)
  /// Like `dueNotifications`, after an acknowledgement, with a result for each mailbox.
  case acknowledgedNotifications(RelayDueNotifications, [RelaySubscription])
  /// The position from which `arrivals` reports, and a result for each entry.
  case listening(RelayPosition, [RelaySubscription])
  /// The position reached, and recipients' ends.
  case arrivals(RelayPosition, [RelayIdentifier])
}

/// How far a relay's client has heard of arrivals. Only the relay can interpret it.
package struct RelayPosition: Hashable, Sendable {
  package static let count = 32
  package let bytes: [UInt8]

  /// Nil unless there are 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }
}

extension RelayAnswer {
  private enum Tag: UInt8 {
    case done = 1
    case failed = 2
    case mailbox = 3
    case message = 4
    case subscriptions = 5
    case notifier = 6
    case notifications = 7
    case dueNotifications = 8
    case listening = 9
    case arrivals = 10
    case messageWithAge = 11
    case acknowledged = 12
    case acknowledgedNotifications = 13
  }

  private var tag: Tag {
    switch self {
    case .done: .done
    case .failed: .failed
    case .mailbox: .mailbox
    case .message(let message): message.age == nil ? .message : .messageWithAge
    case .acknowledged: .acknowledged
    case .subscriptions: .subscriptions
    case .notifier: .notifier
    case .notifications: .notifications
    case .dueNotifications: .dueNotifications
    case .acknowledgedNotifications: .acknowledgedNotifications
    case .listening: .listening
    case .arrivals: .arrivals
    }
  }

  /// Whether it says to anyone who asks that a key is wrong, or that something does not exist: which of the two must not
  /// be learnt.
  package var refuses: Bool {
    switch self {
    case .failed(let error): error == .auth
    case .subscriptions(let results), .acknowledgedNotifications(_, let results), .listening(_, let results):
      results.contains(.auth)
    case .done, .mailbox, .message, .acknowledged, .notifier, .notifications, .dueNotifications, .arrivals: false
    }
  }

  /// Version, correlation of the request, tag, fields.
  package func encoded(for correlation: RelayIdentifier) -> [UInt8] {
    var bytes = [RelayLimits.version]
    bytes += correlation.bytes
    bytes.append(tag.rawValue)
    switch self {
    case .done: break
    case .failed(let error): bytes.append(error.wireCode)
    case .mailbox(let recipient, let sender): bytes += recipient.bytes + sender.bytes
    case .message(let message):
      bytes.reserveCapacity(80 + message.body.count)
      Self.write(&bytes, message, age: message.age)
    case .acknowledged(let wasThere, let next):
      bytes.append(wasThere ? 0 : 1)
      bytes.append(next == nil ? 0 : 1)
      guard let next else { break }
      bytes.reserveCapacity(80 + next.body.count)
      Self.write(&bytes, next, age: next.age ?? 0)
    case .subscriptions(let results): bytes.append(list: results) { $0.append($1.rawValue) }
    case .notifier(let identifier, let boxKey): bytes += identifier.bytes + boxKey.bytes
    case .notifications(let notifications): bytes.append(list: notifications, Self.write)
    case .dueNotifications(let due): Self.write(&bytes, due)
    case .acknowledgedNotifications(let due, let results):
      Self.write(&bytes, due)
      bytes.append(list: results) { $0.append($1.rawValue) }
    case .listening(let position, let results):
      bytes += position.bytes
      bytes.append(list: results) { $0.append($1.rawValue) }
    case .arrivals(let position, let mailboxes):
      bytes += position.bytes
      bytes.append(list: mailboxes) { $0 += $1.bytes }
    }
    return bytes
  }

  private static func write(_ bytes: inout [UInt8], _ due: RelayDueNotifications) {
    var wait: [UInt8]?
    if let nextIn = due.nextIn {
      wait = []
      wait?.append(unsigned32: nextIn)
    }
    bytes.append(optional: wait)
    bytes.append(list: due.notifications, Self.write)
  }

  private static func write(_ bytes: inout [UInt8], _ notification: RelayNotification) {
    bytes += notification.notifier.bytes
    bytes.append(signed64: notification.timestamp.milliseconds)
    bytes += notification.nonce.bytes
    bytes.append(unsigned16: UInt16(clamping: notification.metadata.count))
    bytes += notification.metadata
  }

  /// Throws `version` or `answer`; the latter also if it answers a request other than `correlation`.
  package init(decoding bytes: [UInt8], correlation: RelayIdentifier) throws(RelayError) {
    guard let version = bytes.first, bytes.count <= RelayLimits.exchange else { throw .answer }
    // A relay that does not know this version says so in this version; anything else is no relay's answer.
    guard version == RelayLimits.version else { throw .answer }
    var reader = RelayReader(bytes.dropFirst())
    do throws(RelayError) {
      guard try reader.identifier() == correlation else { throw .answer }
      self = try Self.read(&reader)
      try reader.end()
    } catch {
      throw .answer
    }
  }

  private static func read(_ reader: inout RelayReader) throws(RelayError) -> RelayAnswer {
    guard let tag = Tag(rawValue: try reader.byte()) else { throw .syntax }
    switch tag {
    case .done: return .done
    case .failed: return .failed(RelayError(wireCode: try reader.byte()))
    case .mailbox: return .mailbox(recipient: try reader.identifier(), sender: try reader.identifier())
    case .message: return .message(try message(reading: &reader, hasAge: false))
    case .acknowledged:
      let outcome = try reader.byte()
      guard outcome <= 1 else { throw .syntax }
      let next = try reader.optional { (reader) throws(RelayError) in try message(reading: &reader, hasAge: true) }
      return .acknowledged(wasThere: outcome == 0, next: next)
    case .messageWithAge: return .message(try message(reading: &reader, hasAge: true))
    case .subscriptions:
      return .subscriptions(try results(&reader))
    case .listening: return .listening(try reader.position(), try results(&reader))
    case .arrivals:
      return .arrivals(
        try reader.position(),
        try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in try reader.identifier() })
    case .notifier: return .notifier(try reader.identifier(), boxKey: try reader.boxKey())
    case .notifications: return .notifications(try notifications(reading: &reader))
    case .dueNotifications: return .dueNotifications(try dueNotifications(reading: &reader))
    case .acknowledgedNotifications:
      return .acknowledgedNotifications(try dueNotifications(reading: &reader), try results(&reader))
    }
  }

  private static func write(_ bytes: inout [UInt8], _ message: RelayMessage, age: UInt32?) {
    bytes += message.identifier.bytes
    bytes.append(signed64: message.timestamp.milliseconds)
    if let age { bytes.append(unsigned32: age) }
    bytes.append(message.notify ? 1 : 0)
    bytes += message.body
  }

  private static func message(
    reading reader: inout RelayReader, hasAge: Bool
  ) throws(RelayError) -> RelayMessage {
    let identifier = try reader.identifier()
    let timestamp = WallTime(milliseconds: try reader.signed64())
    let age = hasAge ? try reader.unsigned32() : nil
    let flags = try reader.byte()
    let body = Array(reader.remainder())
    guard body.count <= RelayLimits.body else { throw .size }
    return RelayMessage(identifier: identifier, timestamp: timestamp, notify: flags & 1 == 1, body: body, age: age)
  }

  private static func notifications(reading reader: inout RelayReader) throws(RelayError) -> [RelayNotification] {
    try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in
      try Self.notification(reading: &reader)
    }
  }

  private static func dueNotifications(
    reading reader: inout RelayReader
  ) throws(RelayError) -> RelayDueNotifications {
    let nextIn = try reader.optional { (reader) throws(RelayError) in try reader.unsigned32() }
    return RelayDueNotifications(notifications: try notifications(reading: &reader), nextIn: nextIn)
  }

  private static func results(_ reader: inout RelayReader) throws(RelayError) -> [RelaySubscription] {
    try reader.list(limit: RelayLimits.batch) { (reader) throws(RelayError) in
      guard let result = RelaySubscription(rawValue: try reader.byte()) else { throw .syntax }
      return result
    }
  }

  private static func notification(reading reader: inout RelayReader) throws(RelayError) -> RelayNotification {
    RelayNotification(
      notifier: try reader.identifier(), timestamp: WallTime(milliseconds: try reader.signed64()),
      nonce: try reader.boxNonce(), metadata: Array(try reader.bytes(Int(try reader.unsigned16()))))
  }
}

extension RelayError {
  /// The code of a relay's refusal; all transport failures and failures inside the relay share one.
  fileprivate var wireCode: UInt8 {
    switch self {
    case .auth: 1
    case .quota: 2
    case .size: 3
    case .noMessage: 4
    case .syntax: 5
    case .version: 6
    case .unavailable, .offline, .timeout, .answer, .closed, .storage, .crypto: 7
    }
  }

  /// A code unknown to this version means that the relay failed, not that the answer is malformed.
  fileprivate init(wireCode: UInt8) {
    switch wireCode {
    case 1: self = .auth
    case 2: self = .quota
    case 3: self = .size
    case 4: self = .noMessage
    case 5: self = .syntax
    case 6: self = .version
    default: self = .unavailable
    }
  }
}
