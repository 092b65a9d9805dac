public import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Which addresses may be connected to. A host named by a stranger must not lead into the operator's own network.
public struct AddressRule: Sendable {
  /// If nil, every address is allowed, and names are left to the network library.
  private let resolver: NameResolver?

  /// For a connection to an address after which others are left to try.
  private static let patience = TimeAmount.seconds(3)

  public static let any = AddressRule(resolver: nil)

  /// Allows only addresses that `resolver` allows. The connection is made to the address that was checked: a different
  /// answer to a second query changes nothing.
  public static func resolved(by resolver: NameResolver) -> AddressRule { AddressRule(resolver: resolver) }

  /// Whether the host is an address rather than a name: an address is not compared with a certificate's name.
  func isLiteral(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

  /// `isKnown`: the host has answered before, and is not delayed by names that strangers have chosen.
  func connect(
    _ bootstrap: ClientBootstrap, to peer: PushPeer, isKnown: Bool, until deadline: NIODeadline, on loop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    guard let resolver, !isLiteral(peer.host) else { return bootstrap.connect(host: peer.host, port: peer.port) }
    let bound = NIOLoopBound(bootstrap, eventLoop: loop)
    return resolver.addresses(of: peer.host, port: peer.port, isKnown: isKnown, until: deadline, on: loop)
      .flatMap { addresses in Self.connect(bound.value, to: peer, addresses[...], on: loop) }
  }

  private static func connect(
    _ bootstrap: ClientBootstrap, to peer: PushPeer, _ addresses: ArraySlice<SocketAddress>, on loop: any EventLoop
  ) -> EventLoopFuture<any Channel> {
    guard let first = addresses.first else { return loop.makeFailedFuture(NoAddress()) }
    let rest = addresses.dropFirst()
    let bound = NIOLoopBound(bootstrap, eventLoop: loop)
    return bootstrap.connectTimeout(rest.isEmpty ? peer.timeLimit : patience).connect(to: first).flatMapError { error in
      rest.isEmpty ? loop.makeFailedFuture(error) : connect(bound.value, to: peer, rest, on: loop)
    }
  }

  // MARK: Addresses

  /// Nil if the host is a name. Thread-safe.
  public static func isPublic(literal host: String) -> Bool? {
    (try? SocketAddress(ipAddress: host, port: 0)).map(isPublic)
  }

  /// Follows IANA's registries of special-purpose addresses. Thread-safe.
  public static func isPublic(_ address: SocketAddress) -> Bool {
    // Without the zone of a link-local address.
    guard let text = address.ipAddress?.prefix(while: { $0 != "%" }) else { return false }
    var four: UInt32 = 0
    if inet_pton(AF_INET, String(text), &four) == 1 { return isPublic(UInt32(bigEndian: four)) }
    var bytes = [UInt8](repeating: 0, count: 16)
    return inet_pton(AF_INET6, String(text), &bytes) == 1 && isPublic(bytes)
  }

  private static func isPublic(_ number: UInt32) -> Bool {
    !reserved4.contains { number >> (32 - $0.bits) == $0.prefix >> (32 - $0.bits) }
  }

  private static let reserved4: [(prefix: UInt32, bits: UInt32)] = [
    (0x0000_0000, 8), (0x0a00_0000, 8), (0x6440_0000, 10), (0x7f00_0000, 8), (0xa9fe_0000, 16), (0xac10_0000, 12),
    (0xc000_0000, 24), (0xc000_0200, 24), (0xc058_6300, 24), (0xc0a8_0000, 16), (0xc612_0000, 15), (0xc633_6400, 24),
    (0xcb00_7100, 24), (0xe000_0000, 4), (0xf000_0000, 4),
  ]

  /// 64:ff9b::/96; an IPv4 address follows.
  private static let translated: [UInt8] = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]

  /// Global unicast, except ranges that lead to other addresses (Teredo and 6to4) or are for documentation.
  private static func isPublic(_ bytes: [UInt8]) -> Bool {
    // A network without IPv4 reaches all of it through these (RFC 6052).
    if bytes.starts(with: translated) { return isPublic(bytes[12...].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }) }
    guard bytes[0] & 0xe0 == 0x20 else { return false }
    let first = UInt32(bytes[0]) << 24 | UInt32(bytes[1]) << 16 | UInt32(bytes[2]) << 8 | UInt32(bytes[3])
    // 2001::/23, 2001:db8::/32, 2002::/16 and 3fff::/20.
    return first >> 9 != 0x2001_0000 >> 9 && first != 0x2001_0db8 && first >> 16 != 0x2002 && first >> 12 != 0x3fff0
  }
}
