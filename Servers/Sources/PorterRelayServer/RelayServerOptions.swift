public import NIOCore

/// Settings that an operator decides.
public struct RelayServerOptions: Sendable {
  public var host = "0.0.0.0"
  public var port = 443
  /// The address serving `/health`, `/ready` and `/metrics` over plain HTTP; nil to serve them nowhere.
  public var operatorsHost: String?
  public var operatorsPort = 9_464

  /// For requests from one source address.
  public var sourceAllowance = Allowance(rate: 50, burst: 500)
  /// For requests to one mailbox, signed by its key, and for messages of one source to a mailbox that anyone may send
  /// to.
  public var mailboxAllowance = Allowance(rate: 10, burst: 200)
  /// For mailboxes created by one source address.
  public var creationAllowance = Allowance(rate: 1, burst: 200)
  /// Sources exempt from all of these, and from the limits of a source's connections, streams and listeners.
  public var trustedSources = TrustedSources()

  /// Requests waiting for the back end.
  public var waitingRequests = 8_192
  public var connections = 20_000
  public var connectionsOfSource = 512
  public var streamsOfSource = 64
  public var listeners = 100_000
  public var listenersOfSource = 1_024

  /// For a TLS handshake, and for a request from its first byte to its last.
  public var requestTime = TimeAmount.seconds(15)
  /// For an answer, from when it is written until the client has taken it.
  public var answerTime = TimeAmount.minutes(1)
  public var idleTime = TimeAmount.minutes(5)
  public var silence = TimeAmount.seconds(30)
  /// How long a stop waits for work in progress.
  public var grace = TimeAmount.seconds(10)
  /// How long a drain waits for connections to end.
  public var drainTime = TimeAmount.minutes(1)
  public var threads = 2

  public init() {}

  /// A client may reset each request it may make: under load, libcurl resets some streams that are about to end or have
  /// ended. Anything beyond that is an attack (CVE-2023-44487). Per `HTTPLimits.resetWindow` seconds.
  func resets(ofTrusted isTrusted: Bool) -> Int {
    let requests = sourceAllowance.rate * Double(HTTPLimits.resetWindow) + Double(sourceAllowance.burst)
    return isTrusted ? HTTPLimits.resetsOfTrusted : Int(min(Double(HTTPLimits.resetsOfTrusted), max(200, requests)))
  }

  /// The number of seconds after which a mailbox that had too many requests may have another one.
  var mailboxPause: Int {
    guard mailboxAllowance.rate > 0 else { return 300 }
    return min(300, max(1, Int((1 / mailboxAllowance.rate).rounded(.up))))
  }
}

/// The protocol's limits, from `spec/protocol/relay-http.md`.
enum HTTPLimits {
  static let body = 65_536
  static let headers = 16_384
  static let listenerLength = 43
  /// A refusal is answered this long after its request, or a multiple of it: much longer than an exchange takes.
  private static let refusalStep = TimeAmount.milliseconds(25)
  /// The time from a request to its refusal, which was decided on within this time.
  static func refusalTime(_ took: TimeAmount) -> TimeAmount {
    .nanoseconds((took.nanoseconds / refusalStep.nanoseconds + 1) * refusalStep.nanoseconds)
  }
  /// So many signatures to verify count like another request.
  static let signaturesPerRequest = 16
  static let streamsOfConnection = 100
  /// Over a connection's whole life, which may be weeks. A reset that crosses the end of its stream counts as one.
  static let streamErrorsOfConnection = 100_000
  static let resetWindow: Int64 = 30
  static let resetsOfTrusted = 10_000_000
  /// How much of a refused body is read and dropped, so that the client can read the reason.
  static let discarded = 1 << 20
}
