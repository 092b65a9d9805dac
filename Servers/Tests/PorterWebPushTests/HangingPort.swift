import XCTest

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A port at ::1 where connections are never made: its queue is full, so the system drops requests for more.
final class HangingPort: Sendable {
  let port: Int
  private let descriptors: [Int32]

  init() throws {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_addr = in6addr_loopback
    let listener = Self.make()
    guard listener >= 0, Self.with(&address, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
      throw XCTSkip("no IPv6 here")
    }
    var size = socklen_t(MemoryLayout<sockaddr_in6>.size)
    _ = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &size) }
    }
    port = Int(UInt16(bigEndian: address.sin6_port))
    let waiting = (0..<4).map { _ in
      let client = Self.make()
      _ = fcntl(client, F_SETFL, O_NONBLOCK)
      _ = Self.with(&address) { connect(client, $0, $1) }
      return client
    }
    descriptors = [listener] + waiting
  }

  func close() {
    for descriptor in descriptors { shut(descriptor) }
  }

  private static func make() -> Int32 {
    #if canImport(Glibc)
      socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket(AF_INET6, SOCK_STREAM, 0)
    #endif
  }

  private static func with(
    _ address: inout sockaddr_in6, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in6>.size)) }
    }
  }
}

private func shut(_ descriptor: Int32) { close(descriptor) }
