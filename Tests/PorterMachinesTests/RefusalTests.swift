import PorterMachineCompiler
import PropertyTesting
import XCTest

/// The compiler accepts exactly its subset, and reports where a file leaves it.
final class RefusalTests: XCTestCase {
  /// A small valid machine. Tests change one line of it; lines are counted from 1.
  private var good: String { Self.machine(scxml: "http://www.w3.org/2005/07/scxml", porter: "urn:nightporter:machine") }

  private static func machine(scxml: String, porter: String) -> String {
    """
    <!-- A door. -->
    <scxml xmlns="\(scxml)" xmlns:porter="\(porter)" version="1.0" datamodel="null" name="door" initial="closed">
      <porter:event name="push">A push arrives.</porter:event>
      <porter:event name="wind.strong">A storm.</porter:event>
      <porter:event name="wind.weak">A breeze.</porter:event>
      <porter:event name="tooLong">It has been open for long.</porter:event>
      <porter:event name="fire">It burns.</porter:event>
      <porter:effect name="ring" occurs="once">Ring the bell.</porter:effect>
      <porter:effect name="creak">Creak.</porter:effect>
      <!-- Shut. -->
      <state id="closed">
        <transition event="push" target="open"><send event="tooLong" delay="20s" id="draught"/></transition>
        <transition event="wind.*"><send event="creak" target="#_engine"/></transition>
        <transition event="fire" target="burnt"><send event="ring" target="#_engine"/></transition>
        <transition event="*"><send event="ignored.shut" target="#_engine"/></transition>
      </state>
      <!-- Not shut. -->
      <state id="open">
        <transition event="push tooLong wind.strong" target="closed"><cancel sendid="draught"/></transition>
        <transition event="fire" target="burnt"><send event="ring" target="#_engine"/></transition>
        <transition event="*"><send event="refused.ajar" target="#_engine"/></transition>
      </state>
      <!-- Gone. -->
      <final id="burnt"/>
    </scxml>
    """
  }

  private var lines: [String] { good.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }

  func testTheMachineThatTheTestsChangeIsValid() throws {
    let machine = try MachineCompiler.compile(good, file: "door.scxml")
    XCTAssertEqual(machine.states.map(\.name), ["closed", "open", "burnt"])
    XCTAssertEqual(machine.effects.map(\.name), ["ring", "creak", "startDraught", "cancelDraught"])
    XCTAssertEqual(machine.reasons, ["shut", "ajar", "ended"])
    XCTAssertEqual(machine.answerText(state: "closed", event: "push"), "open: moved, startDraught")
    XCTAssertEqual(machine.answerText(state: "closed", event: "wind.weak"), "closed: stayed, creak")
    XCTAssertEqual(machine.answerText(state: "open", event: "wind.strong"), "closed: moved, cancelDraught")
    XCTAssertEqual(machine.answerText(state: "open", event: "wind.weak"), "open: refused (ajar)")
    XCTAssertEqual(machine.answerText(state: "burnt", event: "push"), "burnt: ignored (ended)")
  }

  // MARK: - XML and elements

  func testTextThatIsNotXML() {
    refuse(16, "not well-formed") {
      $0[14] = "    <transition event=\"*\"><send event=\"ignored.shut\" target=\"#_engine\"/>"
    }
    refuse(1, "document type") { $0.insert("<!DOCTYPE scxml [<!ENTITY a \"b\">]>", at: 0) }
    XCTAssertThrowsError(try MachineCompiler.compile("", file: "door.scxml"))
  }

  func testOtherRootsVersionsAndDatamodels() {
    refuse(2, "the root must be <scxml") { $0[1] = $0[1].replacing("w3.org/2005/07", with: "example.org") }
    refuse(2, "datamodel=\"ecmascript\"") { $0[1] = $0[1].replacing("\"null\"", with: "\"ecmascript\"") }
    refuse(2, "version=\"2.0\"") { $0[1] = $0[1].replacing("\"1.0\"", with: "\"2.0\"") }
    refuse(2, "needs 'datamodel'") { $0[1] = $0[1].replacing("datamodel=\"null\"", with: "") }
    refuse(2, "must live in gate.scxml") { $0[1] = $0[1].replacing("\"door\"", with: "\"gate\"") }
    refuse(2, "lower case") { $0[1] = $0[1].replacing("\"door\"", with: "\"Door\"") }
    refuse(1, "what the machine is for") { $0.removeFirst() }
  }

