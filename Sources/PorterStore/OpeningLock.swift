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

/// A lock beside the store's file, held while the file is opened, and while it is replaced by another.
///
/// SQLite itself keeps apart those who have the file open. Not those who are about to: one that has opened the old file
/// and takes its first lock after the new one has its name would write into a file that nobody reads, and make its log
/// beside the wrong one. A file of its own, since to close a second descriptor of the database would take all of this
/// process's locks on it away (POSIX). Empty; it may be deleted while nobody is at work.
final class OpeningLock {
  enum Kind: Sendable {
    /// To open the store. Any number at once.
    case shared
    /// To replace its file.
    case exclusive
  }

  private let path: String
  private var descriptor: Int32 = -1

  /// Waits up to `timeout` for a process that replaces the file, which dies with its lock. `busy` after that.
  /// `creates`: also where there is no store yet. `busy` at once when `stop` is raised.
  init(file: String, _ kind: Kind, creates: Bool, timeout: Span, stop: StopSignal? = nil, ports: Ports = .system)
    throws(SQLiteError)
  {
    path = "\(file)-lock"
    let create = creates || access(file, F_OK) == 0 ? O_CREAT : 0
    let clock = ports.clock
    let end = clock.now() + timeout
    let deadline = stop?.limit(end) ?? end
    while true {
      letGo()
      descriptor = LockFile.open(path, O_RDONLY | create)
      guard descriptor >= 0 else {
        // Where nothing can be created nothing can be replaced either; whether it can be opened is SQLite's to say.
        let isHarmless =
          kind == .shared && [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG].contains(errno)
        guard isHarmless else { throw SQLiteError(opening: errno) }
        return
      }
      while flock(descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 {
        let reason = errno
        guard reason == EWOULDBLOCK || reason == EINTR else { throw SQLiteError(opening: reason) }
        guard clock.now() < deadline, stop?.isRaised != true else { throw SQLiteError(kind: .busy) }
        clock.pause(.milliseconds(2))
      }
      if isCurrent { return }
      // Somebody has deleted it meanwhile, and others lock a new one. Whoever does that again and again holds nobody up
      // for longer than this (INC-39).
      guard clock.now() < deadline, stop?.isRaised != true else {
        letGo()
        throw SQLiteError(kind: .busy)
      }
    }
  }

  deinit { letGo() }

  /// False where there can be no lock, and none is needed.
  var isHeld: Bool { descriptor >= 0 }

  /// False when somebody has deleted it since: others may hold another one.
  var isCurrent: Bool { isHeld && LockFile.isCurrent(descriptor, at: path) }

  private func letGo() {
    if descriptor >= 0 { LockFile.close(descriptor) }
    descriptor = -1
  }
}
