import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterSchema

/// A message left in the mailbox of an address, inside the encryption; JSON in the style of SimpleX's chat protocol.
enum RequestMessage: Equatable, Sendable {
  /// The sender asks to become a contact. `person` is the sender's name for this address, known only to the two of
  /// them; only the receiver can use `invitation`.
  case contact(Profile, person: [UInt8], invitation: InvitationLink)
  /// The sender withdraws the request.
  case withdrawn(person: [UInt8])

  static let personCount = 24

  private var json: JSONValue {
    switch self {
    case .contact(let profile, let person, let invitation):
      [
        "event": "x.contact",
        "params": [
          "profile": profile.json, "contactReqId": .string(TextEncoding.base64URL(person)),
          "invitation": .string(invitation.text),
        ],
      ]
    case .withdrawn(let person):
      ["event": "x.contact.del", "params": ["contactReqId": .string(TextEncoding.base64URL(person))]]
    }
  }

  /// Nil for anything that is not a message of this protocol.
  private init?(bytes: [UInt8]) {
    guard let json = try? JSONValue(parsing: bytes), let params = json["params"],
      let person = params["contactReqId"]?.stringValue.flatMap({ TextEncoding.base64URLDecoded($0) }),
      person.count == Self.personCount
    else { return nil }
    switch json["event"]?.stringValue {
    case "x.contact":
      guard let profile = params["profile"].flatMap({ Profile(json: $0) }),
        let invitation = params["invitation"]?.stringValue.flatMap({ try? InvitationLink(parsing: $0) })
      else { return nil }
      self = .contact(profile, person: person, invitation: invitation)
    case "x.contact.del": self = .withdrawn(person: person)
    default: return nil
    }
  }

  // MARK: Sealing

  /// Seals the message for the owner of the address only. Each message has its own key, so that two from one person
  /// have nothing in common to anyone else.
  func sealed(for address: BoxPublicKey, randomness: any Randomness) throws(CryptoError) -> Envelope {
    let ephemeral = try BoxKeyPair.generate(randomness: randomness)
    let nonce = try BoxNonce.generate(randomness: randomness)
    let shared = try ephemeral.secretKey.agree(with: address)
    return .request(
      ephemeral.publicKey, nonce, try shared.sealPadded(json.utf8, to: Envelope.requestCount, nonce: nonce))
  }

  enum Opening {
    case opened(RequestMessage)
    /// The reason, for the quarantine.
    case failed(String)
  }

  static func open(_ sealed: [UInt8], _ ephemeral: BoxPublicKey, _ nonce: BoxNonce, with key: BoxSecretKey) -> Opening {
    do throws(CryptoError) {
      let plaintext = try key.agree(with: ephemeral).openPadded(sealed, nonce: nonce)
      return RequestMessage(bytes: plaintext).map(Opening.opened) ?? .failed("not a contact request")
    } catch {
      return .failed(error.description)
    }
  }
}
