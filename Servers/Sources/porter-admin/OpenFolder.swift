#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A folder held by a descriptor. Root restores into a folder that belongs to another user, who could replace anything
/// in it by a link to one of root's: names are looked up in the folder that was opened, and no link is followed.
struct OpenFolder: ~Copyable {
  let path: String
  private let descriptor: Int32

  /// `followingLinks`: for a folder that the operator has named.
  init(_ path: String, followingLinks: Bool = false) throws(Failure) {
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (followingLinks ? 0 : O_NOFOLLOW))
    guard descriptor >= 0 else { throw Failure("\(path): \(systemError())") }
    self.path = path
  }

  /// A folder in this one, that belongs to this user.
  init(_ name: String, in folder: borrowing OpenFolder) throws(Failure) {
    let path = folder.path + "/" + name
    let descriptor = openat(folder.descriptor, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw Failure("\(path): \(systemError())") }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else {
      close(descriptor)
      throw Failure("\(path): belongs to another user; remove it")
    }
    (self.path, self.descriptor) = (path, descriptor)
  }

  deinit { close(descriptor) }

  /// Makes an empty folder in this one, in place of what an earlier restore left.
  func makeEmpty(_ name: String) throws(Failure) -> OpenFolder {
    if mkdirat(descriptor, name, 0o700) == 0 { return try OpenFolder(name, in: self) }
    guard errno == EEXIST else { throw Failure("\(path)/\(name): \(systemError())") }
    let folder = try OpenFolder(name, in: self)
    folder.removeFiles()
    return folder
  }

  func removeFolder(_ name: String) { unlinkat(descriptor, name, AT_REMOVEDIR) }

  func remove(_ name: String) { unlinkat(descriptor, name, 0) }

  func has(_ name: String) -> Bool {
    var status = stat()
    return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
  }

  func move(_ name: String, to folder: borrowing OpenFolder, as newName: String) throws(Failure) {
    guard renameat(descriptor, name, folder.descriptor, newName) == 0 else {
      throw Failure("\(folder.path)/\(newName): \(systemError())")
    }
  }

  /// If this process is root's, the file gets the owner of `folder`, the user the server runs as.
  func give(_ name: String, toOwnerOf folder: borrowing OpenFolder) throws(Failure) {
    var status = stat()
    guard geteuid() == 0, fstat(folder.descriptor, &status) == 0 else { return }
    guard fchownat(descriptor, name, status.st_uid, status.st_gid, AT_SYMLINK_NOFOLLOW) == 0 else {
      throw Failure("\(path)/\(name): \(systemError())")
    }
  }

  func synchronize() throws(Failure) {
    guard fsync(descriptor) == 0 else { throw Failure("\(path): \(systemError())") }
  }

  /// This program creates no subfolders.
  func removeFiles() { for name in names() { remove(name) } }

  private func names() -> [String] {
    let other = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard other >= 0, let directory = fdopendir(other) else { return [] }
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
