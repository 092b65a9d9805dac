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
/// A wake-up is one byte without meaning: whoever forges one makes a process ask its relay, and nothing else (INC-15).
enum WakeDirectory {
  static func beside(relay path: String) -> SocketDirectory {
    SocketDirectory(path: path + ".wake", isName: isName)
  }

  /// Names are ours alone: a row of a foreign file must not make us touch anything outside the directory.
  static func isName(_ name: String) -> Bool {
    name.utf8.count == 8 && TextEncoding.base64URLDecoded(name) != nil
  }
}

/// The socket of a process that wants to be woken. Belongs to whoever made it, who calls `close()`.
struct WakeReceiver: Sendable {
  let descriptor: Int32
  let name: String
  private let directory: SocketDirectory

  /// Nil when the directory cannot be written, its path is too long, or no descriptor is left; `errno` tells.
  init?(directory: SocketDirectory, randomness: any Randomness) {
    guard directory.create(), let descriptor = DatagramSocket.make() else { return nil }
    // 48 random bits: a second attempt is as good as never needed, a third means that the port is broken.
    for _ in 0..<3 {
      let name = TextEncoding.base64URL(randomness.bytes(6))
      guard directory.isName(name) else { continue }
      if directory.bind(descriptor, to: name) {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
        return
      }
    }
    let reason = errno
    DatagramSocket.close(descriptor)
    errno = reason
    return nil
  }

  /// Reads until nothing is left.
  func drain() { while DatagramSocket.receive(from: descriptor, limit: 16) != nil {} }

  /// The file goes first: a sender then finds no name, rather than one that refuses.
  func close() {
    directory.remove(name)
    DatagramSocket.close(descriptor)
  }
}

/// Posts wake-ups. Belongs to one owner, who calls `close()`.
struct WakeSender {
  private let directory: SocketDirectory
  private var descriptor: Int32?

  init(directory: SocketDirectory) { self.directory = directory }

  mutating func post(to name: String) -> DatagramSocket.Outcome {
    guard let descriptor = descriptor ?? DatagramSocket.make() else { return .failed }
    self.descriptor = descriptor
    return directory.send([1], through: descriptor, to: name)
  }

  mutating func close() {
    if let descriptor { DatagramSocket.close(descriptor) }
    descriptor = nil
  }
}