  func testElementsOutsideTheSubset() {
    let elements = [
      "<parallel id=\"both\"/>", "<datamodel/>", "<script/>", "<initial/>", "<history id=\"before\"/>", "<invoke/>",
      "<donedata/>",
    ]
    for element in elements {
      refuse(10, "is not in the subset here") { $0.insert(element, at: 9) }
      refuse(12, "is not in the subset here") { $0.insert(element, at: 11) }
    }
    for element in ["<if cond=\"true\"/>", "<raise event=\"push\"/>", "<assign/>", "<log/>", "<foreach/>"] {
      refuse(13, "is not in the subset here") { $0[12] = "<transition event=\"wind.*\">\(element)</transition>" }
    }
    refuse(13, "stray text") { $0[12] = "<transition event=\"wind.*\">creak</transition>" }
  }

  func testTransitionsOutsideTheSubset() {
    refuse(12, "'cond' is not in the subset") {
      $0[11] = $0[11].replacing("event=\"push\"", with: "event=\"push\" cond=\"In('open')\"")
    }
    refuse(12, "eventless") { $0[11] = $0[11].replacing("event=\"push\"", with: "") }
    refuse(12, "'type' of <transition>") {
      $0[11] = $0[11].replacing("event=\"push\"", with: "event=\"push\" type=\"internal\"")
    }
    refuse(12, "must be one state") { $0[11] = $0[11].replacing("\"open\"", with: "\"open closed\"") }
    refuse(13, "target=\"#_engine\"") { $0[12] = $0[12].replacing(" target=\"#_engine\"", with: "") }
    refuse(13, "'eventexpr' of <send>") {
      $0[12] = $0[12].replacing("event=\"creak\"", with: "event=\"creak\" eventexpr=\"x\"")
    }
    refuse(13, "<param> is not in the subset") {
      $0[12] = "<transition event=\"wind.*\"><send event=\"creak\" target=\"#_engine\"><param/></send></transition>"
    }
    refuse(24, "is not in the subset here") { $0[23] = "<final id=\"burnt\"><onentry/></final>" }
  }

  func testTimers() {
    refuse(12, "delay 'soon'") { $0[11] = $0[11].replacing("20s", with: "soon") }
    refuse(12, "delay '0s'") { $0[11] = $0[11].replacing("20s", with: "0s") }
    refuse(12, "delay '1.5s'") { $0[11] = $0[11].replacing("20s", with: "1.5s") }
    refuse(12, "delay '99999999999999999999s'") { $0[11] = $0[11].replacing("20s", with: "99999999999999999999s") }
    refuse(12, "needs 'id'") { $0[11] = $0[11].replacing(" id=\"draught\"", with: "") }
    refuse(12, "raises 'tooShort', which is not declared") { $0[11] = $0[11].replacing("tooLong", with: "tooShort") }
    refuse(19, "never started") { $0[18] = $0[18].replacing("draught", with: "wind") }
    refuse(20, "declared differently in line 12") {
      $0[19] =
        "<transition event=\"fire\" target=\"burnt\"><send event=\"tooLong\" delay=\"1s\" id=\"draught\"/></transition>"
    }
  }

  // MARK: - Meaning

  func testAPairThatIsNotAnswered() {
    refuse(18, "state 'open' does not answer event 'wind.weak'") { $0[20] = "" }
  }

  func testNamesThatAreNotDeclared() {
    refuse(12, "event 'pull' is not declared") {
      $0[11] = $0[11].replacing("event=\"push\"", with: "event=\"push pull\"")
    }
    refuse(13, "event 'rain.*' is not declared") { $0[12] = $0[12].replacing("wind.*", with: "wind.* rain.*") }
    refuse(13, "effect 'squeak' is not declared") { $0[12] = $0[12].replacing("creak", with: "squeak") }
    refuse(12, "target 'ajar' is not a state") { $0[11] = $0[11].replacing("\"open\"", with: "\"ajar\"") }
    refuse(2, "initial 'ajar' is not a state") { $0[1] = $0[1].replacing("\"closed\"", with: "\"ajar\"") }
  }

