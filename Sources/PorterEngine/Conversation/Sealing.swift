import PorterCrypto
import PorterStore

extension StoredRatchet {
  /// Encrypts a message for the other side and advances the ratchet, which the caller stores in the same transaction.
  mutating func seal(_ message: ChatMessage) throws(StoreError) -> [UInt8] {
    do throws(CryptoError) {
      let padded = try Padding.pad(message.bytes, to: Envelope.paddedCount)
      return try ratchet.encrypt(padded, associatedData: associatedData)
    } catch {
      // Sizes are checked before; the only remaining cause is a ratchet that cannot be what we stored.
      throw .damaged(.connection)
    }
  }
}

extension Store {
  /// Encrypts the message and puts it into the connection's outbox. Part of the caller's transaction, which also stores
  /// the ratchet. The relay recognises a repeat by `attempt`.
  func enqueue(
    _ message: ChatMessage, connectionID: Int64, itemID: Int64?, with ratchet: inout StoredRatchet, attempt: [UInt8],
    notifies: Bool? = nil
  ) throws(StoreError) {
    let sealed = try ratchet.seal(message)
    _ = try insertOutbox(
      connectionID: connectionID, itemID: itemID, purpose: "message", isSigned: true,
      notifies: notifies ?? message.notifies,
      body: Envelope.message(sealed[...]).bytes, deduplication: attempt)
  }
}
