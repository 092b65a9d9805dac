import PorterPlatform

/// The phase of one role's process, published for other processes: a small file beside the store, with an advisory
/// lock.
///
/// The kernel vouches for the lock: it is held while the role is running, released before it suspends, and ends with
/// its process. So a phase that says "running" is believed only while a process holds the lock, and a crash leaves
/// nothing behind (INC-12, INC-13). It is an advisory lock on a file of its own, since POSIX record locks on the
/// database would fall with any other descriptor of the process.
package final class PhaseFile {
  package struct Published: Equatable, Sendable {
    package var phase: String
    package var instance: Instance?

    package init(phase: String, instance: Instance?) {
      self.phase = phase
      self.instance = instance
    }
  }

  package let path: String
  /// Several processes of the role may run at the same time, and each holds the lock.
  private let isShared: Bool
  private let ports: Ports
  private var file: OpenFile?
  private var holdsLock = false
  /// Why the file could not be opened for writing, if the last `hold` failed for that reason.
  package private(set) var problem: SQLiteError?

  /// There is one app (INC-16). There may be several extensions: a system starts the next before the last has ended.
  package init(prefix: String, role: String, ports: Ports = .system) {
    self.ports = ports
    path = "\(prefix)_\(role).phase"
    isShared = role != "app"
  }

  deinit { release() }

  /// Whether this process holds the lock.
  package var isHeld: Bool { holdsLock }

  /// True if this process now holds its role, or held it already. False if it may not, because the role allows one
  /// process and another is running (INC-16), or if no lock can be taken: then `problem` says why.
  package func hold() -> Bool {
    guard !holdsLock else { return true }
    guard let file = openForWriting() else { return false }
    // A process that only asks holds the lock for the length of its question; a holder still there after 20 ms is
    // running.
    holdsLock = lock(file, isShared ? .shared : .exclusive, attempts: 20)
    if !holdsLock { release() }
    return holdsLock
  }

  /// Releases the lock and closes the file.
  package func release() {
    guard let file else { return }
    ports.files.closeLockFile(file)
    self.file = nil
    holdsLock = false
  }

  /// Publishes the last phase of a process that releases its lock, unless other processes of the role are still
  /// running. Then their phase stays, and the one that this process published no longer names it.
  package func release(saying phase: String, by instance: Instance) {
    // Converting a lock gives up the old one first, which is intended here.
    if !isShared || !holdsLock || isLast {
      publish(phase, by: instance)
    } else if let last = published(), last.instance == instance {
      write("\(last.phase)\n")
    }
    release()
  }

  /// Whether no other process of the role holds the lock.
  private var isLast: Bool { file.map { lock($0, .exclusive, attempts: Self.probes) } ?? false }

  /// Writes the phase. One write of one short line, so that a reader sees the old or the new one. With several
  /// processes, the last to write is named.
  package func publish(_ phase: String, by instance: Instance) {
    guard openForWriting() != nil else { return }
    write("\(phase) \(instance.stored)\n")
    if !holdsLock { release() }
  }

  private func write(_ line: String) {
    if let file { try? ports.files.write(Array(line.utf8), to: file) }
  }

  /// The last phase that any process published.
  package func published() -> Published? {
    guard let reader = try? ports.files.openLockFile(path, for: .reading) else { return nil }
    defer { ports.files.close(reader) }
    guard let bytes = try? ports.files.read(reader, limit: 512), let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
    else { return nil }
    var fields = TextFields(bytes[..<end], separator: UInt8(ascii: " "))
    guard let phase = fields.next(), !phase.isEmpty else { return nil }
    return Published(phase: phase, instance: fields.next().flatMap(Instance.init(stored:)))
  }

  /// Whether another process holds the lock at this moment. Holds no lock afterwards.
  package func isHeldElsewhere() -> Bool {
    guard !holdsLock else { return false }
    guard let probe = try? ports.files.openLockFile(path, for: .reading) else { return false }
    defer { ports.files.closeLockFile(probe) }
    // A shared lock is detected by trying for the exclusive one, so two processes that ask at the same time obstruct
    // each other. A real holder keeps its lock for longer than a question.
    return !lock(probe, isShared ? .exclusive : .shared, attempts: isShared ? Self.probes : 1)
  }

  private static let probes = 3

  /// False if another process still has it at the last attempt.
  private func lock(_ file: OpenFile, _ kind: FileLockKind, attempts: Int) -> Bool {
    for attempt in 1...attempts {
      if (try? ports.files.lock(file, kind)) == true { return true }
      if attempt < attempts {
        ports.clock.pause(.microseconds(attempts == Self.probes ? 300 * Int64(attempt) : 1_000))
      }
    }
    return false
  }

  private func openForWriting() -> OpenFile? {
    problem = nil
    if let file { return file }
    do throws(SystemError) { file = try ports.files.openLockFile(path, for: .writingOrCreating) } catch {
      problem = SQLiteError(opening: error.code)
    }
    return file
  }
}
