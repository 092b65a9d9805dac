import Foundation
import XCTest

/// Runs a script from the calling test's folder `peers/` in the tests' Python environment, `$PORTER_VENV`, and returns
/// its output. A missing environment or package fails the test.
package func runPeer(
  _ script: String, input: String = "", file: StaticString = #filePath, line: UInt = #line
) throws -> String {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("porter-peer-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  // Files rather than pipes: two full pipes would deadlock.
  let names = ["input", "output", "errors"].map(directory.appendingPathComponent)
  try Data(input.utf8).write(to: names[0])
  for name in names.dropFirst() { try Data().write(to: name) }
  let process = Process()
  process.executableURL = try peerInterpreter()
  process.arguments = [
    URL(fileURLWithPath: "\(file)").deletingLastPathComponent().appendingPathComponent("peers/\(script)").standardized
      .path
  ]
  process.standardInput = try FileHandle(forReadingFrom: names[0])
  process.standardOutput = try FileHandle(forWritingTo: names[1])
  process.standardError = try FileHandle(forWritingTo: names[2])
  try process.run()
  process.waitUntilExit()
  let output = String(decoding: try Data(contentsOf: names[1]), as: UTF8.self)
  let errors = String(decoding: try Data(contentsOf: names[2]), as: UTF8.self)
  XCTAssertEqual(process.terminationStatus, 0, "\(script) failed: \(errors)", file: file, line: line)
  return output
}

/// The interpreter with the peers' packages; if it is missing, the calling test fails.
package func peerInterpreter() throws -> URL {
  var root = URL(fileURLWithPath: #filePath)
  for _ in 0..<4 { root.deleteLastPathComponent() }
  let environment =
    ProcessInfo.processInfo.environment["PORTER_VENV"].map { URL(fileURLWithPath: $0) }
    ?? root.appendingPathComponent(".venv")
  let interpreter = environment.appendingPathComponent("bin/python")
  guard FileManager.default.isExecutableFile(atPath: interpreter.path) else {
    throw MissingPeer(
      description: "no interpreter at \(interpreter.path): run `scripts/setup test`, or set PORTER_VENV")
  }
  return interpreter
}

package struct MissingPeer: Error, CustomStringConvertible {
  package let description: String
}
