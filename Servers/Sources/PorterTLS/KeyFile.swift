#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The reason a certificate or key cannot be used. The text names the file, never its contents.
public struct CertificateError: Error, Equatable, CustomStringConvertible {
  public let description: String
  init(_ description: String) { self.description = description }
}

/// Files with secrets: read only if no other user can read them, and written so that none can.
enum KeyFile {
  private static let longest = 1 << 20

  static func read(_ path: String, isSecret: Bool) throws(CertificateError) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw CertificateError("\(path): \(reason())") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw CertificateError("\(path): \(reason())") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw CertificateError("\(path): not a file") }
    if isSecret { try check(path, status) }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), longest))
    let count = bytes.withUnsafeMutableBytes { Self.read(descriptor, $0.baseAddress, $0.count) }
    guard count == Int(status.st_size) else { throw CertificateError("\(path): cannot be read, or is too long") }
    return bytes
  }

  private static func check(_ path: String, _ status: stat) throws(CertificateError) {
    guard status.st_mode & 0o077 == 0 else {
      let mode = String(status.st_mode & 0o777, radix: 8)
      throw CertificateError("\(path): others can read this key (mode \(mode)); run: chmod 600 \(path)")
    }
    // Root can read every file, and checks the keys of services that run as other users.
    guard status.st_uid == geteuid() || status.st_uid == 0 || geteuid() == 0 else {
      throw CertificateError("\(path): this key belongs to another user")
    }
  }

  /// Replaces the whole file, and syncs it. Written by root, it belongs to the folder's owner, the user the server runs
  /// as.
  static func write(_ bytes: [UInt8], to path: String) throws(CertificateError) {
    let temporary = path + ".new"
    unlink(temporary)
    let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw CertificateError("\(temporary): \(reason())") }
    let count = bytes.withUnsafeBytes { Self.write(descriptor, $0.baseAddress, $0.count) }
    let isWritten = count == bytes.count && own(descriptor, like: folder(of: path)) && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, rename(temporary, path) == 0 else {
      let reason = reason()
      unlink(temporary)
      throw CertificateError("\(path): \(reason)")
    }
  }

  private static func own(_ descriptor: Int32, like folder: String) -> Bool {
    var status = stat()
    guard geteuid() == 0 else { return true }
    return stat(folder, &status) == 0 && fchown(descriptor, status.st_uid, status.st_gid) == 0
  }

  private static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Changes when the file is written or replaced.
  static func version(_ path: String) -> [Int] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [] }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return [Int(status.st_ino), Int(status.st_size), time.tv_sec, time.tv_nsec]
  }

  private static func reason() -> String { String(cString: strerror(errno)) }

  private static func read(_ descriptor: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.read(descriptor, bytes, count)
    #elseif canImport(Musl)
      Musl.read(descriptor, bytes, count)
    #else
      Darwin.read(descriptor, bytes, count)
    #endif
  }

  private static func write(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes, count)
    #elseif canImport(Musl)
      Musl.write(descriptor, bytes, count)
    #else
      Darwin.write(descriptor, bytes, count)
    #endif
  }
}
