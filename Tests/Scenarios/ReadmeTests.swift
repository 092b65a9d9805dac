import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// The README's C code works and its Swift code compiles exactly as written there, and `make help` lists every target.
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

  func testTheExampleOfARelayOnTheNetworkCompiles() throws {
    let source = FileManager.default.temporaryDirectory.appendingPathComponent("readme-\(UUID().uuidString).c")
    addTeardownBlock { try FileManager.default.removeItem(at: source) }
    try ("#include <nightporter.h>\n" + example(1) + "\nint main(void) { return use_relay(NULL, \"\"); }\n")
      .write(to: source, atomically: true, encoding: .utf8)
    let compiler = try ChildProcess.run(
      "/usr/bin/cc", flags + ["-fsyntax-only", "-I", Places.root.appendingPathComponent("Include").path, source.path],
      within: 60)
    XCTAssertEqual(compiler.ending, .exited(0), "the README's example does not compile")
  }

  func testTheExampleOfAnExtensionInSwiftCompiles() throws {
    let folder = try Places.makeTemporaryDirectory()
    addTeardownBlock { try FileManager.default.removeItem(at: folder) }
    let source = folder.appendingPathComponent("extension.swift")
    try example(in: "swift").write(to: source, atomically: true, encoding: .utf8)
    let flags = ["swiftc", "-swift-version", "6", "-parse-as-library", "-warnings-as-errors"]
    #if !canImport(UserNotifications)
      let standIn = try ChildProcess.run(
        "/usr/bin/env",
        flags + [
          "-emit-module", "-module-name", "UserNotifications",
          "-emit-module-path", folder.appendingPathComponent("UserNotifications.swiftmodule").path,
          Places.root.appendingPathComponent("Tests/Support/UserNotifications.swift").path,
        ], within: 120)
      XCTAssertEqual(standIn.ending, .exited(0), "the stand-in for UserNotifications does not compile")
    #endif
    let compiler = try ChildProcess.run(
      "/usr/bin/env",
      flags + [
        "-typecheck", "-I", folder.path, "-I", Places.root.appendingPathComponent("Include").path, source.path,
      ], within: 120)
    XCTAssertEqual(compiler.ending, .exited(0), "the README's example does not compile")
  }

  /// `make help` lists every target that has a description, from all makefiles, with its whole name.
  func testEachDescribedTargetIsListedByMakeHelp() throws {
    var targets: Set<String> = []
    for file in ["Makefile", "bindings/simplex-compat/compat.mk", "Benchmarks/bench.mk"] {
      let text = try String(contentsOf: Places.root.appendingPathComponent(file), encoding: .utf8)
      for line in text.split(separator: "\n") where line.contains(" ## ") {
        if let rule = line.firstMatch(of: #/^([^\s:]+):/#) { targets.insert(String(rule.output.1)) }
      }
    }
    XCTAssertTrue(targets.isSuperset(of: ["test", "bench", "bench-relay", "compat-bots", "check-debs"]), "\(targets)")
    let help = try ChildProcess.run(
      "/usr/bin/env", ["make", "--no-print-directory", "-C", Places.root.path, "help"])
    XCTAssertEqual(help.ending, .exited(0))
    let listed = help.lines.compactMap { $0.split(separator: " ").first.map { String($0) } }
    XCTAssertEqual(listed.sorted(), targets.sorted())
  }

  /// The README's code block in this language with this number, from 0.
  private func example(_ number: Int = 0, in language: String = "c") throws -> String {
    let readme = try String(contentsOf: Places.root.appendingPathComponent("README.md"), encoding: .utf8)
    let blocks = readme.components(separatedBy: "```\(language)\n").dropFirst()
    let block = try XCTUnwrap(blocks.dropFirst(number).first, "the README has less \(language)")
    return try XCTUnwrap(block.components(separatedBy: "```").first)
  }

  private let flags = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]

  private func compiled(_ source: String, in directory: URL) throws -> String {
    let file = directory.appendingPathComponent("extension.c")
    let program = directory.appendingPathComponent("extension").path
    try source.write(to: file, atomically: true, encoding: .utf8)
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
