import PorterPlatform
import XCTest

final class RandomnessTests: XCTestCase {
  /// The system returns 256 bytes per call.
  func testEachByteIsRandom() {
    let randomness = SystemRandomness()
    for count in [0, 1, 7, 8, 24, 255, 256, 257, 512, 1_000] {
      var seen = [UInt8](repeating: 0, count: count)
      for _ in 0..<16 {
        let bytes = randomness.bytes(count)
        XCTAssertEqual(bytes.count, count)
        for (index, byte) in bytes.enumerated() { seen[index] |= byte }
      }
      XCTAssertFalse(seen.contains(0), "a byte of \(count) stays zero")
    }
    XCTAssertNotEqual(randomness.bytes(600), randomness.bytes(600))
  }
}
