import Foundation
import XCTest

/// Compares a text with a human-reviewed file. `PORTER_WRITE_GOLDEN=1` writes the file instead, for review as a diff.
func assertGolden(_ text: String, _ name: String, file: StaticString = #filePath, line: UInt = #line) throws {
  let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("golden/\(name)")
  if ProcessInfo.processInfo.environment["PORTER_WRITE_GOLDEN"] == "1" {
    try Data(text.utf8).write(to: url)
    return XCTFail(
      "\(name) was written; read it, then run the tests without PORTER_WRITE_GOLDEN", file: file, line: line)
  }
  let expected = try String(contentsOf: url, encoding: .utf8)
  let (lines, wanted) = (text.split(separator: "\n"), expected.split(separator: "\n"))
  for (number, (line, expected)) in zip(lines, wanted).enumerated() where line != expected {
    return XCTFail("\(name), text line \(number + 1): \(line)\n  expected: \(expected)")
  }
  XCTAssertEqual(text, expected, name, file: file, line: line)
}
