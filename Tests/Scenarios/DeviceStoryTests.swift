import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// The story of `make demo`, and how the device treats processes that break a phone's rules.
final class DeviceStoryTests: XCTestCase {
  private var directory = URL(fileURLWithPath: "/")

  override func setUpWithError() throws { directory = try Places.makeTemporaryDirectory() }
  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func play(_ options: String...) throws -> (events: [JSONValue], ending: Ending) {
    let output = try ChildProcess.run(
      // A debug build takes twice the memory of the build that a phone runs.
      Places.harness, ["device", "--json", "--memory-limit", "48"] + options, environment: ["TMPDIR": directory.path],
      within: 60)
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), [], "files stay behind")
    return (try output.lines.map { try JSONValue(parsing: $0) }, output.ending)
  }

  private func assertSummary(
    _ events: [JSONValue], messages: JSONValue, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    let summary = try XCTUnwrap(events.last, file: file, line: line)
    XCTAssertEqual(
      summary.objectValue?.members.map(\.name),
      [
        "event", "notifications", "messages", "duplicates", "locksHeldWhenFrozen", "badge", "coldStartMs",
        "peakMemoryBytes", "outcome",
      ], file: file, line: line)
    XCTAssertEqual(summary["event"], "summary", file: file, line: line)
    XCTAssertEqual(summary["notifications"], messages, file: file, line: line)
    XCTAssertEqual(summary["messages"], messages, file: file, line: line)
    XCTAssertEqual(summary["duplicates"], 0, file: file, line: line)
    XCTAssertEqual(summary["locksHeldWhenFrozen"], 0, file: file, line: line)
    XCTAssertEqual(summary["badge"], 0, file: file, line: line)
    XCTAssertEqual(summary["outcome"], "presented", file: file, line: line)
  }

  func testTheStoryHolds() throws {
    let (events, ending) = try play()
    XCTAssertEqual(ending, .exited(0), events.map(\.text).joined(separator: "\n"))
    try assertSummary(events, messages: 1)
    let notification = events.first { $0["event"] == "notification" }
    XCTAssertEqual(notification?["body"], "hello")
    XCTAssertEqual(notification?["badge"], 1)
    XCTAssertTrue(notification?["title"]?.stringValue?.contains("bob") ?? false)
    let order = events.compactMap { $0["event"]?.stringValue }
    for (earlier, later) in [
      ("tokenActive", "frozen"), ("frozen", "sent"), ("sent", "notification"), ("notification", "read"),
    ] {
      let first = try XCTUnwrap(order.firstIndex(of: earlier), earlier)
      let second = try XCTUnwrap(order.firstIndex(of: later), later)
      XCTAssertLessThan(first, second)
    }
  }

  func testTheStoryHoldsWithManyMessages() throws {
    let (events, ending) = try play("--messages", "5")
    XCTAssertEqual(ending, .exited(0), events.map(\.text).joined(separator: "\n"))
    try assertSummary(events, messages: 5)
  }

  func testTheStoryHoldsWhenTheFirstExtensionIsKilled() throws {
    let (events, ending) = try play("--kill-extension-after", "afterCommit")
    XCTAssertEqual(ending, .exited(0), events.map(\.text).joined(separator: "\n"))
    XCTAssertTrue(events.contains { $0["event"] == "died" })
    try assertSummary(events, messages: 1)
  }

  /// INC-01 in reverse: an application that does not suspend holds locks, and is killed for it.
  func testAnApplicationFrozenWithLocksIsKilled() throws {
    let (events, ending) = try play("--freeze-without-suspending")
    XCTAssertEqual(ending, .exited(1))
    let killed = events.first { $0["event"] == "killed" }
    XCTAssertEqual(killed?["code"], "0xdead10cc", events.map(\.text).joined(separator: "\n"))
    XCTAssertGreaterThan(events.last?["locksHeldWhenFrozen"]?.integerValue ?? 0, 0)
  }

  func testAnExtensionThatTakesTooMuchMemoryIsKilled() throws {
    let (events, ending) = try play("--memory-limit", "1")
    XCTAssertEqual(ending, .exited(1))
    XCTAssertTrue(events.contains { $0["expected"] == "the extension stays within its memory" })
    XCTAssertEqual(events.last?["outcome"], "none")
  }

  func testAnExtensionThatTakesTooLongIsKilled() throws {
    let (events, ending) = try play("--time-limit", "1")
    XCTAssertEqual(ending, .exited(1))
    XCTAssertTrue(events.contains { $0["expected"] == "the extension answers within its time" })
  }
}
