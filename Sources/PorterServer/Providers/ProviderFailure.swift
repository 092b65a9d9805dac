/// Why a push provider cannot be used. The description is for the operator: nothing in it comes from outside, and
/// nothing names a person.
public enum ProviderFailure: Hashable, Sendable, CustomStringConvertible {
  // MARK: No connection

  /// Its name does not resolve.
  case unresolved
  /// None of its name's addresses may be connected to.
  case noAddress
  case connectionRefused
  case noRoute
  case noConnection(seconds: Int)
  case certificateExpired
  case certificateNotYetValid
  case certificateNotTrusted
  case certificateForAnotherName
  /// The TLS library's word for it.
  case tls(String)
  case noHTTP2

  // MARK: No answer

  case closed
  case reset
  case unprocessed
  case noAnswer(seconds: Int)
  /// As many requests as it allows are under way, and none is answered.
  case noRoom(seconds: Int)
  case protocolViolation
  case malformedAnswer

  // MARK: Answers

  /// `reason` is one of APNs' own words.
  case answer(status: Int, reason: String?)

  // MARK: This server

  /// A number of the system (`errno`) and its text.
  case system(Int32, String)
  case outOfMemory
  case stopping

  /// For a log line.
  public var values: [(name: String, value: String)] {
    guard case .answer(let status, let reason) = self else { return [("reason", description)] }
    return [("status", "\(status)")] + (reason.map { [("reason", $0)] } ?? [])
  }

  public var description: String {
    switch self {
    case .unresolved: "its name does not resolve"
    case .noAddress: "its name has no address that may be used"
    case .connectionRefused: "connection refused"
    case .noRoute: "no route to it"
    case .noConnection(let seconds): "no connection for \(seconds) s"
    case .certificateExpired: "its certificate has expired"
    case .certificateNotYetValid: "its certificate is not valid yet"
    case .certificateNotTrusted: "its certificate is not trusted"
    case .certificateForAnotherName: "its certificate is for another name"
    case .tls(let word): "TLS failed: \(word)"
    case .noHTTP2: "it does not offer HTTP/2"
    case .closed: "it closed the connection"
    case .reset: "it reset the request"
    case .unprocessed: "it did not process the request"
    case .noAnswer(let seconds): "no answer for \(seconds) s"
    case .noRoom(let seconds): "no room for a request for \(seconds) s"
    case .protocolViolation: "it violates the protocol"
    case .malformedAnswer: "its answer does not parse"
    case .answer(let status, let reason): reason.map { "\(status) \($0)" } ?? "\(status)"
    case .system(_, let text): text
    case .outOfMemory: "out of memory"
    case .stopping: "this server is stopping"
    }
  }
}

/// The reasons of refusals that Apple documents. Anything else is not repeated in logs.
enum APNsReason {
  private static let known: Set<String> = [
    "BadCollapseId", "BadDeviceToken", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
    "DeviceTokenNotForTopic", "DuplicateHeaders", "IdleTimeout", "InvalidPushType", "MissingDeviceToken",
    "MissingTopic", "PayloadEmpty", "TopicDisallowed", "BadCertificate", "BadCertificateEnvironment",
    "BadEnvironmentKeyIdInToken", "ExpiredProviderToken", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
    "UnrelatedKeyIdInToken", "BadPath", "MethodNotAllowed", "ExpiredToken", "Unregistered", "PayloadTooLarge",
    "TooManyProviderTokenUpdates", "TooManyRequests", "InternalServerError", "ServiceUnavailable", "Shutdown",
  ]

  static func isKnown(_ reason: String) -> Bool { known.contains(reason) }
}
