import Foundation
import NIOCore
import PorterAPNs
import PorterServer
import Synchronization
import XCTest

/// The stand-in in `Servers/Tests/peers/apns.py`, with a folder of its files.
final class MockAPNs {
  struct Request: Decodable {
    let authorization: String
    let path: String
    let apns_topic: String
    let apns_push_type: String
    let apns_priority: String
    let apns_expiration: String
    let apns_collapse_id: String?
    let connection: Int
    let body: String
  }

  struct Report: Decodable {
    let requests: [Request]
    let connections: Int
    let most: Int
  }

  let folder: URL
  private(set) var port = 0
  private let process = Process()
  private let orders = Pipe()
  private let answers = Pipe()

  init(streams: Int? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("apns-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let environment = ProcessInfo.processInfo.environment["PORTER_VENV"].map { URL(fileURLWithPath: $0) }
    process.executableURL = (environment ?? root.appendingPathComponent(".venv")).appendingPathComponent("bin/python")
    process.arguments =
      [root.appendingPathComponent("Servers/Tests/peers/apns.py").path, folder.path]
      + (streams.map { ["\($0)"] } ?? [])
    process.standardInput = orders
    process.standardOutput = answers
    try process.run()
    struct Started: Decodable { let port: Int }
    port = try JSONDecoder().decode(Started.self, from: readLine()).port
    try setTime(ManualClock.start)
  }

  /// Ends the process and removes the folder.
  func close() {
    try? orders.fileHandleForWriting.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  var key: String { folder.appendingPathComponent("AuthKey.p8").path }

  func options() throws -> APNsOptions {
    var options = try APNsOptions(
      environment: .sandbox, key: key, keyID: "ABCDE12345", teamID: "TEAM567890", topic: "org.example.app")
    options.host = "localhost"
    options.port = port
    options.authority = folder.appendingPathComponent("server.pem").path
    return options
  }

  @discardableResult
  func order(_ order: String) throws -> Data {
    try orders.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
    return try readLine()
  }

  func plan(_ answers: String...) throws { try plan(answers) }

  func plan(_ answers: [String]) throws { try order(#"{"plan": [\#(answers.joined(separator: ","))]}"#) }

  /// Seconds since 1970.
  func setTime(_ seconds: Int64) throws { try order(#"{"now": \#(seconds)}"#) }

  func waitForRequests(_ count: Int) throws { try order(#"{"await": \#(count)}"#) }

  func report() throws -> Report { try JSONDecoder().decode(Report.self, from: order(#"{"report": true}"#)) }

  private func readLine() throws -> Data {
    var line = Data()
    while let byte = try answers.fileHandleForReading.read(upToCount: 1), let first = byte.first {
      if first == UInt8(ascii: "\n") { return line }
      line.append(first)
    }
    throw Ended()
  }

  struct Ended: Error {}
}

/// Time that passes when the test says so.
final class ManualClock: APNsClock {
  private struct State {
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var timers: [Int: (due: NIODeadline, loop: any EventLoop, then: @Sendable () -> Void)] = [:]
    var next = 0
  }

  static let start: Int64 = 1_800_000_000
  private let state = Mutex(State())

  var now: NIODeadline { state.withLock { $0.now } }
  var seconds: Int64 { Self.start + (now - .uptimeNanoseconds(1_000_000_000)).nanoseconds / 1_000_000_000 }

  /// When each is due, from now, in seconds.
  var timers: [Int64] {
    state.withLock { state in state.timers.values.map { ($0.due - state.now).nanoseconds / 1_000_000_000 }.sorted() }
  }

  func schedule(after time: TimeAmount, on loop: any EventLoop, _ then: @escaping @Sendable () -> Void)
    -> @Sendable () -> Void
  {
    let number = state.withLock { state in
      state.next += 1
      state.timers[state.next] = (state.now + time, loop, then)
      return state.next
    }
    return { [self] in state.withLock { $0.timers[number] = nil } }
  }

  /// What is due then has been called when this returns.
  func advance(by time: TimeAmount) throws {
    let due = state.withLock { state in
      state.now = state.now + time
      let due = state.timers.filter { $0.value.due <= state.now }
      for number in due.keys { state.timers[number] = nil }
      return due.values.sorted { $0.due < $1.due }
    }
    for timer in due { try timer.loop.submit(timer.then).wait() }
  }
}

/// What pushes came to.
final class Outcomes: Sendable {
  private let outcomes = Mutex<[Int: [PushOutcome]]>([:])
  private let ended = DispatchSemaphore(value: 0)

  func note(_ number: Int) -> @Sendable (PushOutcome) -> Void {
    { outcome in
      self.outcomes.withLock { $0[number, default: []].append(outcome) }
      self.ended.signal()
    }
  }

  /// Waits for as many more to end; then all that have, each with what it was told.
  func wait(_ count: Int) -> [Int: [PushOutcome]] {
    for _ in 0..<count { ended.wait() }
    return outcomes.withLock { $0 }
  }
}
