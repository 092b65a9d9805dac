import Foundation
import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore
import XCTest

@testable import PorterServer

final class StateTests: XCTestCase {
  private var directory = URL(fileURLWithPath: "/")
  private var path: String { directory.appendingPathComponent("server.db").path }

  override func setUpWithError() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("porter-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

  private func error(file: StaticString = #filePath, line: UInt = #line, _ body: () throws -> Void) -> ServerError? {
    do {
      try body()
      XCTFail("nothing was thrown", file: file, line: line)
      return nil
    } catch {
      return error as? ServerError
    }
  }

  func testOnlyTheOwnerCanReadTheFile() throws {
    let state = try ServerState(path: path, access: .serve)
    _ = try state.makeIdentity(randomness: randomness)
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let attributes = try FileManager.default.attributesOfItem(
        atPath: directory.appendingPathComponent(name).path)
      XCTAssertEqual((attributes[.posixPermissions] as? Int).map { $0 & 0o077 }, 0, name)
    }
    try state.close()
  }

  func testASecondServerIsKeptAwayUntilTheFirstEnds_INC16() throws {
    let first = try ServerState(path: path, access: .serve)
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .stateInUse)
    try first.close()
    try ServerState(path: path, access: .serve).close()
  }

  /// Whatever name each of them was given for the state.
  func testASecondServerIsKeptAwayFromAStateBehindALink_INC16() throws {
    let hall = directory.appendingPathComponent("hall").path
    let link = directory.appendingPathComponent("link.db").path
    XCTAssertEqual(symlink(directory.path, hall), 0)
    XCTAssertEqual(symlink("hall/server.db", link), 0)
    // The first uses the link, before the file exists.
    let first = try ServerState(path: link, access: .serve)
    for path in [path, link, hall + "/server.db"] {
      XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .stateInUse, path)
    }
    try first.close()
    try ServerState(path: path, access: .serve).close()
  }

  func testAPathWithALinkLoopIsRefused() throws {
    XCTAssertEqual(symlink("server.db", path), 0)
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .cannotOpenState(systemError: ELOOP))
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .look) }, .cannotOpenState(systemError: ELOOP))
  }

  func testAStateBesideWhichNoServerRanHasNoLink() throws {
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .look) }, .neverRan)
    XCTAssertFalse(FileManager.default.fileExists(atPath: path))
    try ServerState(path: path, access: .serve).close()
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .look).link }, .neverRan)
  }

  func testAForeignFileIsRefusedAndLeftUnchanged() throws {
    let text = Data(repeating: 0x41, count: 9_000)
    try text.write(to: URL(fileURLWithPath: path))
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .notServerState)
    XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: path)), text)
  }

  func testAnotherProgramsDatabaseIsRefused() throws {
    let other = try Database(path: path)
    try other.execute("CREATE TABLE something (value TEXT)")
    try other.close()
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .notServerState)
  }

  func testAStateOfANewerVersionIsRefused() throws {
    try ServerState(path: path, access: .serve).close()
    let database = try Database(path: path)
    try database.setUserVersion(99)
    try database.close()
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .newerState(version: 99))
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .look) }, .newerState(version: 99))
  }

  /// Between an upgrade and the server's restart, and in a backup.
  func testAnOperatorReadsAStateOfAnyEarlierVersionAndLeavesItSo() throws {
    for version in 1..<ServerState.migrations.count {
      let path = directory.appendingPathComponent("\(version).db").path
      let database = try Database(path: path)
      for migration in ServerState.migrations.prefix(version) { try database.execute(migration) }
      try database.execute("PRAGMA application_id = \(0x4E50_7376)")
      try database.setUserVersion(Int32(version))
      for access in [ServerState.Access.look, .alter] {
        let state = try ServerState(path: path, access: access)
        XCTAssertEqual(try state.problems(), ["there is no identity"])
        XCTAssertEqual(try state.summaries(id: [1], pushToken: nil).count, 0)
        XCTAssertFalse(try state.revoke(1))
        try state.close()
      }
      XCTAssertEqual(try database.userVersion, Int64(version))
      try database.close()
    }
  }

  /// A token's period and its last wake-up are migrated from a state of an earlier version.
  func testWakeUpsOfAnEarlierVersionAreKept() throws {
    let database = try Database(path: path)
    for migration in ServerState.migrations.prefix(2) { try database.execute(migration) }
    try database.execute("PRAGMA application_id = \(0x4E50_7376)")
    try database.setUserVersion(2)
    for (number, period) in [(7, 20), (8, 0), (9, 30)] {
      try database.run(
        """
        INSERT INTO token (number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code,
          state, period, woken_at, used_at)
        VALUES (?1, randomblob(24), 'apns_test', x'00', 3, x'00', x'00', x'00', x'00', x'00', 'active', ?2, 1000000, 1)
        """, [.integer(Int64(number)), .integer(Int64(period))])
    }
    try database.close()
    let state = try ServerState(path: path, access: .serve)
    XCTAssertEqual(try state.nextWake(), 1_000_000 + 20 * 60_000)
    let due = try state.dueWakes(at: WallTime(milliseconds: 1_000_000 + 30 * 60_000), limit: 10)
    XCTAssertEqual(due.map(\.number), [7, 9])
    XCTAssertEqual(due.map(\.dueAt), [2_200_000, 2_800_000])
    XCTAssertEqual(
      try state.dueWakes(at: WallTime(milliseconds: 999_999), limit: 10).count, 2, "the clock was set back")
    try state.close()
  }

  func testAMissingDirectoryIsReported() throws {
    let path = directory.appendingPathComponent("missing/server.db").path
    XCTAssertEqual(error { _ = try ServerState(path: path, access: .serve) }, .cannotOpenState(systemError: ENOENT))
  }

  func testTheRelayOfAnotherStateIsRefused() throws {
    let world = try World()
    try world.run()
    try FileManager.default.removeItem(atPath: world.relayPath)
    for suffix in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: world.relayPath + suffix) }
    XCTAssertEqual(error { try world.restart() }, .mailboxUnknown)
  }

  func testAFullDiskDelaysRequestsAndLosesNone() throws {
    let world = try World()
    let device = try Device(world)
    try device.activate()
    let database = world.state.database
    let pages = try XCTUnwrap(try database.integer("PRAGMA page_count"))
    try database.execute("PRAGMA max_page_count = \(pages)")
    var asked = 0
    while !world.lines.all.contains(where: { $0.contains("full") }) {
      asked += 1
      guard asked < 100 else { return XCTFail("the limit has no effect") }
      try device.send(.check(token: device.token))
      try world.run()
    }
    var answered = 0
    while try device.answer() != nil { answered += 1 }
    XCTAssertEqual(answered, asked - 1)
    try database.execute("PRAGMA max_page_count = 100000")
    world.clock.advance(by: .seconds(2))
    try world.run()
    XCTAssertEqual(try device.answer()?.tokenStatus, .active)
  }

  func testEveryErrorHasAReadableText() {
    let errors: [ServerError] = [
      .cannotOpenState(systemError: 2), .notServerState, .newerState(version: 2), .stateInUse, .neverRan,
      .damaged(.token), .storage(.init(kind: .full)), .relay(.offline), .mailboxUnknown, .push(.unknownKind),
      .crypto(.unavailable), .socketPathTooLong(limit: 107), .noResources,
    ]
    XCTAssertEqual(Set(errors.map(\.description)).count, errors.count)
    for error in errors { XCTAssertFalse(error.description.contains("ServerError")) }
  }

  func testPausesGrowUpToAMinute() {
    var backoff = ServerTimes.backoff
    let pauses = (0..<10).map { _ in backoff.next().milliseconds }
    XCTAssertEqual(pauses, [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  }
}
