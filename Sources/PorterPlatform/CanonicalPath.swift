#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The one name by which every process finds a file: absolute, and through no symbolic link.
///
/// Locks and sockets are beside a file, under names derived from its own. Two processes that reach one file by
/// different names would use different locks.
package enum CanonicalPath {
  /// Why a path has no such name.
  package struct Failure: Error, Hashable, Sendable {
    /// ELOOP for links that form a loop or are too many, ENAMETOOLONG, EINVAL for a NUL in the path, EILSEQ for a name
    /// that is not UTF-8.
    package let systemError: Int32
  }

  /// As many links as Linux follows.
  private static let mostLinks = 40

  /// Follows all links. The file need not exist: then its directory is resolved, and that of the file a link points to.
  /// If the directory is missing or may not be searched, the path is only made absolute: nothing can be opened there.
  package static func resolve(_ path: String) throws(Failure) -> String {
    guard !path.utf8.contains(0) else { throw Failure(systemError: EINVAL) }
    var path = absolute(path)
    if let existing = try real(path) { return existing }
    for _ in 0..<mostLinks {
      let (directory, name) = split(path)
      guard let target = try target(of: path) else {
        guard let directory = try real(directory) else { return path }
        return directory == "/" ? "/" + name : directory + "/" + name
      }
      path = target.hasPrefix("/") ? target : directory + "/" + target
    }
    throw Failure(systemError: ELOOP)
  }

  /// The absolute path, with its links unresolved.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    let parent = String(cString: directory)
    return parent == "/" ? "/" + path : parent + "/" + path
  }

  /// Nil if the file does not exist or cannot be examined.
  private static func real(_ path: String) throws(Failure) -> String? {
    guard let found = realpath(path, nil) else {
      let reason = errno
      if reason == ELOOP || reason == ENAMETOOLONG { throw Failure(systemError: reason) }
      return nil
    }
    defer { free(found) }
    guard let text = String(validatingCString: found) else { throw Failure(systemError: EILSEQ) }
    return text
  }

  /// The target of a link; nil if the path is not a link.
  private static func target(of path: String) throws(Failure) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    guard count >= 0 else { return nil }
    guard let text = String(validating: target[..<count], as: UTF8.self) else { throw Failure(systemError: EILSEQ) }
    return text
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let name = String(path[path.utf8.index(after: slash)...])
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }
}
