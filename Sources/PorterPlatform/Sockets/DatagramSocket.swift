#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Unix datagram sockets, for processes on one device that tell each other something.
package enum DatagramSocket {
  /// What became of a datagram.
  package enum Outcome: Equatable, Sendable {
    /// Posted, or as many wait there already as the system keeps: whoever listens is frozen or busy, and has news enough.
    case posted
    /// Nobody listens there, and nobody will.
    case gone
    case failed
  }

  /// Not inherited by programs that the host starts, and never waited on. Nil when no descriptor is left.
  package static func make() -> Int32? {
    #if canImport(Darwin)
      let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
      guard descriptor >= 0 else { return nil }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
      return descriptor
    #else
      let descriptor = socket(AF_UNIX, unshared(stream: false), 0)
      return descriptor >= 0 ? descriptor : nil
    #endif
  }

  #if !canImport(Darwin)
    /// A kind of socket that never waits, and that is marked in one step: a program that the host starts on another thread
    /// would inherit what is marked a moment later, and listen at its address for as long as it runs.
    static func unshared(stream: Bool) -> Int32 {
      #if canImport(Glibc)
        Int32((stream ? SOCK_STREAM : SOCK_DGRAM).rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      #else
        (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK
      #endif
    }
  #endif

  /// The next datagram, cut off after `limit` bytes; nil when none waits.
  package static func receive(from descriptor: Int32, limit: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = recv(descriptor, &bytes, limit, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return nil }
    bytes.removeLast(limit - count)
    return bytes
  }

  package static func close(_ descriptor: Int32) { closeDescriptor(descriptor) }

  /// Nil, with ENAMETOOLONG, when the path does not fit into an address.
  static func withAddress<Result>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else {
      errno = ENAMETOOLONG
      return nil
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

/// libc's, out of the way of the methods of that name.
func closeDescriptor(_ descriptor: Int32) {
  #if canImport(Darwin)
    _ = Darwin.close(descriptor)
  #elseif canImport(Glibc)
    _ = Glibc.close(descriptor)
  #elseif canImport(Musl)
    _ = Musl.close(descriptor)
  #elseif canImport(Android)
    _ = Android.close(descriptor)
  #endif
}
