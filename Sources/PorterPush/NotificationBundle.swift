import PorterCrypto
import PorterPlatform

/// The contents of a message push: the mailboxes in which something arrived, oldest first.
///
/// Several, because APNs keeps only the newest push while a device is offline (INC-38): each push repeats the contents
/// of the previous ones.
package struct NotificationBundle: Hashable, Sendable {
  package struct Entry: Hashable, Sendable {
    /// Names the mailbox's notifier at the relay.
    package var notifier: [UInt8]
    /// When the server was notified, in whole seconds since 1970.
    package var seconds: Int64
    package var metadataNonce: BoxNonce
    /// Message id and time, sealed by the relay for the mailbox's owner; the server cannot read them.
    package var sealedMetadata: [UInt8]

    package init(notifier: [UInt8], seconds: Int64, metadataNonce: BoxNonce, sealedMetadata: [UInt8]) {
      self.notifier = notifier
      self.seconds = seconds
      self.metadataNonce = metadataNonce
      self.sealedMetadata = sealedMetadata
    }
  }

  package static let maximumEntries = 6
  package static let notifierCount = 24
  /// Bytes of an entry's metadata. The relay's are 144; this leaves room to grow.
  package static let maximumMetadataCount = 272
  /// The last second of the year 9999: the time of an entry has at most twelve digits.
  package static let latestSecond: Int64 = 253_402_300_799
  /// Each bundle is padded to this, so that every message push has the same size whatever it contains. Six of the
  /// largest entries take 2,657 bytes and fit; the whole JSON comes to about 3,881 bytes, of which APNs takes 4,096 (INC-69)
  /// and Web Push 3,993.
  package static let paddedCount = 2_688
  /// The size to which servers without tags pad.
  static let untaggedCount = 2_816

  package let entries: [Entry]
  /// Entries that could not be read. The readable ones are kept (INC-44).
  package let damagedEntries: Int

  /// Throws `.malformed` if there are more than six entries, or one has the wrong size.
  package init(_ entries: [Entry]) throws(PushError) {
    guard entries.count <= Self.maximumEntries else { throw .malformed(.bundle) }
    guard entries.allSatisfy(\.isWellFormed) else { throw .malformed(.bundleEntry) }
    self.entries = entries
    damagedEntries = 0
  }

  private init(entries: [Entry], damagedEntries: Int) {
    self.entries = entries
    self.damagedEntries = damagedEntries
  }
}

extension NotificationBundle {
  package func push(sealedWith key: BoxSharedKey, nonce: BoxNonce) throws(PushError) -> PushPayload {
    let ciphertext = try PushError.carrying { () throws(CryptoError) in
      try key.sealPadded(Array(text.utf8), to: Self.paddedCount, nonce: nonce)
    }
    let tags = PushTags(of: self, nonce: nonce, under: MailboxTagKey(of: key))
    return .message(nonce: nonce, ciphertext: ciphertext, tags: tags)
  }

  package init(opening ciphertext: [UInt8], nonce: BoxNonce, with key: BoxSharedKey) throws(PushError) {
    guard [Self.paddedCount, Self.untaggedCount].contains(ciphertext.count - Box.overhead) else {
      throw .malformed(.bundle)
    }
    let opened = try PushError.carrying { () throws(CryptoError) in try key.openPadded(ciphertext, nonce: nonce) }
    guard let text = String(validating: opened, as: UTF8.self) else { throw .malformed(.bundle) }
    try self.init(text: text)
  }

  /// Entries joined by `;`, each with its four fields joined by single spaces.
  var text: String { entries.map(\.text).joined(separator: ";") }

  init(text: String) throws(PushError) {
    guard !text.isEmpty else {
      self.init(entries: [], damagedEntries: 0)
      return
    }
    var parts = TextFields(text, separator: UInt8(ascii: ";"))
    var (entries, count): ([Entry], Int) = ([], 0)
    while let part = parts.next() {
      count += 1
      guard count <= Self.maximumEntries else { throw .malformed(.bundle) }
      if let entry = Entry(text: part) { entries.append(entry) }
    }
    self.init(entries: entries, damagedEntries: count - entries.count)
  }
}

extension NotificationBundle.Entry {
  fileprivate var isWellFormed: Bool {
    notifier.count == NotificationBundle.notifierCount && (0...NotificationBundle.latestSecond).contains(seconds)
      && sealedMetadata.count >= Box.overhead && sealedMetadata.count <= NotificationBundle.maximumMetadataCount
  }

  fileprivate var text: String {
    let fields = [
      TextEncoding.base64URL(notifier), String(seconds), TextEncoding.base64URL(metadataNonce.bytes),
      TextEncoding.base64URL(sealedMetadata),
    ]
    return fields.joined(separator: " ")
  }

  fileprivate init?(text: String) {
    var fields = TextFields(text, separator: UInt8(ascii: " "))
    guard let notifier = fields.next().flatMap(TextEncoding.base64URLDecoded),
      let seconds = fields.next().flatMap({ Int64($0) }),
      let nonce = fields.next().flatMap(TextEncoding.base64URLDecoded).flatMap({ BoxNonce(bytes: $0) }),
      let metadata = fields.next().flatMap(TextEncoding.base64URLDecoded), fields.isAtEnd
    else { return nil }
    self.init(notifier: notifier, seconds: seconds, metadataNonce: nonce, sealedMetadata: metadata)
    guard isWellFormed else { return nil }
  }
}
