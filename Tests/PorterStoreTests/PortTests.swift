import Foundation
import PorterPlatform
import Synchronization
import XCTest

@testable import PorterStore

/// Always the same bytes.
private struct ConstantRandomness: Randomness {
  let byte: UInt8

  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
}

/// All of the store's waits and randomness go through the ports.
final class PortTests: XCTestCase {
  private var directory = ""

  override func setUpWithError() throws {
    directory = NSTemporaryDirectory() + "porter-ports-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  override func tearDown() { try? FileManager.default.removeItem(atPath: directory) }

  /// Waits of 40 s in virtual time; with the system's clock this test would take as long.
  private func waited(_ body: (Ports) throws -> Void) rethrows -> (span: Span, pauses: Int) {
    let clock = PausedClock()
    let start = clock.now()
    try body(Ports(clock: clock, randomness: ConstantRandomness(byte: 7)))
    return (clock.now() - start, clock.pauses)
  }

  func testAStatementWaitsForALockByThePortsClock() throws {
    let path = directory + "/a.db"
    let holder = try Database(path: path)
    try holder.execute("CREATE TABLE t(x); BEGIN IMMEDIATE")
    let waited = try waited { ports in
      let other = try Database(path: path, options: .init(busyTimeout: .seconds(40), ports: ports))
      XCTAssertThrowsError(try other.execute("INSERT INTO t VALUES (1)")) { error in
        XCTAssertEqual((error as? SQLiteError)?.kind, .busy)
      }
    }
    XCTAssertGreaterThanOrEqual(waited.span, .seconds(40))
    XCTAssertGreaterThan(waited.pauses, 1_000)
  }

  /// The pauses depend only on the port's randomness.
  func testThePausesOfAWaitFollowFromThePortsRandomness() throws {
    let path = directory + "/a.db"
    let holder = try Database(path: path)
    try holder.execute("CREATE TABLE t(x); BEGIN IMMEDIATE")
    func pauses(_ byte: UInt8) throws -> Int {
      let clock = PausedClock()
      let ports = Ports(clock: clock, randomness: ConstantRandomness(byte: byte))
      let other = try Database(path: path, options: .init(busyTimeout: .seconds(40), ports: ports))
      XCTAssertThrowsError(try other.execute("INSERT INTO t VALUES (1)"))
      return clock.pauses
    }
    XCTAssertEqual(try pauses(7), try pauses(7))
    XCTAssertNotEqual(try pauses(7), try pauses(8))
  }

  func testOpeningWaitsByThePortsClock() throws {
    let file = directory + "/a_chat.db"
    let held = try OpeningLock(file: file, .exclusive, creates: true, timeout: .zero)
    let waited = try waited { ports in
      XCTAssertThrowsError(
        try Store.open(
          at: StoreLocation(prefix: directory + "/a"), confirmation: .yesUp, mayMigrate: true,
          busyTimeout: .seconds(40), ports: ports)
      ) { error in
        guard case .sqlite(let reason) = error as? StoreError else { return XCTFail("\(error)") }
        XCTAssertEqual(reason.kind, .busy)
      }
    }
    XCTAssertGreaterThanOrEqual(waited.span, .seconds(40))
    withExtendedLifetime(held) {}
  }

  func testAPhaseIsAwaitedByThePortsClock() {
    let prefix = directory + "/a"
    let first = PhaseFile(prefix: prefix, role: "app")
    XCTAssertTrue(first.hold())
    let waited = waited { ports in
      XCTAssertFalse(PhaseFile(prefix: prefix, role: "app", ports: ports).hold())
    }
    XCTAssertEqual(waited.pauses, 19)
    XCTAssertEqual(waited.span, .milliseconds(19))
  }

  func testTheChannelsKeyComesFromThePortsRandomness() throws {
    let ports = Ports(randomness: ConstantRandomness(byte: 9))
    let store = try Store.open(
      at: StoreLocation(prefix: directory + "/a"), confirmation: .yesUp, mayMigrate: true, ports: ports)
    XCTAssertEqual(
      try store.database.first("SELECT channel_key FROM store") { $0.blob(0) }, [UInt8](repeating: 9, count: 32))
    try store.close(checkpoint: true)
  }
}
