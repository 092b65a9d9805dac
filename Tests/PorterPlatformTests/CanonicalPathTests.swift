import Foundation
import PorterPlatform
import XCTest

final class CanonicalPathTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    folder = try CanonicalPath.resolve(url.path)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func link(_ name: String, to target: String) { XCTAssertEqual(symlink(target, "\(folder)/\(name)"), 0) }
  private func make(_ name: String) {
    XCTAssertTrue(FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil))
  }
  private func makeDirectory(_ name: String) throws {
    try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
  }

  private func assert(_ name: String, is real: String, line: UInt = #line) throws {
    XCTAssertEqual(try CanonicalPath.resolve("\(folder)/\(name)"), "\(folder)/\(real)", line: line)
  }

  private func assertRefused(_ path: String, _ reason: Int32, line: UInt = #line) {
    XCTAssertThrowsError(try CanonicalPath.resolve(path), line: line) { error in
      XCTAssertEqual((error as? CanonicalPath.Failure)?.systemError, reason, line: line)
    }
  }

  func testLinksToFilesAndDirectories() throws {
    try makeDirectory("room/inner")
    make("room/file")
    link("a", to: "room/file")
    link("b", to: "\(folder)/a")
    link("hall", to: "room")
    link("room/up", to: "..")
    try assert("room/file", is: "room/file")
    try assert("a", is: "room/file")
    try assert("b", is: "room/file")
    try assert("hall/file", is: "room/file")
    try assert("hall/up/hall/./inner/../file", is: "room/file")
    try assert("room", is: "room")
  }

  func testPathsThatDoNotExistYet() throws {
    try makeDirectory("room")
    link("hall", to: "room")
    link("a", to: "hall/new")
    link("b", to: "a")
    try assert("new", is: "new")
    try assert("hall/new", is: "room/new")
    try assert("b", is: "room/new")
    // Nothing can be opened there.
    try assert("nowhere/new", is: "nowhere/new")
    link("lost", to: "nowhere/new")
    try assert("lost", is: "nowhere/new")
    make("file")
    try assert("file/new", is: "file/new")
    XCTAssertEqual(try CanonicalPath.resolve("/no-such-file"), "/no-such-file")
  }

  func testLinkLoops() throws {
    link("self", to: "self")
    link("one", to: "two")
    link("two", to: "one")
    link("room", to: "room")
    for name in ["self", "one", "two", "room/file"] { assertRefused("\(folder)/\(name)", ELOOP) }
  }

  /// Follows 40 links and no more, like the system, whether or not a file is at their end.
  func testChainsAreFollowedAsFarAsTheSystemDoes() throws {
    for end in ["there", "missing"] {
      if end == "there" { make(end) }
      link("\(end)-1", to: end)
      for number in 2...100 { link("\(end)-\(number)", to: "\(end)-\(number - 1)") }
      try assert("\(end)-39", is: end)
      assertRefused("\(folder)/\(end)-41", ELOOP)
      assertRefused("\(folder)/\(end)-100", ELOOP)
    }
  }

  func testRelativePaths() throws {
    let before = FileManager.default.currentDirectoryPath
    XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(folder))
    defer { XCTAssertTrue(FileManager.default.changeCurrentDirectoryPath(before)) }
    for name in ["new", "file:new?mode=ro", ":memory:", "-", "ö 日"] {
      XCTAssertEqual(try CanonicalPath.resolve(name), "\(folder)/\(name)")
      XCTAssertEqual(CanonicalPath.absolute(name), "\(folder)/\(name)")
    }
    link("a", to: "b")
    XCTAssertEqual(CanonicalPath.absolute("a"), "\(folder)/a")
    XCTAssertEqual(CanonicalPath.absolute("/a/../b"), "/a/../b")
  }

  func testInvalidPaths() {
    assertRefused("/a\0b", EINVAL)
    assertRefused("/" + String(repeating: "a", count: 5_000), ENAMETOOLONG)
    let name: [UInt8] = Array("\(folder)/link".utf8) + [0]
    let target: [CChar] = [0x62, CChar(bitPattern: 0xff), 0]
    XCTAssertEqual(name.withUnsafeBytes { symlink(target, $0.bindMemory(to: CChar.self).baseAddress!) }, 0)
    assertRefused("\(folder)/link", EILSEQ)
  }
}
