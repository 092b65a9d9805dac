import PorterCrypto
import PorterRelay

/// Everything about a mailbox except the bodies of its messages, as one value replaced as a whole: changes that must
/// happen together are one replacement.
struct MailboxRecord: Equatable {
  struct Notifier: Equatable {
    /// 8 bytes, part of its identifier.
    var generation: [UInt8]
    var key: SigningPublicKey
    var recipientBoxKey: BoxPublicKey
    var relayBoxKey: BoxPublicKey
    var sharedKey: [UInt8]
    var service: SigningPublicKey?
  }

  /// A waiting message.
  struct Entry: Equatable {
    var body: UInt64
    var message: RelayIdentifier
    var attempt: RelayIdentifier
    var sentAt: Int64
    /// The sender asked for a notification.
    var notify: Bool
    /// The mailbox had a notifier, so there is or was a notification.
    var hasNotification: Bool
    /// The notifier's service must get it, but may not have it in its queue yet.
    var isOwed = false

    var stored: StoredBody { StoredBody(number: body, message: message.bytes) }
  }

  /// A dropped message, kept so that a resend is recognised.
  struct Past: Equatable {
    /// 8 bytes of the attempt.
    var attempt: [UInt8]
    var minute: UInt32
  }

  enum Attempt: Equatable {
    case new
    case waiting(Entry)
    case dropped
  }

  /// Attempts remembered per mailbox.
  static let mostPast = 256
  static let retention: Int64 = RelayLimits.retentionDays * 86_400_000
  private static let version: UInt8 = 1

  var generation: [UInt8]
  var recipientKey: SigningPublicKey
  var senderKey: SigningPublicKey?
  /// Nil until the owner has shared one.
  var checkKey: RelayCheckKey?
  var notifier: Notifier?
  /// Oldest first.
  var waiting: [Entry] = []
  var past: [Past] = []

  init(generation: [UInt8], recipientKey: SigningPublicKey, senderKey: SigningPublicKey?) {
    self.generation = generation
    self.recipientKey = recipientKey
    self.senderKey = senderKey
  }

  // MARK: Messages

  func state(of attempt: RelayIdentifier) -> Attempt {
    if let entry = waiting.first(where: { $0.attempt == attempt }) { return .waiting(entry) }
    return past.contains { $0.attempt == Array(attempt.bytes.prefix(8)) } ? .dropped : .new
  }

  func knows(_ attempt: RelayIdentifier) -> Bool {
    if case .new = state(of: attempt) { false } else { true }
  }

  func oldest(at now: Int64) -> Entry? { waiting.first { !Self.isExpired($0.sentAt, at: now) } }

  func entry(_ message: RelayIdentifier) -> Entry? { waiting.first { $0.message == message } }

  /// Removes messages past their retention; returns the numbers of their bodies.
  mutating func expire(at now: Int64) -> [StoredBody] {
    let expired = waiting.filter { Self.isExpired($0.sentAt, at: now) }
    if !expired.isEmpty { waiting.removeAll { Self.isExpired($0.sentAt, at: now) } }
    past.removeAll { Self.isExpired(Int64($0.minute) * 60_000, at: now) }
    return expired.map(\.stored)
  }

  /// Nil if it is not there.
  mutating func drop(_ message: RelayIdentifier, at now: Int64) -> Entry? {
    guard let index = waiting.firstIndex(where: { $0.message == message }) else { return nil }
    let entry = waiting.remove(at: index)
    past.append(Past(attempt: Array(entry.attempt.bytes.prefix(8)), minute: UInt32(clamping: now / 60_000)))
    if past.count > Self.mostPast { past.removeFirst(past.count - Self.mostPast) }
    return entry
  }

  static func isExpired(_ time: Int64, at now: Int64) -> Bool { time < now - retention }
}

// MARK: Bytes

extension MailboxRecord {
  func encoded() -> [UInt8] {
    var bytes = [Self.version]
    bytes += generation + recipientKey.bytes
    bytes.append(optional: senderKey?.bytes)
    bytes.append(optional: checkKey?.bytes)
    bytes.append(
      optional: notifier.map { notifier in
        var bytes = notifier.generation + notifier.key.bytes + notifier.recipientBoxKey.bytes
        bytes += notifier.relayBoxKey.bytes + notifier.sharedKey
        bytes.append(optional: notifier.service?.bytes)
        return bytes
      })
    bytes.append(list: waiting) { bytes, entry in
      bytes.append(signed64: Int64(bitPattern: entry.body))
      bytes += entry.message.bytes + entry.attempt.bytes
      bytes.append(signed64: entry.sentAt)
      bytes.append((entry.notify ? 1 : 0) | (entry.hasNotification ? 2 : 0) | (entry.isOwed ? 4 : 0))
    }
    bytes.append(list: past) { bytes, past in
      bytes += past.attempt
      bytes.append(unsigned32: past.minute)
    }
    return bytes
  }

  /// Throws `syntax` for bytes that are not a record of this version.
  init(decoding bytes: [UInt8]) throws(RelayError) {
    var reader = RelayReader(bytes)
    guard try reader.byte() == Self.version else { throw .version }
    generation = Array(try reader.bytes(8))
    recipientKey = try reader.signingKey()
    senderKey = try reader.optional { (reader) throws(RelayError) in try reader.signingKey() }
    checkKey = try reader.optional { (reader) throws(RelayError) in try reader.checkKey() }
    notifier = try reader.optional { (reader) throws(RelayError) in
      Notifier(
        generation: Array(try reader.bytes(8)), key: try reader.signingKey(), recipientBoxKey: try reader.boxKey(),
        relayBoxKey: try reader.boxKey(), sharedKey: Array(try reader.bytes(BoxSharedKey.count)),
        service: try reader.optional { (reader) throws(RelayError) in try reader.signingKey() })
    }
    waiting = try reader.list(limit: RelayLimits.undelivered) { (reader) throws(RelayError) in
      let body = UInt64(bitPattern: try reader.signed64())
      let (message, attempt) = (try reader.identifier(), try reader.identifier())
      let sentAt = try reader.signed64()
      let flags = try reader.byte()
      return Entry(
        body: body, message: message, attempt: attempt, sentAt: sentAt, notify: flags & 1 != 0,
        hasNotification: flags & 2 != 0, isOwed: flags & 4 != 0)
    }
    past = try reader.list(limit: Self.mostPast) { (reader) throws(RelayError) in
      Past(attempt: Array(try reader.bytes(8)), minute: try reader.unsigned32())
    }
    try reader.end()
  }
}
