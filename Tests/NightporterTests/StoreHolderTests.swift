import Foundation
import PorterEngine
import PorterPlatform
import PorterStore
import XCTest

/// Naming the process that holds the store, while processes come and go.
final class StoreHolderTests: XCTestCase {
  /// INC-18: the holder may end between two looks at its lock.
  func testINC18AHolderMayEndDuringTheLookup() throws {
    let folder = try TemporaryFolder()
    let prefix = folder.file("a")
    let holder = Instance.current(randomness: SystemRandomness())
    let own = Instance.current(randomness: SystemRandomness())
    let isOver = Monitor(false)
    let ended = expectation(description: "the holder ended")
    Thread.detachNewThread {
      let file = PhaseFile(prefix: prefix, role: Role.app.rawValue)
      while !isOver.withLock({ $0 }) {
        if file.hold() { file.publish("active", by: holder) }
        file.release()
      }
      ended.fulfill()
    }
    let candidates = [Role.app, .extension].map { (role: $0, file: PhaseFile(prefix: prefix, role: $0.rawValue)) }
    var (found, missed) = (0, 0)
    while found < 2_000 || missed < 2_000 {
      let owner = StoreHolder.find(among: candidates, except: own)
      if let owner {
        found += 1
        XCTAssertEqual(owner, Owner(role: Role.app.rawValue, instance: holder))
      } else {
        missed += 1
      }
    }
    isOver.signal { $0 = true }
    wait(for: [ended], timeout: 60)
  }
}
