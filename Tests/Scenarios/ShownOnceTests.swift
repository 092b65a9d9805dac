import Foundation
import PorterJSON
import PorterNight
import PorterProcesses
import XCTest

/// An answer reports whether its content is recorded as shown. If it is, it is never shown again; if not, it is shown
/// again under the same identifier.
final class ShownOnceTests: XCTestCase {
  func testNotificationsNotRecordedAsShownAreReportedAndRepeated() throws {
    let night = try Night()
    addTeardownBlock { night.end() }
    try night.suspendAlice()
    var (recorded, unrecorded) = (0, 0)
    for number in 1...45 {
      try night.bobSends("number \(number)")
      let push = try night.nextPush()
      let first = try XCTUnwrap(night.runExtension(push, environment: disk(failing: number)).answer)
      let again = try night.present(push)
      guard !first.bodies.isEmpty else {
        XCTAssertEqual(again.bodies, ["number \(number)"], "not shown before: \(first.text)")
        continue
      }
      if first["recorded"] == false {
        unrecorded += 1
        XCTAssertEqual(identifiers(again), identifiers(first), "the write number \(number) failed")
      } else {
        recorded += 1
        XCTAssertEqual(again.bodies, [], "the write number \(number) failed: \(first.text)")
      }
    }
    XCTAssertGreaterThan(recorded, 0)
    XCTAssertGreaterThan(unrecorded, 0)
  }

  private func identifiers(_ answer: JSONValue) -> [String] {
    answer["notifications"]?.arrayValue?.compactMap { $0["identifier"]?.stringValue } ?? []
  }

  /// One write to the store finds the disk full.
  private func disk(failing number: Int) -> [String: String] {
    [
      "LD_PRELOAD": Places.products.appendingPathComponent("libfaulty-vfs.so").path,
      "PORTER_FAULTS": "nth 1 \(number) 0 alice_",
    ]
  }
}
