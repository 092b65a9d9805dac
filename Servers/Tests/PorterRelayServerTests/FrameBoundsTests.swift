import XCTest

@testable import PorterRelayServer

/// Where the frames of an HTTP/2 connection end.
final class FrameBoundsTests: XCTestCase {
  private let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

  private func frame(_ type: UInt8, flags: UInt8 = 0, count: Int) -> [UInt8] {
    let length = [UInt8(count >> 16), UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
    return length + [type, flags, 0, 0, 0, 1] + [UInt8](repeating: 4, count: count)
  }

  /// Reads pieces of some size, and returns the number of frames that have ended after each.
  private func ends(_ bytes: [UInt8], _ size: Int) -> (ended: [Int], isBetween: Bool) {
    var bounds = FrameBounds()
    var ended: [Int] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      bytes[start..<min(bytes.count, start + size)].withUnsafeBytes { bounds.read($0) }
      ended.append(bounds.ended)
    }
    return (ended, bounds.isBetween)
  }

  func testAFrameEndsWithItsLastByte() {
    // Settings, a whole header block, data, and what is unknown.
    let parts = [
      preface, frame(4, count: 0), frame(1, flags: 4, count: 30), frame(0, count: 70_000),
      frame(0xee, flags: 0, count: 3),
    ]
    var bounds = FrameBounds()
    XCTAssertTrue(bounds.isBetween, "nothing has begun")
    for (number, part) in parts.enumerated() {
      part.dropLast().withUnsafeBytes { bounds.read($0) }
      XCTAssertEqual(bounds.ended, number)
      XCTAssertFalse(bounds.isBetween, "\(number)")
      part.suffix(1).withUnsafeBytes { bounds.read($0) }
      XCTAssertEqual(bounds.ended, number + 1)
      XCTAssertTrue(bounds.isBetween, "\(number)")
    }
  }

  func testAHeaderBlockEndsWithItsLastFrame() {
    let begun = preface + frame(1, count: 10) + frame(9, count: 0) + frame(9, count: 20)
    XCTAssertFalse(ends(begun, begun.count).isBetween)
    XCTAssertEqual(ends(begun, begun.count).ended, [1], "the preface")
    let whole = begun + frame(9, flags: 4, count: 5)
    XCTAssertTrue(ends(whole, whole.count).isBetween)
    XCTAssertEqual(ends(whole, whole.count).ended, [2])
  }

  func testItDoesNotMatterHowBytesArrive() {
    let bytes = preface + frame(1, count: 10) + frame(9, flags: 4, count: 300) + frame(0, flags: 1, count: 500)
    for size in [1, 2, 7, 8, 9, 10, 100, bytes.count] {
      let (ended, isBetween) = ends(bytes, size)
      XCTAssertEqual(ended.last, 3, "\(size)")
      XCTAssertTrue(isBetween, "\(size)")
      XCTAssertEqual(ended, ended.sorted())
    }
  }
}
