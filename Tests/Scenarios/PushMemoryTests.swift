import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// INC-33: the memory that a burst adds to an extension.
///
/// A debug build takes more than twice the memory of the build that a phone runs, mostly pages of its program. So
/// `make bench` limits the peak itself, for a release build: 7.5 MB for one push, 12 MB for fifty. This test measures
/// the difference.
final class PushMemoryTests: XCTestCase {
  /// What one push leaves of the 12 MB that an old device allows.
  private static let left = 12_000_000 - 7_500_000

  func testINC33ABurstOfFiftyAddsLittleToThePeakOfOnePush() throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    // The first message turns the ratchet.
    try night.bobSends("first")
    _ = try night.present(try night.nextPush())
    try night.bobSends("second")
    let (one, shown) = try take([try night.nextPush()], in: night)
    XCTAssertEqual(shown.first?.bodies, ["second"])

    var pushes: [JSONValue] = []
    for number in 1...50 {
      try night.bobSends("message \(number) " + String(repeating: "long ", count: 200))
      // The pipe cannot hold more of them.
      if number % 10 == 0 { pushes += try night.allPushes() }
    }
    let again = try XCTUnwrap(pushes.last)
    // Messages that arrive together may share a push; the platform may also repeat one.
    let fifty = pushes + [JSONValue](repeating: again, count: max(0, 50 - pushes.count))
    let (burst, answers) = try take(fifty, in: night)
    XCTAssertEqual(answers.last?["badge"], 52, answers.last?.text ?? "")
    XCTAssertLessThanOrEqual(burst - one, Self.left, "one push: \(one) bytes, the burst: \(burst) bytes")
    try night.wakeAlice()
  }

  /// The peak memory of a new extension process that takes these pushes one after the other, and its answers.
  private func take(_ pushes: [JSONValue], in night: Night) throws -> (peak: Int, answers: [JSONValue]) {
    let process = try ChildProcess(
      Places.harness, ["extension", "--store", night.alice.store],
      environment: ["PORTER_TRACE_TO": "", "PORTER_EVENTS_TO": ""],
      log: night.directory.appendingPathComponent("memory.log"))
    var answers: [JSONValue] = []
    for push in pushes {
      try process.send(push.text)
      answers.append(try JSONValue(parsing: process.line(within: 35)))
    }
    let peak = try peakMemory(of: process)
    XCTAssertEqual(try process.end(), .exited(0))
    return (peak, answers)
  }

  /// Like `ru_maxrss`, but without the peak of the process that started it, which the kernel passes on.
  private func peakMemory(of process: ChildProcess) throws -> Int {
    let status = try String(contentsOfFile: "/proc/\(process.identifier)/status", encoding: .utf8)
    let line = try XCTUnwrap(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }, status)
    return try XCTUnwrap(line.split(separator: " ").compactMap { Int($0) }.first) * 1_024
  }
}
