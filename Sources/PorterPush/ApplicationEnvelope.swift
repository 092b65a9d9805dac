import PorterCrypto
import PorterJSON
import PorterPlatform

/// A host's own push, from its service: a version, a command and data, sealed for the scope and signed by the service.
/// spec/protocol/scopes.md has the form.
package struct ApplicationEnvelope: Hashable, Sendable {
  /// Chosen by the service; identifies repeats.
  package let identifier: [UInt8]
  /// The host's own version of the meaning of `data`.
  package let version: Int64
  /// The host dispatches on it.
  package let command: String
  package let expires: WallTime
  package let sender: String?
  package let url: String?
  /// The host's data, any JSON.
  package let data: JSONValue

  package static let identifierSizes = 16...32
  package static let maximumCommand = 256
  package static let maximumSender = 256
  package static let maximumURL = 2_048

  /// Nil if a member has the wrong size.
  package init?(
    identifier: [UInt8], version: Int64, command: String, expires: WallTime, sender: String? = nil, url: String? = nil,
    data: JSONValue = .null
  ) {
    guard Self.identifierSizes ~= identifier.count, version >= 1, 1...Self.maximumCommand ~= command.utf8.count,
      expires.milliseconds >= 0, sender?.utf8.count ?? 0 <= Self.maximumSender,
      url?.utf8.count ?? 0 <= Self.maximumURL
    else { return nil }
    self.identifier = identifier
    self.version = version
    self.command = command
    self.expires = expires
    self.sender = sender
    self.url = url
    self.data = data
  }
}

// MARK: - JSON

extension ApplicationEnvelope {
  package var json: JSONValue {
    .compact([
      "id": .string(TextEncoding.base64URL(identifier)), "version": .integer(version), "command": .string(command),
      "expires": .integer(expires.milliseconds / 1_000), "sender": sender.map { .string($0) },
      "url": url.map { .string($0) }, "data": data == .null ? nil : data,
    ])
  }

  /// Ignores members that other versions add. Nil for anything else.
  package init?(json: JSONValue) {
    guard let identifier = json["id"]?.stringValue.flatMap(TextEncoding.base64URLDecoded),
      let version = json["version"]?.integerValue, let command = json["command"]?.stringValue,
      let expires = json["expires"]?.integerValue, 0...Self.latestExpiry ~= expires,
      let sender = json.text("sender"), let url = json.text("url")
    else { return nil }
    self.init(
      identifier: identifier, version: version, command: command, expires: WallTime(milliseconds: expires * 1_000),
      sender: sender.value, url: url.value, data: json["data"] ?? .null)
  }

  /// The year 9999, in seconds: far from where milliseconds overflow.
  private static let latestExpiry: Int64 = 253_402_300_799
}

extension JSONValue {
  /// A text that may be missing; nil if it is not a text.
  fileprivate func text(_ name: String) -> (value: String?, Void)? {
    guard let member = self[name] else { return (nil, ()) }
    return member.stringValue.map { ($0, ()) }
  }
}

// MARK: - Sealing

extension ApplicationEnvelope {
  /// The first byte of a message in a scope's mailbox.
  package static let tag = UInt8(ascii: "A")
  /// Size of the whole message: the largest that a relay accepts, as for every message here, so that its size reveals
  /// nothing.
  package static let sealedCount = 16_384
  private static let headerCount = 1 + BoxPublicKey.count + BoxNonce.count
  private static let paddedCount = sealedCount - headerCount - Box.overhead
  /// Limit of the envelope as JSON.
  package static let maximumCount = paddedCount - Padding.overhead - SigningPublicKey.signatureCount

  /// The message for the scope's mailbox. Each has its own key.
  package func sealed(
    for scope: ScopeAddress, signedBy service: SigningKeyPair, randomness: any Randomness
  ) throws(PushError) -> [UInt8] {
    let text = json.utf8
    guard text.count <= Self.maximumCount else { throw .oversized(length: text.count, limit: Self.maximumCount) }
    return try PushError.carrying { () throws(CryptoError) in
      let ephemeral = try BoxKeyPair.generate(randomness: randomness)
      let nonce = try BoxNonce.generate(randomness: randomness)
      let signature = service.sign(Self.signedBytes(text, scope: scope.key))
      let shared = try ephemeral.secretKey.agree(with: scope.key)
      let box = try shared.sealPadded(signature + text, to: Self.paddedCount, nonce: nonce)
      return [Self.tag] + ephemeral.publicKey.bytes + nonce.bytes + box
    }
  }

  /// Throws `.notAuthentic` if the message is sealed for another scope, changed, or signed with a key other than the
  /// service's.
  package init(
    opening message: [UInt8], with key: BoxKeyPair, service: SigningPublicKey
  ) throws(PushError) {
    guard message.count == Self.sealedCount, message.first == Self.tag else { throw .malformed(.envelope) }
    let nonceStart = 1 + BoxPublicKey.count
    guard let ephemeral = BoxPublicKey(bytes: message[1..<nonceStart]),
      let nonce = BoxNonce(bytes: message[nonceStart..<Self.headerCount])
    else { throw .malformed(.envelope) }
    let opened = try PushError.carrying { () throws(CryptoError) in
      try key.secretKey.agree(with: ephemeral).openPadded(Array(message[Self.headerCount...]), nonce: nonce)
    }
    guard opened.count > SigningPublicKey.signatureCount else { throw .malformed(.signature) }
    let text = Array(opened[SigningPublicKey.signatureCount...])
    let signature = Array(opened[..<SigningPublicKey.signatureCount])
    // Before any of it is read.
    guard service.isValid(signature: signature, for: Self.signedBytes(text, scope: key.publicKey)) else {
      throw .notAuthentic
    }
    let json: JSONValue
    do throws(JSONError) { json = try JSONValue(parsing: text) } catch { throw PushError(error, length: text.count) }
    guard let envelope = Self(json: json) else { throw .malformed(.envelope) }
    self = envelope
  }

  /// The scope's key is signed too, so an envelope for one scope, or one device, is not valid for another.
  private static func signedBytes(_ text: [UInt8], scope: BoxPublicKey) -> [UInt8] {
    Array("nightporter application push 1".utf8) + [0] + scope.bytes + text
  }
}
