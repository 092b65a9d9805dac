#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A directory in which each listening process has a datagram socket under its own name.
///
/// Names come from a directory that any process of the same user can write, or from a foreign file. `isName` recognises
/// our own, so that nothing else in the directory, and nothing outside it, is ever touched.
package struct SocketDirectory: Sendable {
  package let path: String
  private let ports: Ports
  private let isOurs: @Sendable (String) -> Bool

  package init(path: String, ports: Ports, isName: @escaping @Sendable (String) -> Bool) {
    self.path = path
    self.ports = ports
    isOurs = { !$0.utf8.contains(UInt8(ascii: "/")) && $0 != "." && $0 != ".." && isName($0) }
  }

  package func isName(_ name: String) -> Bool { isOurs(name) }

  /// Creates the directory, for this user only; harmless if it exists.
  package func create() throws(SystemError) {
    do throws(SystemError) { try ports.files.makeDirectory(path) } catch {
      guard error.code == EEXIST else { throw error }
    }
  }

  /// Whether it is as `create` makes it: a directory, not a link to one, owned by us, and not writable by others.
  package var isPrivate: Bool {
    guard let status = try? ports.files.status(at: path) else { return false }
    return status.kind == .directory && status.isOwn && status.permissions & 0o022 == 0
  }

  /// Names of the sockets in the directory, sorted, at most `limit`. Files and links with such names do not count.
  package func names(limit: Int = .max) -> [String] {
    var found: [String] = []
    forEachSocket { name, _ in
      found.append(name)
      return found.count < limit
    }
    return found.sorted()
  }

  package func remove(_ name: String) {
    if isName(name) { try? ports.files.remove(address(name).path) }
  }

  /// Removes old sockets whose processes have ended. A recent one may be about to be bound.
  package func removeAbandoned(olderThan age: Span) {
    let now = ports.clock.wall().seconds
    forEachSocket { name, modified in
      if now - modified > age.milliseconds / 1_000, isAbandoned(name) { remove(name) }
      return true
    }
  }

  /// Whether no process listens at this name any longer.
  package func isAbandoned(_ name: String) -> Bool { ports.datagrams.isAbandoned(address(name)) }

  /// Opens an end that listens at this name.
  package func listen(at name: String) throws(SystemError) -> DatagramEnd {
    let end = try ports.datagrams.open()
    do throws(SystemError) {
      try ports.datagrams.bind(end, to: address(name))
      return end
    } catch {
      ports.datagrams.close(end)
      throw error
    }
  }

  package func send(_ bytes: [UInt8], through end: DatagramEnd, to name: String) -> DatagramOutcome {
    isName(name) ? ports.datagrams.send(bytes, through: end, to: address(name)) : .gone
  }

  private func address(_ name: String) -> DatagramAddress { DatagramAddress(directory: path, name: name) }

  /// Each socket with its creation time in seconds, until `body` returns false.
  private func forEachSocket(_ body: (String, Int64) -> Bool) {
    ports.files.forEachEntry(of: path) { name in
      guard isName(name), let status = try? ports.files.status(at: address(name).path), status.kind == .socket else {
        return true
      }
      return body(name, status.modified)
    }
  }
}
