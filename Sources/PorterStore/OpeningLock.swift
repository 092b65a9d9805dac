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
/// SQLite's own locks protect a file that is open, not one that is being opened: a process that has opened the old file
/// and takes its first lock after the new file has taken the name would write into a file that no process reads, and
/// put its log beside the wrong one. The lock is on a file of its own, since closing a second descriptor of the
/// database would drop all of this process's locks on it (POSIX). The file is empty, and may be deleted while no
/// process uses the store.
final class OpeningLock {
  private let path: String
  private let files: any Files
  private var file: OpenFile?

  /// Shared, to open the store; exclusive, to replace its file. Waits up to `timeout` for a process that is replacing
  /// the file, then throws `busy`; throws it immediately when `stop` is raised. `creates`: also where there is no store
  /// yet.
  init(
    file: String, _ kind: FileLockKind, creates: Bool, timeout: Span, stop: StopSignal? = nil, ports: Ports = .system
  )
    throws(SQLiteError)
  {
    path = "\(file)-lock"
    files = ports.files
    let opening: FileOpening = creates || files.exists(file) ? .readingOrCreating : .reading
    let clock = ports.clock
    let end = clock.now() + timeout
    let deadline = stop?.limit(end) ?? end
    while true {
      release()
      let lockFile: OpenFile
      do throws(SystemError) { lockFile = try files.openLockFile(path, for: opening) } catch {
        // Where nothing can be created, nothing can be replaced either; SQLite decides whether the store can be opened.
        let isHarmless =
          kind == .shared && [EACCES, EPERM, EROFS, ENOENT, ENOTDIR, EISDIR, ENAMETOOLONG].contains(error.code)
        guard isHarmless else { throw SQLiteError(opening: error.code) }
        return
      }
      self.file = lockFile
      while try !lock(lockFile, kind) {
        guard clock.now() < deadline, stop?.cutsOff != true else { throw SQLiteError(kind: .busy) }
        clock.pause(.milliseconds(2))
      }
      if isCurrent { return }
      // The file was deleted meanwhile, and other processes lock a new one. A process that keeps deleting it delays an
      // opening no longer than this (INC-39).
      guard clock.now() < deadline, stop?.cutsOff != true else {
        release()
        throw SQLiteError(kind: .busy)
      }
    }
  }

  deinit { release() }

  private func lock(_ file: OpenFile, _ kind: FileLockKind) throws(SQLiteError) -> Bool {
    do throws(SystemError) { return try files.lock(file, kind) } catch { throw SQLiteError(opening: error.code) }
  }

  /// False where no lock can be taken and none is needed.
  var isHeld: Bool { file != nil }

  /// False if the file has been deleted since: other processes may hold a lock on another one.
  var isCurrent: Bool { file.map { files.isCurrent($0, at: path) } ?? false }

  private func release() {
    if let file { files.closeLockFile(file) }
    file = nil
  }
}
