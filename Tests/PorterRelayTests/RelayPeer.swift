import Foundation
import XCTest

/// `relay-test-peer` as a process.
final class RelayPeer {
  private let process = Process()
  private let output = Pipe()
  private var unread: [UInt8] = []

  init(_ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: Self.executable)
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
  }

  /// Built into the directory that holds the test bundle.
  private static var executable: String {
    let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return URL(fileURLWithPath: bundle).deletingLastPathComponent().path + "/relay-test-peer"
  }

  var identifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  /// The next line of its output; nil once it has ended.
  func line() -> String? {
    while true {
      if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
        defer { unread.removeFirst(end + 1) }
        return String(decoding: unread[..<end], as: UTF8.self)
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { return nil }
      unread += more
    }
  }

  /// Its exit status; kills it, and fails, if it takes longer.
  func finish(within seconds: Double = 60, file: StaticString = #filePath, line: UInt = #line) -> Int32 {
    let deadline = Date(timeIntervalSinceNow: seconds)
    while process.isRunning && Date() < deadline { usleep(2_000) }
    if process.isRunning {
      XCTFail("relay-test-peer does not end", file: file, line: line)
      kill()
    }
    process.waitUntilExit()
    return process.terminationStatus
  }

  /// SIGKILL: it ends wherever it is.
  func kill() {
    if process.isRunning { _ = signal(SIGKILL) }
    process.waitUntilExit()
  }

  func signal(_ number: Int32) -> Int32 { Foundation.kill(process.processIdentifier, number) }
}
