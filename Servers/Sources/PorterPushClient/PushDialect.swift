public import NIOCore
public import NIOHPACK
public import PorterServer

/// What is particular to a provider: its requests, and what its answers mean. Belongs to the event loop of its client.
public protocol PushDialect: AnyObject {
  func request(for push: ServedPush, _ clock: any PushClock) -> Result<PushRequest, PushRefusal>
  func verdict(_ response: PushResponse) -> PushVerdict
  /// The peer says that this credential has expired. Returns whether there is, or will be, another one.
  func renews(_ credential: Int, _ now: NIODeadline) -> Bool
  /// For the log, which has nothing that comes from outside.
  func description(_ response: PushResponse) -> String
}

/// A request without `content-length`.
public struct PushRequest {
  public var headers: HPACKHeaders
  public var body: [UInt8]
  /// Which of the credentials that were made one after the other it has.
  public var credential: Int

  public init(headers: HPACKHeaders, body: [UInt8], credential: Int) {
    self.headers = headers
    self.body = body
    self.credential = credential
  }
}

/// Why there is no request.
public struct PushRefusal: Error {
  public let outcome: PushOutcome
  public init(_ outcome: PushOutcome) { self.outcome = outcome }
}

public struct PushResponse: Sendable, Equatable {
  public let status: Int
  /// Its first bytes.
  public let body: [UInt8]
  /// A day at most.
  public let retryAfter: TimeAmount?

  public init(status: Int, body: [UInt8] = [], retryAfter: TimeAmount? = nil) {
    self.status = status
    self.body = body
    self.retryAfter = retryAfter
  }
}

/// What follows from an answer.
public enum PushVerdict: Equatable, Sendable {
  case final(PushOutcome)
  /// A new credential, and once more; `otherwise` when that is refused as well.
  case credentialExpired(otherwise: PushOutcome)
  /// The server's own credentials, how it uses them, or the peer as a whole: says nothing about the push, which is kept.
  case notNow
  /// This push alone waits; `otherwise` when it has done so for long.
  case hold(otherwise: PushOutcome)
  /// Once more on a new connection.
  case newConnection(otherwise: PushOutcome)
}
