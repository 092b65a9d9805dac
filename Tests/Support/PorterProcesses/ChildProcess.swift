import Foundation

/// A failure of a process that a test drives; a test that does not expect it fails with its text.
package struct ProcessFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}

/// How a process ended.
package enum Ending: Equatable {
  case exited(Int32)
  case killed(Int32)
}

/// A test's process, read line by line, that is killed with the test if it is still running.
package final class ChildProcess {
  package let name: String
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private let log: URL?
  private var unread = Data()
  private var searched = 0

  /// `log` receives its standard error; without one it goes to the test's.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], log: URL? = nil
  ) throws {
    name = ([URL(fileURLWithPath: program).lastPathComponent] + arguments.prefix(1)).joined(separator: " ")
    self.log = log
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = input
    process.standardOutput = output
    var errors: FileHandle?
    if let log {
      try Data().write(to: log)
      errors = try FileHandle(forWritingTo: log)
      process.standardError = errors
    }
    defer { try? errors?.close() }
    try process.run()
  }

  deinit {
    kill()
    // Nothing else closes these: a test with thousands of processes would run out of descriptors.
    try? input.fileHandleForWriting.close()
    try? output.fileHandleForReading.close()
  }

  package var identifier: Int32 { process.processIdentifier }
  package var isRunning: Bool { process.isRunning }

  package func send(_ line: String) throws {
    try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  package func closeInput() { try? input.fileHandleForWriting.close() }

  /// The next line of its output.
  package func line(within seconds: Double = 20) throws -> String {
    let end = Date(timeIntervalSinceNow: seconds)
    while true {
      if let line = takeLine() { return line }
      let left = end.timeIntervalSinceNow
      var polled = pollfd(fd: output.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard left > 0, poll(&polled, 1, Int32(left * 1000) + 1) > 0 else {
        throw ProcessFailure("\(name) said nothing within \(seconds) s\(lastWords)")
      }
      let data = output.fileHandleForReading.availableData
      if data.isEmpty { throw ProcessFailure("\(name) ended without a further word\(lastWords)") }
      unread.append(data)
    }
  }

  /// Bytes already searched are not searched again: a line can be many megabytes long.
  private func takeLine() -> String? {
    let length = unread.withUnsafeBytes { bytes -> Int? in
      guard let start = bytes.baseAddress, bytes.count > searched else { return nil }
      return memchr(start + searched, 0x0a, bytes.count - searched).map { UnsafeRawPointer($0) - start }
    }
    guard let length else {
      searched = unread.count
      return nil
    }
    searched = 0
    defer { unread = Data(unread.dropFirst(length + 1)) }
    return String(decoding: unread.prefix(length), as: UTF8.self)
  }

  private var lastWords: String {
    guard let log, let text = try? String(contentsOf: log, encoding: .utf8), !text.isEmpty else { return "" }
    return "; its log ends with: " + text.suffix(400)
  }

  /// Closes its input and waits for its end.
  package func end(within seconds: Double = 30) throws -> Ending {
    closeInput()
    return try waitForEnd(within: seconds)
  }

  package func waitForEnd(within seconds: Double = 30) throws -> Ending {
    let end = Date(timeIntervalSinceNow: seconds)
    while process.isRunning {
      guard end.timeIntervalSinceNow > 0 else {
        throw ProcessFailure("\(name) still runs after \(seconds) s\(lastWords)")
      }
      usleep(2000)
    }
    let status = process.terminationStatus
    return process.terminationReason == .exit ? .exited(status) : .killed(status)
  }

  package func signal(_ signal: Int32) {
    if process.isRunning { Foundation.kill(process.processIdentifier, signal) }
  }

  /// Freezes it, as a system freezes background processes, and waits until it is frozen.
  package func freeze() throws {
    signal(SIGSTOP)
    try waitUntilStopped()
  }

  /// Waits until it is frozen, by itself or by a signal.
  package func waitUntilStopped(within seconds: Double = 30) throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while try !isStopped() {
      guard end.timeIntervalSinceNow > 0, process.isRunning else {
        throw ProcessFailure("\(name) did not stop within \(seconds) s\(lastWords)")
      }
      usleep(2000)
    }
  }

  /// Whether all its threads are stopped. The first thread that gets the signal passes it to the others, and on a busy
  /// machine some run until then.
  private func isStopped() throws -> Bool {
    #if os(Linux)
      let threads = "/proc/\(identifier)/task"
      return try FileManager.default.contentsOfDirectory(atPath: threads).allSatisfy { thread in
        // A thread may have ended since it was listed.
        let path = "\(threads)/\(thread)/stat"
        guard let status = try? String(contentsOfFile: path, encoding: .utf8) else { return true }
        return status.split(separator: ")").last?.hasPrefix(" T") ?? false
      }
    #else
      let (lines, _) = try ChildProcess.run("/bin/ps", ["-o", "state=", "-p", "\(identifier)"])
      return lines.first?.hasPrefix("T") ?? false
    #endif
  }

  package func kill() {
    guard process.isRunning else { return }
    signal(SIGKILL)
    process.waitUntilExit()
  }

  /// Runs a program to its end; returns its output, and how it ended.
  package static func run(
    _ program: String, _ arguments: [String], input: String = "", environment: [String: String] = [:],
    within seconds: Double = 30
  ) throws -> (lines: [String], ending: Ending) {
    let child = try ChildProcess(program, arguments, environment: environment)
    if !input.isEmpty { try child.send(input) }
    child.closeInput()
    var lines: [String] = []
    while let line = try? child.line(within: seconds) { lines.append(line) }
    return (lines, try child.waitForEnd(within: seconds))
  }
}
