import PorterPlatform
import Synchronization

/// The system's files, which can be made to fail and can be watched.
package final class WatchedFiles: Files {
  private struct State {
    var renamed = 0
    var synchronized: [String] = []
    var atRename: @Sendable () throws(SystemError) -> Void = { () throws(SystemError) in }
    var atClose: @Sendable () -> Void = {}
    var atSync: @Sendable (String) throws(SystemError) -> Void = { (_) throws(SystemError) in }
  }

  package init() {}

  private let system = SystemFiles()
  private let state = Mutex(State())

  package var renamed: Int { state.withLock { $0.renamed } }
  package var synchronized: [String] { state.withLock { $0.synchronized } }
  package func atRename(_ body: @escaping @Sendable () throws(SystemError) -> Void) {
    state.withLock { $0.atRename = body }
  }
  package func atSync(_ body: @escaping @Sendable (String) throws(SystemError) -> Void) {
    state.withLock { $0.atSync = body }
  }

  package func atClose(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.atClose = body } }

  package func rename(_ path: String, to destination: String) throws(SystemError) {
    let body = state.withLock {
      $0.renamed += 1
      return $0.atRename
    }
    try body()
    try system.rename(path, to: destination)
  }

  package func synchronize(_ path: String) throws(SystemError) {
    try noteSync(of: path)
    try system.synchronize(path)
  }

  package func synchronizeContents(of path: String) throws(SystemError) {
    try noteSync(of: path)
    try system.synchronizeContents(of: path)
  }

  private func noteSync(of path: String) throws(SystemError) {
    let body = state.withLock {
      $0.synchronized.append(path)
      return $0.atSync
    }
    try body(path)
  }

  package func open(_ path: String, for opening: FileOpening) throws(SystemError) -> OpenFile {
    try system.open(path, for: opening)
  }
  package func close(_ file: OpenFile) {
    state.withLock { $0.atClose }()
    system.close(file)
  }
  package func lock(_ file: OpenFile, _ kind: FileLockKind) throws(SystemError) -> Bool { try system.lock(file, kind) }
  package func unlock(_ file: OpenFile) { system.unlock(file) }
  package func status(of file: OpenFile) throws(SystemError) -> FileStatus { try system.status(of: file) }
  package func status(at path: String, followingLinks: Bool) throws(SystemError) -> FileStatus {
    try system.status(at: path, followingLinks: followingLinks)
  }
  package func absolutePath(_ path: String) -> String { system.absolutePath(path) }
  package func canonicalPath(_ path: String) throws(SystemError) -> String { try system.canonicalPath(path) }
  package func read(_ file: OpenFile, limit: Int) throws(SystemError) -> [UInt8] { try system.read(file, limit: limit) }
  package func write(_ bytes: [UInt8], to file: OpenFile) throws(SystemError) { try system.write(bytes, to: file) }
  package func copyAttributes(of path: String, to file: OpenFile) throws(SystemError) {
    try system.copyAttributes(of: path, to: file)
  }
  package func remove(_ path: String) throws(SystemError) { try system.remove(path) }
  package func makeDirectory(_ path: String) throws(SystemError) { try system.makeDirectory(path) }
  package func forEachEntry(of directory: String, _ body: (String) -> Bool) { system.forEachEntry(of: directory, body) }
}
