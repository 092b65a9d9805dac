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
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure("\(folder): \(systemError())") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw Failure("\(folder): \(systemError())") }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Files restored by root are given to the folder's owner, the user the server runs as.
  static func own(_ new: String, like folder: String) throws(Failure) {
    for name in names(in: new) { try own(file: new + "/" + name, like: folder) }
  }

  /// The same for one file. A symbolic link is not followed: the folder's owner could have it lead to any file.
  static func own(file: String, like folder: String) throws(Failure) {
    var status = stat()
    guard geteuid() == 0, stat(folder, &status) == 0 else { return }
    guard lchown(file, status.st_uid, status.st_gid) == 0 else { throw Failure("\(file): \(systemError())") }
  }

  /// Removes a folder without subfolders, as this program creates them.
  static func remove(_ folder: String) {
    for name in names(in: folder) { unlink(folder + "/" + name) }
    rmdir(folder)
  }

  private static func names(in folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
        String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
