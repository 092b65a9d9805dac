#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Files that only their owner can read.
enum PrivateFile {
  /// Creates the file if it is missing.
  static func make(_ path: String) throws(ServerError) { close(try opened(path)) }

  fileprivate static func opened(_ path: String) throws(ServerError) -> Int32 {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .cannotOpenState(systemError: errno) }
    return descriptor
  }
}

/// Keeps a second process out. The lock goes with the process, however it ends.
final class FileLock {
  private let descriptor: Int32

  /// Throws `stateInUse` if another process holds it. Does not wait.
  init(_ path: String) throws(ServerError) {
    descriptor = try PrivateFile.opened(path)
    guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else { return }
    let error = errno
    throw error == EWOULDBLOCK ? .stateInUse : .cannotOpenState(systemError: error)
  }

  deinit { close(descriptor) }
}
