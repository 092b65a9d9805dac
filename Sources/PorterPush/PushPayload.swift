import PorterCrypto
import PorterJSON
import PorterPlatform

/// The push that a notification server sends to a device through a provider: the whole APNs JSON.
///
/// A hint, never the message: it shows the extension where to look. spec/protocol/push.md has the form.
package enum PushPayload: Hashable, Sendable {
  /// Proves that pushes to this token arrive. Opens with the token's key to a `VerificationCode`.
  case verification(nonce: BoxNonce, ciphertext: [UInt8])
  /// Something waits in up to six mailboxes. Opens with the token's key to a `NotificationBundle`. From an earlier
  /// server it has no tags.
  case message(nonce: BoxNonce, ciphertext: [UInt8], tags: PushTags? = nil)
  /// Tells the device to look for messages; sent at the token's period.
  case checkMessages
}

/// How a provider must treat a push; an APNs header.
package enum PushType: String, Hashable, Sendable {
  case alert, background
}

extension PushPayload {
  /// The platform's limit for the whole JSON, in bytes (INC-69).
  package static let maximumCount = 4_096
  /// Shown by the platform if the extension does not get to replace it.
  package static let placeholderText = "Encrypted message or another app event"
  package static let messageCategory = "NTF_CAT_CHECK_MESSAGE"

  package var pushType: PushType {
    switch self {
    case .message: .alert
    case .verification, .checkMessages: .background
    }
  }

  /// The APNs header: 10 is immediate; APNs requires 5 for background pushes.
  package var priority: Int {
    switch self {
    case .message: 10
    case .verification, .checkMessages: 5
    }
  }
}

// MARK: - Reading, in the extension

extension PushPayload {
  package init(decoding text: some StringProtocol) throws(PushError) {
    try self.init(decoding: Array(text.utf8))
  }

  /// Ignores members that other versions add.
  package init(decoding bytes: [UInt8]) throws(PushError) {
    guard bytes.count <= Self.maximumCount else {
      throw .oversized(length: bytes.count, limit: Self.maximumCount)
    }
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(parsing: bytes) } catch { throw PushError(error, length: bytes.count) }
    guard let aps = json["aps"] else { throw .missing(.aps) }
    guard aps.objectValue != nil else { throw .malformed(.aps) }
    guard let data = json["notificationData"] else { throw .missing(.notificationData) }
    guard data.objectValue != nil else { throw .malformed(.notificationData) }

    switch (data["message"], data["verification"], data["checkMessages"]) {
    case (let ciphertext?, nil, nil):
      // Unreadable tags count as absent: they only decide what is shown when the rest cannot be opened.
      self = .message(
        nonce: try Self.nonce(data), ciphertext: try Self.ciphertext(ciphertext),
        tags: data["tags"]?.stringValue.flatMap { PushTags(text: $0) })
    case (nil, let ciphertext?, nil):
      self = .verification(nonce: try Self.nonce(data), ciphertext: try Self.ciphertext(ciphertext))
    case (nil, nil, .bool(true)?):
      self = .checkMessages
    case (nil, nil, _):
      throw .unknownKind
    default:
      throw .malformed(.notificationData)
    }
  }

  private static func nonce(_ data: JSONValue) throws(PushError) -> BoxNonce {
    guard let value = data["nonce"] else { throw .missing(.nonce) }
    guard let nonce = value.stringValue.flatMap(TextEncoding.base64URLDecoded).flatMap({ BoxNonce(bytes: $0) }) else {
      throw .malformed(.nonce)
    }
    return nonce
  }

  private static func ciphertext(_ value: JSONValue) throws(PushError) -> [UInt8] {
    guard let bytes = value.stringValue.flatMap(TextEncoding.base64URLDecoded), bytes.count > Box.overhead else {
      throw .malformed(.ciphertext)
    }
    return bytes
  }
}

// MARK: - Writing, in the server

extension PushPayload {
  /// The whole APNs JSON. Throws `.oversized` instead of passing a provider a push that the platform would refuse
  /// (INC-69).
  package func encoded() throws(PushError) -> JSONValue {
    let json = self.json
    let length = json.utf8.count
    guard length <= Self.maximumCount else { throw .oversized(length: length, limit: Self.maximumCount) }
    return json
  }

  private var json: JSONValue {
    switch self {
    case .verification(let nonce, let ciphertext):
      [
        "aps": ["content-available": 1],
        "notificationData": [
          "nonce": .string(TextEncoding.base64URL(nonce.bytes)),
          "verification": .string(TextEncoding.base64URL(ciphertext)),
        ],
      ]
    case .message(let nonce, let ciphertext, let tags):
      [
        "aps": [
          "mutable-content": 1, "alert": .string(Self.placeholderText), "category": .string(Self.messageCategory),
        ],
        "notificationData": .compact([
          "nonce": .string(TextEncoding.base64URL(nonce.bytes)),
          "message": .string(TextEncoding.base64URL(ciphertext)), "tags": tags.map { .string($0.text) },
        ]),
      ]
    case .checkMessages:
      ["aps": ["content-available": 1], "notificationData": ["checkMessages": true]]
    }
  }
}
