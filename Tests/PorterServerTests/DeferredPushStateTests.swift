import PorterPlatform
import PorterPush
import PorterStore
import XCTest

@testable import PorterServer

/// The same tests with a state file.
final class DeferredPushStateTests: XCTestCase {
  func testManyThatAreDueTogetherAreReleasedInSlices() throws {
    let world = try World()
    let database = world.state.database
    for number in 1...300 {
      try database.run(
        """
        INSERT INTO token (number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code,
          state, used_at) VALUES (?1, randomblob(24), 'apns_test', randomblob(8), 0, x'00', x'00', x'00', x'00', x'00', 'active', ?2)
        """, [.integer(Int64(1_000 + number)), .integer(world.clock.wall().milliseconds)])
      try database.run(
        "INSERT INTO push (token, kind, provider, due_at) VALUES (?1, 'wake', 'apns_test', ?2)",
        [.integer(Int64(1_000 + number)), .integer(world.clock.wall().milliseconds)])
    }
    var waiting: [Int64] = []
    repeat {
      try world.server.serve()
      waiting.append(try database.integer("SELECT count(*) FROM push WHERE due_at > 0") ?? -1)
    } while world.server.hasMoreToDo
    XCTAssertEqual(waiting, [172, 44, 0])
  }

  /// Pushes in a state of an earlier version are due.
  func testPushesOfAnEarlierVersionAreDue() throws {
    let world = try World()
    let path = world.directory.appendingPathComponent("earlier.db").path
    let database = try Database(path: path)
    for migration in ServerState.migrations.prefix(3) { try database.execute(migration) }
    try database.execute("PRAGMA application_id = \(0x4E50_7376)")
    try database.setUserVersion(3)
    try database.execute("PRAGMA foreign_keys = OFF")
    try database.run("INSERT INTO push (token, kind, provider) VALUES (7, 'wake', 'apns_test')")
    try database.close()
    let state = try ServerState(path: path, access: .serve)
    XCTAssertEqual(try state.duePushes(provider: "apns_test", limit: 9).map(\.token), [7])
    XCTAssertNil(try state.nextDeferredPush())
    try state.close()
  }
}
