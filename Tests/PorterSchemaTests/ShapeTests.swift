import PorterJSON
import PorterPlatform
import PorterSchema
import PropertyTesting
import PythonPeer
import XCTest

/// Our output fits the types declared by the public package `simplex-chat`.
final class ShapeTests: XCTestCase {
  func testEveryResponseFitsThePublicTypes() throws {
    try assertFit("R.ChatResponse", Parts.any.map { Samples.publicResponses($0).map(\.json) })
  }

  func testEveryEventFitsThePublicTypes() throws {
    try assertFit("E.ChatEvent", Parts.any.map { Samples.publicEvents($0).map(\.json) })
  }

  func testEveryErrorFitsThePublicTypes() throws { try assertFit("T.ChatError", errors.map { $0.map(\.json) }) }

  func testNotifiedEntitiesFitThePublicTypes() throws {
    try assertFit(
      "T.ConnectionEntity", Parts.any.map { [ConnectionEntity(connection: $0.connection, contact: $0.contact).json] })
  }

  /// The check itself finds a missing member, a wrong type, an unknown member and an unknown tag.
  func testTheCheckFindsFaults() throws {
    let faults: [(JSONValue, String)] = [
      (["type": "activeUser"], "user is missing"),
      (["type": "cmdOk", "user_": "alice"], "expected an object"),
      (["type": "chatStarted", "extra": 1], "extra is not known"),
      (["type": "chatStartled"], "no alternative is tagged"),
      (["type": "usersList", "users": [["user": 1, "unreadCount": true]]], "expected an int, found True"),
    ]
    for (value, expected) in faults {
      let output = try runPeer("shapes.py", input: JSONValue(["R.ChatResponse", value]).text + "\n")
      XCTAssertTrue(output.contains(expected), "\(value.text): \(output)")
    }
  }

  /// `errorDatabase` is in the interface but not among the package's types, so its JSON is written out here.
  func testDatabaseErrors() {
    let expected: [(DatabaseError, String)] = [
      (.encrypted, #"{"type":"errorEncrypted"}"#),
      (.plaintext, #"{"type":"errorPlaintext"}"#),
      (.noFile("a.db"), #"{"type":"errorNoFile","dbFile":"a.db"}"#),
      (.export(.notADatabase), #"{"type":"errorExport","sqliteError":{"type":"errorNotADatabase"}}"#),
      (.open(.other("x")), #"{"type":"errorOpen","sqliteError":{"type":"error","dbError":"x"}}"#),
    ]
    for (error, text) in expected {
      XCTAssertEqual(ChatError.database(error).json.text, #"{"type":"errorDatabase","databaseError":\#(text)}"#)
    }
  }

  private var errors: Generator<[ChatError]> {
    Parts.any.map { EveryCase.chatErrors($0.number, $0.words, $0.contact, $0.connection) }
  }

  private func assertFit(
    _ type: String, _ generator: Generator<[JSONValue]>, file: StaticString = #filePath, line: UInt = #line
  ) throws {
    // One process for all: each starts in 0.3 s.
    var lines: [String] = []
    forAll(generator, runs: 40, file: file, line: line) { values in
      lines += values.map { JSONValue([.string(type), $0]).text }
    }
    let output = try runPeer("shapes.py", input: lines.joined(separator: "\n") + "\n", file: file, line: line)
    XCTAssertEqual(
      output, "checked \(lines.count)\n", "again with the PORTER_SEED above", file: file, line: line)
  }
}
