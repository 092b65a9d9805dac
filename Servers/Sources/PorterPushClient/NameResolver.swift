public import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Resolves host names on its own threads, because resolving blocks. Hosts that have answered before use separate
/// threads: slow names chosen by strangers do not delay them.
public final class NameResolver: Sendable {
  /// Blocks. Returns the addresses of a host that may be connected to.
  package typealias Lookup = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

  private static let threads = 4
  /// That are read of an answer, and that are tried.
  private static let (mostAddresses, mostTried) = (64, 4)

  private let known = NIOThreadPool(numberOfThreads: threads)
  private let strangers = NIOThreadPool(numberOfThreads: threads)
  private let lookup: Lookup
  private let clock: any PushClock

  /// `isAllowed`: whether an address may be connected to.
  public convenience init(clock: any PushClock, allowing isAllowed: @escaping @Sendable (SocketAddress) -> Bool) {
    self.init(clock: clock) { host, port in try Self.resolve(host, port).filter(isAllowed) }
  }

  package init(clock: any PushClock, lookup: @escaping Lookup) {
    self.clock = clock
    self.lookup = lookup
    known.start()
    strangers.start()
  }

  /// Pools must be shut down even if the initialisation they were created for failed.
  deinit { close() }

  /// Ends the threads, except those waiting for a name server.
  public func close() {
    known.shutdownGracefully { _ in }
    strangers.shutdownGracefully { _ in }
  }

  /// Names whose turn comes after the deadline are no longer resolved.
  func addresses(
    of host: String, port: Int, isKnown: Bool, until deadline: NIODeadline, on loop: any EventLoop
  ) -> EventLoopFuture<[SocketAddress]> {
    (isKnown ? known : strangers).runIfActive(eventLoop: loop) { [lookup, clock] in
      guard clock.now < deadline else { throw NoAddress() }
      return Self.few(of: try lookup(host, port))
    }
  }

  /// The first ones, of each family in turn (RFC 8305, section 4): one that leads nowhere does not use up the attempts.
  private static func few(of addresses: [SocketAddress]) -> [SocketAddress] {
    let first = addresses.first?.protocol
    var (own, other) = (addresses.filter { $0.protocol == first }[...], addresses.filter { $0.protocol != first }[...])
    var few: [SocketAddress] = []
    while few.count < mostTried, let next = own.popFirst() ?? other.popFirst() {
      few.append(next)
      swap(&own, &other)
    }
    return few
  }

  private static func resolve(_ host: String, _ port: Int) throws -> [SocketAddress] {
    var hints = addrinfo()
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else { throw UnresolvedName() }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var next = list
    while let info = next?.pointee, addresses.count < mostAddresses {
      next = info.ai_next
      guard let raw = info.ai_addr else { continue }
      switch info.ai_family {
      case AF_INET:
        raw.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { addresses.append(SocketAddress($0.pointee)) }
      case AF_INET6:
        raw.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { addresses.append(SocketAddress($0.pointee)) }
      default: break
      }
    }
    return addresses
  }
}

struct UnresolvedName: Error {}

/// The host has no address that may be connected to.
struct NoAddress: Error {}
