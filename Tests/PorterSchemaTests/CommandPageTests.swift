import Foundation
import PorterJSON
import XCTest

@testable import PorterSchema

/// spec/protocol/commands.md is true.
final class CommandPageTests: XCTestCase {
  private func page() throws -> String {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<3 { root.deleteLastPathComponent() }
    return try String(contentsOf: root.appendingPathComponent("spec/protocol/commands.md"), encoding: .utf8)
  }

  func testEveryExampleIsUnderstood() throws {
    var isExample = false
    var count = 0
    for line in try page().split(separator: "\n") {
      if line.hasPrefix("```") {
        isExample.toggle()
      } else if isExample {
        XCTAssertNoThrow(try Command(parsing: String(line)), String(line))
        count += 1
      }
    }
    XCTAssertGreaterThan(count, 60)
  }

  func testEveryCommandIsOnThePage() throws {
    let page = try page()
    for rule in Command.presentRules { XCTAssertTrue(page.contains("`\(rule.words)"), rule.words) }
  }

  func testEveryErrorOfOursIsOnThePage() throws {
    let page = try page()
    for error in EveryCase.nightporterErrors {
      // The first column may name several codes of one shape.
      let row = page.split(separator: "\n").first { line in
        line.hasPrefix("| `") && line.split(separator: "|")[0].contains("`\(error.code)`")
      }
      let columns = try XCTUnwrap(row, error.code).split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      // The second column names the shape, `error.commandError` for
      // {"type":"error","errorType":{"type":"commandError"}}.
      let json = ChatError.nightporter(error).json
      let kind = try XCTUnwrap(json["type"]?.stringValue)
      let inner = ["errorType", "agentError", "storeError", "databaseError"].compactMap {
        json[$0]?["type"]?.stringValue
      }
      XCTAssertEqual(columns[1], "`\(kind).\(try XCTUnwrap(inner.first))`", error.code)
    }
  }
}
