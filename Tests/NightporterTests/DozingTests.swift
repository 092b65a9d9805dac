import CNightporter
import Foundation
import XCTest

/// Between two pushes an extension's store keeps its files open, but holds no lock (INC-01).
final class DozingTests: XCTestCase {
  /// An extension whose store dozes. The first push closes it, since it was opened before dozing was requested.
  private func makeDozingExtension(_ station: Station, line: UInt = #line) throws -> Host {
    let service = try station.makeExtension(line: line)
    service.send("/_app doze on").assert("cmdOk", #filePath, line)
    XCTAssertEqual(service.push(try station.push(for: "first")).bodies, ["first"], line: line)
    XCTAssertEqual(service.state["machines"]["chat_lifecycle"].text, "suspended", line: line)
    XCTAssertEqual(try Held(of: service.prefix), .nothing, line: line)
    XCTAssertEqual(service.push(try station.push(for: "second")).bodies, ["second"], line: line)
    try expectDozing(service, line: line)
    return service
  }

  private func expectDozing(_ service: Host, line: UInt = #line) throws {
    let state = service.state
    XCTAssertEqual(state["machines"]["chat_lifecycle"].text, "dozing", state.description, line: line)
    XCTAssertTrue(state["quiescent"].flag, state.description, line: line)
    XCTAssertEqual(state["holds"].count, 0, state.description, line: line)
    let held = try Held(of: service.prefix)
    XCTAssertEqual(held.locks, [], line: line)
    XCTAssertTrue(held.files.contains("\(service.prefix)_chat.db"), "\(held)", line: line)
  }

  private func expectClosed(_ service: Host, line: UInt = #line) throws {
    XCTAssertEqual(service.state["machines"]["chat_lifecycle"].text, "suspended", line: line)
    XCTAssertEqual(try Held(of: service.prefix), .nothing, line: line)
  }

  func testAStoreDozesBetweenPushes_INC01() throws {
    let station = try Station()
    station.suspend()
    let service = try makeDozingExtension(station)
    for text in ["third", "fourth"] {
      let answer = service.push(try station.push(for: text))
      XCTAssertEqual(answer.bodies, [text], answer.description)
      XCTAssertTrue(answer["quiescent"].flag, answer.description)
      try expectDozing(service)
    }
    XCTAssertEqual(service.closeStore(), "")
    try expectClosed(service)
    XCTAssertEqual(service.push(try station.push(for: "fifth")).bodies, ["fifth"])
    try expectDozing(service)
    station.wake(expecting: ["first", "second", "third", "fourth", "fifth"])
  }

  /// The app opens the store in between; on closing it, it writes the log back and deletes it.
  func testAStoreThatTheAppHasUsedIsOpenedAnew() throws {
    let station = try Station()
    station.suspend()
    let service = try makeDozingExtension(station)
    station.wake(expecting: ["first", "second"])
    station.alice.send("/_read chat @1").assert("cmdOk")
    station.suspend()
    let answer = service.push(try station.push(for: "third"))
    XCTAssertEqual(answer.bodies, ["third"], answer.description)
    XCTAssertEqual(answer["badge"].number, 1, answer.description)
    try expectDozing(service)
    station.wake(expecting: ["first", "second", "third"])
  }

  /// Its file is not reopened for each push. (`RelayDozingTests` covers the locks: here the server has the file open as
  /// well.)
  func testTheEmbeddedRelayDozesToo_INC01() throws {
    let station = try Station()
    station.suspend()
    let log = station.pair.folder.file("relay.db-wal")
    let openLogs = {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == log
      }.count
    }
    let before = try openLogs()
    let service = try makeDozingExtension(station)
    XCTAssertEqual(try openLogs(), before + 1)
    XCTAssertFalse(service.state["holds"].description.contains("relay"))
    XCTAssertEqual(service.push(try station.push(for: "third")).bodies, ["third"])
    XCTAssertEqual(try openLogs(), before + 1)
    XCTAssertEqual(service.closeStore(), "")
    XCTAssertEqual(try openLogs(), before)
    station.wake(expecting: ["first", "second", "third"])
  }

  /// Notifications shown by another process in between are not shown again.
  func testAnotherExtensionMayCommitMeanwhile() throws {
    let station = try Station()
    station.suspend()
    let service = try makeDozingExtension(station)
    let push = try station.push(for: "third")
    XCTAssertEqual(try station.present(push).bodies, ["third"])
    try expectDozing(service)
    XCTAssertEqual(service.push(push)["outcome"].text, "nothingNew")
    XCTAssertEqual(service.push(try station.push(for: "fourth")).bodies, ["fourth"])
    station.wake(expecting: ["first", "second", "third", "fourth"])
  }

  func testASuspensionClosesADozingStore_INC01() throws {
    let station = try Station()
    station.suspend()
    for command in ["/_app suspend 0", "/_app suspend 500000", "/_app doze off", "/_stop"] {
      let service = try makeDozingExtension(station)
      XCTAssertTrue(service.send(command)["result"].exists, command)
      if command == "/_app suspend 500000" { service.event("chatSuspended") }
      try expectClosed(service)
      service.free()
    }
    let service = try makeDozingExtension(station)
    XCTAssertEqual(np_set_key(service.handle, "", 1), NP_OK)
    awaitThat("the store is closed") { service.state["machines"]["chat_lifecycle"].text == "suspended" }
    try expectClosed(service)
    let ended = try makeDozingExtension(station)
    ended.free()
    XCTAssertEqual(try Held(of: ended.prefix), .nothing)
  }

  /// A key that must not stay in memory does not stay there through an open file.
  func testAStoreWhoseKeyIsNotKeptIsClosed() throws {
    let folder = try TemporaryFolder()
    let key = "x'\(String(repeating: "5a", count: 32))'"
    let app = try XCTUnwrap(Host.open(folder.file("a"), key: key).host)
    app.begin("alice", relay: folder.file("relay.db"))
    app.free()
    for keeps in [true, false] {
      var handle: chat_ctrl?
      _ = take(chat_migrate_init_key(app.prefix, key, keeps ? 1 : 0, "error", 1, &handle))
      let service = Host(try XCTUnwrap(handle), app.prefix)
      service.send("/_app doze on").assert("cmdOk")
      let wake = #"{"aps":{"content-available":1},"notificationData":{"checkMessages":true}}"#
      XCTAssertEqual(service.push(wake)["outcome"].text, "nothingNew")
      if !keeps { XCTAssertEqual(np_set_key(service.handle, key, 0), NP_OK) }
      XCTAssertEqual(service.push(wake)["outcome"].text, "nothingNew")
      if keeps { try expectDozing(service) } else { try expectClosed(service) }
    }
  }

  func testOnlyAnExtensionDozes() throws {
    let folder = try TemporaryFolder()
    let app = try XCTUnwrap(Host.open(folder.file("a")).host)
    let answer = app.send("/_app doze on")
    XCTAssertTrue(answer.description.contains("roleNotAllowed"), answer.description)
  }
}
