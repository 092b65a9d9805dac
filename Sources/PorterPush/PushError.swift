import PorterCrypto
import PorterJSON

/// Why a push, or a message between client and notification server, cannot be read or written.
///
/// Cases carry only names and lengths, so that an error can be logged as is.
package enum PushError: Error, Hashable, Sendable {
  /// The part that is missing or malformed.
  package enum Part: String, Hashable, Sendable {
    case aps, notificationData, nonce, ciphertext, verification, verificationCode
    case bundle, bundleEntry
    case link, envelope, signature, request, answer
    case correlation, replyMailbox, tokenID, pushToken, provider, key, command, code, minutes, notifiers, notifier
    case subscriptions, status, refusal
  }

  /// Longer than a push may be, or than an envelope holds. Lengths in bytes.
  case oversized(length: Int, limit: Int)
  /// The JSON ends before it is complete, after this many bytes.
  case truncated(length: Int)
  /// Not JSON for another reason.
  case notJSON(JSONError)
  case missing(Part)
  case malformed(Part)
  /// A kind of push, or the name of a request or answer, that this version does not know.
  case unknownKind
  /// Made for another format version.
  case unsupportedVersion(UInt8)
  /// Changed in transit, or sealed for another recipient.
  case notAuthentic
  /// The cryptography failed for another reason.
  case crypto(CryptoError)
}

extension PushError {
  init(_ error: JSONError, length: Int) {
    self = error.reason == .unexpectedEnd ? .truncated(length: length) : .notJSON(error)
  }

  init(_ error: CryptoError) {
    self = error == .authenticationFailed ? .notAuthentic : .crypto(error)
  }

  static func carrying<Value>(_ body: () throws(CryptoError) -> Value) throws(PushError) -> Value {
    do throws(CryptoError) { return try body() } catch { throw PushError(error) }
  }
}

extension PushError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .oversized(let length, let limit): "\(length) bytes, over the limit of \(limit)"
    case .truncated(let length): "the JSON ends too early, after \(length) bytes"
    case .notJSON(let error): "not JSON: \(error.reason.rawValue) at byte \(error.offset)"
    case .missing(let part): "\(part.rawValue) is missing"
    case .malformed(let part): "malformed \(part.rawValue)"
    case .unknownKind: "of a kind that this version does not know"
    case .unsupportedVersion(let version): "unsupported format version \(version)"
    case .notAuthentic: "changed in transit, or sealed for another recipient"
    case .crypto(let error): "\(error)"
    }
  }
}
