import PorterServer

/// What follows from an answer. Most of the table is the notification server's own; here is what a sender does by itself.
enum APNsVerdict: Equatable {
  case final(PushOutcome)
  /// A new provider token, and once more.
  case tokenExpired
  /// The server's own credentials, or how it uses them: says nothing about the push, which is kept.
  case notNow
  /// This push alone waits; `otherwise` when it has done so for long.
  case hold(otherwise: PushOutcome)
  /// Once more on a new connection.
  case newConnection(otherwise: PushOutcome)

  init(_ answer: PushAnswer) {
    switch (answer.status, answer.reason) {
    case (403, "ExpiredProviderToken"): self = .tokenExpired
    case (403, "InvalidProviderToken"), (403, "MissingProviderToken"), (403, "BadCertificate"),
      (403, "BadCertificateEnvironment"), (429, "TooManyProviderTokenUpdates"):
      self = .notNow
    // One device's pushes are too many.
    case (429, _): self = .hold(otherwise: .rejected(status: 429))
    case (503, _), (400, "IdleTimeout"): self = .newConnection(otherwise: .unreachable)
    case (500...599, _): self = .hold(otherwise: .unreachable)
    default:
      let outcome = answer.outcome
      if case .failed = outcome { self = .newConnection(otherwise: outcome) } else { self = .final(outcome) }
    }
  }
}

extension PushAnswer {
  private static let reasons: Set<String> = [
    "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
    "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
    "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
    "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken", "BadPath",
    "MethodNotAllowed", "ExpiredToken", "Unregistered", "PayloadTooLarge", "TooManyProviderTokenUpdates",
    "TooManyRequests", "InternalServerError", "ServiceUnavailable", "Shutdown",
  ]

  /// For the log, which has nothing that comes from outside.
  var knownReason: String { reason.map { Self.reasons.contains($0) ? $0 : "other" } ?? "none" }
}

extension ServedPush.Kind {
  /// How long Apple keeps it for a device that is offline, in seconds: a message as long as a relay does, a wake-up until
  /// the next one.
  var life: Int64 {
    switch self {
    case .message: 21 * 86_400
    case .verification: 86_400
    case .wake: 1_200
    }
  }

  /// Of pushes with the same one a device keeps the newest. A message has none: it would replace the notification that an
  /// earlier one is shown as.
  var collapseID: String? {
    switch self {
    case .message: nil
    case .verification, .wake: rawValue
    }
  }
}
