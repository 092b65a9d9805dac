import Foundation

/// A store's files and locks that this process holds, as the kernel lists them.
struct Held: Equatable, CustomStringConvertible {
  var files: [String] = []
  /// POSIX locks, which mark SQLite's readers and writers.
  var locks: [String] = []

  static let nothing = Held()
  var description: String { "files \(files), locks \(locks)" }

  init() {}

  init(of prefix: String) throws {
    let folder = (prefix as NSString).deletingLastPathComponent
    let names = try FileManager.default.contentsOfDirectory(atPath: folder).map { folder + "/" + $0 }
    var inodes: [String: String] = [:]
    for name in names where name.hasPrefix(prefix) {
      let number = try FileManager.default.attributesOfItem(atPath: name)[.systemFileNumber] as? UInt64
      inodes["\(number ?? 0)"] = name
    }
    let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
    files = descriptors.compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }.filter { $0.hasPrefix(prefix) }
    // 1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128
    for line in try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n") {
      let fields = line.split(separator: " ")
      guard fields.count > 5, fields[1] == "POSIX", fields[4] == "\(getpid())",
        let name = inodes[String(fields[5].split(separator: ":").last ?? "")]
      else { continue }
      locks.append("\(fields[3]) \(name)")
    }
  }
}
