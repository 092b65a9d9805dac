import Foundation
import PorterMachines
import XCTest

/// The package this test is part of.
let packageRoot = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

struct Missing: Error, CustomStringConvertible {
  let what: String
  var description: String { what }
}

struct ProcessResult {
  let status: Int32
  let output: String
  let errors: String
}

/// Runs a program to its end. Input and output go through files, so that nothing can block; it is killed after `limit`
/// seconds.
func runProgram(
  _ program: URL, _ arguments: [String], input: String = "", directory: URL? = nil, limit: TimeInterval = 120
) throws -> ProcessResult {
  try withTemporaryDirectory { scratch in
    let files = ["in", "out", "err"].map { scratch.appendingPathComponent($0) }
    try input.write(to: files[0], atomically: true, encoding: .utf8)
    for file in files[1...] { try Data().write(to: file) }
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = directory
    process.standardInput = try FileHandle(forReadingFrom: files[0])
    process.standardOutput = try FileHandle(forWritingTo: files[1])
    process.standardError = try FileHandle(forWritingTo: files[2])
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    if ended.wait(timeout: .now() + limit) == .timedOut {
      process.terminate()
      throw Missing(what: "\(program.lastPathComponent) did not end within \(Int(limit)) s")
    }
    return ProcessResult(
      status: process.terminationStatus, output: String(decoding: try Data(contentsOf: files[1]), as: UTF8.self),
      errors: String(decoding: try Data(contentsOf: files[2]), as: UTF8.self))
  }
}

/// The first program of that name in the search path.
func program(_ name: String) throws -> URL {
  let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  for folder in folders {
    let candidate = URL(fileURLWithPath: String(folder)).appendingPathComponent(name)
    if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
  }
  throw Missing(what: "\(name) is not installed: run `scripts/setup test`")
}

func withTemporaryDirectory<Result>(_ body: (URL) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory)
}

extension MachineDescription {
  /// Every pair of a state and an event, with its answer.
  var allAnswers: [(state: UInt8, event: UInt8, step: CodedStep)] {
    states.indices.flatMap { state in
      events.indices.compactMap { event in
        step(state: UInt8(state), event: UInt8(event)).map { (UInt8(state), UInt8(event), $0) }
      }
    }
  }
}
