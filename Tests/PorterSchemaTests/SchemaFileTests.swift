import PorterJSON
import PorterSchema
import PropertyTesting
import PythonPeer
import XCTest

/// Our output is what spec/protocol promises, and spec/protocol promises nothing that we never write.
final class SchemaFileTests: XCTestCase {
  func testEverythingFitsTheSchemasAndTheSchemasHoldNothingElse() throws {
    var lines: [String] = []
    forAll(Parts.any, runs: 24) { parts in
      func add(_ schema: String, _ values: [JSONValue]) {
        lines += values.map { JSONValue([.string(schema), $0]).text }
      }
      let errors =
        EveryCase.chatErrors(parts.number, parts.words, parts.contact, parts.connection)
        + EveryCase.databaseErrors(parts.words).map(ChatError.database)
        + EveryCase.nightporterErrors.filter(EveryCase.isOfDatabase).map(ChatError.nightporter)
      let chats: [Response] = Samples.everyChat(parts).map { .apiChat(parts.user, $0, nil) }
      add("response", (Samples.publicResponses(parts) + Samples.otherResponses(parts) + chats).map(\.json))
      add("event", (Samples.publicEvents(parts) + Samples.otherEvents(parts)).map(\.json))
      add("error", errors.map(\.json))
      let results = EveryCase.migrationResults(parts.words)
      add("migration-result", results.map(\.json))
      let failures = results.filter { ![.ok, .invalidConfirmation].contains($0) }
      add("migration-result", failures.map { $0.json(notice: ["identifier": "np:notice"]) })
    }
    let output = try runPeer("schemas.py", input: lines.joined(separator: "\n") + "\n")
    XCTAssertEqual(output, "checked \(lines.count)\n")
  }

  /// The check itself finds values that do not fit, undeclared members, and alternatives that no value uses.
  func testTheCheckFindsFaults() throws {
    let faults: [(JSONValue, String)] = [
      (["type": "activeUser"], "must be valid exactly by one definition"),
      (["type": "chatStarted", "extra": 1], "must be valid exactly by one definition"),
      (["type": "chatStarted"], "never seen: response.schema.json: chatStopped"),
    ]
    for (value, expected) in faults {
      let output = try runPeer("schemas.py", input: JSONValue(["response", value]).text + "\n")
      XCTAssertTrue(output.contains(expected), "\(value.text): \(output)")
    }
  }
}
