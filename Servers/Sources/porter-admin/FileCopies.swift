#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension Backup {
  /// Copies a small file; only its owner can read the copy.
  static func copyFile(_ source: String, to destination: String) throws(Failure) {
    let input = open(source, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw Failure("\(source): \(systemError())") }
    defer { close(input) }
    let output = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard output >= 0 else { throw Failure("\(destination): \(systemError())") }
    defer { close(output) }
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(input, &part, part.count)
      guard count >= 0 else { throw Failure("\(source): \(systemError())") }
      if count == 0 { break }
      guard write(output, part, count) == count else { throw Failure("\(destination): \(systemError())") }
    }
    guard fsync(output) == 0 else { throw Failure("\(destination): \(systemError())") }
  }

  static func synchronize(_ folder: String) throws(Failure) {
    try OpenFolder(folder, followingLinks: true).synchronize()
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Removes a folder without subfolders, as this program creates them.
  static func remove(_ folder: String) {
    do throws(Failure) { try OpenFolder(folder).removeFiles() } catch { return }
    rmdir(folder)
  }
}
