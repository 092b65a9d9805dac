import CNightporter
import XCTest

@testable import PorterEngine

/// The small print of the header.
final class InterfaceTests: XCTestCase {
  func testVersionAndABIAreTheHeaders() {
    XCTAssertEqual(String(cString: np_version()), NP_VERSION)
    XCTAssertEqual(np_abi_version(), NP_ABI_VERSION)
    XCTAssertEqual(String(cString: np_error_name(Int32(NP_ERROR_HANDLE.rawValue))), "NP_ERROR_HANDLE")
    XCTAssertEqual(String(cString: np_error_name(-7)), "unknown")
  }

  /// A host prepares for as many calls of its transport as the header states.
  func testATransportIsCalledAsOftenAsTheHeaderSays() {
    XCTAssertEqual(Int(NP_RELAY_CALLS), Controller.exchangesAtOnce)
  }

  func testMachinesCanBeWalkedFromC() throws {
    XCTAssertGreaterThanOrEqual(np_machine_count(), 6)
    for machine in 0..<np_machine_count() {
      let name = try XCTUnwrap(np_machine_name(machine))
      XCTAssertEqual(np_machine_find(name), machine)
      for state in 0..<np_machine_state_count(machine) {
        XCTAssertNotNil(np_machine_state_name(machine, state))
        for event in 0..<np_machine_event_count(machine) {
          var step = np_step()
          XCTAssertEqual(np_machine_step(machine, state, event, &step), NP_OK)
          XCTAssertLessThan(step.state, np_machine_state_count(machine))
          XCTAssertLessThanOrEqual(step.effect_count, NP_STEP_MAX_EFFECTS)
          let isTaken = step.kind == NP_STEP_MOVED.rawValue || step.kind == NP_STEP_STAYED.rawValue
          XCTAssertEqual(String(cString: step.reason).isEmpty, isTaken)
          XCTAssertEqual(step.state == state, step.kind != NP_STEP_MOVED.rawValue)
          if !isTaken { XCTAssertEqual(step.effect_count, 0) }
        }
      }
    }
    var step = np_step()
    for (machine, state, event) in [(-1, 0, 0), (99, 0, 0), (0, -1, 0), (0, 250, 0), (0, 0, 999)]
      as [(Int32, Int32, Int32)]
    {
      XCTAssertEqual(np_machine_step(machine, state, event, &step), NP_ERROR_ARGUMENT)
    }
    XCTAssertNil(np_machine_name(99))
    XCTAssertEqual(np_machine_state_count(99), -1)
  }

  func testNamesAndLengths() {
    XCTAssertEqual(take(chat_valid_name("  alice   smith ")), "alice smith")
    XCTAssertEqual(chat_json_length("a\"b\n"), 6)
    XCTAssertEqual(chat_json_length(""), 0)
    XCTAssertTrue(JSON(take(chat_parse_markdown("*bold*")))["formattedText"].exists)
    XCTAssertFalse(JSON(take(chat_parse_markdown("plain")))["formattedText"].exists)
  }
}
