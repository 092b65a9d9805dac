#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The operating system's files.
package struct SystemFiles: Files {
  package init() {}

  package func open(_ path: String, for opening: FileOpening) throws(SystemError) -> OpenFile {
    let flags =
      switch opening {
      case .reading: O_RDONLY
      case .readingOrCreating: O_RDONLY | O_CREAT
      case .writingOrCreating: O_RDWR | O_CREAT
      case .creating, .creatingForLockedDevice: O_WRONLY | O_CREAT | O_EXCL
      }
    let descriptor = systemOpen(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
    guard descriptor >= 0 else { throw SystemError(errno) }
    let file = OpenFile(descriptor: descriptor)
    do throws(SystemError) {
      guard try status(of: file).kind == .regular else { throw SystemError(EINVAL) }
      #if canImport(Darwin)
        // Class D of data protection: NSFileProtectionNone.
        if opening == .creatingForLockedDevice { _ = fcntl(descriptor, F_SETPROTECTIONCLASS, 4) }
      #endif
    } catch {
      closeDescriptor(descriptor)
      throw error
    }
    return file
  }

  package func close(_ file: OpenFile) { closeDescriptor(file.descriptor) }

  package func lock(_ file: OpenFile, _ kind: FileLockKind) throws(SystemError) -> Bool {
    if flock(file.descriptor, (kind == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 { return true }
    guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemError(errno) }
    return false
  }

  package func unlock(_ file: OpenFile) { flock(file.descriptor, LOCK_UN) }

  package func status(of file: OpenFile) throws(SystemError) -> FileStatus {
    var found = stat()
    guard fstat(file.descriptor, &found) == 0 else { throw SystemError(errno) }
    return FileStatus(found)
  }

  package func status(at path: String, followingLinks: Bool) throws(SystemError) -> FileStatus {
    var found = stat()
    guard (followingLinks ? stat(path, &found) : lstat(path, &found)) == 0 else { throw SystemError(errno) }
    return FileStatus(found)
  }

  package func absolutePath(_ path: String) -> String { CanonicalPath.absolute(path) }

  package func canonicalPath(_ path: String) throws(SystemError) -> String {
    do throws(CanonicalPath.Failure) { return try CanonicalPath.resolve(path) } catch {
      throw SystemError(error.systemError)
    }
  }

  package func read(_ file: OpenFile, limit: Int) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: limit)
    let count = pread(file.descriptor, &bytes, limit, 0)
    guard count >= 0 else { throw SystemError(errno) }
    bytes.removeLast(limit - count)
    return bytes
  }

  package func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) {
    let written = bytes.withUnsafeBytes { pwrite(file.descriptor, $0.baseAddress, $0.count, 0) }
    guard written >= 0 else { throw SystemError(errno) }
    guard written == bytes.count else { throw SystemError(ENOSPC) }
    guard ftruncate(file.descriptor, off_t(bytes.count)) == 0 else { throw SystemError(errno) }
  }

  package func copyAttributes(of path: String, to file: OpenFile) throws(SystemError) {
    var (wanted, made) = (stat(), stat())
    guard stat(path, &wanted) == 0, fstat(file.descriptor, &made) == 0 else { throw SystemError(errno) }
    if (wanted.st_uid, wanted.st_gid) != (made.st_uid, made.st_gid) {
      guard fchown(file.descriptor, wanted.st_uid, wanted.st_gid) == 0 else { throw SystemError(errno) }
    }
    guard fchmod(file.descriptor, wanted.st_mode & 0o7777) == 0 else { throw SystemError(errno) }
    #if canImport(Darwin)
      // Only an open descriptor reveals the protection class that decides whether the file can be read with the device
      // locked. Closing it drops the caller's POSIX locks on the file.
      let original = systemOpen(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0)
      guard original >= 0 else { throw SystemError(errno) }
      defer { closeDescriptor(original) }
      let protection = fcntl(original, F_GETPROTECTIONCLASS)
      if protection > 0 { _ = fcntl(file.descriptor, F_SETPROTECTIONCLASS, protection) }
    #endif
  }

  package func synchronize(_ path: String) throws(SystemError) {
    try synchronize(path, by: fsync)
  }

  package func synchronizeContents(of path: String) throws(SystemError) {
    #if canImport(Darwin)
      // Darwin's headers do not declare fdatasync.
      try synchronize(path, by: fsync)
    #else
      try synchronize(path, by: fdatasync)
    #endif
  }

  private func synchronize(_ path: String, by sync: (Int32) -> Int32) throws(SystemError) {
    let descriptor = systemOpen(path, O_RDONLY | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw SystemError(errno) }
    defer { closeDescriptor(descriptor) }
    #if canImport(Darwin)
      // On Darwin neither call waits for the disk's own cache.
      if fcntl(descriptor, F_FULLFSYNC) == 0 { return }
    #endif
    guard sync(descriptor) == 0 else { throw SystemError(errno) }
  }

  package func rename(_ path: String, to destination: String) throws(SystemError) {
    guard systemRename(path, destination) == 0 else { throw SystemError(errno) }
  }

  package func remove(_ path: String) throws(SystemError) {
    guard unlink(path) == 0 else { throw SystemError(errno) }
  }

  package func makeDirectory(_ path: String) throws(SystemError) {
    guard mkdir(path, 0o700) == 0 else { throw SystemError(errno) }
  }

  package func forEachEntry(of directory: String, _ body: (String) -> Bool) {
    guard let listing = opendir(directory) else { return }
    defer { closedir(listing) }
    while let entry = readdir(listing) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !body(name) { return }
    }
  }
}

extension FileStatus {
  /// Whether this process's user owns it.
  package var isOwn: Bool { owner == geteuid() }

  fileprivate init(_ found: stat) {
    #if canImport(Darwin)
      let modified = found.st_mtimespec.tv_sec
    #else
      let modified = found.st_mtim.tv_sec
    #endif
    let kind: Kind =
      switch found.st_mode & S_IFMT {
      case S_IFREG: .regular
      case S_IFDIR: .directory
      case S_IFLNK: .link
      case S_IFSOCK: .socket
      default: .other
      }
    self.init(
      kind: kind, device: UInt64(truncatingIfNeeded: found.st_dev), inode: UInt64(truncatingIfNeeded: found.st_ino),
      size: Int64(found.st_size), links: Int(found.st_nlink), owner: found.st_uid,
      permissions: UInt32(found.st_mode & 0o7777),
      modified: Int64(modified))
  }
}

// libc's functions, which this type's methods of the same names hide.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
private func systemRename(_ path: String, _ destination: String) -> Int32 { rename(path, destination) }