  func testNamesThatAreDeclaredButNotUsed() {
    refuse(8, "event 'knock' is answered by wildcards only") {
      $0.insert("<porter:event name=\"knock\">Knock.</porter:event>", at: 7)
    }
    refuse(10, "effect 'squeak' is never caused") {
      $0.insert("<porter:effect name=\"squeak\">Squeak.</porter:effect>", at: 9)
    }
    refuse(3, "must say in its text") { $0[2] = "<porter:event name=\"push\"/>" }
    refuse(11, "must say what the state means") { $0[9] = "" }
  }

  func testNamesThatCollide() {
    refuse(4, "event 'push' is already declared in line 3") { $0.insert($0[2], at: 3) }
    refuse(4, "event 'wind' is a prefix of 'wind.strong'") {
      $0.insert("<porter:event name=\"wind\">Any.</porter:event>", at: 3)
    }
    refuse(6, "event 'windWeak' is already declared in line 5") {
      $0.insert("<porter:event name=\"windWeak\">Any.</porter:event>", at: 5)
    }
    refuse(18, "state 'closed' is already declared in line 11") { $0[17] = $0[17].replacing("open", with: "closed") }
    refuse(9, "effect 'ring' is already declared in line 8") { $0[8] = $0[7] }
    refuse(3, "are reserved by SCXML") { $0[2] = $0[2].replacing("\"push\"", with: "\"error.push\"") }
    refuse(3, "words joined by dots") { $0[2] = $0[2].replacing("\"push\"", with: "\"push..hard\"") }
  }

  func testAnswersThatContradictThemselves() {
    refuse(15, "changes nothing") { $0[14] = $0[14].replacing("event=\"*\"", with: "event=\"*\" target=\"open\"") }
    refuse(13, "changes nothing") {
      $0[12] =
        transition("wind.*", sends: "ignored.shut", "creak")
    }
    refuse(13, "nothing happens here") { $0[12] = "<transition event=\"wind.*\"/>" }
    refuse(12, "targets itself") { $0[11] = $0[11].replacing("\"open\"", with: "\"closed\"") }
    refuse(13, "reason 'far too shut' must be one word") {
      $0[12] = $0[12].replacing("creak", with: "ignored.far too shut")
    }
    refuse(14, "never taken") {
      $0.insert(
        "<transition event=\"wind.weak\"><send event=\"ignored.shut\" target=\"#_engine\"/></transition>", at: 13)
    }
  }

  /// A recorded effect happens in the transaction that takes the step, before everything else.
  func testARecordedEffectAfterAnotherOne() {
    refuse(12, "'creak' is recorded, so it must come before what is not") {
      $0[8] = $0[8].replacing("name=\"creak\"", with: "name=\"creak\" kind=\"record\"")
      $0[11] = $0[11].replacing(
        "</transition>", with: "<send event=\"creak\" target=\"#_engine\"/></transition>")
    }
  }

  func testStatesThatCannotBeReachedOrLeft() {
    refuse(24, "state 'attic' cannot be reached from 'closed'") {
      $0.insert(
        contentsOf: [
          "<!-- Up. -->",
          state("attic", leadsTo: "open"),
        ], at: 22)
    }
    refuse(18, "no way out") {
      $0[18] = "<transition event=\"push tooLong\"><send event=\"creak\" target=\"#_engine\"/></transition>"
      $0[19] = ""
    }
  }

  func testEffectsThatDoNotOccurOnce() {
    refuse(24, "'burnt' can be reached without 'ring'") { $0[13] = $0[13].replacing("ring", with: "creak") }
    refuse(13, "'ring' can happen a second time") { $0[12] = $0[12].replacing("creak", with: "ring") }
    refuse(8, "needs a final state") {
      $0[23] =
        state("burnt", leadsTo: "closed")
    }
  }

  func testMoreThanEightEffects() {
    refuse(22, "more than 8 effects") {
      let nine = Array(repeating: "<send event=\"creak\" target=\"#_engine\"/>", count: 9)
      $0.replaceSubrange(12...12, with: ["<transition event=\"wind.*\">"] + nine + ["</transition>"])
    }
  }

