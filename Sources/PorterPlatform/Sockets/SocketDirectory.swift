#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A directory in which each process that listens has a datagram socket under a name of its own.
///
/// Names come from a directory that anybody of the same user can write, or from a foreign file: whoever uses one says
/// with `isName` what its own look like, so that nothing else there, and nothing outside, is ever touched.
package struct SocketDirectory: Sendable {
  package let path: String
  private let isOurs: @Sendable (String) -> Bool

  package init(path: String, isName: @escaping @Sendable (String) -> Bool) {
    self.path = path
    isOurs = { !$0.contains("/") && $0 != "." && $0 != ".." && isName($0) }
  }

  package func isName(_ name: String) -> Bool { isOurs(name) }

  /// Makes the directory, for this user only; harmless if it is there.
  package func create() -> Bool { mkdir(path, 0o700) == 0 || errno == EEXIST }

  /// Whether it is what `create` makes: a directory and no link to one, ours, and nobody else's to write in.
  package var isPrivate: Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
      && status.st_mode & 0o022 == 0
  }

  /// Names of the sockets in it, sorted, at most `limit`. Files and links of such a name are none.
  package func names(limit: Int = .max) -> [String] {
    var found: [String] = []
    forEachSocket { name, _ in
      found.append(name)
      return found.count < limit
    }
    return found.sorted()
  }

  package func remove(_ name: String) {
    if isName(name) { unlink(path + "/" + name) }
  }

  /// Removes sockets whose processes are gone, if they are old: a young one may be about to be bound.
  package func removeAbandoned(olderThan seconds: Int) {
    let now = time(nil)
    forEachSocket { name, changed in
      if now - changed > seconds, isAbandoned(name) { remove(name) }
      return true
    }
  }

  /// Whether nobody listens at this name any more.
  package func isAbandoned(_ name: String) -> Bool {
    guard let descriptor = DatagramSocket.make() else { return false }
    defer { closeDescriptor(descriptor) }
    let outcome = withAddress(of: name) { connect(descriptor, $0, $1) == 0 ? 0 : errno }
    return outcome == ECONNREFUSED || outcome == ENOENT
  }

  /// Gives the socket this name; false with `errno` when it cannot have it.
  package func bind(_ descriptor: Int32, to name: String) -> Bool {
    withAddress(of: name) { systemBind(descriptor, $0, $1) } == 0
  }

  package func send(_ bytes: [UInt8], through descriptor: Int32, to name: String) -> DatagramSocket.Outcome {
    guard isName(name) else { return .gone }
    let status = withAddress(of: name) { address, length in
      sendto(descriptor, bytes, bytes.count, Int32(MSG_DONTWAIT), address, length) == bytes.count ? 0 : errno
    }
    switch status {
    case 0, EAGAIN, ENOBUFS: return .posted
    case ENOENT, ECONNREFUSED: return .gone
    default: return .failed
    }
  }

  /// Calls `body` with the socket address of a name; nil if the path is too long for one.
  private func withAddress<Result>(of name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result? {
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

  /// Each socket with the time at which it was made, in seconds, until `body` gives false.
  private func forEachSocket(_ body: (String, Int) -> Bool) {
    guard let listing = opendir(path) else { return }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      var status = stat()
      guard isName(name), lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { continue }
      #if canImport(Darwin)
        let changed = status.st_mtimespec.tv_sec
      #else
        let changed = status.st_mtim.tv_sec
      #endif
      if !body(name, changed) { return }
    }
  }
}

/// libc's, out of the way of the method of that name.
private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
  bind(descriptor, address, length)
}
