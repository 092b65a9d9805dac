import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// Each night that the device can play (`porter-harness scenarios`), with real processes.
final class NightTests: XCTestCase {
  private static let nights: Set = [
    "contact-request", "call-answered", "call-missed", "edited-and-deleted", "three-profiles", "muted-chat",
    "hidden-preview", "app-lock", "burst", "reply", "server-down", "token-recovers", "periodic", "share", "clock-moved",
    "force-quit", "killed-at-every-step", "dozing",
  ]

  private var directory = URL(fileURLWithPath: "/")

  override func setUpWithError() throws { directory = try Places.makeTemporaryDirectory() }
  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func scenarios() throws -> [String] {
    let listed = try ChildProcess.run(Places.harness, ["scenarios"])
    XCTAssertEqual(listed.ending, .exited(0))
    return try listed.lines.map { String(try XCTUnwrap($0.split(separator: " ").first)) }
  }

  func testEachScenarioHoldsAndLeavesNothing() throws {
    let names = try scenarios()
    XCTAssertEqual(Set(names), Self.nights)
    XCTAssertEqual(names.count, Self.nights.count)
    for name in names {
      let played = try ChildProcess.run(
        // A debug build takes twice the memory of the build that a phone runs, whose limit applies to the story's
        // figures.
        Places.harness, ["device", "--json", "--memory-limit", "48", "--scenario", name],
        environment: ["TMPDIR": directory.path], within: 120)
      let summary = try JSONValue(parsing: try XCTUnwrap(played.lines.last))
      XCTAssertEqual(played.ending, .exited(0), "\(name):\n" + played.lines.joined(separator: "\n"))
      XCTAssertEqual(summary["scenario"]?.stringValue, name)
      XCTAssertEqual(summary["held"], true, name)
      XCTAssertGreaterThan(summary["statements"]?.integerValue ?? 0, 0, "\(name) checks nothing")
      XCTAssertEqual(summary["locksHeldWhenFrozen"], 0, name)
      XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), [], "\(name) leaves files")
    }
  }

  /// A scenario that does not hold reports so, also in its exit status.
  func testAScenarioThatDoesNotHoldFails() throws {
    let played = try ChildProcess.run(
      Places.harness, ["device", "--json", "--scenario", "force-quit", "--server", "/bin/false"],
      environment: ["TMPDIR": directory.path])
    XCTAssertEqual(played.ending, .exited(1))
    XCTAssertEqual(try JSONValue(parsing: try XCTUnwrap(played.lines.last))["held"], false)
  }

  /// `make demo SCENARIO=all` with three nights, the second of which has a failing server: the others are played, and
  /// it is named.
  func testAllContinuesAfterANightThatDoesNotHoldAndNamesIt() throws {
    let harness = directory.appendingPathComponent("harness")
    try """
    #!/bin/sh
    case " $* " in
      " scenarios ") printf '%s\\n' 'force-quit One.' 'muted-chat Another.' 'hidden-preview A third.' ;;
      *" muted-chat "*) exec '\(Places.harness)' "$@" --server /bin/false ;;
      *) exec '\(Places.harness)' "$@" ;;
    esac
    """.write(to: harness, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: harness.path)
    let played = try ChildProcess.run(
      "/bin/sh", ["-c", "exec \"$0\" all --json 2>&1", Places.root.appendingPathComponent("scripts/scenarios").path],
      environment: ["PORTER_HARNESS": harness.path, "TMPDIR": directory.path], within: 120)
    XCTAssertEqual(played.ending, .exited(1))
    XCTAssertEqual(played.lines.last, "did not hold: muted-chat")
    let summaries = try played.lines.filter { $0.contains("\"event\":\"summary\"") }
      .map { try JSONValue(parsing: $0) }
    XCTAssertEqual(summaries.map { $0["scenario"]?.stringValue }, ["force-quit", "muted-chat", "hidden-preview"])
    XCTAssertEqual(summaries.map { $0["held"] }, [true, false, true])
  }

  /// With `--page`, each night of `all` has its own file.
  func testAllWritesAPageForEachNight() throws {
    let harness = directory.appendingPathComponent("harness")
    try """
    #!/bin/sh
    case " $* " in
      " scenarios ") printf '%s\\n' 'one One.' 'two Two.' ;;
      *) printf '%s\\n' "$*" ;;
    esac
    """.write(to: harness, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: harness.path)
    for (given, pages) in [
      ("/tmp/a.b/night.html", ["/tmp/a.b/night-one.html", "/tmp/a.b/night-two.html"]),
      ("a.b/night", ["a.b/night-one", "a.b/night-two"]),
    ] {
      let played = try ChildProcess.run(
        Places.root.appendingPathComponent("scripts/scenarios").path, ["all", "--json", "--page", given, "--log"],
        environment: ["PORTER_HARNESS": harness.path])
      XCTAssertEqual(
        played.lines,
        zip(["one", "two"], pages).map {
          "device --scenario \($0) --memory-limit 48 --json --page \($1) --log"
        })
    }
  }

  /// `make verify` opens the page itself in a browser.
  func testThePageHasWhatHappenedAndNoTextThatEndsItsScript() throws {
    let page = directory.appendingPathComponent("night.html")
    let played = try ChildProcess.run(
      Places.harness, ["device", "--json", "--memory-limit", "48", "--page", page.path, "--scenario", "force-quit"],
      environment: ["TMPDIR": directory.path], within: 60)
    XCTAssertEqual(played.ending, .exited(0))
    let (text, night) = try read(page)
    let events = try XCTUnwrap(night["events"]?.arrayValue)
    for line in played.lines.dropLast() {
      let event = try JSONValue(parsing: line)
      XCTAssertTrue(events.contains { $0["event"] == event["event"] && $0["ms"] == event["ms"] }, line)
    }
    XCTAssertTrue(events.contains { $0["event"] == "step" && $0["actor"] == "extension" && $0["machine"] == "push" })
    XCTAssertTrue(events.contains { $0["event"] == "locks" && $0["actor"] == "alice" })
    XCTAssertFalse(text.contains("@NIGHT@"))
    for network in ["http://", "https://", "src=", "@import"] {
      XCTAssertFalse(text.replacingOccurrences(of: "http://www.w3.org/2000/svg", with: "").contains(network), network)
    }
  }

  private func read(_ page: URL) throws -> (text: String, night: JSONValue) {
    let text = try String(contentsOf: page, encoding: .utf8)
    let start = try XCTUnwrap(text.range(of: #"<script id="night" type="application/json">"#))
    let end = try XCTUnwrap(text.range(of: "</script>", range: start.upperBound..<text.endIndex))
    return (text, try JSONValue(parsing: String(text[start.upperBound..<end.lowerBound])))
  }

  /// In any process, including the server's and a share extension's. Each step that changes a state is a band, as
  /// `scripts/page-probe` checks in a browser.
  func testEachMachineThatTookStepsHasThemOnThePage() throws {
    let (page, record) = (directory.appendingPathComponent("night.html"), directory.appendingPathComponent("steps"))
    let played = try ChildProcess.run(
      Places.harness, ["device", "--json", "--memory-limit", "48", "--page", page.path, "--scenario", "share"],
      environment: ["TMPDIR": directory.path, "PORTER_TRACE_TO": record.path], within: 60)
    XCTAssertEqual(played.ending, .exited(0))
    let night = try read(page).night
    // PROCESS@PLACE RUNNER MACHINE EVENT FROM TO ANSWER
    let steps = try String(contentsOf: record, encoding: .utf8).split(separator: "\n").map { $0.split(separator: " ") }
    let taken = Set(
      steps.filter { $0.count == 7 && $0[4] != $0[5] }.map { "\($0[0].prefix { $0 != "@" }) \($0[2])" })
    let events = try XCTUnwrap(night["events"]?.arrayValue).filter { $0["event"] == "step" && $0["from"] != $0["to"] }
    let shown = Set(
      events.map { "\($0["process"]?.integerValue ?? 0) \($0["machine"]?.stringValue ?? "")" })
    XCTAssertEqual(taken.subtracting(shown), [], "took steps, and has none on the page")
    let actors = Set(events.compactMap { $0["actor"]?.stringValue })
    XCTAssertEqual(actors, ["alice", "bob", "extension", "server", "share"])
  }

  func testAnUnknownScenarioIsRefused() throws {
    let played = try ChildProcess.run(
      "/bin/sh", ["-c", "exec \"$0\" device --scenario nonsense 2>/dev/null", Places.harness])
    XCTAssertEqual(played.ending, .exited(2))
  }
}
