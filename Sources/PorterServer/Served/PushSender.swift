import PorterJSON
import PorterPlatform
import PorterPush
import PorterSchema

/// A provider from another package: it sends pushes concurrently, without a thread for each.
public protocol PushSender: AnyObject, Sendable {
  /// How many pushes it takes at the same time. May change.
  var capacity: Int { get }
  /// Returns immediately. `then` is called once, on any thread, within a bounded time.
  func send(_ push: ServedPush, then: @escaping @Sendable (PushOutcome) -> Void)
}

/// Receives log lines: a level from `debug` to `error`, a message, and values apart from it. None of them names a device,
/// a person or an address.
public typealias PushLog =
  @Sendable (_ level: String, _ message: String, _ values: [(name: String, value: String)]) -> Void

/// A push as handed to a `PushSender`.
public struct ServedPush: Sendable {
  public enum Kind: String, Sendable {
    case verification, message, wake
  }

  public let kind: Kind
  /// The device's push token, in hexadecimal digits. Knowing it suffices to send pushes, so it is never printed.
  public let token: String
  /// Whether the user sees it if the extension does not replace it.
  public let isAlert: Bool
  public let priority: Int
  /// JSON within the platform's limit.
  public let payload: [UInt8]
  /// For the provider `webpush`.
  public let webPush: WebPushTarget?

  public init(
    kind: Kind, token: [UInt8], isAlert: Bool, priority: Int, payload: [UInt8], webPush: WebPushTarget? = nil
  ) {
    self.kind = kind
    self.webPush = webPush
    self.token = TextEncoding.hex(token)
    self.isAlert = isAlert
    self.priority = priority
    self.payload = payload
  }

  init(_ pending: PendingPush) {
    kind =
      switch pending.kind {
      case .verification: .verification
      case .message: .message
      case .wake: .wake
      }
    token = TextEncoding.hex(pending.push.pushToken.bytes)
    isAlert = pending.push.type == .alert
    priority = pending.push.priority
    payload = pending.push.payload.utf8
    webPush = pending.push.pushToken.webPush.map {
      WebPushTarget(endpoint: $0.endpoint, key: $0.key, secret: $0.secret)
    }
  }
}

/// A device's Web Push address.
public struct WebPushTarget: Sendable {
  /// `https://HOST[:PORT]/…` in visible ASCII, chosen by a client.
  public let endpoint: String
  /// `p256dh`, 65 bytes that begin with 4. May not be a point on the curve.
  public let key: [UInt8]
  /// `auth`, 16 bytes.
  public let secret: [UInt8]

  public init(endpoint: String, key: [UInt8], secret: [UInt8]) {
    self.endpoint = endpoint
    self.key = key
    self.secret = secret
  }
}

/// An answer from APNs.
public struct PushAnswer: Sendable, Equatable {
  public let status: Int
  public let reason: String?
  /// When a push token became invalid, in milliseconds since 1970.
  public let timestamp: Int64?

  /// `body` is empty, or an object with a reason. Anything else in it is ignored, and so is a body that is not JSON.
  public init(status: Int, body: [UInt8]) {
    self.status = status
    let json = try? JSONValue(parsing: body)
    reason = json?["reason"]?.stringValue
    timestamp = json?["timestamp"]?.integerValue.flatMap { $0 >= 0 ? $0 : nil }
  }

  /// One of the reasons that Apple documents, for logs: another one comes from outside.
  public var knownReason: String? { reason.flatMap { APNsReason.isKnown($0) ? $0 : nil } }

  /// Uses the same table as the local provider.
  public var outcome: PushOutcome { PushOutcome(status: status, reason: reason, timestamp: timestamp) }
}
