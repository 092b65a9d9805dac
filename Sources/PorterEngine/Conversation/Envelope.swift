import PorterCrypto
import PorterPlatform
import PorterPush

/// A message as a mailbox holds it: a first byte for the kind, then the rest.
///
/// `C` is the confirmation of an invitation: public keys (64), the sender's signing key (32), the first ratchet
/// message. `M` is a ratchet message. `R` is a request to an address: the key of this message (32), a nonce (24), the
/// sealed request. `A` is a push of the host's own, which is opened as a whole. Padded before encryption, so that all
/// envelopes of a kind have the same size.
enum Envelope: Equatable, Sendable {
  case confirmation(publicKeys: [UInt8], signingKey: SigningPublicKey, message: [UInt8])
  /// Not copied: 16 KB with its padding.
  case message(ArraySlice<UInt8>)
  case request(BoxPublicKey, BoxNonce, [UInt8])
  /// Including its first byte.
  case application([UInt8])

  private static let confirmationTag = UInt8(ascii: "C")
  private static let messageTag = UInt8(ascii: "M")
  private static let requestTag = UInt8(ascii: "R")

  /// Bytes of a plaintext before encryption. With the confirmation's 97 bytes and the ratchet's overhead, within
  /// 16,384.
  static let paddedCount = 16_384 - 1 - KeyAgreement.publicKeysCount - SigningPublicKey.count - Ratchet.overhead

  /// Bytes of a request before it is sealed.
  static let requestCount = 16_384 - 1 - BoxPublicKey.count - BoxNonce.count - Box.overhead

  /// Maximum bytes of a message's JSON content; the rest of the padded plaintext is for what surrounds it.
  static let largestContent = paddedCount - 512

  var bytes: [UInt8] {
    switch self {
    case .confirmation(let publicKeys, let signingKey, let message):
      [Self.confirmationTag] + publicKeys + signingKey.bytes + message
    case .message(let message): [Self.messageTag] + message
    case .application(let whole): whole
    case .request(let key, let nonce, let sealed): [Self.requestTag] + key.bytes + nonce.bytes + sealed
    }
  }

  /// Nil for anything else.
  init?(bytes: [UInt8]) {
    switch bytes.first {
    case Self.confirmationTag:
      let keysEnd = 1 + KeyAgreement.publicKeysCount
      let signingEnd = keysEnd + SigningPublicKey.count
      guard bytes.count > signingEnd, let key = SigningPublicKey(bytes: bytes[keysEnd..<signingEnd]) else { return nil }
      self = .confirmation(
        publicKeys: Array(bytes[1..<keysEnd]), signingKey: key, message: Array(bytes[signingEnd...]))
    case Self.messageTag: self = .message(bytes.dropFirst())
    case Self.requestTag:
      let keyEnd = 1 + BoxPublicKey.count
      let nonceEnd = keyEnd + BoxNonce.count
      guard bytes.count > nonceEnd, let key = BoxPublicKey(bytes: bytes[1..<keyEnd]),
        let nonce = BoxNonce(bytes: bytes[keyEnd..<nonceEnd])
      else { return nil }
      self = .request(key, nonce, Array(bytes[nonceEnd...]))
    case ApplicationEnvelope.tag: self = .application(bytes)
    default: return nil
    }
  }
}
