import PorterJSON
import PorterPlatform
import PorterPush

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Hands pushes to a device simulator over a Unix stream socket: one connection per push, one JSON line each way.
///
///     → {"token":"<hex>","provider":"apns_test","type":"alert","priority":10,"payload":{…}}
///     ← {"status":200}   or   {"status":410,"reason":"Unregistered"}
///
/// A missing listener, a timeout, or a malformed answer counts as a provider that cannot be reached.
package struct LocalProvider: PushProvider {
  /// For connecting, sending and the answer together.
  package static let defaultTimeout = Span.seconds(2)
  private static let longestAnswer = 4_096

  /// Each uses a connection of its own.
  package var concurrency: Int { 8 }

  private let path: String
  private let timeout: Span
  private let clock: any Clock

  /// Throws `socketPathTooLong`. Each push finds out whether a simulator is listening.
  package init(
    path: String, timeout: Span = LocalProvider.defaultTimeout, clock: any Clock = SystemClock()
  ) throws(ServerError) {
    guard UnixAddress(path: path) != nil else { throw .socketPathTooLong(limit: UnixAddress.longestPath) }
    self.path = path
    self.timeout = timeout
    self.clock = clock
  }

  package func deliver(_ push: OutgoingPush) -> PushOutcome {
    let line: JSONValue = [
      "token": .string(TextEncoding.hex(push.pushToken.bytes)), "provider": .string(push.pushToken.provider),
      "type": .string(push.type.rawValue), "priority": JSONValue(push.priority), "payload": push.payload,
    ]
    let deadline = clock.now() + timeout
    guard let address = UnixAddress(path: path),
      let connection = StreamConnection(to: address, until: deadline, clock: clock)
    else { return .unreachable(failure(.connectionRefused, by: deadline)) }
    guard connection.write(line.utf8 + [UInt8(ascii: "\n")]),
      let answer = connection.readLine(longest: Self.longestAnswer)
    else { return .unreachable(failure(.closed, by: deadline)) }
    guard let json = try? JSONValue(parsing: answer), let status = json["status"]?.integerValue, 100...999 ~= status
    else { return .unreachable(.malformedAnswer) }
    return PushOutcome(
      status: Int(status), reason: json["reason"]?.stringValue, timestamp: json["timestamp"]?.integerValue)
  }
}

extension LocalProvider {
  /// Sockets round their timeouts, and may end a wait a little early.
  private static let rounding = Span.milliseconds(10)

  /// The failure of a step that ends by the deadline.
  private func failure(_ other: ProviderFailure, by deadline: Moment) -> ProviderFailure {
    clock.now() + Self.rounding < deadline ? other : .noAnswer(seconds: Int(timeout.milliseconds / 1_000))
  }
}

/// A path as a Unix socket address.
private struct UnixAddress {
  private var address = sockaddr_un()

  static var longestPath: Int { MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1 }

  /// Nil if the path is empty or too long.
  init?(path: String) {
    let bytes = Array(path.utf8)
    guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
    address.sun_family = sa_family_t(AF_UNIX)
    #if canImport(Darwin)
      address.sun_len = UInt8(MemoryLayout<sockaddr_un>.size)
    #endif
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
  }

  func connect(_ descriptor: Int32) -> Int32 {
    withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        #if canImport(Darwin)
          Darwin.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        #elseif canImport(Glibc)
          Glibc.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        #elseif canImport(Musl)
          Musl.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        #elseif canImport(Android)
          Android.connect(descriptor, address, socklen_t(MemoryLayout<sockaddr_un>.size))
        #endif
      }
    }
  }
}

/// A connection whose steps all end by one deadline. Closed when it is destroyed.
private struct StreamConnection: ~Copyable {
  private let descriptor: Int32
  private let deadline: Moment
  private let clock: any Clock

  /// Nil if there is no listener, or its queue stays full.
  init?(to address: UnixAddress, until deadline: Moment, clock: any Clock) {
    #if canImport(Glibc)
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    #else
      descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    self.deadline = deadline
    self.clock = clock
    guard descriptor >= 0 else { return nil }
    #if !canImport(Glibc)
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    #endif
    #if canImport(Darwin)
      var yes: Int32 = 1
      setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, socklen_t(MemoryLayout<Int32>.size))
    #endif
    // A full queue gives EAGAIN, and unlike a network connection there is nothing to wait on.
    while address.connect(descriptor) != 0 {
      guard errno == EAGAIN || errno == EINTR, clock.now() < deadline else {
        close(descriptor)
        return nil
      }
      clock.pause(.milliseconds(10))
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  func write(_ bytes: [UInt8]) -> Bool {
    #if canImport(Darwin)
      let flags: Int32 = 0
    #else
      let flags = Int32(MSG_NOSIGNAL)
    #endif
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, flags) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if !isReady(POLLOUT, after: count) {
        return false
      }
    }
    return true
  }

  /// A line without its terminator; nil if the other side closes, or time runs out, before the line is complete.
  func readLine(longest: Int) -> [UInt8]? {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1_024)
    while line.count <= longest {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count > 0 {
        if let end = buffer[..<count].firstIndex(of: UInt8(ascii: "\n")) { return line + buffer[..<end] }
        line += buffer[..<count]
      } else if count == 0 || !isReady(POLLIN, after: count) {
        return nil
      }
    }
    return nil
  }

  /// After a call that would block, waits until it can continue. Returns false on an error or at the deadline.
  private func isReady(_ event: some BinaryInteger, after result: Int) -> Bool {
    guard result < 0, errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR else { return false }
    while true {
      let left = (deadline - clock.now()).milliseconds
      guard left > 0 else { return false }
      var waiting = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      let count = poll(&waiting, 1, Int32(clamping: left))
      if count > 0 { return true }
      if count < 0, errno != EINTR { return false }
    }
  }
}
