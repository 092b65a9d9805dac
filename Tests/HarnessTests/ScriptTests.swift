import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// The language of `porter-harness script`: the answer to each line, and when a script fails.
final class ScriptTests: XCTestCase {
  private func run(_ script: String) throws -> (answers: [JSONValue], ending: Ending) {
    let output = try ChildProcess.run(Places.harness, ["script", "-"], input: script)
    return (try output.lines.map { try JSONValue(parsing: $0) }, output.ending)
  }

  private func errors(_ answers: [JSONValue]) -> [String] { answers.compactMap { $0["error"]?.stringValue } }

  func testEachCallIsAnsweredWithItsResultAndTime() throws {
    let (answers, ending) = try run("np_version\nnp_abi_version\nnp_error_name 2")
    XCTAssertEqual(answers.map { $0["call"]?.stringValue }, ["np_version", "np_abi_version", "np_error_name"])
    XCTAssertEqual(answers.map { $0["result"] }, ["0.1.0", 3, "NP_ERROR_HANDLE"])
    XCTAssertTrue(answers.allSatisfy { $0["us"]?.integerValue ?? -1 >= 0 })
    XCTAssertEqual(ending, .exited(0))
  }

  func testVariablesHoldResultsAndPartsOfThem() throws {
    let script = #"""
      name = chat_valid_name "alice"
      length = chat_json_length "${name} and ${name}"
      expect $length 15
      uri = chat_parse_server "${name}"
      expect "parseError"
      np_error_name $length
      echo "\u0024{name}"
      expect $name "alice"
      """#
    let (answers, ending) = try run(script)
    XCTAssertEqual(errors(answers), [])
    XCTAssertEqual(answers.first { $0["call"] == "echo" }?["result"], "${name}")
    XCTAssertEqual(ending, .exited(0))
  }

  func testAFailedExpectationFailsTheScript() throws {
    let (answers, ending) = try run("np_version\nexpect \"9.9.9\"\nexpect \"0.1.0\"")
    XCTAssertEqual(errors(answers).count, 1)
    XCTAssertEqual(ending, .exited(1))
  }

  func testAFileEndsAtItsFirstFailure() throws {
    let directory = try Places.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("script")
    try "np_version\nexpect \"9.9.9\"\nnp_abi_version\n".write(to: file, atomically: true, encoding: .utf8)
    let output = try ChildProcess.run(Places.harness, ["script", file.path])
    XCTAssertEqual(output.lines.count, 2)
    XCTAssertEqual(output.ending, .exited(1))
  }

  func testMalformedLinesAreReportedAndTheNextOnesStillRun() throws {
    let lines = [
      "nonsense", "np_version 1", "np_error_name \"x\"", "np_error_name 3000000000", "chat_valid_name \"open",
      "chat_valid_name \"\\u0000\"", "chat_valid_name $nobody", "chat_valid_name \"${nobody}\"", "= 3", "&np_version",
      "np_set_relay null \"carrier pigeon\"", "join nobody", "await null \"x\" 1", "sleep -1",
      "np_error_name 1 2 3 4 5 6 7 8 9 10 11",
    ]
    for line in lines {
      let (answers, ending) = try run("\(line)\nnp_abi_version")
      XCTAssertEqual(errors(answers).count, 1, line)
      XCTAssertEqual(answers.last?["result"], 3, line)
      XCTAssertEqual(ending, .exited(2), line)
    }
  }

  func testInvalidHandlesReachTheLibraryAndAreAnswered() throws {
    let (answers, ending) = try run(
      """
      np_ctrl_free null
      np_ctrl_free 12345
      chat_send_cmd null "/u"
      chat_send_cmd 12345 "/u"
      np_machine_step 0 0 0 null
      """)
    XCTAssertEqual(answers[0]["result"], "NP_OK")
    XCTAssertEqual(answers[1]["result"], "NP_ERROR_HANDLE")
    XCTAssertNotNil(answers[2]["result"]?["error"])
    XCTAssertNotNil(answers[3]["result"]?["error"])
    XCTAssertEqual(answers[4]["result"], "NP_ERROR_NULL")
    XCTAssertEqual(ending, .exited(0))
  }

  func testACallOnAThreadIsJoinedLater() throws {
    let (answers, ending) = try run("&later = np_version\njoin later\nexpect $later \"0.1.0\"")
    XCTAssertEqual(answers[0]["started"], "later")
    XCTAssertEqual(answers[1]["result"], "0.1.0")
    XCTAssertEqual(errors(answers), [])
    XCTAssertEqual(ending, .exited(0))
  }

  func testAMachineIsSteppedByNumbers() throws {
    let (answers, ending) = try run(
      """
      machine = np_machine_find "token_status"
      initial = np_machine_initial $machine
      np_machine_state_name $machine $initial
      np_machine_step $machine $initial 0
      """)
    XCTAssertEqual(answers[3]["result"], "NP_OK")
    XCTAssertNotNil(answers[3]["step"]?["state"]?.integerValue)
    XCTAssertEqual(ending, .exited(0))
  }
}
