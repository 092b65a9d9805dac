import Foundation
import PorterPlatform
import PropertyTesting
import XCTest

final class InstanceTests: XCTestCase {
  func testStoredFormReadsBack() {
    let generator = all(Generator<Int32>.number(), Generator<Int64>.number(), Generator<[UInt8]>.bytes(0...8))
    forAll(generator) { process, started, nonce in
      let instance = Instance(boot: "a0-b1", process: process, started: started, nonce: nonce)
      try expectEqual(Instance(stored: instance.stored), instance)
    }
    for text in ["", ":::", "a:1:2", "a:x:2:00", "a:1:x:00", "a:1:2:0", "a:1:2:00:3", "a:4294967296:2:00"] {
      XCTAssertNil(Instance(stored: text), text)
    }
    forAll(Generator<String>.text(of: "a1:-f", 0...12), runs: 1_000) { text in
      guard let instance = Instance(stored: text) else { return }
      try expectEqual(Instance(stored: instance.stored), instance)
    }
  }

  /// INC-06: two controllers of one process are two instances, though boot, process and start are the same.
  func testINC06EachControllerIsItsOwnInstance() {
    let one = Instance.current(randomness: SystemRandomness())
    let other = Instance.current(randomness: SystemRandomness())
    XCTAssertNotEqual(one, other)
    XCTAssertEqual(one.boot, other.boot)
    XCTAssertEqual(one.started, other.started)
    XCTAssertEqual(one.process, ProcessInfo.processInfo.processIdentifier)
    XCTAssertEqual(one.nonce.count, 8)
    XCTAssertGreaterThan(one.started, 0)
    XCTAssertGreaterThan(one.boot.count, 10)
    XCTAssertFalse(one.boot.contains(":"), "the stored form separates with it")
  }
}

final class LogTests: XCTestCase {
  func testTheLogWritesFromItsLevelOn() {
    let lines = Monitor<[String]>([])
    let log = Log(minimum: .warning) { level, line in lines.withLock { $0.append("\(level) \(line)") } }
    log(.info, "not this")
    log(.warning, "this", ["count": "3", "state": "active"])
    log(.error, "and this")
    XCTAssertEqual(lines.withLock { $0 }, ["warning this count=3 state=active", "error and this"])
    Log.silent(.error, "nowhere")
  }
}

final class WaitingTests: XCTestCase {
  /// INC-31: a second attempt is refused, and changes nothing.
  func testINC31APromiseIsFulfilledOnce() {
    for _ in 0..<50 {
      let promise = Promise<Int>()
      let won = Monitor<[Int]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { index in
        if promise.fulfil(index) { won.withLock { $0.append(index) } }
      }
      XCTAssertEqual(won.withLock { $0 }, [promise.wait()])
    }
  }

  /// INC-39: every wait has a deadline.
  func testINC39WaitsEnd() {
    let promise = Promise<Int>()
    let start = ContinuousClock.now
    XCTAssertNil(promise.wait(atMost: .milliseconds(30)))
    XCTAssertGreaterThanOrEqual(ContinuousClock.now - start, .milliseconds(29))
    XCTAssertNil(promise.wait(atMost: .zero))
    XCTAssertNil(promise.wait(atMost: .seconds(-1)))
    XCTAssertFalse(promise.isFulfilled)
    promise.fulfil(1)
    XCTAssertEqual(promise.wait(atMost: .zero), 1)
  }

  func testAWaitingThreadIsWoken() {
    let promise = Promise<Int>()
    XCTAssertTrue(
      WorkerThread.start {
        usleep(20_000)
        promise.fulfil(7)
      })
    XCTAssertEqual(promise.wait(atMost: .seconds(10)), 7)
  }

  func testADescriptorIsReadableBetweenRaiseAndLower() throws {
    let wake = try XCTUnwrap(WakeDescriptor())
    func isReadable() -> Bool {
      var poll = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
      return Foundation.poll(&poll, 1, 0) == 1
    }
    XCTAssertFalse(isReadable())
    // More often than a pipe can hold: raising never blocks.
    for _ in 0..<100_000 { wake.raise() }
    XCTAssertTrue(isReadable())
    wake.lower()
    XCTAssertFalse(isReadable())
    wake.raise()
    XCTAssertTrue(isReadable())
  }
}
