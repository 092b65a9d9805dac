import NIOCore

/// Addresses and networks exempt from the limits of sources, because their clients are limited elsewhere: that of a
/// notification server, which asks on behalf of many, or of a balancer.
public struct TrustedSources: Sendable, Equatable {
  private struct Network: Sendable, Equatable {
    let address: [UInt8]
    let bits: Int
  }

  private var networks: [Network] = []

  public init() {}

  /// Parses `10.0.0.7, 192.168.0.0/16, 2001:db8::/32`. Nil if a part is malformed or has bits set beyond its network.
  public init?(_ text: String) {
    for part in text.split(separator: ",") {
      guard let network = Self.network(part.filter { $0 != " " }) else { return nil }
      networks.append(network)
    }
  }

  private static func network(_ text: String) -> Network? {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard let first = parts.first, parts.count <= 2,
      let address = try? SocketAddress(ipAddress: String(first), port: 0)
    else { return nil }
    let bytes = Source.address(address)
    let bits = parts.count == 1 ? bytes.count * 8 : number(parts[1])
    guard let bits, bits <= bytes.count * 8, masked(bytes, bits) == bytes else { return nil }
    return Network(address: bytes, bits: bits)
  }

  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { ("0"..."9").contains($0) } ? Int(text) : nil
  }

  private static func masked(_ bytes: [UInt8], _ bits: Int) -> [UInt8] {
    bytes.enumerated().map { index, byte in
      let kept = min(8, max(0, bits - index * 8))
      return kept == 0 ? 0 : byte & ~UInt8(truncatingIfNeeded: (1 << (8 - kept)) - 1)
    }
  }

  func contains(_ address: SocketAddress?) -> Bool {
    guard !networks.isEmpty else { return false }
    return contains(Source.unmapped(Source.address(address)))
  }

  func contains(_ address: [UInt8]) -> Bool {
    networks.contains { $0.address.count == address.count && Self.masked(address, $0.bits) == $0.address }
  }
}
