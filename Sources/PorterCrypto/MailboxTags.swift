import CSodium

/// Derived from a token's push key: both sides use it to name the token's mailboxes in tags.
///
/// A push carries, in the clear, a tag for each mailbox it is about. A process that cannot read the store, and so has
/// no key, uses a mailbox's handle to recognise that nothing may be shown for it. A handle opens nothing, and leads
/// back neither to the key nor to the mailbox. Each push has its own nonce, so that tags are random to anyone
/// without the handle.
package struct MailboxTagKey: Sendable, Redacted {
  private static let label = Array("Nightporter mailbox tags v1".utf8)
  private let key: SecretBytes

  package init(of shared: BoxSharedKey) {
    // Keyed with all 32 bytes, for a 32-byte result: it fails only for other sizes.
    key =
      SecretBytes.filled(count: BoxSharedKey.count) { result in
        shared.key.withPointer {
          crypto_generichash(result, BoxSharedKey.count, Self.label, UInt64(Self.label.count), $0, BoxSharedKey.count)
            == 0
        }
      } ?? SecretBytes([])
  }

  /// The handle of the mailbox with this notifier id, which is 24 bytes long; a label of `handle` has another length.
  package func handle(of notifier: [UInt8]) -> MailboxHandle { handle(notifier) }

  /// Its tags fill the places of a push that is about fewer mailboxes.
  package var pad: MailboxHandle { handle(Array("pad".utf8)) }

  /// The handle of no mailbox, one for each index, so that a list of handles does not reveal how many mailboxes it
  /// names.
  package func filler(_ index: Int) -> MailboxHandle {
    handle(Array("filler".utf8) + withUnsafeBytes(of: UInt32(clamping: index).bigEndian, Array.init))
  }

  private func handle(_ name: [UInt8]) -> MailboxHandle {
    key.withPointer { MailboxHandle(blake2b(name, key: $0, count: key.count)) }
  }
}

/// Stands for a mailbox under one token's key.
package struct MailboxHandle: Hashable, Comparable, Sendable {
  package static let count = 16
  /// The handle of no mailbox and no token.
  package static let none = MailboxHandle((0, 0))
  private let high, low: UInt64

  fileprivate init(_ halves: (UInt64, UInt64)) {
    high = UInt64(bigEndian: halves.0)
    low = UInt64(bigEndian: halves.1)
  }

  /// Nil unless there are 16 bytes.
  package init?(bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  package var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian), Array.init) }

  package static func < (left: Self, right: Self) -> Bool { (left.high, left.low) < (right.high, right.low) }

  /// The tag in the push with this nonce.
  package func tag(_ nonce: BoxNonce) -> MailboxTag { tag(nonce.bytes) }

  /// The tag at one of the push's places, for a handle that fills several of them.
  package func tag(_ nonce: BoxNonce, place: Int) -> MailboxTag { tag(nonce.bytes + [UInt8(clamping: place)]) }

  private func tag(_ message: [UInt8]) -> MailboxTag {
    withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { key in
      // Eight bytes of the shortest result of `crypto_generichash`.
      MailboxTag(value: UInt64(bigEndian: blake2b(message, key: key.baseAddress, count: key.count).0))
    }
  }
}

/// A mailbox in one push.
package struct MailboxTag: Hashable, Sendable {
  package static let count = 8
  fileprivate let value: UInt64

  fileprivate init(value: UInt64) { self.value = value }

  /// Nil unless there are 8 bytes.
  package init?(bytes: ArraySlice<UInt8>) {
    guard bytes.count == Self.count else { return nil }
    value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }

  package var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian, Array.init) }
}

/// Keyed BLAKE2b (RFC 7693) over `message`: 16 bytes, as they lie in memory.
private func blake2b(_ message: [UInt8], key: UnsafeRawPointer?, count: Int) -> (UInt64, UInt64) {
  Sodium.initializeIfPossible()
  var halves: (UInt64, UInt64) = (0, 0)
  withUnsafeMutableBytes(of: &halves) { result in
    guard let start = result.baseAddress else { return }
    // Keys have 16 or 32 bytes: it fails only for other sizes.
    _ = crypto_generichash(
      start.assumingMemoryBound(to: UInt8.self), result.count, message, UInt64(message.count),
      key?.assumingMemoryBound(to: UInt8.self), count)
  }
  return halves
}
