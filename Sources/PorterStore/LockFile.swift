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

/// Small files beside the store that carry an advisory lock.
extension Files {
  /// Opens a lock file, as `open` does. If the file may be created, a link, pipe or socket in its place is removed
  /// first: no process can hold a lock on it, since none opens it.
  func openLockFile(_ path: String, for opening: FileOpening) throws(SystemError) -> OpenFile {
    do throws(SystemError) { return try open(path, for: opening) } catch {
      guard opening != .reading, let status = try? status(at: path), ![.regular, .directory].contains(status.kind),
        (try? remove(path)) != nil
      else { throw error }
      return try open(path, for: opening)
    }
  }

  /// Releases the lock, then the descriptor. The lock belongs to the open file, not to the descriptor: a child forked
  /// in between has its own descriptor for it, and would keep the lock.
  func closeLockFile(_ file: OpenFile) {
    unlock(file)
    close(file)
  }

  /// Whether the file at this path is still the one that was opened.
  func isCurrent(_ file: OpenFile, at path: String) -> Bool {
    guard let held = try? status(of: file), let there = try? status(at: path) else { return false }
    return held.isSameFile(as: there)
  }

  /// Whether this name certainly does not exist, or is a link that leads nowhere.
  func isMissing(_ path: String) -> Bool {
    do throws(SystemError) { _ = try status(at: path, followingLinks: true) } catch { return error.code == ENOENT }
    return false
  }

  /// Whether this name exists; a link counts as its target.
  func exists(_ path: String) -> Bool { (try? status(at: path, followingLinks: true)) != nil }
}
