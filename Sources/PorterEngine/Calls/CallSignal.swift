import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterSchema

/// A signal between the two sides of a call; JSON in the style of SimpleX's chat protocol.
struct CallSignal: Equatable, Sendable {
  /// `key` is the sender's half of the agreement on a key for the media.
  enum Content: Equatable, Sendable {
    case invitation(CallType, key: BoxPublicKey?)
    case offer(CallOffer, key: BoxPublicKey?)
    case answer(MediaSession)
    case extra(candidates: String)
    case end
  }

  /// The call's ID, shared by both sides.
  let id: [UInt8]
  let content: Content

  init(id: [UInt8], _ content: Content) {
    self.id = id
    self.content = content
  }

  /// An invitation wakes a sleeping device; `sendEnd` decides for itself.
  var notifies: Bool {
    if case .invitation = content { true } else { false }
  }

  var json: JSONValue {
    let (event, name, value): (String, String?, JSONValue) =
      switch content {
      case .invitation(let type, let key):
        ("x.call.inv", "invitation", .compact(["callType": type.json, "callDhPubKey": key.map(Self.text)]))
      case .offer(let offer, let key):
        (
          "x.call.offer", "offer",
          .compact([
            "callType": offer.type.json, "rtcSession": offer.session.json, "callDhPubKey": key.map(Self.text),
          ])
        )
      case .answer(let session): ("x.call.answer", "answer", ["rtcSession": session.json])
      case .extra(let candidates):
        ("x.call.extra", "extra", ["rtcExtraInfo": ["rtcIceCandidates": .string(candidates)]])
      case .end: ("x.call.end", nil, .null)
      }
    var params = JSONObject([("callId", .string(TextEncoding.base64URL(id)))])
    if let name { params[name] = value }
    return ["event": .string(event), "params": .object(params)]
  }

  private static func text(_ key: BoxPublicKey) -> JSONValue { .string(TextEncoding.base64URL(key.bytes)) }

  /// Nil if `params` does not have the form of its event.
  init?(event: String, _ params: JSONValue) {
    guard let id = params["callId"]?.stringValue.flatMap({ TextEncoding.base64URLDecoded($0) }),
      (1...64).contains(id.count), let content = Self.content(event, params)
    else { return nil }
    self.init(id: id, content)
  }

  private static func content(_ event: String, _ params: JSONValue) -> Content? {
    switch event {
    case "x.call.inv":
      guard let body = params["invitation"] else { return nil }
      return body["callType"].flatMap { CallType(json: $0) }.map { .invitation($0, key: key(body)) }
    case "x.call.offer":
      guard let body = params["offer"] else { return nil }
      return CallOffer(json: body).map { .offer($0, key: key(body)) }
    case "x.call.answer":
      return params["answer"]?["rtcSession"].flatMap { MediaSession(json: $0) }.map { .answer($0) }
    case "x.call.extra":
      return params["extra"]?["rtcExtraInfo"]?["rtcIceCandidates"]?.stringValue.map { .extra(candidates: $0) }
    case "x.call.end": return .end
    default: return nil
    }
  }

  private static func key(_ body: JSONValue) -> BoxPublicKey? {
    body["callDhPubKey"]?.stringValue.flatMap { TextEncoding.base64URLDecoded($0) }.flatMap { BoxPublicKey(bytes: $0) }
  }
}
