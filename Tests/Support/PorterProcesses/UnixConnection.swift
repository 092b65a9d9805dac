import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// A client of a Unix socket that exchanges lines.
package final class UnixConnection {
  private let descriptor: Int32

  package init(path: String) throws {
    #if canImport(Darwin)
      let type = SOCK_STREAM
    #else
      let type = Int32(SOCK_STREAM.rawValue)
    #endif
    descriptor = socket(AF_UNIX, type, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard connected == 0 else {
      throw ProcessFailure("can not connect to \(path): \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  package func exchange(_ line: String) throws -> String {
    let bytes = Array((line + "\n").utf8)
    guard write(descriptor, bytes, bytes.count) == bytes.count else { throw ProcessFailure("the socket takes no more") }
    var answer: [UInt8] = []
    var byte: UInt8 = 0
    while read(descriptor, &byte, 1) == 1, byte != UInt8(ascii: "\n") { answer.append(byte) }
    return String(decoding: answer, as: UTF8.self)
  }
}
