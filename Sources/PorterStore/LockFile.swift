#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Small files beside the store that carry a lock (`flock`), and how they are opened and let go of.
enum LockFile {
  /// A descriptor, or -1 with `errno`. Only a file of its own is opened: a link would have another file written, and to
  /// open a pipe that somebody put there may wait for ever. Who may create the file puts such a thing out of the way;
  /// nobody can hold a lock on it, since nobody opens it.
  static func open(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = openRegular(path, flags)
    guard descriptor < 0, flags & O_CREAT != 0 else { return descriptor }
    let reason = errno
    var status = stat()
    let isInTheWay = lstat(path, &status) == 0 && ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
    guard isInTheWay, unlink(path) == 0 else {
      errno = reason
      return -1
    }
    return openRegular(path, flags)
  }

  private static func openRegular(_ path: String, _ flags: Int32) -> Int32 {
    let descriptor = openFile(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { return -1 }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      closeFile(descriptor)
      errno = EINVAL
      return -1
    }
    return descriptor
  }

  /// Gives the lock back, then the descriptor. The lock belongs to what was opened, and not to the descriptor: a child
  /// that was forked meanwhile has another descriptor of it, and would go on holding the lock.
  static func close(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    closeFile(descriptor)
  }

  /// Whether the descriptor is still that of the file at this path.
  static func isCurrent(_ descriptor: Int32, at path: String) -> Bool {
    var (held, there) = (stat(), stat())
    return fstat(descriptor, &held) == 0 && lstat(path, &there) == 0 && held.st_dev == there.st_dev
      && held.st_ino == there.st_ino
  }
}

// libc's, out of the way of the functions of these names.
private func openFile(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func closeFile(_ descriptor: Int32) { close(descriptor) }
