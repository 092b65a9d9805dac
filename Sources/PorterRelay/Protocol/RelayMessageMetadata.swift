import PorterCrypto
import PorterPlatform

/// Tells a mailbox's recipient which message is waiting. Sealed between relay and recipient, so that neither the
/// notification service nor the push provider can read it.
package struct RelayMessageMetadata: Hashable, Sendable {
  package var message: RelayIdentifier
  /// When the relay accepted the message.
  package var timestamp: WallTime

  package init(message: RelayIdentifier, timestamp: WallTime) {
    self.message = message
    self.timestamp = timestamp
  }

  /// Padded to a fixed size, whatever it holds.
  package func sealed(with key: BoxSharedKey, nonce: BoxNonce) throws(CryptoError) -> [UInt8] {
    var bytes = [UInt8(RelayIdentifier.count)]
    bytes += message.bytes
    bytes.append(signed64: timestamp.milliseconds)
    return try key.sealPadded(bytes, to: RelayLimits.metadata, nonce: nonce)
  }

  /// Throws `authenticationFailed` for a different key or changed bytes, and `malformed` for contents that do not
  /// parse. Bytes after the timestamp are reserved for later versions.
  package init(opening sealed: [UInt8], with key: BoxSharedKey, nonce: BoxNonce) throws(CryptoError) {
    let bytes = try key.openPadded(sealed, nonce: nonce)
    var reader = RelayReader(bytes)
    do throws(RelayError) {
      guard try reader.byte() == UInt8(RelayIdentifier.count) else { throw .syntax }
      message = try reader.identifier()
      timestamp = WallTime(milliseconds: try reader.signed64())
    } catch {
      throw .malformed(.message)
    }
  }
}
