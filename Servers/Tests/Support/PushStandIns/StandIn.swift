package import Foundation

private struct Started: Decodable { let port: Int }

/// A program in `Servers/Tests/peers` that stands in for a push service, with a folder for its files. Each request that
/// it reports is a `Request`.
package final class StandIn<Request: Decodable> {
  package struct Report: Decodable {
    package let requests: [Request]
    package let connections: Int
    package let most: Int
  }

  package let folder: URL
  /// The path of a file in it.
  package func path(_ file: String) -> String { folder.appendingPathComponent(file).path }

  private let process = Process()
  private let orders = Pipe()
  private let answers = Pipe()
  private var rest = Data()
  /// The first line of its output.
  package private(set) var beginning = Data()

  package init(_ program: String, streams: Int? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("push-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    process.executableURL = Peers.python
    process.arguments =
      [Peers.path(program), folder.path]
      + (streams.map { ["\($0)"] } ?? [])
    process.standardInput = orders
    process.standardOutput = answers
    try process.run()
    beginning = try readLine()
    try setTime(ManualClock.start)
  }

  package var port: Int {
    get throws {
      return try JSONDecoder().decode(Started.self, from: beginning).port
    }
  }

  /// Ends the process and removes the folder.
  package func close() {
    try? orders.fileHandleForWriting.close()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  @discardableResult
  package func order(_ order: String) throws -> Data {
    try orders.fileHandleForWriting.write(contentsOf: Data((order + "\n").utf8))
    return try readLine()
  }

  package func plan(_ answers: String...) throws { try plan(answers) }

  package func plan(_ answers: [String]) throws { try order(#"{"plan": [\#(answers.joined(separator: ","))]}"#) }

  /// Seconds since 1970.
  package func setTime(_ seconds: Int64) throws { try order(#"{"now": \#(seconds)}"#) }

  package func waitForRequests(_ count: Int) throws { try order(#"{"await": \#(count)}"#) }

  /// Waits for connections that are ready for requests, as far as their clients know.
  package func waitForConnections(_ count: Int) throws { try order(#"{"awaitSettled": \#(count)}"#) }

  package func report() throws -> Report { try JSONDecoder().decode(Report.self, from: order(#"{"report": true}"#)) }

  private static var longestWait: Int32 { 60_000 }

  /// Waits a minute at most.
  private func readLine() throws -> Data {
    while true {
      if let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
        defer { rest = Data(rest[rest.index(after: end)...]) }
        return Data(rest[..<end])
      }
      var waiting = pollfd(fd: answers.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&waiting, 1, Self.longestWait) > 0 else { throw Ended() }
      let more = answers.fileHandleForReading.availableData
      guard !more.isEmpty else { throw Ended() }
      rest += more
    }
  }

  package struct Ended: Error {}
}
