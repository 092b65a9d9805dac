#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The lock of a data folder: held here, or by the process that serves it.
struct FolderLock: ~Copyable {
  private let descriptor: Int32

  /// Nil if another process holds it. `creating`: whether a missing file is created.
  init?(_ path: String, creating: Bool) throws(Failure) {
    descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | (creating ? O_CREAT : 0), 0o600)
    guard descriptor >= 0 else { throw Failure("\(path): \(systemError())") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      let reason = errno
      close(descriptor)
      guard reason == EWOULDBLOCK else { throw Failure("\(path): \(String(cString: strerror(reason)))") }
      return nil
    }
  }

  deinit { close(descriptor) }
}

enum ServingProcess {
  private static let mostLooks = 20
  private static let pauseMicroseconds: UInt32 = 10_000

  /// The processes holding a lock on the file, as the system reports them. Its list comes in several reads, and may miss
  /// a lock while others change, so an empty result is read again. On a busy system five times in a row were too few.
  static func holders(of path: String) throws(Failure) -> [pid_t] {
    var status = stat()
    guard stat(path, &status) == 0 else { throw Failure("\(path): \(systemError())") }
    for look in 0..<mostLooks {
      if look > 0 { usleep(pauseMicroseconds) }
      let holders = try listed(inode: UInt64(status.st_ino))
      if !holders.isEmpty { return holders }
    }
    return []
  }

  private static func listed(inode: UInt64) throws(Failure) -> [pid_t] {
    guard let locks = fopen("/proc/locks", "re") else { throw Failure("/proc/locks: \(systemError())") }
    defer { fclose(locks) }
    var holders: [pid_t] = []
    var line = [CChar](repeating: 0, count: 512)
    while fgets(&line, Int32(line.count), locks) != nil {
      let end = line.firstIndex(of: 0) ?? line.count
      let text = String(decoding: line[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if let holder = holder(text, inode: inode) { holders.append(holder) }
    }
    return holders
  }

  /// Parses "1: FLOCK  ADVISORY  WRITE 4711 fd:00:131077 0 EOF"; a waiter has an arrow after its number. The device is
  /// not compared: layered file systems report that of a layer.
  static func holder(_ line: String, inode: UInt64) -> pid_t? {
    let words = line.split(whereSeparator: \.isWhitespace)
    guard words.count >= 6, words[1] == "FLOCK", let process = pid_t(words[4]), process > 0,
      let last = words[5].split(separator: ":").last, UInt64(last) == inode
    else { return nil }
    return process
  }

  /// The program's name, as truncated by the system.
  static func name(_ process: pid_t) -> String {
    guard let file = fopen("/proc/\(process)/comm", "re") else { return "" }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 64)
    guard fgets(&text, Int32(text.count), file) != nil else { return "" }
    let end = text.firstIndex { $0 == 0 || $0 == 10 } ?? text.count
    return String(decoding: text[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
