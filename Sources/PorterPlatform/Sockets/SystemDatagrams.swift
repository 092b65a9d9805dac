#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Unix datagram sockets.
package struct SystemDatagrams: Datagrams {
  package init() {}

  /// Non-blocking, and not inherited by programs that the host starts.
  package func open() throws(SystemError) -> DatagramEnd {
    #if canImport(Darwin)
      let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
      guard descriptor >= 0 else { throw SystemError(errno) }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    #else
      let descriptor = socket(AF_UNIX, Self.unshared(stream: false), 0)
      guard descriptor >= 0 else { throw SystemError(errno) }
    #endif
    return DatagramEnd(descriptor: descriptor)
  }

  #if !canImport(Darwin)
    /// The flags for a non-blocking socket, marked close-on-exec in the same step that creates it: otherwise a program
    /// that the host starts on another thread in between would inherit it, and listen at its address for as long as it
    /// runs.
    static func unshared(stream: Bool) -> Int32 {
      #if canImport(Glibc)
        Int32((stream ? SOCK_STREAM : SOCK_DGRAM).rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
      #else
        (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_CLOEXEC | SOCK_NONBLOCK
      #endif
    }
  #endif

  package func close(_ end: DatagramEnd) { closeDescriptor(end.descriptor) }

  package func bind(_ end: DatagramEnd, to address: DatagramAddress) throws(SystemError) {
    let status = Self.withSystemAddress(address) { systemBind(end.descriptor, $0, $1) == 0 ? 0 : errno }
    guard status == 0 else { throw SystemError(status) }
  }

  package func isAbandoned(_ address: DatagramAddress) -> Bool {
    guard let probe = try? open() else { return false }
    defer { close(probe) }
    let outcome = Self.withSystemAddress(address) { connect(probe.descriptor, $0, $1) == 0 ? 0 : errno }
    return outcome == ECONNREFUSED || outcome == ENOENT
  }

  package func send(
    _ bytes: [UInt8], through end: DatagramEnd, to address: DatagramAddress
  ) -> DatagramOutcome {
    let status = Self.withSystemAddress(address) { address, length in
      let count = sendto(end.descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length)
      return count == bytes.count ? 0 : errno
    }
    switch status {
    case 0, EAGAIN, ENOBUFS: return .posted
    case ENOENT, ECONNREFUSED: return .gone
    default: return .failed(status)
    }
  }

  package func receive(from end: DatagramEnd, limit: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = recv(end.descriptor, &bytes, limit, Int32(MSG_DONTWAIT))
    guard count >= 0 else { return nil }
    bytes.removeLast(limit - count)
    return bytes
  }

  /// The result of `body`, an `errno`; `ENAMETOOLONG` if the path does not fit into an address.
  private static func withSystemAddress(
    _ address: DatagramAddress, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    if let result = withSystemAddress(address.path, body) { return result }
    #if os(Linux) || os(Android)
      // An address has 108 bytes. A long path is reached through an open descriptor for its directory.
      let directory = systemOpen(address.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard directory >= 0 else { return errno }
      defer { closeDescriptor(directory) }
      if let result = withSystemAddress("/proc/self/fd/\(directory)/\(address.name)", body) { return result }
    #endif
    return ENAMETOOLONG
  }

  private static func withSystemAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}

// libc's functions, which this type's methods of the same names hide.
private func systemOpen(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  bind(descriptor, address, length)
}

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