  func testNesting() {
    let nested = [
      "<!-- In. -->", "<state id=\"hall\" initial=\"lit\">", "<!-- Bright. -->", "<state id=\"lit\"/>", "</state>",
    ]
    refuse(22, "must name its 'initial'") {
      $0.insert(contentsOf: nested, at: 20)
      $0[21] = "<state id=\"hall\">"
    }
    refuse(22, "initial 'dark' is not a state directly inside 'hall'") {
      $0.insert(contentsOf: nested, at: 20)
      $0[21] = $0[21].replacing("lit", with: "dark")
    }
    refuse(18, "'initial' of a state without states inside") { $0[17] = "<state id=\"open\" initial=\"closed\">" }
    refuse(21, "only top-level ones are in the subset") { $0.insert("<final id=\"end\"/>", at: 20) }
  }

  func testAllProblemsAreReportedAtOnce() {
    var changed = lines
    changed[11] = changed[11].replacing("event=\"push\"", with: "event=\"push\" cond=\"x\"")
    changed[12] = changed[12].replacing(" target=\"#_engine\"", with: "")
    XCTAssertThrowsError(try MachineCompiler.compile(changed.joined(separator: "\n"), file: "spec/machines/door.scxml"))
    {
      XCTAssertEqual(($0 as? MachineError)?.problems.map(\.line), [12, 13])
      XCTAssertTrue("\($0)".hasPrefix("spec/machines/door.scxml:12: error: 'cond'"), "\($0)")
    }
  }

  func testEntryAndExitEffectsSurroundThoseOfTheTransition() throws {
    var changed = lines
    changed[11] = changed[11].replacing(
      "</transition>",
      with:
        "\(send("creak"))</transition><onexit>\(send("squeak"))</onexit>"
    )
    changed[17] += "<onentry><send event=\"sigh\" target=\"#_engine\"/></onentry>"
    changed[8] +=
      "<porter:effect name=\"squeak\">Squeak.</porter:effect><porter:effect name=\"sigh\">Sigh.</porter:effect>"
    let machine = try MachineCompiler.compile(changed.joined(separator: "\n"), file: "door.scxml")
    XCTAssertEqual(machine.answerText(state: "closed", event: "push"), "open: moved, squeak startDraught creak sigh")
    XCTAssertEqual(
      machine.answerText(state: "closed", event: "wind.weak"), "closed: stayed, creak", "staying is not leaving")
  }

  func testEntryEffectsOfTheInitialStateAreRefused() {
    refuse(11, "would never be carried out") {
      $0[10] += "<onentry><send event=\"creak\" target=\"#_engine\"/></onentry>"
    }
  }

  func testDamagedFilesNeverCrashTheCompiler() {
    let characters = Array(good)
    let edits = all(
      Generator<Int>.number(0...characters.count - 1), Generator<Int>.number(0...60), Generator<String>.text(0...6))
    forAll(edits, runs: 400) { start, length, replacement in
      var damaged = characters
      damaged.replaceSubrange(start..<min(start + length, damaged.count), with: Array(replacement))
      do {
        _ = try MachineCompiler.compile(String(damaged), file: "door.scxml")
      } catch {
        guard let refusal = error as? MachineError else { return try expect(false, "\(error)") }
        try expect(!refusal.problems.isEmpty)
        let last = damaged.count { $0.isNewline } + 1
        for problem in refusal.problems { try expect((1...last).contains(problem.line), "\(problem) of \(last) lines") }
      }
    }
  }

  private func send(_ event: String) -> String { "<send event=\"\(event)\" target=\"#_engine\"/>" }

  private func state(_ id: String, leadsTo target: String) -> String {
    let rest = transition("*", sends: "ignored.late")
    return "<state id=\"\(id)\"><transition event=\"push\" target=\"\(target)\"/>\(rest)</state>"
  }

  private func transition(_ event: String, sends: String...) -> String {
    "<transition event=\"\(event)\">\(sends.map(send).joined())</transition>"
  }

  private func refuse(
    _ line: Int, _ message: String, file: StaticString = #filePath, at place: UInt = #line,
    _ change: (inout [String]) -> Void
  ) {
    var changed = lines
    change(&changed)
    do {
      _ = try MachineCompiler.compile(changed.joined(separator: "\n"), file: "door.scxml")
      XCTFail("should be refused: \(message)", file: file, line: place)
    } catch {
      let found = error.problems.contains { $0.line == line && $0.message.contains(message) }
      XCTAssertTrue(found, "expected door.scxml:\(line): … \(message) …, got\n\(error)", file: file, line: place)
    }
  }
}
