import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// Pushes that arrive while the store's disk is full or read-only.
final class DiskPushTests: XCTestCase {
  func testAPushOnAFullDiskFailsTypedAndItsMessageComesLater() throws {
    try pushInTrouble(begin: { try $0.fill() }, end: { try $0.free() })
  }

  func testAPushOnADiskThatMayNotBeWrittenToFailsTypedAndItsMessageComesLater() throws {
    try pushInTrouble(begin: { try $0.remount("ro") }, end: { try $0.remount("rw") })
  }

  private func pushInTrouble(begin: (SmallDisk) throws -> Void, end: (SmallDisk) throws -> Void) throws {
    let disk = try SmallDisk(kilobytes: 4_096)
    defer { disk.end() }
    let night = try Night(aliceOn: disk)
    defer { night.end() }
    try night.suspendAlice()
    let service = "chat_migrate_init_key \(JSONValue(night.alice.store).text) \"\" 1 \"yesUp\" 1"
    XCTAssertEqual(try night.alice.call("e = \(service)")["type"], "ok")
    let long = String(repeating: "x", count: 12_000)
    try night.bobSends(long)
    let push = try night.nextPush()
    // A disk cannot be made read-only while a process has a file open for writing.
    XCTAssertEqual(try night.alice.call("chat_close_store $e"), "")
    try begin(disk)
    let failed = try night.alice.call("np_receive_push $e \(JSONValue(push.text).text) 10000")
    XCTAssertEqual(failed["outcome"], "failed", failed.text)
    XCTAssertEqual(failed["quiescent"], true, failed.text)
    XCTAssertEqual(failed.bodies, [])
    XCTAssertEqual(failed.placeholders.count, 1, "the user learns that something came: \(failed.text)")
    XCTAssertFalse(failed.text.contains("xxxx"))
    try end(disk)
    let shown = try night.alice.call("np_receive_push $e \(JSONValue(push.text).text) 10000")
    let body = try XCTUnwrap(shown.bodies.first, shown.text)
    XCTAssertTrue(body.hasPrefix("xxxx"), shown.text)
    XCTAssertEqual(shown["badge"], 1)
    try night.wakeAlice()
    try night.expectAliceHas([long])
  }
}
