/// An error of the operating system, by its `errno`.
package struct SystemError: Error, Hashable, Sendable {
  package let code: Int32

  package init(_ code: Int32) { self.code = code }
}

/// An open file, until it is closed through the port that opened it.
package struct OpenFile: Hashable, Sendable {
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }
}

package enum FileOpening: Sendable {
  case reading
  /// For reading; the file is created, empty, if missing.
  case readingOrCreating
  /// For reading and writing; the file is created, empty, if missing.
  case writingOrCreating
  /// For writing. Fails with `EEXIST` if the name exists.
  case creating
  /// Like `creating`; where the system protects files until the device is unlocked, this one is readable before.
  case creatingForLockedDevice

  var creates: Bool {
    switch self {
    case .reading: false
    case .readingOrCreating, .writingOrCreating, .creating, .creatingForLockedDevice: true
    }
  }
}

package enum FileLockKind: Sendable {
  /// Any number of holders.
  case shared
  case exclusive
}

package struct FileStatus: Hashable, Sendable {
  package enum Kind: Sendable {
    case regular, directory, link, socket, other
  }

  package var kind: Kind
  /// Identifies a file, whatever its name.
  package var device: UInt64
  package var inode: UInt64
  package var size: Int64
  /// How many names it has.
  package var links: Int
  /// The user ID of its owner.
  package var owner: UInt32
  /// The lower twelve bits of the mode.
  package var permissions: UInt32
  /// When the contents last changed, in seconds since 1970.
  package var modified: Int64

  package init(
    kind: Kind, device: UInt64, inode: UInt64, size: Int64, links: Int, owner: UInt32, permissions: UInt32,
    modified: Int64
  ) {
    self.kind = kind
    self.device = device
    self.inode = inode
    self.size = size
    self.links = links
    self.owner = owner
    self.permissions = permissions
    self.modified = modified
  }

  package func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}

/// The port for all file operations outside SQLite: locks beside the store, small files of our own, and directory
/// entries. Nothing waits, except for the disk. Safe from any thread.
package protocol Files: Sendable {
  /// Opens a regular file of exactly this name, private to the user if created. Does not follow a link or wait for a
  /// pipe or device; these fail with `ELOOP` or `EINVAL`.
  func open(_ path: String, for opening: FileOpening) throws(SystemError) -> OpenFile
  func close(_ file: OpenFile)

  /// Takes an advisory lock on the open file, or converts the one held to this kind, without waiting. False if another
  /// open file holds a conflicting lock.
  func lock(_ file: OpenFile, _ kind: FileLockKind) throws(SystemError) -> Bool
  func unlock(_ file: OpenFile)

  func status(of file: OpenFile) throws(SystemError) -> FileStatus
  /// The status of a link itself, unless it is followed.
  func status(at path: String, followingLinks: Bool) throws(SystemError) -> FileStatus

  /// The absolute path, with its links unresolved.
  func absolutePath(_ path: String) -> String

  /// The one name by which every process finds a file: absolute, and through no symbolic link. The file need not exist.
  func canonicalPath(_ path: String) throws(SystemError) -> String

  /// The first bytes, up to `limit`.
  func read(_ file: OpenFile, limit: Int) throws(SystemError) -> [UInt8]
  /// Replaces the whole contents with a single write, so that a reader of short contents sees the old or the new ones.
  func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError)
  /// Gives the file the owner, the permissions and, where supported, the data protection of the file at `path`.
  func copyAttributes(of path: String, to file: OpenFile) throws(SystemError)

  /// Waits until the file or directory at `path` is on the disk.
  func synchronize(_ path: String) throws(SystemError)
  /// Waits until the contents and the length of the file at `path` are on the disk; its times need not be, since they
  /// can take as long as the contents.
  func synchronizeContents(of path: String) throws(SystemError)
  /// Atomic: at any moment `destination` is either the old file or the new one.
  func rename(_ path: String, to destination: String) throws(SystemError)
  func remove(_ path: String) throws(SystemError)

  /// Creates a directory for this user only. Fails with `EEXIST` if the name exists.
  func makeDirectory(_ path: String) throws(SystemError)
  /// Calls `body` with the name of each entry, in no particular order, until it returns false.
  func forEachEntry(of directory: String, _ body: (String) -> Bool)
}

extension Files {
  package func status(at path: String) throws(SystemError) -> FileStatus {
    try status(at: path, followingLinks: false)
  }
}
