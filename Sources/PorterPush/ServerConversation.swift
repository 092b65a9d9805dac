import PorterCrypto
import PorterJSON
import PorterPlatform

/// The client's side: requests out, answers in.
///
/// `key` may be made for one request, or kept with the token so that another process on the same device can also open
/// the answer.
package struct ServerConversation: Sendable {
  package let server: NotificationServerLink
  private let key: BoxPublicKey
  private let shared: BoxSharedKey

  package init(server: NotificationServerLink, key: BoxKeyPair) throws(PushError) {
    self.server = server
    self.key = key.publicKey
    shared = try PushError.carrying { () throws(CryptoError) in try key.secretKey.agree(with: server.key) }
  }

  /// The body to send to `server.mailbox`; `signingKey` is the token's (for TNEW the one that will be the token's).
  package func seal(
    _ request: ServerRequest, signedBy signingKey: SigningKeyPair, randomness: some Randomness
  ) throws(PushError) -> [UInt8] {
    let text = request.json.utf8
    let signature = signingKey.sign(SignedRequest.signedBytes(text, server: server.key))
    let sealed = try Envelope.seal(signature + text, with: shared, randomness: randomness)
    return [Envelope.version] + key.bytes + sealed
  }

  /// Opens an answer found in the reply mailbox. Throws `.notAuthentic` if its request was made with another key.
  package func open(_ body: [UInt8]) throws(PushError) -> ServerAnswer {
    let fields = try Envelope.opened(body)
    let text = try Envelope.open(Array(fields), with: shared)
    return try ServerAnswer(json: try Envelope.json(text))
  }
}

/// A request as received by a server. Do not trust it before `isSigned(by:)` returns true.
package struct SignedRequest: Sendable {
  package let correlation: CorrelationID
  package let replyMailbox: [UInt8]
  /// A failure if the rest of the request was not understood; the answer is then `ServerRefusal.syntax`.
  package let request: Result<ServerRequest, PushError>
  private let signature: [UInt8]
  private let text: [UInt8]
  private let server: BoxPublicKey
  private let shared: BoxSharedKey

  /// Opens a message from the server's mailbox. Throws if it cannot even be answered.
  package init(opening body: [UInt8], with server: BoxKeyPair) throws(PushError) {
    let fields = try Envelope.opened(body)
    guard let key = BoxPublicKey(bytes: fields.prefix(BoxPublicKey.count)) else { throw .malformed(.envelope) }
    shared = try PushError.carrying { () throws(CryptoError) in try server.secretKey.agree(with: key) }
    let opened = try Envelope.open(Array(fields.dropFirst(BoxPublicKey.count)), with: shared)
    guard opened.count > SigningPublicKey.signatureCount else { throw .malformed(.signature) }
    signature = Array(opened.prefix(SigningPublicKey.signatureCount))
    text = Array(opened.dropFirst(SigningPublicKey.signatureCount))
    self.server = server.publicKey
    let json = try Envelope.json(text)
    (correlation, replyMailbox) = try ServerRequest.header(json)
    do throws(PushError) { request = .success(try ServerRequest(json: json)) } catch { request = .failure(error) }
  }

  package func isSigned(by key: SigningPublicKey) -> Bool {
    key.isValid(signature: signature, for: Self.signedBytes(text, server: server))
  }

  /// The body to send to the request's reply mailbox.
  package func seal(_ answer: ServerAnswer, randomness: some Randomness) throws(PushError) -> [UInt8] {
    [Envelope.version] + (try Envelope.seal(answer.json.utf8, with: shared, randomness: randomness))
  }

  /// The server's key is signed too, so that one server cannot pass a request on to another as its own.
  fileprivate static func signedBytes(_ text: [UInt8], server: BoxPublicKey) -> [UInt8] {
    Array("nightporter notification server request".utf8) + [Envelope.version] + server.bytes + text
  }
}

/// The version, the client's key (in a request), the nonce, and the box: spec/protocol/notification-server.md.
private enum Envelope {
  static let version: UInt8 = 1
  /// All requests and answers have one size, which reveals nothing about their contents.
  static let paddedCount = 8_192

  /// Everything after the version.
  static func opened(_ body: [UInt8]) throws(PushError) -> ArraySlice<UInt8> {
    guard let version = body.first else { throw .malformed(.envelope) }
    guard version == Self.version else { throw .unsupportedVersion(version) }
    return body.dropFirst()
  }

  static func seal(
    _ plaintext: [UInt8], with key: BoxSharedKey, randomness: some Randomness
  ) throws(PushError) -> [UInt8] {
    let limit = paddedCount - Padding.overhead
    guard plaintext.count <= limit else { throw .oversized(length: plaintext.count, limit: limit) }
    return try PushError.carrying { () throws(CryptoError) in
      let nonce = try BoxNonce.generate(randomness: randomness)
      return nonce.bytes + (try key.sealPadded(plaintext, to: paddedCount, nonce: nonce))
    }
  }

  static func open(_ sealed: [UInt8], with key: BoxSharedKey) throws(PushError) -> [UInt8] {
    guard sealed.count == BoxNonce.count + paddedCount + Box.overhead,
      let nonce = BoxNonce(bytes: sealed.prefix(BoxNonce.count))
    else { throw .malformed(.envelope) }
    return try PushError.carrying { () throws(CryptoError) in
      try key.openPadded(Array(sealed.dropFirst(BoxNonce.count)), nonce: nonce)
    }
  }

  static func json(_ text: [UInt8]) throws(PushError) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: text) } catch { throw PushError(error, length: text.count) }
  }
}
