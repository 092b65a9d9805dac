import PorterPlatform
import PorterRelay

/// A relay on the network, as another package reaches it: bytes out, bytes back.
public protocol RelayTransport: AnyObject, Sendable {
  /// Carries one request to the relay and its answer back. Blocks no longer than that; called by one thread at a time.
  func exchange(_ request: [UInt8], milliseconds: Int) -> RelayTransportAnswer
  /// `told` is called on any thread with what the relay reports unprompted, from the first exchange until `close`.
  func listen(_ told: @escaping @Sendable (RelayNews) -> Void)
  /// Why the latest exchange failed; nil if it was answered.
  var problem: String? { get }
  /// Ends everything. No exchange follows.
  func close()
}

public enum RelayTransportAnswer: Sendable, Equatable {
  case answer([UInt8])
  case timeout
  case unreachable
}

public enum RelayNews: Sendable, Equatable {
  /// Something may be waiting.
  case something
  /// Subscriptions were forgotten, as after a relay restart, and something may be waiting.
  case reset
  /// No news for now: the relay may be gone.
  case ended
}

/// A transport as the relay port of the notification server.
final class TransportRelay: RelayPort {
  /// The server's loop waits this long and does nothing else.
  private static let timeoutMilliseconds = 5_000

  private let transport: any RelayTransport
  private let wake: WakeDescriptor
  private let wasReset = Monitor(false)

  /// Nil if the process is out of file descriptors.
  init?(_ transport: any RelayTransport) {
    guard let wake = WakeDescriptor() else { return nil }
    self.transport = transport
    self.wake = wake
    let wasReset = wasReset
    transport.listen { news in
      if news == .reset { wasReset.withLock { $0 = true } }
      wake.raise()
    }
  }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    switch transport.exchange(request, milliseconds: Self.timeoutMilliseconds) {
    case .answer(let bytes): return bytes
    case .timeout: throw .timeout
    case .unreachable: throw .offline
    }
  }

  var isLocal: Bool { false }
  var problem: String? { transport.problem }
  var wakeDescriptor: Int32? { wake.descriptor }
  func drainWake() { wake.lower() }

  func takeReset() -> Bool {
    wasReset.withLock { wasReset in
      defer { wasReset = false }
      return wasReset
    }
  }

  func close() { transport.close() }
}
