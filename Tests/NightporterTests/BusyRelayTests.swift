import CNightporter
import Foundation
import PorterPlatform
import PorterStore
import XCTest

/// Another process holds the lock on the embedded relay's file: a frozen one may keep it indefinitely.
final class BusyRelayTests: XCTestCase {
  /// Takes the relay's write lock, until `release`.
  private func hold(_ pair: Pair) throws -> Database {
    let holder = try Database(path: pair.folder.file("relay.db"))
    try holder.execute("BEGIN IMMEDIATE")
    return holder
  }

  private func release(_ holder: Database) throws {
    try holder.execute("COMMIT")
    try holder.close()
  }

  /// Waits until a request that the relay does not answer is in progress, or the engine is stuck in one.
  private func awaitRequest(_ host: Host, file: StaticString = #filePath, line: UInt = #line) {
    for _ in 0..<2_000 {
      let state = host.state
      if state["operations"]["sending"].number > 0 || state["busy"].exists { return }
      usleep(1_000)
    }
    XCTFail("no request is in progress", file: file, line: line)
  }

  private func openFiles(_ pair: Pair) -> [String] {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
      .filter { $0.hasPrefix(pair.folder.file("")) }
  }

  /// An invitation needs the relay. The command sent after it does not, and is answered first.
  func testINC07CommandsThatNeedNoRelayDoNotWaitForIt() throws {
    let pair = try Pair()
    let holder = try hold(pair)
    let invitation = pair.alice.inBackground { $0.send("/_connect 1").description }
    awaitRequest(pair.alice)
    pair.alice.send("/u").assert("activeUser")
    pair.send("waits", from: pair.alice, arrives: false)
    pair.alice.send("/_app activate").assert("cmdOk")
    XCTAssertNil(invitation.wait(atMost: .zero), "the relay's command was answered first")
    try release(holder)
    JSON(try XCTUnwrap(invitation.wait(atMost: .seconds(60)))).assert("invitation")
    pair.bob.event("newChatItems", within: 60)
    XCTAssertEqual(pair.texts(pair.bob), ["waits"])
  }

  /// An extension queries the file in the engine's own turn, but waits for it outside the engine.
  func testINC07APushThatWaitsForTheRelaysFileDoesNotStopTheEngine() throws {
    let station = try Station()
    station.suspend()
    let service = try station.makeExtension()
    let push = try station.push(for: "waits")
    let holder = try hold(station.pair)
    let answer = service.inBackground { $0.push(push, deadline: 30_000).description }
    awaitThat("the message is committed, and not acknowledged") {
      service.state["operations"]["delivery"].number > 0 && !service.state["busy"].exists
    }
    service.send("/_app doze off").assert("cmdOk")
    XCTAssertNil(answer.wait(atMost: .zero), "the command was answered first")
    try release(holder)
    let shown = JSON(try XCTUnwrap(answer.wait(atMost: .seconds(60))))
    XCTAssertEqual(shown.bodies, ["waits"], shown.description)
    station.wake(expecting: ["waits"])
  }

  /// INC-01: an exchange waiting for the lock is cut off, and none of the relay's files stays open.
  func testINC01SuspendingCutsOffAnExchangeWaitingForTheRelaysFile() throws {
    let pair = try Pair()
    pair.bob.free()
    let holder = try hold(pair)
    let own = openFiles(pair).filter { $0.contains("relay.db") }.count
    let invitation = pair.alice.inBackground { $0.send("/_connect 1").description }
    awaitRequest(pair.alice)
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    XCTAssertTrue(pair.alice.state["quiescent"].flag, pair.alice.state.description)
    XCTAssertLessThan(openFiles(pair).filter { $0.contains("relay.db") }.count, own)
    XCTAssertEqual(openFiles(pair).filter { $0.contains("alice") }, [])
    XCTAssertTrue(JSON(try XCTUnwrap(invitation.wait(atMost: .seconds(60))))["error"].exists)
    try release(holder)
  }

  /// A relay file that cannot be opened says nothing about the message, which stays in the outbox.
  func testAMessageOutlivesARelayFileThatCannotBeOpened() throws {
    let pair = try Pair()
    let relay = pair.folder.file("relay.db")
    pair.alice.send("/_app suspend 0").assert("cmdOk")
    pair.bob.send("/_app suspend 0").assert("cmdOk")
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: relay + suffix) {
      try FileManager.default.moveItem(atPath: relay + suffix, toPath: relay + suffix + ".away")
    }
    try FileManager.default.createDirectory(atPath: relay, withIntermediateDirectories: false)
    pair.alice.send("/_app activate").assert("cmdOk")
    pair.send("waits", from: pair.alice, arrives: false)
    let store = try Database(path: pair.alice.prefix + "_chat.db")
    awaitThat("it was tried") { (try? store.integer("SELECT max(attempts) FROM outbox")) ?? 0 > 0 }
    try store.close()

    try FileManager.default.removeItem(atPath: relay)
    for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: relay + suffix + ".away") {
      try FileManager.default.moveItem(atPath: relay + suffix + ".away", toPath: relay + suffix)
    }
    pair.bob.send("/_app activate").assert("cmdOk")
    pair.bob.event("newChatItems", within: 60)
    XCTAssertEqual(pair.texts(pair.bob), ["waits"])
  }
}
