#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The one name of a file under which every process finds it: absolute, and through no symbolic link.
///
/// Locks and sockets lie beside a file, under names made from its own. Two processes that reach one file by different
/// names would each find other locks.
package enum CanonicalPath {
  /// Why a path has no such name.
  package struct Failure: Error, Hashable, Sendable {
    /// ELOOP for links that lead in a circle or are too many, ENAMETOOLONG, EINVAL for a NUL in the path, EILSEQ for a name
    /// that is not UTF-8.
    package let systemError: Int32
  }

  /// As many links as Linux follows.
  private static let mostLinks = 40

  /// Follows all links. The file need not exist: then its directory's name counts, and that of the file a link points to.
  /// Without a directory, or where one may not be searched, the path is made absolute and no more: nothing can be opened
  /// there.
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

  /// The path seen from the root, with its links as they are.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    let parent = String(cString: directory)
    return parent == "/" ? "/" + path : parent + "/" + path
  }

  /// Nil if there is no such file, or it cannot be looked at.
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

  /// Where a link points; nil if there is none at this path.
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
