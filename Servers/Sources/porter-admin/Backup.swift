#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A backup is an ordinary data folder. It gets its name once it is complete and verified.
enum Backup {
  static func make(of folder: DataFolder, at destination: String) throws {
    try make(at: destination) { partial in
      try copy(folder, to: partial)
      let problems = try DataFolder(partial).problems
      guard problems.isEmpty else { throw Failure("\(folder.path): is damaged: \(problems.joined(separator: "; "))") }
    }
  }

  /// `fill` receives a folder, and throws if what it put there is incomplete.
  static func make(at destination: String, _ fill: (_ folder: String) throws -> Void) throws {
    guard !exists(destination) else { throw Failure("\(destination): is there already") }
    let partial = destination + ".partial"
    guard mkdir(partial, 0o700) == 0 else { throw Failure("\(partial): \(systemError())") }
    do {
      try fill(partial)
      try synchronize(partial)
      guard rename(partial, destination) == 0 else { throw Failure("\(destination): \(systemError())") }
    } catch {
      Self.remove(partial)
      throw error
    }
    try synchronize(parent(of: destination))
  }

  static func restore(_ backup: DataFolder, to path: String, replacing: Bool) throws {
    let problems = backup.problems
    guard problems.isEmpty else { throw Failure("\(backup.path): is damaged: \(problems.joined(separator: "; "))") }
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure("\(path): \(systemError())") }
    let target = backup.moved(to: path)
    if let other = try? DataFolder(path), other.parts != target.parts {
      throw Failure("\(path): has a \(other.name)'s data, and the backup a \(backup.name)'s")
    }
    guard let lock = try FolderLock(target.lock, creating: true) else {
      throw Failure("\(path): a process serves this folder; stop it first")
    }
    // The server opens the lock for writing.
    try own(file: target.lock, like: path)
    guard replacing || !target.possible.contains(where: { exists(path + "/" + $0) }) else {
      throw Failure("\(path): there is data already; --replace yes puts it aside")
    }
    // Prepared completely alongside the existing data, so that a failure leaves that unchanged.
    let new = path + "/restoring"
    remove(new)
    guard mkdir(new, 0o700) == 0 else { throw Failure("\(new): \(systemError())") }
    do {
      try copy(backup, to: new)
      try own(new, like: path)
      try putAside(target)
      try move(backup.moved(to: new), to: target)
    } catch {
      remove(new)
      throw error
    }
    rmdir(new)
    try synchronize(path)
    _ = consume lock
  }

  private static func copy(_ folder: DataFolder, to path: String) throws {
    for part in folder.parts { try folder.backUp(part, to: folder.moved(to: path).file(part)) }
    for name in folder.others { try copyFile(folder.path + "/" + name, to: path + "/" + name) }
    try synchronize(path)
  }

  /// Keeps the last replaced data, under names that end with `.replaced`.
  private static func putAside(_ target: DataFolder) throws(Failure) {
    for name in target.possible {
      let file = target.path + "/" + name
      unlink(file + ".replaced")
      guard !exists(file) || rename(file, file + ".replaced") == 0 else { throw Failure("\(file): \(systemError())") }
    }
  }

  private static func move(_ new: DataFolder, to target: DataFolder) throws(Failure) {
    for name in new.others + new.parts.map(\.rawValue) {
      guard rename(new.path + "/" + name, target.path + "/" + name) == 0 else {
        throw Failure("\(target.path)/\(name): \(systemError())")
      }
    }
  }
}
