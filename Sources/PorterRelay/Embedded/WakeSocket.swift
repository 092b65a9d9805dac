import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The directory beside an embedded relay's file where each subscribed process has a datagram socket.
///
/// A wake-up is one byte without meaning: forging one makes a process ask its relay, and nothing else (INC-15).
enum WakeDirectory {
  static func beside(relay path: String, ports: Ports) -> SocketDirectory {
    SocketDirectory(path: path + ".wake", ports: ports, isName: isName)
  }

  /// Only names that this library generates: a row of a foreign file must not make us touch anything outside the
  /// directory.
  static func isName(_ name: String) -> Bool {
    name.utf8.count == 8 && TextEncoding.base64URLDecoded(name) != nil
  }
}

/// The socket of a process that wants to be woken. Its owner calls `close()`.
struct WakeReceiver: Sendable {
  let name: String
  private let end: DatagramEnd
  private let directory: SocketDirectory
  private let datagrams: any Datagrams

  var descriptor: Int32 { end.descriptor }

  /// Throws if the directory cannot be written, its path is too long, or the process is out of file descriptors.
  init(directory: SocketDirectory, ports: Ports) throws(SystemError) {
    try directory.create()
    // 48 random bits: a second attempt is practically never needed, and a third means that the port is broken.
    var attempt = 1
    while true {
      let name = TextEncoding.base64URL(ports.randomness.bytes(6))
      do throws(SystemError) {
        guard directory.isName(name) else { throw SystemError(EINVAL) }
        end = try directory.listen(at: name)
        self.name = name
        break
      } catch {
        guard attempt < 3 else { throw error }
        attempt += 1
      }
    }
    self.directory = directory
    datagrams = ports.datagrams
  }

  /// Reads until the socket is empty.
  func drain() { while datagrams.receive(from: end, limit: 16) != nil {} }

  /// Remove the name first: a sender then finds no name, rather than one that refuses.
  func close() {
    directory.remove(name)
    datagrams.close(end)
  }
}

/// Posts wake-ups. Its owner calls `close()`.
struct WakeSender {
  private let directory: SocketDirectory
  private let datagrams: any Datagrams
  private var end: DatagramEnd?

  init(directory: SocketDirectory, ports: Ports) {
    self.directory = directory
    datagrams = ports.datagrams
  }

  mutating func post(to name: String) -> DatagramOutcome {
    if let end { return directory.send([1], through: end, to: name) }
    do throws(SystemError) {
      let end = try datagrams.open()
      self.end = end
      return directory.send([1], through: end, to: name)
    } catch {
      return .failed(error.code)
    }
  }

  mutating func close() {
    if let end { datagrams.close(end) }
    end = nil
  }
}
