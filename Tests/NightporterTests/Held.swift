import Foundation
import PorterProcesses

/// A store's files and locks that this process holds, as the kernel lists them.
struct Held: Equatable, CustomStringConvertible {
  var files: [String] = []
  /// POSIX locks, which mark SQLite's readers and writers.
  var locks: [String] = []

  static let nothing = Held()
  var description: String { "files \(files), locks \(locks)" }

  init() {}

  init(of prefix: String) throws {
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    files = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }.filter { $0.hasPrefix(prefix) }
    locks = try HeldLock.all(of: getpid()).filter { $0.kind == "POSIX" && $0.path.hasPrefix(prefix) }
      .map { "\($0.access) \($0.path)" }
  }
}
