import CNightporter
import Foundation
import PorterPlatform
import PorterRelay
import PorterStore
import XCTest

/// The log alongside a store, which each opening reads in full, stays short whichever process opens and closes the
/// store.
final class LogSizeTests: XCTestCase {
  /// In bytes: the store's bound, plus what one opening may add.
  private let bound = Store.longestLog + 400_000
  private let wake = #"{"aps":{"mutable-content":1},"notificationData":{"checkMessages":true}}"#

  private func size(_ path: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
  }

  /// Pushes that each open the store, write once, and close it: no commit finds its log written back.
  private func assertStaysShort(_ count: Int, _ payload: () -> String, line: UInt = #line) throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    var longest = 0
    for _ in 0..<count {
      let answer = service.push(payload())
      XCTAssertTrue(answer["quiescent"].flag, answer.description, line: line)
      longest = max(longest, size(station.alice.prefix + "_chat.db-wal"))
    }
    XCTAssertGreaterThan(longest, Store.longestLog / 2, "or too little was written", line: line)
    XCTAssertLessThan(longest, bound, line: line)
    XCTAssertLessThan(
      size(station.pair.folder.file("relay.db-wal")), EmbeddedRelay.longestLog + 400_000, line: line)
  }

  func testPushesThatDoNotOpenLeaveAShortLog() throws {
    let random = SystemRandomness()
    try assertStaysShort(150) {
      let (nonce, message) = (TextEncoding.base64URL(random.bytes(24)), TextEncoding.base64URL(random.bytes(100)))
      return #"{"aps":{"mutable-content":1},"notificationData":{"nonce":"\#(nonce)","message":"\#(message)"}}"#
    }
  }

  func testWakePushesLeaveAShortLog() throws { try assertStaysShort(400) { wake } }

  /// A long log, as left by a version that did not truncate it, and a store that another process has open.
  func testAnAppThatClosesWithTimeLeftCutsALongLog() throws {
    for (isAlone, close) in [(true, "closed"), (false, "closed"), (false, "suspended"), (false, "freed")] {
      let folder = try TemporaryFolder()
      let file = folder.file("a_chat.db")
      let host = try XCTUnwrap(Host.open(folder.file("a")).host)
      host.begin("alice", relay: folder.file("relay.db"))
      host.send("/_app suspend 0").assert("cmdOk")
      let other = try Database(path: file, options: .init(logPages: 1_000_000))
      try other.execute("CREATE TABLE filler (bytes BLOB)")
      for _ in 0..<60 { try other.execute("INSERT INTO filler VALUES (zeroblob(50000))") }
      if isAlone { try other.close(checkpoint: false) }
      XCTAssertGreaterThan(size(file + "-wal"), bound)
      host.send("/_app activate").assert("cmdOk")
      switch close {
      case "closed": XCTAssertEqual(host.closeStore(), "")
      case "suspended":
        host.send("/_app suspend 5000000").assert("cmdOk")
        host.event("chatSuspended")
      default: host.free()
      }
      XCTAssertLessThan(size(file + "-wal"), bound, "\(close), alone: \(isAlone)")
    }
  }

  /// Suspending without a delay leaves no time for it, and neither does an expired push.
  func testWithoutTimeTheLogIsLeft() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("a_chat.db")
    let host = try XCTUnwrap(Host.open(folder.file("a")).host)
    host.begin("alice", relay: folder.file("relay.db"))
    let other = try Database(path: file, options: .init(logPages: 1_000_000))
    try other.execute("CREATE TABLE filler (bytes BLOB)")
    for _ in 0..<60 { try other.execute("INSERT INTO filler VALUES (zeroblob(50000))") }
    host.send("/_app suspend 0").assert("cmdOk")
    XCTAssertGreaterThan(size(file + "-wal"), bound)
    let service = try XCTUnwrap(Host.open(folder.file("a"), isExtension: true).host)
    // The engine's part of it is shorter than the time that cutting the log needs.
    let cut = repeating(while: \.isLate, of: service) { service.push(wake, deadline: 390) }
    XCTAssertTrue(cut["quiescent"].flag, cut.description)
    XCTAssertGreaterThan(size(file + "-wal"), bound)
    XCTAssertTrue(service.push(wake, deadline: 20_000)["quiescent"].flag)
    XCTAssertLessThan(size(file + "-wal"), bound)
  }

  /// A lock held by another process is waited for only briefly; the log is cut the next time.
  func testALogThatIsBeingReadIsCutLater() throws {
    let folder = try TemporaryFolder()
    let file = folder.file("a_chat.db")
    let app = try XCTUnwrap(Host.open(folder.file("a")).host)
    app.begin("alice", relay: folder.file("relay.db"))
    app.free()
    let reader = try Database(path: file, options: .init(logPages: 1_000_000))
    try reader.execute("CREATE TABLE filler (bytes BLOB)")
    for _ in 0..<60 { try reader.execute("INSERT INTO filler VALUES (zeroblob(50000))") }
    let service = try XCTUnwrap(Host.open(folder.file("a"), isExtension: true).host)
    try reader.transaction(.deferred) { () throws(SQLiteError) in
      _ = try reader.integer("SELECT count(*) FROM filler")
      XCTAssertTrue(service.push(wake)["quiescent"].flag)
      XCTAssertGreaterThan(size(file + "-wal"), bound)
    }
    XCTAssertTrue(service.push(wake)["quiescent"].flag)
    XCTAssertLessThan(size(file + "-wal"), bound)
  }
}
