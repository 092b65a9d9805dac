import Foundation

/// A lock that a process holds, as the kernel lists it with a descriptor. `/proc/locks` lists all of the system, but in
/// several reads, and misses some while others change. Linux only.
package struct HeldLock: Sendable {
  package let path: String
  /// `POSIX`, `OFDLCK` or `FLOCK`.
  package let kind: String
  /// `READ` or `WRITE`.
  package let access: String

  /// Throws if there is no such process.
  package static func all(of process: Int32) throws -> [HeldLock] {
    let folder = "/proc/\(process)"
    // A process's POSIX locks are listed with each descriptor of a file.
    var listed: Set<Substring> = []
    return try FileManager.default.contentsOfDirectory(atPath: folder + "/fd").flatMap { descriptor -> [HeldLock] in
      // A descriptor may have been closed since it was listed.
      guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\(descriptor)"),
        let text = try? String(contentsOfFile: "\(folder)/fdinfo/\(descriptor)", encoding: .utf8)
      else { return [] }
      return text.split(separator: "\n").compactMap { line in
        // lock:	1: POSIX  ADVISORY  READ 1234 08:01:5678 128 128
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count > 4, fields[0] == "lock:", let number = line.firstRange(of: ": "),
          listed.insert(line[number.upperBound...]).inserted
        else { return nil }
        return HeldLock(path: path, kind: String(fields[2]), access: String(fields[4]))
      }
    }
  }
}
