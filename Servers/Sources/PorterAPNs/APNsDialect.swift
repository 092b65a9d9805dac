import NIOCore
import NIOHPACK
import PorterPushClient
import PorterServer
import PorterTLS

/// APNs requests and answers.
final class APNsDialect: PushDialect {
  private let options: APNsOptions
  private var token: RenewedToken

  init(_ options: APNsOptions) {
    self.options = options
    let (key, keyID, teamID) = (options.key, options.keyID, options.teamID)
    // Apple accepts a token for an hour, and refuses providers that renew it more often than every 20 minutes.
    token = RenewedToken(renewal: .minutes(40), shortestLife: .minutes(20)) { seconds in
      key.token(header: #"{"alg":"ES256","kid":"\#(keyID)"}"#, claims: #"{"iss":"\#(teamID)","iat":\#(seconds)}"#)
    }
  }

  func request(for push: ServedPush, _ clock: any PushClock) -> Result<PushRequest, PushRefusal> {
    guard let token = token.current(clock) else { return .failure(PushRefusal(.unreachable(.outOfMemory))) }
    var headers: HPACKHeaders = [
      ":method": "POST", ":scheme": "https", ":path": "/3/device/\(push.token)", ":authority": options.host,
      "apns-topic": options.topic, "apns-push-type": push.isAlert ? "alert" : "background",
      "apns-priority": "\(push.priority)", "apns-expiration": "\(clock.seconds + push.kind.life)",
    ]
    // Long, and the same in all requests: the peer keeps it in its table.
    headers.add(name: "authorization", value: "bearer \(token)", indexing: .indexable)
    if let group = push.kind.collapseID { headers.add(name: "apns-collapse-id", value: group) }
    return .success(PushRequest(headers: headers, body: push.payload, credential: self.token.number))
  }

  func renews(_ credential: Int, _ now: NIODeadline) -> Bool { token.isReplaced(after: credential, now) }

  func failure(_ response: PushResponse) -> ProviderFailure {
    Self.failure(PushAnswer(status: response.status, body: response.body))
  }

  private static func failure(_ answer: PushAnswer) -> ProviderFailure {
    .answer(status: answer.status, reason: answer.knownReason)
  }

  /// Not `unreachable`, which pauses the provider because of a single push.
  let lostAlone: PushOutcome? = .later(seconds: 60)

  /// Most of the table is the notification server's; here are the cases a sender handles itself.
  func verdict(_ response: PushResponse) -> PushVerdict {
    let answer = PushAnswer(status: response.status, body: response.body)
    let failure = Self.failure(answer)
    switch (answer.status, answer.reason) {
    case (403, "ExpiredProviderToken"): return .credentialExpired(otherwise: .refused(failure))
    // The only one about the push. Apple adds reasons that concern the provider token.
    case (403, "Forbidden"): return .final(answer.outcome)
    case (403, _), (429, "TooManyProviderTokenUpdates"): return .notNow(.refused(failure))
    // The configured topic, which is the same for every push. `DeviceTokenNotForTopic` concerns the device.
    case (400, "BadTopic"), (400, "MissingTopic"), (400, "TopicDisallowed"): return .notNow(.refused(failure))
    case (503, _), (400, "IdleTimeout"): return .newConnection(otherwise: .unreachable(failure))
    // Too many pushes to one device, or a failure that may concern only this push.
    case (429, _), (500...599, _): return .deferred
    default:
      let outcome = answer.outcome
      if case .failed = outcome { return .newConnection(otherwise: outcome) }
      return .final(outcome)
    }
  }
}

extension ServedPush.Kind {
  /// How long Apple keeps the push for a device that is offline, in seconds: a message for as long as a relay does, a
  /// wake-up until the next one.
  var life: Int64 {
    switch self {
    case .message: 21 * 86_400
    case .verification: 86_400
    case .wake: 1_200
    }
  }

  /// Of pushes with the same ID, a device keeps the newest. A message has none: it would replace the notification shown
  /// for an earlier one.
  var collapseID: String? {
    switch self {
    case .message: nil
    case .verification, .wake: rawValue
    }
  }
}
