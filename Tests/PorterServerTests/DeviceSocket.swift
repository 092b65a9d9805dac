import Foundation
import PorterJSON
import PorterPlatform
import Synchronization
import XCTest

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#endif

/// The device's end of the local provider: a Unix socket that receives pushes, on its own thread.
final class DeviceSocket: Sendable {
  enum Behaviour: Sendable {
    /// Answers with this text.
    case answer(String)
    /// Accepts the connection without answering.
    case silent
    /// Accepts the connection and closes it.
    case hangUp
  }

  private struct State {
    var behaviour: Behaviour
    var pushes: [JSONValue] = []
    var isClosed = false
    var hasEnded = false
  }

  private let listener: Int32
  private let state: Monitor<State>

  init(path: String, _ behaviour: Behaviour = .answer(#"{"status":200}"#)) throws {
    state = Monitor(State(behaviour: behaviour))
    // A provider may have given up before it gets the answer.
    _ = signal(SIGPIPE, SIG_IGN)
    unlink(path)
    #if canImport(Glibc)
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #endif
    listener = descriptor
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard bound == 0, listen(listener, 8) == 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    let (accepting, shared) = (listener, state)
    XCTAssertTrue(WorkerThread.start { Self.serve(accepting, shared) })
  }

  /// No process listens afterwards; the path stays, as after a crash. A second call does nothing.
  func shut() {
    let wasClosed = state.signal { state in
      defer { state.isClosed = true }
      return state.isClosed
    }
    if wasClosed { return }
    shutdown(listener, Int32(SHUT_RDWR))
    // Its descriptor may be the next listener's, whose connections the thread would take.
    let hasEnded = state.wait(atMost: .seconds(20)) { $0.hasEnded ? true : nil }
    XCTAssertEqual(hasEnded, true)
    close(listener)
  }

  func behave(_ behaviour: Behaviour) { state.signal { $0.behaviour = behaviour } }

  /// The next push; nil if none comes in time.
  func next(atMost span: Span = .seconds(20)) -> JSONValue? {
    // Spelled out: a bare `nil` would be JSON's null here.
    state.wait(atMost: span) { state -> JSONValue? in
      if state.pushes.isEmpty { return Optional<JSONValue>.none }
      return state.pushes.removeFirst()
    }
  }

  private static func serve(_ listener: Int32, _ state: Monitor<State>) {
    var kept: [Int32] = []
    defer {
      for connection in kept { close(connection) }
      state.signal { $0.hasEnded = true }
    }
    while true {
      let connection = accept(listener, nil, nil)
      if state.withLock({ $0.isClosed }) { return }
      guard connection >= 0 else { continue }
      var line: [UInt8] = []
      var buffer = [UInt8](repeating: 0, count: 8_192)
      while line.last != UInt8(ascii: "\n") {
        let count = read(connection, &buffer, buffer.count)
        guard count > 0 else { break }
        line += buffer[..<count]
      }
      switch state.withLock({ $0.behaviour }) {
      case .silent: kept.append(connection)
      case .hangUp: close(connection)
      case .answer(let text):
        let answer = Array(text.utf8) + [UInt8(ascii: "\n")]
        _ = write(connection, answer, answer.count)
        close(connection)
        if text.contains("200"), let json = try? JSONValue(parsing: Array(line.dropLast())) {
          state.signal { $0.pushes.append(json) }
        }
      }
    }
  }
}
