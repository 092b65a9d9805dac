import PorterJSON
import PorterPush

/// A push as handed to a provider.
package struct OutgoingPush: Sendable {
  package let pushToken: PushToken
  package let type: PushType
  package let priority: Int
  /// The whole APNs JSON, within the platform's limit.
  package let payload: JSONValue

  package init(_ push: PushPayload, to pushToken: PushToken) throws(PushError) {
    self.pushToken = pushToken
    type = push.pushType
    priority = push.priority
    payload = try push.encoded()
  }
}

/// The result of a push.
public enum PushOutcome: Hashable, Sendable {
  public enum Invalid: String, Hashable, Sendable {
    case bad, topic, expired, unregistered
  }

  case accepted
  /// The push token is no longer valid: send it nothing more.
  case invalid(Invalid)
  /// Like `invalid`, as of this time, in milliseconds since 1970: a push token registered later has come back.
  case ended(Invalid, since: Int64)
  /// The provider cannot be reached, or cannot work now. The push is kept for later.
  case unreachable(ProviderFailure)
  /// The provider refuses the server's own credentials or topic. The push is kept for later.
  case refused(ProviderFailure)
  /// This push cannot be delivered now, which says nothing about the provider's others. It is kept, and retried after
  /// this time.
  case later(seconds: Int)
  /// This push failed and may succeed on a new connection.
  case failed(status: Int)
  /// This push will never succeed.
  case rejected(status: Int)

  /// APNs' answers (`:status` and `reason`); the mapping is from simplex-notifications.md §6.3.
  package init(status: Int, reason: String?, timestamp: Int64? = nil) {
    switch (status, reason) {
    case (200, _): self = .accepted
    case (400, "BadDeviceToken"): self = .invalid(.bad)
    case (400, "DeviceTokenNotForTopic"): self = .invalid(.topic)
    case (410, "ExpiredToken"): self = timestamp.map { .ended(.expired, since: $0) } ?? .invalid(.expired)
    case (410, "Unregistered"): self = timestamp.map { .ended(.unregistered, since: $0) } ?? .invalid(.unregistered)
    case (410, _): self = .failed(status: 410)
    case (503, _):
      self = .unreachable(.answer(status: 503, reason: reason.flatMap { APNsReason.isKnown($0) ? $0 : nil }))
    default: self = .rejected(status: status)
    }
  }

  /// Whether to try once more immediately on a new connection.
  var isWorthRetrying: Bool {
    switch self {
    case .unreachable, .failed: true
    case .accepted, .invalid, .ended, .refused, .later, .rejected: false
    }
  }
}

/// The port through which pushes are sent.
package protocol PushProvider: Sendable {
  /// How many pushes may be under way at the same time, each on its own thread.
  var concurrency: Int { get }
  /// Blocks for a bounded time. Called from `concurrency` threads at a time, though not always the same ones.
  func deliver(_ push: OutgoingPush) -> PushOutcome
  /// Closes a connection kept open, so that the next push makes a new one.
  func disconnect()
}

extension PushProvider {
  package var concurrency: Int { 1 }
  package func disconnect() {}

  /// Tries exactly once more, immediately and on a new connection.
  package func deliverWithRetry(_ push: OutgoingPush) -> PushOutcome {
    let outcome = deliver(push)
    guard outcome.isWorthRetrying else { return outcome }
    disconnect()
    return deliver(push)
  }
}
