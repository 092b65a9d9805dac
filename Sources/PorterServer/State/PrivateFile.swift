import PorterPlatform

/// Files that only their owner can read.
enum PrivateFile {
  /// Creates the file if it is missing.
  static func make(_ path: String, _ files: any Files) throws(ServerError) {
    files.close(try opened(path, files))
  }

  fileprivate static func opened(_ path: String, _ files: any Files) throws(ServerError) -> OpenFile {
    do throws(SystemError) { return try files.open(path, for: .writingOrCreating) } catch {
      throw .cannotOpenState(systemError: error.code)
    }
  }
}

/// Keeps a second process out. The lock ends with the process, however that ends.
final class FileLock {
  private let files: any Files
  private let file: OpenFile

  /// Throws `stateInUse` if another process holds it. Does not wait.
  init(_ path: String, _ files: any Files) throws(ServerError) {
    self.files = files
    file = try PrivateFile.opened(path, files)
    let isFree: Bool
    do throws(SystemError) { isFree = try files.lock(file, .exclusive) } catch {
      throw .cannotOpenState(systemError: error.code)
    }
    guard isFree else { throw .stateInUse }
  }

  deinit { files.close(file) }
}
