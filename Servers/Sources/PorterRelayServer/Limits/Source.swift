import NIOCore

/// Where a connection comes from, as far as limits count: an IPv4 address, or the network of an IPv6 address, of which one
/// customer has a whole. Never logged.
struct Source: Hashable, Sendable {
  private let bytes: UInt64

  init(_ address: SocketAddress?) {
    // What `sockaddr_in` and `sockaddr_in6` have in common on all systems is where the address is.
    let (offset, length): (Int, Int)
    switch address {
    case .v4: (offset, length) = (4, 4)
    case .v6: (offset, length) = (8, 16)
    case .unixDomainSocket, nil:
      self.init(address: [])
      return
    }
    let all = address?.withSockAddr { start, size -> [UInt8] in
      Array(UnsafeRawBufferPointer(start: start, count: size).dropFirst(offset).prefix(length))
    }
    self.init(address: all ?? [])
  }

  init(address all: [UInt8]) {
    let isMapped = all.count == 16 && all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
    bytes = (isMapped ? all[12...] : all.prefix(8)).reduce(0) { $0 << 8 | UInt64($1) }
  }
}
