import CWebPush
import NIOCore
import NIOHPACK
import PorterPushClient
import PorterServer
import PorterTLS

/// Web Push requests to one push service, and its answers (RFC 8030, 8291, 8292).
final class WebPushDialect: PushDialect {
  private let origin: WebPushOrigin
  private var token: RenewedToken
  private let publicKey: String

  init(_ origin: WebPushOrigin, _ options: WebPushOptions) {
    self.origin = origin
    publicKey = options.publicKey
    let (key, audience, contact) = (options.key, origin.text, options.contact)
    // It may be valid for a day (RFC 8292). Nothing in it needs escaping.
    token = RenewedToken(renewal: .hours(6), shortestLife: .minutes(5)) { seconds in
      key.token(
        header: #"{"typ":"JWT","alg":"ES256"}"#,
        claims: #"{"aud":"\#(audience)","exp":\#(seconds + 12 * 3_600),"sub":"\#(contact)"}"#)
    }
  }

  func request(for push: ServedPush, _ clock: any PushClock) -> Result<PushRequest, PushRefusal> {
    guard let target = push.webPush, let path = WebPushOrigin.path(of: target.endpoint) else {
      return .failure(PushRefusal(.invalid(.bad)))
    }
    guard push.payload.count <= Int(WEB_PUSH_BODY) - Int(WEB_PUSH_OVERHEAD) else {
      return .failure(PushRefusal(.rejected(status: 413)))
    }
    var body = [UInt8](repeating: 0, count: push.payload.count + Int(WEB_PUSH_OVERHEAD))
    switch web_push_seal(target.key, target.secret, nil, nil, push.payload, push.payload.count, &body) {
    case 0: break
    // The key is not a point on the curve.
    case 1: return .failure(PushRefusal(.invalid(.bad)))
    default: return .failure(PushRefusal(.unreachable(.outOfMemory)))
    }
    guard let token = token.current(clock) else { return .failure(PushRefusal(.unreachable(.outOfMemory))) }
    var headers: HPACKHeaders = [
      ":method": "POST", ":scheme": "https", ":path": path, ":authority": origin.authority,
      "ttl": "\(push.kind.life)", "urgency": push.kind.urgency, "content-encoding": "aes128gcm",
      "content-type": "application/octet-stream", "content-length": "\(body.count)",
    ]
    // Long, and the same in all requests: the peer keeps it in its table.
    headers.add(name: "authorization", value: "vapid t=\(token),k=\(publicKey)", indexing: .indexable)
    if let topic = push.kind.topic { headers.add(name: "topic", value: topic) }
    return .success(PushRequest(headers: headers, body: body, credential: self.token.number))
  }

  func renews(_ credential: Int, _ now: NIODeadline) -> Bool { token.isReplaced(after: credential, now) }

  func failure(_ response: PushResponse) -> ProviderFailure { .answer(status: response.status, reason: nil) }

  /// A service that resets streams is left alone, like one that fails.
  let lostAlone: PushOutcome? = nil

  /// A push service's answer concerns one subscription; answers that concern the whole service indicate it.
  func verdict(_ response: PushResponse) -> PushVerdict {
    switch response.status {
    case 200...299: .final(.accepted)
    // The subscription has ended.
    case 404, 410: .final(.invalid(.unregistered))
    // Concerns the token in `authorization`. If another token is refused too, the client has subscribed with another
    // key, or the operator's key is a different one for now: no subscription ends.
    case 401, 403: .credentialExpired(otherwise: .rejected(status: response.status))
    case 429: .final(.later(seconds: Int((response.retryAfter ?? .minutes(1)).nanoseconds / 1_000_000_000)))
    case 500...599: .notNow(.unreachable(failure(response)))
    // Redirects are not followed: the client has not registered where they lead.
    default: .final(.rejected(status: response.status))
    }
  }
}

extension ServedPush.Kind {
  /// How long a push service keeps the push for a device that is offline, in seconds: the same as for APNs.
  var life: Int64 {
    switch self {
    case .message: 21 * 86_400
    case .verification: 86_400
    case .wake: 1_200
    }
  }

  var urgency: String {
    switch self {
    case .message: "high"
    case .verification: "normal"
    case .wake: "low"
    }
  }

  /// Of waiting pushes with the same topic, a push service keeps the newest. A message has none: it would replace one
  /// about other mailboxes.
  var topic: String? {
    switch self {
    case .message: nil
    case .verification, .wake: rawValue
    }
  }
}
