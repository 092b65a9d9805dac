import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// The README's C code does what it says, exactly as written there.
final class ReadmeTests: XCTestCase {
  func testTheExampleIsAnExtension() throws {
    let night = try Night()
    addTeardownBlock { night.end() }
    let program = try compiled(try example(), in: night.directory)
    try night.suspendAlice()
    try night.bobSends("hello")
    let output = try ChildProcess.run(program, [night.alice.store, try night.nextPush().text])
    XCTAssertEqual(output.ending, .exited(0))
    let answer = try JSONValue(parsing: try XCTUnwrap(output.lines.first))
    XCTAssertEqual(answer["outcome"], "presented", answer.text)
    XCTAssertEqual(answer.bodies, ["hello"])
    XCTAssertEqual(answer["badge"], 1)
    XCTAssertEqual(answer["quiescent"], true)
  }

  /// The first block of C in the README.
  private func example() throws -> String {
    let readme = try String(contentsOf: Places.root.appendingPathComponent("README.md"), encoding: .utf8)
    let blocks = readme.components(separatedBy: "```c\n")
    let block = try XCTUnwrap(blocks.dropFirst().first, "the README has no C")
    return try XCTUnwrap(block.components(separatedBy: "```").first)
  }

  private func compiled(_ source: String, in directory: URL) throws -> String {
    let file = directory.appendingPathComponent("extension.c")
    let program = directory.appendingPathComponent("extension").path
    try source.write(to: file, atomically: true, encoding: .utf8)
    let flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
    let compiler = try ChildProcess.run(
      "/usr/bin/cc",
      flags + [
        "-I", Places.root.appendingPathComponent("Include").path, file.path, Places.library,
        "-Wl,-rpath,\(Places.products.path)", "-o", program,
      ], within: 60)
    XCTAssertEqual(compiler.ending, .exited(0), "the README's example does not compile")
    return program
  }
}
