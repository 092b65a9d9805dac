import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Records the steps of all machines in all processes during tests, for comparison with the machines' files.
///
/// Debug builds only: `PORTER_TRACE_TO=FILE` appends a line for each step, with one write(2) each, so that processes
/// may share the file. Omits steps that neither change the state nor are new to the process.
package enum StepRecord {
  #if DEBUG
    private struct Contents {
      var runners = 0
      var known: Set<String> = []
    }

    private static let contents = Mutex(Contents())
    private static let descriptor: Int32? = getenv("PORTER_TRACE_TO").flatMap { path in
      let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
      return descriptor < 0 ? nil : descriptor
    }
    /// No other process has both its number and its place in the file.
    private static let process = "\(getpid())@\(descriptor.map { lseek($0, 0, SEEK_END) } ?? 0)"
  #endif

  @inline(__always)
  package static var isOn: Bool {
    #if DEBUG
      return descriptor != nil
    #else
      return false
    #endif
  }

  /// A number for each running machine of the process, which distinguishes its steps from those of others.
  package static func newRunner() -> Int {
    #if DEBUG
      guard isOn else { return 0 }
      return contents.withLock {
        $0.runners += 1
        return $0.runners
      }
    #else
      return 0
    #endif
  }

  /// `runner` is 0 for a machine whose state is stored between its steps.
  package static func add(
    _ machine: String, runner: Int, event: String, from: String, to: String, answer: String
  ) {
    #if DEBUG
      guard let descriptor else { return }
      let step = "\(machine) \(event) \(from) \(to) \(answer)"
      contents.withLock { contents in
        guard contents.known.insert(step).inserted || from != to else { return }
        var line = "\(process) \(runner) \(step)\n"
        line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
      }
    #endif
  }
}
