import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// A full disk, and a read-only one: typed answers, nothing lost, and everything works once there is space again.
final class DiskTroubleTests: XCTestCase {
  private func makeDisk(kilobytes: Int) throws -> SmallDisk {
    let disk = try SmallDisk(kilobytes: kilobytes)
    addTeardownBlock { disk.end() }
    return disk
  }

  func testCreatingAStoreOnAFullDiskIsReportedAndWorksOnceThereIsSpace() throws {
    let disk = try makeDisk(kilobytes: 1_024)
    let host = try disk.start()
    try disk.fill()
    for _ in 0..<2 {
      let answer = try host.call("x = chat_migrate_init_key \"\(disk.path)/a\" \"\" 1 \"yesUp\" 0")
      XCTAssertEqual(answer["np"]?["code"], "storeFull", answer.text)
    }
    try disk.free()
    let answer = try host.call("c = chat_migrate_init_key \"\(disk.path)/a\" \"\" 1 \"yesUp\" 0")
    XCTAssertEqual(answer["type"], "ok", answer.text)
    XCTAssertEqual(try host.result(#"/_create user {"profile":{"displayName":"a","fullName":""}}"#), "activeUser")
  }

  func testSendingOnAFullDiskIsReportedAndLosesNothing() throws {
    let disk = try makeDisk(kilobytes: 4_096)
    let host = try disk.start()
    let night = try DiskNight(host, disk)
    try night.send("before")
    try disk.fill()
    // Messages that fit into the last pages are accepted; after that each is refused, and reported as refused.
    var accepted = ["before"]
    var refusals = 0
    for number in 0..<400 where refusals < 3 {
      let text = "number \(number) " + String(repeating: "x", count: 2_000)
      let answer = try host.answer(night.sending(text))
      if answer["result"] != nil {
        accepted.append(text)
      } else {
        XCTAssertEqual(answer["error"]?["np"]?["code"], "storeFull", answer.text)
        XCTAssertFalse(answer.text.contains("xxxx"))
        refusals += 1
      }
    }
    XCTAssertEqual(refusals, 3, "the disk was never full")
    XCTAssertEqual(try night.sent(), accepted, "reading works on a full disk")
    try disk.free()
    try night.send("after")
    XCTAssertEqual(try night.sent(), accepted + ["after"])
    try night.expectReceived(accepted + ["after"])
  }

  func testSuspendingAndClosingOnAFullDiskReleasesTheStore() throws {
    let disk = try makeDisk(kilobytes: 4_096)
    let host = try disk.start()
    let night = try DiskNight(host, disk)
    try night.send("before")
    try disk.fill()
    try host.command("/_app suspend 1000000", "cmdOk")
    try host.event("chatSuspended")
    XCTAssertEqual(try host.state["quiescent"], true)
    try disk.free()
    try host.command("/_app activate", "cmdOk")
    try night.send("after")
    try night.expectReceived(["before", "after"])
  }

  func testAReadOnlyDirectoryIsReported() throws {
    let disk = try makeDisk(kilobytes: 4_096)
    let host = try disk.start()
    let night = try DiskNight(host, disk)
    try night.send("before")
    XCTAssertEqual(try host.call("chat_close_store $c"), "")
    try disk.remount("ro")
    let created = try host.call("x = chat_migrate_init_key \"\(disk.path)/new\" \"\" 1 \"yesUp\" 0")
    XCTAssertEqual(created["np"]?["code"], "storeReadOnly", created.text)
    let reopened = try host.call("chat_reopen_store $c")
    let answer = try host.answer(night.sending("not now"))
    XCTAssertNotNil(answer["error"], "\(reopened.text) \(answer.text)")
    let code = answer["error"]?["np"]?["code"]?.stringValue ?? ""
    XCTAssertTrue(["storeReadOnly", "storeClosed"].contains(code), "\(reopened.text) \(answer.text)")
    _ = try host.call("chat_close_store $c")
    try disk.remount("rw")
    XCTAssertEqual(try host.call("chat_reopen_store $c"), "")
    try host.command("/_app activate", "cmdOk")
    XCTAssertEqual(try night.sent(), ["before"])
    try night.send("after")
    try night.expectReceived(["before", "after"])
  }
}
