import Foundation
import PorterJSON
import PorterPlatform
import PorterPush
import PorterStore
import PropertyTesting
import XCTest

@testable import PorterServer

/// One message that many tokens watch, and a server that is killed while pushing: a push may be sent twice, and none is
/// lost.
final class KillTests: XCTestCase {
  private static let tokens = 300

  func testAServerKilledAtAnyPointLosesNoPush() throws {
    print("PORTER_SEED=\(PropertySeed.current)")
    var random = SplitMix64(state: PropertySeed.current)
    for round in 0..<4 {
      // Before it has pushed anything, and after some pushes.
      let kills = (0..<4).map { _ in Int(random.next() % UInt64(Self.tokens / 4)) } + [0]
      let place = "round \(round), killed after \(kills), PORTER_SEED=\(PropertySeed.current)"
      try push(killingAfter: kills, spread: { useconds_t(random.next() % 8_000) }, place)
    }
  }

  private func push(killingAfter kills: [Int], spread: () -> useconds_t, _ place: String) throws {
    let world = try World()
    // The program has the system's clock.
    let wall = SystemClock().wall().milliseconds
    world.clock.stepWall(by: .milliseconds(wall - world.clock.wall().milliseconds))
    let device = try Device(world)
    try device.activate()
    let mailbox = try device.subscribedMailboxes(1)[0]
    try copyToken(of: device, in: world.state.database)
    try world.state.close()
    world.port.close()
    try device.receive("hello", in: mailbox)

    let socket = try DeviceSocket(path: world.directory.appendingPathComponent("device.sock").path)
    defer { socket.shut() }
    var pushed: Set<String> = []
    for kill in kills {
      let server = try start(in: world)
      for _ in 0..<kill where pushed.count < Self.tokens { pushed.insert(try token(of: socket.next(), place)) }
      // So that it is not always killed right after a push.
      usleep(spread())
      server.kill()
      // Every push recorded as sent was sent.
      for token in try recorded(world, place) where !pushed.contains(token) {
        while !pushed.contains(token) { pushed.insert(try self.token(of: socket.next(), place)) }
      }
    }
    let server = try start(in: world)
    while pushed.count < Self.tokens { pushed.insert(try token(of: socket.next(), place)) }
    server.process.terminate()
    XCTAssertEqual(server.end(), 0, place)
  }

  private func start(in world: World) throws -> ServerProcess {
    let server = try ServerProcess(
      [
        "--relay", world.relayPath, "--state", world.statePath, "--local-socket",
        world.directory.appendingPathComponent("device.sock").path,
      ], in: world.directory)
    XCTAssertTrue(server.firstLine().hasPrefix("ntf:"))
    return server
  }

  private func token(of push: JSONValue?, _ place: String) throws -> String {
    try XCTUnwrap(XCTUnwrap(push, "a push is lost: \(place)")["token"]?.stringValue, place)
  }

  /// Tokens whose pushes are recorded as accepted. A message is stored for all of its tokens, or for none.
  private func recorded(_ world: World, _ place: String) throws -> [String] {
    let state = try ServerState(path: world.statePath, access: .serve)
    defer { XCTAssertNoThrow(try state.close()) }
    let stored = try state.database.integer("SELECT count(*) FROM notification") ?? -1
    XCTAssertTrue(stored == 0 || stored == Int64(Self.tokens), "\(stored) stored: \(place)")
    guard stored > 0 else { return [] }
    return try state.database.rows(
      "SELECT push_token FROM token WHERE number NOT IN (SELECT token FROM push) AND state = 'active'"
    ) { TextEncoding.hex($0.blob(0)) }
  }

  /// Copies the subscription as well: all of the tokens watch one mailbox.
  private func copyToken(of device: Device, in database: Database) throws {
    try database.run(
      """
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
      INSERT INTO token (id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state,
        used_at)
      SELECT randomblob(24), provider, randomblob(32), 0, randomblob(32), client_box_key, box_key, push_key, code, state,
        used_at FROM token, n WHERE id = ?1
      """, [.blob(device.token), .integer(Int64(Self.tokens - 1))])
    try database.run(
      """
      INSERT INTO subscription (token, notifier, key, status)
      SELECT token.number, notifier, key, status FROM subscription, token WHERE token.number <> subscription.token
      """)
  }
}
