import PorterCrypto

/// A secret shared by a mailbox's owner and the relay, so that the owner can ask whether something is waiting without a
/// signature for each mailbox. It proves nothing else: messages are fetched with signatures.
///
/// It is derived from the mailbox's own key, so the owner need not store it.
package struct RelayCheckKey: Hashable, Sendable, Redacted {
  package static let count = AuthenticationKey.count
  package let bytes: [UInt8]

  private static let purpose = Array("nightporter relay check key 1".utf8)
  /// Keeps a tag from being valid for anything else, as a request's domain does for signatures.
  private static let domain = Array("nightporter relay check 1".utf8) + [0]

  /// Nil unless there are 32 bytes.
  package init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    self.bytes = Array(bytes)
  }

  /// The key of the mailbox whose owner has `key`.
  package init(of key: SigningKeyPair) { bytes = key.derive(for: Self.purpose) }

  /// The tag for this mailbox in this request.
  func tag(correlation: RelayIdentifier, _ mailbox: RelayIdentifier) -> [UInt8] {
    AuthenticationKey(stored: bytes)?.tag(Self.message(correlation, mailbox)) ?? []
  }

  /// Takes a time independent of the tag.
  package func verifies(_ tag: [UInt8], correlation: RelayIdentifier, _ mailbox: RelayIdentifier) -> Bool {
    AuthenticationKey(stored: bytes)?.verifies(tag, of: Self.message(correlation, mailbox)) ?? false
  }

  private static func message(_ correlation: RelayIdentifier, _ mailbox: RelayIdentifier) -> [UInt8] {
    domain + correlation.bytes + mailbox.bytes
  }
}
