import PorterJSON
import PorterProcesses
import XCTest

/// An extension can be killed anywhere. Whoever comes next finds a whole store: the message is there once, and shown.
final class KilledExtensionTests: XCTestCase {
  /// INC-33 and INC-49 end in a kill like this; INC-10 is what must not follow from it.
  private func extensionDies(at stage: String, file: StaticString = #filePath, line: UInt = #line) throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("first")
    let push = try night.nextPush()

    let (answer, ending) = try night.runExtension(push, environment: ["PORTER_HALT_AT": stage])
    XCTAssertNil(answer, file: file, line: line)
    XCTAssertEqual(ending, .killed(SIGKILL), file: file, line: line)

    let content = try night.present(push)
    XCTAssertEqual(content["outcome"], "presented", content.text, file: file, line: line)
    XCTAssertEqual(content.bodies, ["first"], file: file, line: line)
    XCTAssertEqual(content["badge"], 1, file: file, line: line)

    // The conversation goes on: nothing of the ratchet was lost or used twice.
    try night.bobSends("second")
    let next = try night.present(try night.nextPush())
    XCTAssertEqual(next.bodies, ["second"], next.text, file: file, line: line)
    try night.wakeAlice()
    try night.expectAliceHas(["first", "second"], file: file, line: line)
    XCTAssertEqual(try night.alice.state["unread"], 2, file: file, line: line)
  }

  private func applicationComesNext(after stage: String, file: StaticString = #filePath, line: UInt = #line) throws {
    let night = try Night()
    defer { night.end() }
    try night.suspendAlice()
    try night.bobSends("first")
    let dead = try night.runExtension(try night.nextPush(), environment: ["PORTER_HALT_AT": stage])
    XCTAssertEqual(dead.ending, .killed(SIGKILL), file: file, line: line)
    try night.wakeAlice()
    try night.expectAliceHas(["first"], file: file, line: line)
    XCTAssertEqual(try night.alice.state["unread"], 1, file: file, line: line)
  }

  func testKilledBeforeItFetches() throws { try extensionDies(at: "beforeFetch") }
  func testKilledAfterItFetched() throws { try extensionDies(at: "afterFetch") }
  func testKilledAfterItCommitted() throws { try extensionDies(at: "afterCommit") }
  func testKilledBeforeItAcknowledges() throws { try extensionDies(at: "beforeAcknowledge") }

  func testKilledBeforeItFetchesThenTheApplication() throws { try applicationComesNext(after: "beforeFetch") }
  func testKilledAfterItFetchedThenTheApplication() throws { try applicationComesNext(after: "afterFetch") }
  func testKilledAfterItCommittedThenTheApplication() throws { try applicationComesNext(after: "afterCommit") }
  func testKilledBeforeItAcknowledgesThenTheApplication() throws {
    try applicationComesNext(after: "beforeAcknowledge")
  }
}
