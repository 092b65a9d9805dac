public import NIOCore
public import NIOHPACK
public import PorterServer

/// Provider-specific behaviour: requests, and the meaning of answers. Confined to its client's event loop.
public protocol PushDialect: AnyObject {
  func request(for push: ServedPush, _ clock: any PushClock) -> Result<PushRequest, PushRefusal>
  func verdict(_ response: PushResponse) -> PushVerdict
  /// The outcome of a push that ended twice without an answer while the peer answers others; nil if it then counts as
  /// unreachable.
  var lostAlone: PushOutcome? { get }
  /// The peer reports this credential as expired. Returns whether there is, or will be, another one.
  func renews(_ credential: Int, _ now: NIODeadline) -> Bool
  /// An answer as a reason, with nothing in it that comes from outside.
  func failure(_ response: PushResponse) -> ProviderFailure
}

/// A request without `content-length`.
public struct PushRequest {
  public var headers: HPACKHeaders
  public var body: [UInt8]
  /// The number of its credential; credentials are numbered in the order they were created.
  public var credential: Int

  public init(headers: HPACKHeaders, body: [UInt8], credential: Int) {
    self.headers = headers
    self.body = body
    self.credential = credential
  }
}

/// The reason there is no request.
public struct PushRefusal: Error {
  public let outcome: PushOutcome
  public init(_ outcome: PushOutcome) { self.outcome = outcome }
}

public struct PushResponse: Sendable, Equatable {
  public let status: Int
  /// The first bytes of the body.
  public let body: [UInt8]
  /// A day at most.
  public let retryAfter: TimeAmount?

  public init(status: Int, body: [UInt8] = [], retryAfter: TimeAmount? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }
}

/// The consequence of an answer.
public enum PushVerdict: Equatable, Sendable {
  case final(PushOutcome)
  /// Retry with a new credential; `otherwise` if that is refused as well.
  case credentialExpired(otherwise: PushOutcome)
  /// Concerns the server's own credentials, how it uses them, or the peer as a whole: implies nothing about the push,
  /// which is kept and ends with this outcome.
  case notNow(PushOutcome)
  /// Only this push waits: for as long as the peer asks, or longer each time.
  case deferred
  /// Retry on a new connection.
  case newConnection(otherwise: PushOutcome)
}
