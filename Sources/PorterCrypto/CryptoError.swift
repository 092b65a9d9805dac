/// Why an operation failed. Cases carry only names and lengths, so that an error can be logged as it is.
package enum CryptoError: Error, Hashable, Sendable {
  /// The intended kind of the rejected value.
  package enum Part: String, Hashable, Sendable {
    case derivedKey, invitationKeys, joinerKeys, message, padding, plaintext, publicKey, ratchetState, skippedKeys
  }

  /// libsodium could not be initialised: the system provides no randomness.
  case unavailable
  /// The randomness port returned a different number of bytes than requested.
  case randomnessFailed
  /// Too short, too long, or not of the specified form.
  case malformed(Part)
  /// The first byte names a format that this version does not know.
  case unsupportedVersion(UInt8)
  /// A public key of low order: every agreement with it has the same, publicly known result.
  case publicKeyRefused
  /// Changed in transit, or sealed with another key.
  case authenticationFailed
  /// The message's key was already used, or was discarded to stay within the bounds.
  case duplicate
  /// The message would make the receiver derive more keys in one chain than `Ratchet.maximumSkippedPerStep`.
  case tooManySkipped
  /// The inviting side cannot send before the first message of the joining side.
  case notEstablished
  /// 2³² − 1 messages were sent without a single answer.
  case chainExhausted
}

extension CryptoError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unavailable: "libsodium cannot be initialised"
    case .randomnessFailed: "the source of randomness gave too few bytes"
    case .malformed(let part): "malformed \(part.rawValue)"
    case .unsupportedVersion(let version): "unsupported format version \(version)"
    case .publicKeyRefused: "public key of low order"
    case .authenticationFailed: "authentication failed"
    case .duplicate: "message key already used"
    case .tooManySkipped: "too many messages skipped"
    case .notEstablished: "nothing received yet, so nothing can be sent"
    case .chainExhausted: "too many messages without an answer"
    }
  }
}
