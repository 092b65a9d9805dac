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

/// The phase of one role's process, where other processes see it: a small file beside the store, with an advisory lock.
///
/// The lock is what the kernel answers for: held while the role is at work, let go before it suspends, gone with its
/// process. So a phase that says "running" is believed only while somebody holds the lock, and nothing can be left
/// behind by a crash (INC-12, INC-13). It is `flock` on a file of its own, since POSIX record locks on the database
/// would fall with any other descriptor of the process.
package final class PhaseFile {
  package struct Published: Equatable, Sendable {
    package var phase: String
    package var instance: Instance?
  }

  package let path: String
  private var descriptor: Int32 = -1
  private var holdsLock = false

  package init(prefix: String, role: String) { path = "\(prefix)_\(role).phase" }

  deinit { release() }

  /// Whether this process holds the lock.
  package var isHeld: Bool { holdsLock }

  /// True when this process is now, or was already, the role's one process at work; false when another is (INC-16).
  package func hold() -> Bool {
    guard !holdsLock else { return true }
    guard openForWriting() else { return false }
    // Somebody who asks holds the lock for the length of the question; what is still held after 20 ms is held by a
    // process at work.
    for _ in 0..<20 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 {
        holdsLock = true
        return true
      }
      usleep(1_000)
    }
    release()
    return false
  }

  /// Lets go of the lock and of the file.
  package func release() {
    guard descriptor >= 0 else { return }
    close(descriptor)
    descriptor = -1
    holdsLock = false
  }

  /// Writes the phase. One write of one short line, so that a reader sees the old or the new one.
  package func publish(_ phase: String, by instance: Instance) {
    guard openForWriting() else { return }
    let line = Array("\(phase) \(instance.stored)\n".utf8)
    let written = line.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    if written == line.count { ftruncate(descriptor, off_t(line.count)) }
    if !holdsLock { release() }
  }

  /// What was published last, whoever wrote it.
  package func published() -> Published? {
    let reader = open(path, O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { return nil }
    defer { close(reader) }
    var buffer = [UInt8](repeating: 0, count: 512)
    let count = read(reader, &buffer, buffer.count)
    guard count > 0, let end = buffer[..<count].firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let parts = String(decoding: buffer[..<end], as: UTF8.self).split(separator: " ")
    guard let phase = parts.first else { return nil }
    return Published(phase: String(phase), instance: parts.count > 1 ? Instance(stored: String(parts[1])) : nil)
  }

  /// Whether another process holds the lock at this moment. Holds nothing afterwards.
  package func isHeldElsewhere() -> Bool {
    guard !holdsLock else { return false }
    let probe = open(path, O_RDONLY | O_CLOEXEC)
    guard probe >= 0 else { return false }
    defer { close(probe) }
    return flock(probe, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
  }

  private func openForWriting() -> Bool {
    if descriptor < 0 { descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) }
    return descriptor >= 0
  }
}
