import Foundation
import XCTest

/// The program `porter-server`, which is built alongside the tests.
final class ServerProcess {
  let process = Process()
  let output = Pipe()
  let errors: URL

  static func program() throws -> URL {
    let places = [
      Bundle(for: ServerProcess.self).bundleURL.deletingLastPathComponent(), Bundle.main.bundleURL,
      URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent(),
    ]
    for place in places {
      let program = place.appendingPathComponent("porter-server")
      if FileManager.default.isExecutableFile(atPath: program.path) { return program }
    }
    throw CocoaError(.fileNoSuchFile)
  }

  init(_ arguments: [String], in directory: URL) throws {
    errors = directory.appendingPathComponent("errors-\(UUID().uuidString)")
    try Data().write(to: errors)
    process.executableURL = try Self.program()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
  }

  deinit { if process.isRunning { kill() } }

  /// The first line it writes, or all its output if it ends before that.
  func firstLine() -> String {
    var bytes: [UInt8] = []
    while true {
      let data = output.fileHandleForReading.readData(ofLength: 1)
      guard let byte = data.first, byte != UInt8(ascii: "\n") else { break }
      bytes.append(byte)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  func kill() {
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func end() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }

  func errorText() throws -> String { String(decoding: try Data(contentsOf: errors), as: UTF8.self) }
}
