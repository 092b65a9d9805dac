import CSQLite
import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// INC-03 and INC-23: app and extension share one store, and which of them may change its tables.
final class SharedStoreTests: XCTestCase {
  private func makeNight() throws -> Night {
    let night = try Night()
    addTeardownBlock { night.end() }
    return night
  }

  /// What either one writes, the other reads from the one file.
  func testINC03AppAndExtensionBothReadAndWriteTheOneStore() throws {
    let night = try makeNight()
    try night.suspendAlice()
    try night.bobSends("one")
    // The extension writes: the relay no longer has the message, and the app finds it in the store.
    let push = try night.nextPush()
    let shown = try night.present(push)
    XCTAssertEqual(shown.bodies, ["one"], shown.text)
    XCTAssertEqual(shown["badge"], 1)
    try night.wakeAlice()
    XCTAssertEqual(try night.aliceHas(), ["one"])
    XCTAssertEqual(try night.alice.state["unread"], 1)
    // The app writes: it reads the chat and mutes it; the extension counts and shows accordingly.
    try night.alice.command("/_read chat @\(night.aliceContact)", "cmdOk")
    try night.alice.command(
      "/_settings @\(night.aliceContact) {\"enableNtfs\":\"none\",\"sendRcpts\":true,\"favorite\":false}", "cmdOk")
    try night.suspendAlice()
    try night.bobSends("two")
    // A muted chat has no push of its own; an older push leads to its mailbox until that is released.
    let silent = try night.present(push)
    XCTAssertEqual(silent.bodies, [], silent.text)
    XCTAssertEqual(silent["badge"], 0)
    try night.wakeAlice()
    try night.expectAliceHas(["one", "two"])
  }

  // MARK: INC-23

  private func execute(_ sql: String, _ night: Night) throws {
    var handle: OpaquePointer?
    defer { sqlite3_close(handle) }
    guard sqlite3_open_v2(night.alice.store + "_chat.db", &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
      sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
    else { throw ProcessFailure("\(sql): \(String(cString: sqlite3_errmsg(handle)))") }
  }

  private func tables(_ night: Night) throws -> [String] {
    try column("SELECT name || coalesce(sql, '') FROM sqlite_schema ORDER BY name", night)
  }

  private func version(_ night: Night) throws -> Int {
    try XCTUnwrap(try column("PRAGMA user_version", night).first.flatMap { Int($0) })
  }

  private func column(_ sql: String, _ night: Night) throws -> [String] {
    var (handle, statement): (OpaquePointer?, OpaquePointer?)
    defer {
      sqlite3_finalize(statement)
      sqlite3_close(handle)
    }
    guard
      sqlite3_open_v2(night.alice.store + "_chat.db", &handle, SQLITE_OPEN_READONLY, nil) == SQLITE_OK,
      sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK
    else { throw ProcessFailure("\(sql): \(String(cString: sqlite3_errmsg(handle)))") }
    var values: [String] = []
    while sqlite3_step(statement) == SQLITE_ROW { values.append(String(cString: sqlite3_column_text(statement, 0))) }
    return values
  }

  /// The store as the previous version left it. The extension ends immediately and leaves it alone; the app updates it,
  /// and then the extension shows what arrived.
  func testINC23AnExtensionLeavesAnOlderStoreToTheApp() throws {
    let night = try makeNight()
    try night.suspendAlice()
    night.alice.process.kill()
    let now = try tables(night)
    // Undo the last migration.
    try execute(
      """
      DROP INDEX items_unfinished;
      PRAGMA user_version = \(try version(night) - 1);
      """, night)
    let older = try tables(night)
    XCTAssertNotEqual(older, now)
    try night.bobSends("hello")
    let push = try night.nextPush()
    let (answer, ending) = try night.runExtension(push)
    XCTAssertEqual(ending, .exited(1))
    XCTAssertEqual(answer?["migration"]?["type"], "errorMigration", answer?.text ?? "none")
    XCTAssertEqual(try tables(night), older, "nothing was changed")

    let app = try ScriptedHost(store: night.alice.store)
    XCTAssertEqual(try tables(night), now)
    try app.command("/_app suspend 0", "cmdOk")
    app.process.kill()
    XCTAssertEqual(try night.present(push).bodies, ["hello"])
  }

  func testINC23ANewerStoreIsLeftAlone() throws {
    let night = try makeNight()
    try night.suspendAlice()
    night.alice.process.kill()
    let known = try version(night)
    try execute("PRAGMA user_version = 99; CREATE TABLE of_the_future (a);", night)
    let newer = try tables(night)
    try night.bobSends("hello")
    let push = try night.nextPush()
    let (answer, ending) = try night.runExtension(push)
    XCTAssertEqual(ending, .exited(1))
    XCTAssertEqual(answer?["migration"]?["type"], "errorMigration", answer?.text ?? "none")
    XCTAssertThrowsError(try ScriptedHost(store: night.alice.store), "nor does an app take it back")
    XCTAssertEqual(try tables(night), newer)
    // With the version that knows it, everything works again.
    try execute("PRAGMA user_version = \(known); DROP TABLE of_the_future;", night)
    XCTAssertEqual(try night.present(push).bodies, ["hello"])
  }
}
