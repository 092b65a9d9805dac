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
  /// Several processes of the role may be at work at once, and each holds the lock.
  private let isShared: Bool
  private let ports: Ports
  private var descriptor: Int32 = -1
  private var holdsLock = false
  /// Why the file could not be opened for writing, when that was the reason of the last `hold` that failed.
  package private(set) var problem: SQLiteError?

  /// There is one app (INC-16). Extensions may be several: a system starts the next before the last one has ended.
  package init(prefix: String, role: String, ports: Ports = .system) {
    self.ports = ports
    path = "\(prefix)_\(role).phase"
    isShared = role != "app"
  }

  deinit { release() }

  /// Whether this process holds the lock.
  package var isHeld: Bool { holdsLock }

  /// True when this process is now, or was already, at work in its role; false when it may not be, since the role has
  /// one process only, and another is (INC-16), or when there can be no lock: then `problem` says why.
  package func hold() -> Bool {
    guard !holdsLock else { return true }
    guard openForWriting() else { return false }
    // Somebody who asks holds the lock for the length of the question; what is still held after 20 ms is held by a
    // process at work.
    holdsLock = lock(descriptor, isShared ? LOCK_SH : LOCK_EX, attempts: 20)
    if !holdsLock { release() }
    return holdsLock
  }

  /// Lets go of the lock and of the file.
  package func release() {
    guard descriptor >= 0 else { return }
    LockFile.close(descriptor)
    descriptor = -1
    holdsLock = false
  }

  /// The last word of a process that lets go: published, unless others of the role are still at work. Then what was
  /// published by them stays; what this process has published loses its name, since it is not the one at work.
  package func release(saying phase: String, by instance: Instance) {
    // A lock is changed into another by giving up the first, which is what is wanted.
    if !isShared || !holdsLock || lock(descriptor, LOCK_EX, attempts: Self.probes) {
      publish(phase, by: instance)
    } else if let last = published(), last.instance == instance {
      write("\(last.phase)\n")
    }
    release()
  }

  /// Writes the phase. One write of one short line, so that a reader sees the old or the new one. Of several processes
  /// the last one to write is named.
  package func publish(_ phase: String, by instance: Instance) {
    guard openForWriting() else { return }
    write("\(phase) \(instance.stored)\n")
    if !holdsLock { release() }
  }

  private func write(_ line: String) {
    let line = Array(line.utf8)
    let written = line.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, 0) }
    if written == line.count { ftruncate(descriptor, off_t(line.count)) }
  }

  /// What was published last, whoever wrote it.
  package func published() -> Published? {
    let reader = LockFile.open(path, O_RDONLY)
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
    let probe = LockFile.open(path, O_RDONLY)
    guard probe >= 0 else { return false }
    defer { LockFile.close(probe) }
    // A shared lock is found by asking for the other one, and two who ask so at once are in each other's way: what is
    // held is held for longer than a question.
    return !lock(probe, isShared ? LOCK_EX : LOCK_SH, attempts: isShared ? Self.probes : 1)
  }

  private static let probes = 3

  /// False when another process still has it at the last attempt.
  private func lock(_ descriptor: Int32, _ kind: Int32, attempts: Int) -> Bool {
    for attempt in 1...attempts {
      if flock(descriptor, kind | LOCK_NB) == 0 { return true }
      if attempt < attempts {
        ports.clock.pause(.microseconds(attempts == Self.probes ? 300 * Int64(attempt) : 1_000))
      }
    }
    return false
  }

  private func openForWriting() -> Bool {
    problem = nil
    if descriptor < 0 { descriptor = LockFile.open(path, O_RDWR | O_CREAT) }
    if descriptor < 0 { problem = SQLiteError(opening: errno) }
    return descriptor >= 0
  }
}
