package import Foundation

/// The location of the Python programs.
enum Peers {
  private static var root: URL {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<5 { root.deleteLastPathComponent() }
    return root
  }

  static var python: URL {
    let environment = ProcessInfo.processInfo.environment["PORTER_VENV"].map { URL(fileURLWithPath: $0) }
    return (environment ?? root.appendingPathComponent(".venv")).appendingPathComponent("bin/python")
  }

  static func path(_ program: String) -> String { root.appendingPathComponent("Servers/Tests/peers/\(program)").path }
}

/// A Python program that reads its input to the end.
package enum PythonLines {
  /// Returns the lines of its output.
  package static func run(_ program: String, input: String) throws -> [Data] {
    let process = Process()
    let (orders, answers) = (Pipe(), Pipe())
    process.executableURL = Peers.python
    process.arguments = [Peers.path(program)]
    process.standardInput = orders
    process.standardOutput = answers
    try process.run()
    try orders.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    try orders.fileHandleForWriting.close()
    let output = answers.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return output.split(separator: UInt8(ascii: "\n")).map { Data($0) }
  }
}
