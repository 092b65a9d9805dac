import Foundation
import PorterJSON
import PorterProcesses
import XCTest

/// What the device detects, and what it refuses. The story itself is one of the scenarios.
final class DeviceTests: XCTestCase {
  private var directory = URL(fileURLWithPath: "/")

  override func setUpWithError() throws { directory = try Places.makeTemporaryDirectory() }
  override func tearDown() { try? FileManager.default.removeItem(at: directory) }

  private func holding(of prefix: String) throws -> (locks: Int64, files: Int64, ending: Ending) {
    let process = "\(ProcessInfo.processInfo.processIdentifier)"
    let output = try ChildProcess.run(Places.harness, ["locks", process, prefix])
    let answer = try JSONValue(parsing: try XCTUnwrap(output.lines.first))
    return (
      try XCTUnwrap(answer["locks"]?.integerValue), try XCTUnwrap(answer["openFiles"]?.integerValue), output.ending
    )
  }

  /// INC-01: a device that missed a lock would find no fault with any application.
  func testALockOnAFileOfTheStoreIsSeen() throws {
    let prefix = directory.appendingPathComponent("store").path
    let descriptor = open(prefix + "_chat.db-shm", O_RDWR | O_CREAT, 0o600)
    XCTAssertGreaterThanOrEqual(descriptor, 0)
    var lock = flock()
    lock.l_type = Int16(F_WRLCK)
    lock.l_whence = Int16(SEEK_SET)
    lock.l_start = 120
    lock.l_len = 1
    XCTAssertEqual(fcntl(descriptor, F_SETLK, &lock), 0)
    let held = try holding(of: prefix)
    XCTAssertEqual(held.locks, 1)
    XCTAssertEqual(held.files, 1)
    XCTAssertEqual(held.ending, .exited(1))

    let other = try holding(of: directory.appendingPathComponent("other").path)
    XCTAssertEqual(other.locks, 0)

    lock.l_type = Int16(F_UNLCK)
    XCTAssertEqual(fcntl(descriptor, F_SETLK, &lock), 0)
    XCTAssertEqual(try holding(of: prefix).locks, 0)
    close(descriptor)
    XCTAssertEqual(try holding(of: prefix).ending, .exited(0))
  }

  func testAProcessThatHasEndedIsNotReportedAsHoldingNothing() throws {
    let output = try ChildProcess.run(Places.harness, ["locks", "999999999", directory.path + "/store"])
    XCTAssertEqual(output.ending, .exited(2))
  }

  func testPushesAreAcceptedPrintedAndLimited() throws {
    let socket = directory.appendingPathComponent("pushes").path
    let receiver = try ChildProcess(Places.harness, ["pushes", socket])
    XCTAssertEqual(try receiver.line(), #"{"listening":true}"#)
    let sender = try UnixConnection(path: socket)
    let push = #"{"token":"ab","provider":"apns_test","type":"alert","priority":10,"payload":{"aps":{}}}"#
    XCTAssertEqual(try sender.exchange(push), #"{"status":200}"#)
    XCTAssertEqual(try receiver.line(), push)
    XCTAssertEqual(try sender.exchange(#"{"token":"ab"}"#), #"{"status":400,"reason":"PayloadEmpty"}"#)
    XCTAssertEqual(try sender.exchange("no JSON"), #"{"status":400,"reason":"PayloadEmpty"}"#)
    let filler = String(repeating: "a", count: 4096 - #"{"f":""}"#.utf8.count)
    XCTAssertEqual(try sender.exchange(#"{"token":"ab","payload":{"f":"\#(filler)"}}"#), #"{"status":200}"#)
    XCTAssertEqual(
      try sender.exchange(#"{"token":"ab","payload":{"f":"\#(filler)a"}}"#),
      #"{"status":413,"reason":"PayloadTooLarge"}"#)
    XCTAssertEqual(try receiver.end(), .exited(0))
    XCTAssertFalse(FileManager.default.fileExists(atPath: socket))
  }

  func testAServerThatDoesNotStartEndsTheStoryAndLeavesNothing() throws {
    let environment = ["TMPDIR": directory.path]
    let output = try ChildProcess.run(
      Places.harness, ["device", "--json", "--server", "/bin/false"], environment: environment)
    let last = try JSONValue(parsing: try XCTUnwrap(output.lines.last))
    XCTAssertEqual(last["event"], "summary")
    XCTAssertEqual(last["outcome"], "none")
    XCTAssertTrue(output.lines.contains { $0.contains(#""step":"start the server""#) })
    XCTAssertEqual(output.ending, .exited(1))
    XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: directory.path), [])
  }

  func testAnInterruptedDeviceLeavesNothing() throws {
    // A silent server keeps the device waiting for its first line.
    let server = directory.appendingPathComponent("silent-server")
    try "#!/bin/sh\nexec sleep 600\n".write(to: server, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: server.path)
    let waiting = try ChildProcess(
      Places.harness, ["device", "--json", "--server", server.path], environment: ["TMPDIR": directory.path])
    let end = Date(timeIntervalSinceNow: 60)
    while try FileManager.default.contentsOfDirectory(atPath: directory.path).count < 2, end.timeIntervalSinceNow > 0 {
      usleep(2_000)
    }
    waiting.signal(SIGINT)
    XCTAssertEqual(try waiting.waitForEnd(), .exited(130))
    let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    XCTAssertEqual(left, ["silent-server"])
  }

  func testWrongOptionsAreRefused() throws {
    for options in [["--messages", "0"], ["--messages", "x"], ["--keep"], ["--nonsense"], ["--memory-limit", "-1"]] {
      let output = try ChildProcess.run(
        "/bin/sh", ["-c", "exec \"$0\" device \"$@\" 2>/dev/null", Places.harness] + options)
      XCTAssertEqual(output.ending, .exited(2), "\(options)")
    }
  }
}
