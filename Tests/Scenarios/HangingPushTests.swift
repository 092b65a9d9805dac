import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// As many pushes as an extension takes at the same time, to a host whose transport does not answer.
final class HangingPushTests: XCTestCase {
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  /// One thread for each hanging request; and a waiting push holds little memory: together with the process's usual
  /// amount, the limit of an extension is far away (`make bench` has the figures).
  func testEachHangingPushTakesOneThreadAndLittleMemory() throws {
    let night = try Night()
    defer { night.end() }
    // With several mailboxes, a wake push asks which one has something: each push has a request of its own.
    try night.alice.command("/_connect 1", "invitation")
    try night.suspendAlice()
    let (few, many) = (2, 64)
    let growth = try peak(of: many, night) - peak(of: few, night)
    XCTAssertLessThan(growth / (many - few), 160, "kilobytes for each push")
  }

  /// The process's peak memory, in kilobytes.
  private func peak(of count: Int, _ night: Night) throws -> Int {
    let process = try ChildProcess(
      Places.harness,
      ["extension", "--store", night.alice.store, "--relay", "silent", "--together", "\(count)", "--deadline", "10000"])
    for _ in 0..<count { try process.send(wake) }
    // The program's own, the engine's, one of the host's per push, and one of the library's for its request.
    let expected = 2 + 2 * count
    var (most, answers) = (0, [String]())
    try awaitThat("each is answered") {
      most = max(most, try status(process, "Threads"))
      if let answer = try? process.line(within: 0.005) { answers.append(answer) }
      return answers.count == count
    }
    for answer in answers { XCTAssertEqual(try JSONValue(parsing: answer)["outcome"], "expired", answer) }
    // The count is read from time to time, and a thread may be ending while another one begins.
    XCTAssertLessThanOrEqual(abs(most - expected), 2, "\(most)")
    let peak = try status(process, "VmHWM")
    process.kill()
    return peak
  }

  /// A field of the kernel's status of the process.
  private func status(_ process: ChildProcess, _ name: String) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
    let line = try XCTUnwrap(text.split(separator: "\n").first { $0.hasPrefix(name + ":") })
    return try XCTUnwrap(line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) })
  }
}
