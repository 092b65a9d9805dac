import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// The C compiler checks each row of the harness's table against the header. It cannot detect a missing row, or a
/// function that the library does not have: `@c @implementation` checks only existing ones.
final class InterfaceTableTests: XCTestCase {
  struct Declaration: Hashable, CustomStringConvertible {
    var name: String
    var result: String
    var arguments: [String]
    var description: String { "\(result) \(name)(\(arguments.joined(separator: ", ")))" }
  }

  func testTableIsTheHeader() throws {
    let declared = try Set(declarations())
    let table = try Set(rows())
    XCTAssertGreaterThan(declared.count, 30, "the header was not read")
    XCTAssertEqual(declared.subtracting(table), [], "the table lacks these")
    XCTAssertEqual(table.subtracting(declared), [], "the header lacks these")
  }

  func testLibraryExportsEachFunctionOfTheHeader() throws {
    let nm = try ChildProcess.run("/usr/bin/env", ["nm", "-D", "--defined-only", Places.library])
    XCTAssertEqual(nm.ending, .exited(0))
    let exported = Set(nm.lines.compactMap { $0.split(separator: " ").last.map(String.init) })
    let names = try Set(declarations().map(\.name))
    XCTAssertEqual(names.subtracting(exported), [], "the library does not have these")
  }

  /// A declaration that the reader below overlooked would go untested: each name before a bracket outside comments is
  /// one of its declarations, except those of pointer types.
  func testNoDeclarationIsOverlooked() throws {
    let names = try Set(declarations().map(\.name))
    let text = try headerWithoutComments()
    let pattern = try NSRegularExpression(pattern: #"\b((?:chat|np)_\w+)\("#)
    let matches = pattern.matches(in: text, range: NSRange(text.startIndex..., in: text))
    let mentioned = Set(matches.compactMap { Range($0.range(at: 1), in: text).map { String(text[$0]) } })
    XCTAssertEqual(mentioned, names)
  }

  private func rows() throws -> [Declaration] {
    let output = try ChildProcess.run(Places.harness, ["interface"])
    XCTAssertEqual(output.ending, .exited(0))
    return try output.lines.map { line in
      let row = try JSONValue(parsing: line)
      return Declaration(
        name: try XCTUnwrap(row["name"]?.stringValue), result: try XCTUnwrap(row["result"]?.stringValue),
        arguments: try XCTUnwrap(row["arguments"]?.arrayValue).map { try XCTUnwrap($0.stringValue) })
    }
  }

  private func headerWithoutComments() throws -> String {
    let header = Places.root.appendingPathComponent("Include/nightporter.h")
    let text = try String(contentsOf: header, encoding: .utf8)
    let code = text.replacingOccurrences(of: #"(?s)/\*.*?\*/"#, with: " ", options: .regularExpression)
    return code.replacingOccurrences(of: #"(?m)^\s*#.*$"#, with: "", options: .regularExpression)
  }

  /// Reads `result name(arguments);`. Skips statements that begin with `typedef`, and members of structures.
  private func declarations() throws -> [Declaration] {
    let pattern = try NSRegularExpression(pattern: #"^([\w ]+?[ *]+)((?:chat|np)_\w+)\(([^()]*)\)$"#)
    return try headerWithoutComments().split(separator: ";").compactMap { statement in
      let line = statement.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        .replacingOccurrences(of: "extern \"C\" { ", with: "")
      guard !line.hasPrefix("typedef"),
        let match = pattern.firstMatch(in: line, range: NSRange(line.startIndex..., in: line))
      else { return nil }
      let part = { (index: Int) in Range(match.range(at: index), in: line).map { String(line[$0]) } ?? "" }
      let arguments = part(3) == "void" ? [] : part(3).split(separator: ",").map { type(of: String($0)) }
      return Declaration(name: part(2), result: part(1).trimmingCharacters(in: .whitespaces), arguments: arguments)
    }
  }

  /// `const char *path` is of the type `const char *`.
  private func type(of argument: String) -> String {
    var type = argument.trimmingCharacters(in: .whitespaces)
    while let last = type.last, last.isLetter || last.isNumber || last == "_" { type.removeLast() }
    return type.trimmingCharacters(in: .whitespaces)
  }
}
