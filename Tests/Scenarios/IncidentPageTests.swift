import Foundation
import PorterProcesses
import XCTest

/// Each incident cited anywhere is on the page, and has the tests that the page names.
final class IncidentPageTests: XCTestCase {
  func testEveryIncidentIsOnThePageWithTestsThatExist() throws {
    let page = IncidentPage(
      try MarkdownDocument(file: Places.root.appendingPathComponent("spec/incidents.md")))
    let (tests, cited) = (try allTests(), try citedIncidents())
    XCTAssertGreaterThan(tests.count, 800)
    XCTAssertGreaterThan(cited.count, 40)
    XCTAssertEqual(page.problems(tests: tests, cited: cited), [])
  }

  func testFaultsOfThePageAreFound() {
    let page = """
      ### INC-01: in order
      Text.
      - Seen in: there
      - Prevented by: that
      - Tests: `testOne`,
        `testTwo`
      ### INC-02: wanting
      ### INC-04: not yet
      Text.
      - Seen in: there
      - Not applicable yet: there is nothing of the kind
      ### INC-03: too late
      Text.
      - Seen in: there
      - Prevented by: that
      - Tests: none
      - Remark: none
      """
    let tests: Set = ["testOne", "testINC\("04")AllTheSame"]
    let cited: Set = ["INC-01", "INC-\(99)"]
    let document = MarkdownDocument(file: URL(fileURLWithPath: "/page.md"), text: page)
    XCTAssertEqual(
      IncidentPage(document).problems(tests: tests, cited: cited),
      [
        "INC-03: is out of order, or there twice",
        "INC-01: there is no test testTwo",
        "INC-01: none of its tests has INC\("01") in its name",
        "INC-02: does not say what happened",
        "INC-02: does not say where it was seen",
        "INC-02: does not say what prevents it",
        "INC-02: has no test",
        "INC-04: is not applicable yet, but for testINC\("04")AllTheSame",
        "INC-03: has no test",
        "INC-03: what is Remark?",
        "INC-\(99): is cited, and not on the page",
      ])
  }

  private func allTests() throws -> Set<String> {
    let swift = try TextFiles.below(Places.root.appendingPathComponent("Tests"), extensions: ["swift"])
    let python = try TextFiles.below(Places.root.appendingPathComponent("bindings"), extensions: ["py"])
    var names: Set<String> = []
    for file in swift + python {
      let text = try String(contentsOf: file, encoding: .utf8)
      names.formUnion(text.matches(of: #/(?:func|def) (test\w+)\(/#).map { String($0.output.1) })
    }
    return names
  }

  private func citedIncidents() throws -> Set<String> {
    let extensions: Set = ["swift", "c", "h", "md", "scxml", "pml", "py", "json"]
    var cited: Set<String> = []
    for folder in ["Sources", "Include", "Tests", "spec", "bindings", "Benchmarks", "scripts"] {
      for file in try TextFiles.below(Places.root.appendingPathComponent(folder), extensions: extensions) {
        let text = try String(contentsOf: file, encoding: .utf8)
        cited.formUnion(text.matches(of: #/INC-?(\d{2})(?!\d)/#).map { "INC-\($0.output.1)" })
      }
    }
    for document in try TextFiles.below(Places.root, extensions: ["md"]) {
      let text = try String(contentsOf: document, encoding: .utf8)
      cited.formUnion(text.matches(of: #/INC-(\d{2})(?!\d)/#).map { "INC-\($0.output.1)" })
    }
    return cited
  }
}
