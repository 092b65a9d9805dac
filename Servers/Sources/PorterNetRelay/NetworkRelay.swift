import CNightporterNet
public import PorterServer
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A relay on the network, accessed through libcurl.
///
/// `@unchecked Sendable`: the library may be called from any thread, and is not called after `close`.
public final class NetworkRelay: RelayTransport, @unchecked Sendable {
  /// Called by the library's thread.
  final class Listener: Sendable {
    /// A bare function in a mutex is converted on each access, and keeps all conversions: a server that had received
    /// news 16,000 times ran out of stack.
    private struct Recipient {
      let tell: @Sendable (RelayNews) -> Void
    }

    let log: @Sendable (_ level: String, _ line: String) -> Void
    private let recipient = Mutex<Recipient?>(nil)

    init(_ log: @escaping @Sendable (String, String) -> Void) { self.log = log }

    static func at(_ context: UnsafeMutableRawPointer?) -> Listener? {
      context.map { Unmanaged<Listener>.fromOpaque($0).takeUnretainedValue() }
    }

    func listen(_ told: @escaping @Sendable (RelayNews) -> Void) {
      recipient.withLock { $0 = Recipient(tell: told) }
    }

    func tell(_ news: RelayNews) { recipient.withLock { $0 }?.tell(news) }
  }

  private var relay = np_relay()
  private let listener: Listener
  private let isClosed = Mutex(false)

  /// `address` is the output of `porter-relay address`; a fingerprint in it replaces the authorities. `authority` is a
  /// file of authorities to trust instead of the system's. `log` receives lines without addresses.
  public init(
    _ address: String, authority: String?, proxy: String?,
    log: @escaping @Sendable (_ level: String, _ line: String) -> Void
  ) throws(NetworkRelayError) {
    listener = Listener(log)
    let context = Unmanaged.passUnretained(listener).toOpaque()
    var options = np_net_options()
    options.size = MemoryLayout<np_net_options>.size
    options.ready = { context in
      Listener.at(context)?.tell(.something)
      return NP_OK
    }
    options.stream = { context, state in
      switch state {
      case NP_NET_STREAM_RESET: Listener.at(context)?.tell(.reset)
      case NP_NET_STREAM_ENDED: Listener.at(context)?.tell(.ended)
      default: break
      }
    }
    options.ready_context = context
    options.log = { context, level, line in
      guard let line else { return }
      Listener.at(context)?.log(level >= 2 ? "warning" : "info", String(cString: line))
    }
    options.log_context = context
    var made = np_relay()
    let result = Self.withCStrings(authority, proxy) { authority, proxy in
      options.ca_file = authority
      options.proxy = proxy
      return np_net_relay(address, &options, &made)
    }
    relay = made
    switch result {
    case NP_OK: break
    case NP_ERROR_SYSTEM: throw NetworkRelayError("out of memory")
    default:
      throw NetworkRelayError(
        "relay: expected https://HOST[:PORT][#FINGERPRINT], and a proxy as http://HOST:PORT or socks5h://HOST:PORT")
    }
  }

  deinit { close() }

  public func listen(_ told: @escaping @Sendable (RelayNews) -> Void) { listener.listen(told) }

  public func exchange(_ request: [UInt8], milliseconds: Int) -> RelayTransportAnswer {
    var bytes: UnsafeMutablePointer<UInt8>?
    var length = 0
    let result = request.withUnsafeBufferPointer {
      relay.exchange(relay.context, $0.baseAddress, $0.count, &bytes, &length, Int32(clamping: milliseconds))
    }
    defer { free(bytes) }
    switch result {
    case NP_OK: return .answer(Array(UnsafeBufferPointer(start: bytes, count: length)))
    case NP_ERROR_TIMEOUT: return .timeout
    default: return .unreachable
    }
  }

  public var problem: String? {
    isClosed.withLock { isClosed in
      guard !isClosed else { return nil }
      let failure = np_net_last_failure(&relay)
      return failure == NP_NET_NONE ? nil : String(cString: np_net_failure_name(Int32(failure.rawValue)))
    }
  }

  /// Waits for the library's threads: afterwards none of them calls the listener.
  public func close() {
    let wasClosed = isClosed.withLock { isClosed in
      defer { isClosed = true }
      return isClosed
    }
    if !wasClosed { np_net_relay_free(&relay) }
  }

  private static func withCStrings<Result>(
    _ first: String?, _ second: String?, _ body: (UnsafePointer<CChar>?, UnsafePointer<CChar>?) -> Result
  ) -> Result {
    (first ?? "").withCString { first in (second ?? "").withCString { body(first, $0) } }
  }
}

/// An unusable address or proxy.
public struct NetworkRelayError: Error, Equatable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}
