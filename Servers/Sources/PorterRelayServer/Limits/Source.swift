import NIOCore

/// The origin of a connection as limits count it: an IPv4 address, or an IPv6 network of 64 bits, since one customer has
/// a whole one. Never logged.
package struct Source: Hashable, Sendable {
  private let number: UInt64
  /// Exempt from the limits of sources, because its clients are limited elsewhere.
  let isTrusted: Bool

  init(_ address: SocketAddress?, trusted: TrustedSources = TrustedSources()) {
    let bytes = Self.unmapped(Self.address(address))
    self.init(number: Self.number(bytes), isTrusted: trusted.contains(bytes))
  }

  init(address: [UInt8]) {
    self.init(number: Self.number(Self.unmapped(address)))
  }

  private init(number: UInt64, isTrusted: Bool = false) { (self.number, self.isTrusted) = (number, isTrusted) }

  private static func number(_ bytes: [UInt8]) -> UInt64 { bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } }

  /// As `bytes` returns them.
  package init(bytes: [UInt8]) {
    self.init(number: bytes.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) })
  }

  var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

  /// A customer may have up to 65,536 IPv6 networks of 64 bits: this is the one of 48 bits that they are part of. That of
  /// an IPv4 address is the address alone.
  var network: Source { isIPv6 ? Source(number: number & ~0xffff) : self }

  var isIPv6: Bool { number > UInt64(UInt32.max) }

  /// Returns four or sixteen bytes, or none if there is no address.
  static func address(_ address: SocketAddress?) -> [UInt8] {
    // The offset of the address in `sockaddr_in` and in `sockaddr_in6` is the same on all systems.
    let (offset, length): (Int, Int)
    switch address {
    case .v4: (offset, length) = (4, 4)
    case .v6: (offset, length) = (8, 16)
    case .unixDomainSocket, nil: return []
    }
    let bytes = address?.withSockAddr { start, size -> [UInt8] in
      Array(UnsafeRawBufferPointer(start: start, count: size).dropFirst(offset).prefix(length))
    }
    return bytes ?? []
  }

  /// An IPv4 address written as an IPv6 one is the same source.
  static func unmapped(_ all: [UInt8]) -> [UInt8] {
    let isMapped = all.count == 16 && all[..<10].allSatisfy { $0 == 0 } && all[10] == 0xff && all[11] == 0xff
    return isMapped ? Array(all[12...]) : all
  }
}
