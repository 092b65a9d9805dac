import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The directory beside an embedded relay's file where each subscribed process has a datagram socket.
///
/// A wake-up is one byte without meaning: whoever forges one makes a process ask its relay, and nothing else (INC-15).
struct WakeDirectory: Sendable {
  let path: String

  init(besideRelay path: String) { self.path = path + ".wake" }

  /// Names are ours alone: a row of a foreign file must not make us touch anything outside the directory.
  static func isName(_ name: String) -> Bool {
    name.utf8.count == 8 && TextEncoding.base64URLDecoded(name) != nil
  }

  /// Makes the directory, for this user only; harmless if it is there.
  func create() -> Bool { mkdir(path, 0o700) == 0 || errno == EEXIST }

  func remove(_ name: String) { unlink(path + "/" + name) }

  /// Removes sockets whose processes are gone, if they are old: a young one may be about to be bound.
  func removeAbandoned(olderThan seconds: Int) {
    guard let listing = opendir(path) else { return }
    defer { closedir(listing) }
    let now = time(nil)
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      guard Self.isName(name), lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else {
        continue
      }
      #if canImport(Darwin)
        let changed = status.st_mtimespec.tv_sec
      #else
        let changed = status.st_mtim.tv_sec
      #endif
      if now - changed > seconds, isAbandoned(name) { remove(name) }
    }
  }

  /// Whether nobody listens at this name any more.
  func isAbandoned(_ name: String) -> Bool {
    guard let descriptor = DatagramSocket.make() else { return false }
    defer { closeDescriptor(descriptor) }
    let outcome = withAddress(of: name) { connect(descriptor, $0, $1) == 0 ? 0 : errno }
    return outcome == ECONNREFUSED || outcome == ENOENT
  }

  /// Calls `body` with the socket address of a name; nil if the path is too long for one.
  func withAddress<Result>(of name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
    if let result = DatagramSocket.withAddress(path + "/" + name, body) { return result }
    #if os(Linux) || os(Android)
      // An address has 108 bytes. A long path is reached through an open descriptor of its directory.
      let directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard directory >= 0 else { return nil }
      defer { closeDescriptor(directory) }
      return DatagramSocket.withAddress("/proc/self/fd/\(directory)/\(name)", body)
    #else
      return nil
    #endif
  }
}

/// The socket of a process that wants to be woken. Belongs to whoever made it, who calls `close()`.
struct WakeReceiver: Sendable {
  let descriptor: Int32
  let name: String
  private let directory: WakeDirectory

  /// Nil when the directory cannot be written, its path is too long, or no descriptor is left; `errno` tells.
  init?(directory: WakeDirectory, randomness: any Randomness) {
    guard directory.create(), let descriptor = DatagramSocket.make() else { return nil }
    // 48 random bits: a second attempt is as good as never needed, a third means that the port is broken.
    for _ in 0..<3 {
      let name = TextEncoding.base64URL(randomness.bytes(6))
      guard WakeDirectory.isName(name) else { continue }
      if directory.withAddress(of: name, { bind(descriptor, $0, $1) }) == 0 {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
        return
      }
    }
    let reason = errno
    closeDescriptor(descriptor)
    errno = reason
    return nil
  }

  /// Reads until nothing is left.
  func drain() {
    var bytes: (UInt64, UInt64) = (0, 0)
    while recv(descriptor, &bytes, MemoryLayout.size(ofValue: bytes), Int32(MSG_DONTWAIT)) >= 0 {}
  }

  /// The file goes first: a sender then finds no name, rather than one that refuses.
  func close() {
    directory.remove(name)
    closeDescriptor(descriptor)
  }
}

/// Posts wake-ups. Belongs to one owner, who calls `close()`.
struct WakeSender {
  private let directory: WakeDirectory
  private var descriptor: Int32?

  init(directory: WakeDirectory) { self.directory = directory }

  enum Outcome {
    /// Posted, or as many wake-ups wait there already as the system keeps: it is frozen or busy, and will see them.
    case posted
    /// Nobody listens there, and nobody will.
    case gone
    case failed
  }

  mutating func post(to name: String) -> Outcome {
    guard WakeDirectory.isName(name) else { return .gone }
    guard let descriptor = descriptor ?? DatagramSocket.make() else { return .failed }
    self.descriptor = descriptor
    var byte: UInt8 = 1
    let status = directory.withAddress(of: name) { address, length in
      sendto(descriptor, &byte, 1, Int32(MSG_DONTWAIT), address, length) == 1 ? 0 : errno
    }
    switch status {
    case 0, EAGAIN, ENOBUFS: return .posted
    case ENOENT, ECONNREFUSED: return .gone
    default: return .failed
    }
  }

  mutating func close() {
    if let descriptor { closeDescriptor(descriptor) }
    descriptor = nil
  }
}

private enum DatagramSocket {
  /// Not inherited by programs that the host starts, and never waited on.
  static func make() -> Int32? {
    #if canImport(Glibc)
      let kind = Int32(SOCK_DGRAM.rawValue)
    #else
      let kind = SOCK_DGRAM
    #endif
    let descriptor = socket(AF_UNIX, kind, 0)
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    return descriptor
  }

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
private func closeDescriptor(_ descriptor: Int32) {
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
