import Foundation
import PorterProcesses
import XCTest

/// The documents match the repository: links resolve, paths exist, rules cited in comments exist, and the rooms import
/// what the table says.
final class DocumentTests: XCTestCase {
  func testEveryLinkLeadsToAFileAndAHeading() throws {
    let tree = try MarkdownTree(root: Places.root)
    XCTAssertGreaterThan(tree.documents.flatMap(\.links).count, 60)
    XCTAssertEqual(tree.brokenLinks(), [])
  }

  func testEveryPathInADocumentExists() throws {
    let tree = try MarkdownTree(root: Places.root)
    let folders = ["Sources", "Tests", "spec", "Include", "bindings", "Benchmarks", "Servers", "scripts"]
    XCTAssertEqual(tree.missingPaths(under: folders), [])
  }

  func testBrokenLinksAndPathsAreFound() throws {
    let root = try Places.makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(at: root) }
    try FileManager.default.createDirectory(
      at: root.appendingPathComponent("spec"), withIntermediateDirectories: false)
    try write(
      """
      # One `word` and *more*
      ## One word and more
      [good](spec/two.md) [good](spec/two.md#b-c) [good](#one-word-and-more-1) [good](https://example.org/x#y)
      [no file](spec/three.md) [no heading](spec/two.md#d) [no heading](#one)
      [outside](../elsewhere.md) [not Markdown](Makefile#help)
      `[code](nowhere.md)` `spec/two.md` `spec/<name>.md` `spec/four.md`
      ```
      [code](nowhere.md)
      ```
      [defined]: spec/five.md
      """, to: root.appendingPathComponent("one.md"))
    try write("# B, c!\n", to: root.appendingPathComponent("spec/two.md"))
    try write("help:\n", to: root.appendingPathComponent("Makefile"))
    let tree = try MarkdownTree(root: root)
    XCTAssertEqual(
      tree.brokenLinks(),
      [
        "one.md: spec/three.md: there is no such file",
        "one.md: spec/two.md#d: there is no such heading",
        "one.md: #one: there is no such heading",
        "one.md: ../elsewhere.md: leads out of the repository",
        "one.md: Makefile#help: has an anchor, and leads to no Markdown document",
        "one.md: spec/five.md: there is no such file",
      ])
    XCTAssertEqual(tree.missingPaths(under: ["spec"]), ["one.md: spec/four.md: there is no such file"])
  }

  /// Comments say "rule 4" and mean the one in ARCHITECTURE.md.
  func testEveryRuleThatACommentCitesIsThere() throws {
    let rules = try section("The rules").compactMap { $0.firstMatch(of: #/^(\d+)\. \*\*/#).map { String($0.output.1) } }
    XCTAssertEqual(rules, ["1", "2", "3", "4", "5", "6", "7", "8"])
    var cited: Set<String> = []
    for folder in ["Sources", "Include"] {
      let files = try TextFiles.below(
        Places.root.appendingPathComponent(folder), extensions: ["swift", "c", "h"])
      for file in files {
        let text = try String(contentsOf: file, encoding: .utf8)
        cited.formUnion(text.matches(of: #/\b[Rr]ule (\d+)\b/#).map { String($0.output.1) })
      }
    }
    XCTAssertFalse(cited.isEmpty)
    XCTAssertEqual(cited.subtracting(rules), [])
  }

  func testTheRoomsImportWhatTheTableSays() throws {
    try assertRooms(of: ".", areThoseOf: "ARCHITECTURE.md")
  }

  func testTheServersRoomsImportWhatTheirTableSays() throws {
    try assertRooms(of: "Servers", areThoseOf: "Servers/README.md")
  }

  /// The table of rooms matches the package's manifest, and no room imports one above it. Products of other packages
  /// are not in the table.
  private func assertRooms(of package: String, areThoseOf document: String) throws {
    let rows = try section("The rooms", of: document).compactMap { line -> (room: String, imports: Set<String>)? in
      guard let row = line.firstMatch(of: #/^\| `([\w-]+)` \| ([^|]*) \|/#) else { return nil }
      return (String(row.output.1), Self.names(in: row.output.2, between: "`"))
    }
    let root = Places.root.appendingPathComponent(package)
    let manifest = try String(contentsOf: root.appendingPathComponent("Package.swift"), encoding: .utf8)
    let targets = manifest.matches(
      of: #/\.(?:target|executableTarget|systemLibrary)\(\s*name: "([^"]+)"(?:,\s*dependencies: \[([^\]]*)\])?/#)
    let folders = try FileManager.default.contentsOfDirectory(
      atPath: root.appendingPathComponent("Sources").path
    ).filter { !$0.hasPrefix(".") }
    var declared: [String: Set<String>] = [:]
    for target in targets where folders.contains(String(target.output.1)) {
      let own = target.output.2?.replacing(#/\.product\([^)]*\)/#, with: "") ?? ""
      declared[String(target.output.1)] = Self.names(in: own[...], between: "\"")
    }
    XCTAssertEqual(Set(declared.keys), Set(folders))
    XCTAssertEqual(Dictionary(rows.map { ($0.room, $0.imports) }, uniquingKeysWith: { $1 }), declared)
    for (index, row) in rows.enumerated() {
      let above = rows[...index].map(\.room)
      XCTAssertEqual(row.imports.intersection(above), [], "\(row.room) imports a room that is not below it")
    }
  }

  // MARK: Reading

  private static func names(in text: Substring, between mark: String) -> Set<String> {
    Set(text.components(separatedBy: mark).enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
  }

  private func section(_ heading: String, of name: String = "ARCHITECTURE.md") throws -> [String] {
    let document = try MarkdownDocument(file: Places.root.appendingPathComponent(name))
    let after = document.prose.drop { $0 != "## \(heading)" }.dropFirst()
    return Array(after.prefix { !$0.hasPrefix("## ") })
  }

  private func write(_ text: String, to file: URL) throws {
    try text.write(to: file, atomically: true, encoding: .utf8)
  }
}
