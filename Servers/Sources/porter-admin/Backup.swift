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
    guard mkdir(path, 0o700) == 0 || errno == EEXIST else { throw Failure("\(path): \(systemError())") }
    let target = backup.moved(to: path)
    if let other = try? DataFolder(path), other.parts != target.parts {
      throw Failure("\(path): has a \(other.name)'s data, and the backup a \(backup.name)'s")
    }
    guard let lock = try FolderLock(target.lock, creating: true) else {
      throw Failure("\(path): a process serves this folder; stop it first")
    }
    let folder = try OpenFolder(path, followingLinks: true)
    // The server opens the lock for writing.
    try folder.give(target.lockName, toOwnerOf: folder)
    guard replacing || !target.possible.contains(where: { folder.has($0) }) else {
      throw Failure("\(path): there is data already; --replace yes puts it aside")
    }
    // Prepared completely alongside the existing data, so that a failure leaves that unchanged.
    let new = try folder.makeEmpty(newName)
    do {
      try prepare(backup, in: new)
      for name in backup.names { try new.give(name, toOwnerOf: folder) }
      try putAside(target, in: folder)
      for name in backup.names { try new.move(name, to: folder, as: name) }
    } catch {
      new.removeFiles()
      folder.removeFolder(newName)
      throw error
    }
    new.removeFiles()
    folder.removeFolder(newName)
    try folder.synchronize()
    _ = consume lock
  }

  private static let newName = "restoring"

  /// The copy is verified rather than the backup, which may be where SQLite cannot create the files it needs to read.
  private static func prepare(_ backup: DataFolder, in new: borrowing OpenFolder) throws {
    try copy(backup, to: new.path)
    let problems = backup.moved(to: new.path).problems
    guard problems.isEmpty else { throw Failure("\(backup.path): is damaged: \(problems.joined(separator: "; "))") }
  }

  private static func copy(_ folder: DataFolder, to path: String) throws {
    for part in folder.parts { try folder.backUp(part, to: folder.moved(to: path).file(part)) }
    for name in folder.others { try copyFile(folder.path + "/" + name, to: path + "/" + name) }
    try synchronize(path)
  }

  /// Keeps the last replaced data, under names that end with `.replaced`.
  private static func putAside(_ target: DataFolder, in folder: borrowing OpenFolder) throws(Failure) {
    for name in target.possible {
      folder.remove(name + ".replaced")
      if folder.has(name) { try folder.move(name, to: folder, as: name + ".replaced") }
    }
  }
}
