import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// The cost limits of one push, in counts that do not depend on the machine's speed or load.
final class PushBudgetTests: XCTestCase {
  private static let budget = Places.root.appendingPathComponent("Tests/budget.txt")

  /// An extension takes one push, and uses no more statements, allocations, syncs, threads and bytes of log than
  /// `Tests/budget.txt` allows, and another no more system calls. The reference in C takes the next one, and shows it
  /// as the extension does.
  func testINC49OnePushStaysWithinItsBudget() throws {
    let night = try Night()
    defer { night.end() }
    let counting = try compile(
      ["Tests/Support/counting/counting.c"], into: night.directory, ["-shared", "-fPIC"], ["-ldl"])
    try night.suspendAlice()
    // The first message turns the ratchet.
    try night.bobSends("first")
    let first = try night.present(try night.nextPush())

    try night.bobSends("second")
    // The server acknowledges at the relay what it has pushed. In the file that both use here, the push would do part
    // of that.
    let push = try XCTUnwrap(try night.allPushes().last)
    let log = URL(fileURLWithPath: night.alice.store + "_chat.db-wal")
    let before = try size(of: log)
    let counts = night.directory.appendingPathComponent("counts")
    let (content, ending) = try night.runExtension(
      push,
      environment: [
        "LD_PRELOAD": counting, "PORTER_COUNTS_TO": counts.path,
        // Recordings for other checks are not part of the push.
        "PORTER_TRACE_TO": "", "PORTER_EVENTS_TO": "",
      ])
    XCTAssertEqual(ending, .exited(0))
    XCTAssertEqual(content?.bodies, ["second"], content?.text ?? "")
    let lines = try String(contentsOf: counts, encoding: .utf8).split(separator: "\n", maxSplits: 1)
    var counted = try Self.numbers(in: String(try XCTUnwrap(lines.first)))
    counted["log"] = try size(of: log) - before
    // Half a minute after its last sound a chat makes a sound again, which is recorded: only on a machine that was that
    // slow.
    if content?["notifications"]?.arrayValue?.first?["sound"] != nil {
      counted["statements", default: 0] -= 1
      counted["log", default: 0] -= 2_072
    }
    try night.bobSends("third")
    counted["calls"] = try countCalls(for: try night.nextPush(), showing: "third", in: night)
    let allowed = try Self.numbers(in: try String(contentsOf: Self.budget, encoding: .utf8))
    XCTAssertEqual(counted.keys.sorted(), allowed.keys.sorted())
    for (name, most) in allowed {
      XCTAssertLessThanOrEqual(counted[name] ?? .max, most, name == "statements" ? String(lines.last ?? "") : name)
    }

    try night.bobSends("fourth")
    let reference = try takeByReference(try night.nextPush(), in: night)
    XCTAssertEqual(reference.bodies, ["fourth"], reference.text)
    XCTAssertEqual(reference["badge"], 4, reference.text)
    XCTAssertEqual(Self.shape(of: reference), Self.shape(of: first), reference.text)
    try night.wakeAlice()
    try night.expectAliceHas(["first", "second", "third", "fourth"])
  }

  /// The number of system calls of an extension process that takes this push, from exec to exit.
  private func countCalls(for push: JSONValue, showing text: String, in night: Night) throws -> Int {
    let tool = try compile(["Tests/Support/counting/calls.c"], into: night.directory, [], [])
    let counts = night.directory.appendingPathComponent("calls")
    let process = try ChildProcess(
      tool, [counts.path, Places.harness, "extension", "--store", night.alice.store],
      environment: ["PORTER_TRACE_TO": "", "PORTER_EVENTS_TO": ""],
      log: night.directory.appendingPathComponent("calls.log"))
    try process.send(push.text)
    let answer = try JSONValue(parsing: process.line())
    XCTAssertEqual(answer.bodies, [text], answer.text)
    XCTAssertEqual(try process.end(), .exited(0))
    return try XCTUnwrap(try Self.numbers(in: try String(contentsOf: counts, encoding: .utf8))["calls"])
  }

  private func takeByReference(_ push: JSONValue, in night: Night) throws -> JSONValue {
    let folder = Places.root.appendingPathComponent("Benchmarks/reference/push")
    let parts = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".c") }
    let program = try compile(
      ["Benchmarks/reference/push.c", "Sources/CLogSync/log_sync.c"]
        + parts.map { "Benchmarks/reference/push/\($0)" },
      into: night.directory, ["-I" + Places.root.appendingPathComponent("Sources/CLogSync/include").path],
      ["-lsodium", "-lsqlite3"])
    let process = try ChildProcess(
      program, [night.alice.store], log: night.directory.appendingPathComponent("push.log"))
    try process.send(push.text)
    let answer = try JSONValue(parsing: process.line())
    XCTAssertEqual(try process.end(), .exited(0))
    return answer
  }

  private func compile(
    _ sources: [String], into directory: URL, _ options: [String], _ libraries: [String]
  ) throws -> String {
    let output = directory.appendingPathComponent(
      URL(fileURLWithPath: sources[0]).deletingPathExtension().lastPathComponent + ".built"
    ).path
    let words = ["cc", "-std=c11", "-D_GNU_SOURCE", "-O1"] + options + sources.map { Places.root.path + "/" + $0 }
    let compiler = try ChildProcess("/usr/bin/env", words + ["-o", output] + libraries)
    XCTAssertEqual(try compiler.end(within: 60), .exited(0), sources[0])
    return output
  }

  private func size(of file: URL) throws -> Int {
    try XCTUnwrap(FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int)
  }

  /// Pairs of a name and a number; `#` begins a comment.
  private static func numbers(in text: String) throws -> [String: Int] {
    let words = text.split(separator: "\n").flatMap { $0.prefix { $0 != "#" }.split(separator: " ") }
    var numbers: [String: Int] = [:]
    for index in stride(from: 0, to: words.count - 1, by: 2) {
      numbers[String(words[index])] = try XCTUnwrap(Int(words[index + 1]), String(words[index]))
    }
    return numbers
  }

  /// The names of an answer's members, and of its notification's, without the sound that a chat makes now and then.
  private static func shape(of answer: JSONValue) -> [String] {
    let shown = answer["notifications"]?.arrayValue?.first
    return [answer, shown].flatMap { value -> [String] in
      guard case .object(let members)? = value else { return [] }
      return members.members.map(\.name).filter { $0 != "sound" }
    }
  }
}
