import Dispatch
import Foundation
import PorterRelay
import PorterTelemetry
import Synchronization
import XCTest

@testable import PorterRelayServer

/// The thread that serves the relay's file.
final class FileBackEndTests: XCTestCase {
  private var folder = ""

  override func setUpWithError() throws {
    folder = NSTemporaryDirectory() + "porter-back-end-" + UUID().uuidString.prefix(8)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(atPath: folder) }

  private func start(_ metrics: Metrics = Metrics(buckets: RelayMetrics.buckets)) throws -> FileBackEnd {
    RelayMetrics.declare(in: metrics)
    return try FileBackEnd(
      .init(path: folder + "/relay.db"), metrics: metrics, log: LogWriter { _ in }, admit: { _ in true },
      onNews: { _ in })
  }

  /// A readable request that is refused: `getMessage` for a mailbox that does not exist.
  private let unknown = [1] + [UInt8](repeating: 7, count: 24) + [0, 1] + [UInt8](repeating: 8, count: 24) + [4]

  func testEveryRequestIsAnsweredOnceAlsoWhenTheBackEndCloses() throws {
    let backEnd = try start()
    let replies = Mutex<[Int: Int]>([:])
    for number in 0..<2_000 {
      backEnd.exchange(.init(request: unknown)) { _ in replies.withLock { $0[number, default: 0] += 1 } }
    }
    backEnd.close()
    XCTAssertEqual(replies.withLock { $0.count }, 2_000)
    XCTAssertTrue(replies.withLock { $0.values.allSatisfy { $0 == 1 } })
    let late = Mutex<RelayReply?>(nil)
    backEnd.exchange(.init(request: unknown)) { reply in late.withLock { $0 = reply } }
    XCTAssertEqual(late.withLock { $0 }, .unavailable)
  }

  /// Requests with many signatures take long, and fill a quarter of the queue at most.
  func testRequestsThatTakeLongLeaveRoomForOthers() throws {
    let backEnd = try start()
    let gate = DispatchSemaphore(value: 0)
    backEnd.exchange(.init(request: unknown)) { _ in _ = gate.wait(timeout: .now() + 60) }
    while backEnd.waiting > 0 {}
    let refused = Mutex(0)
    func ask(_ request: [UInt8]) {
      backEnd.exchange(.init(request: request)) { reply in
        if reply == .unavailable { refused.withLock { $0 += 1 } }
      }
    }
    // A check of as many mailboxes as a request can name; it is not even well-formed.
    let long = [1] + [UInt8](repeating: 7, count: 24) + [0, 0, 10] + [UInt8](repeating: 0, count: 22_528)
    for _ in 0..<2_100 { ask(long) }
    XCTAssertEqual(refused.withLock { $0 }, 2_100 - 1_024, "a quarter of 8,192, half of which is for other sources")
    for _ in 0..<1_000 { ask(unknown) }
    XCTAssertEqual(refused.withLock { $0 }, 2_100 - 1_024)
    gate.signal()
    backEnd.close()
  }

  func testASourceDoesNotWaitBehindTheLongRequestsOfAnother() throws {
    let backEnd = try start()
    let gate = DispatchSemaphore(value: 0)
    backEnd.exchange(.init(request: unknown)) { _ in _ = gate.wait(timeout: .now() + 60) }
    while backEnd.waiting > 0 {}
    let order = Mutex<[String]>([])
    func ask(_ name: String, _ source: [UInt8], listener: String? = nil) {
      let long = [1] + [UInt8](repeating: 7, count: 24) + [0, 0, 10] + [UInt8](repeating: 0, count: 22_528)
      backEnd.exchange(.init(request: long, listener: listener, source: source)) { _ in
        order.withLock { $0.append(name) }
      }
    }
    for _ in 0..<50 { ask("one", [1]) }
    ask("two", [2], listener: "two")
    backEnd.forget(["two", "unknown"])
    gate.signal()
    backEnd.close()
    XCTAssertEqual(order.withLock { $0.prefix(3) }, ["one", "two", "one"])
    XCTAssertEqual(order.withLock { $0.count }, 51)
  }

  func testRequestsThatWaitAreCarriedOutTogetherAndBounded() throws {
    let metrics = Metrics(buckets: RelayMetrics.buckets)
    let backEnd = try start(metrics)
    let counts = Mutex((answered: 0, refused: 0))
    // Blocks the thread until the queue is full.
    let gate = DispatchSemaphore(value: 0)
    backEnd.exchange(.init(request: unknown)) { _ in _ = gate.wait(timeout: .now() + 60) }
    var isTaken = false
    while !isTaken { isTaken = backEnd.waiting == 0 }
    for _ in 0..<8_200 {
      backEnd.exchange(.init(request: unknown)) { reply in
        counts.withLock { counts in
          if case .answer = reply { counts.answered += 1 } else { counts.refused += 1 }
        }
      }
    }
    XCTAssertEqual(counts.withLock { $0.refused }, 8, "over what may wait")
    XCTAssertTrue(backEnd.isOverloaded)
    XCTAssertNil(backEnd.problem, "nothing is wrong")
    gate.signal()
    backEnd.close()
    XCTAssertEqual(counts.withLock { $0.answered }, 8_192)
    XCTAssertFalse(backEnd.isOverloaded)
    XCTAssertTrue(metrics.text.contains("porter_relay_batch_exchanges_count 33"), metrics.text)
  }

  func testAFileThatIsNoRelayIsRefusedAtTheStart() throws {
    try Data(repeating: 7, count: 5_000).write(to: URL(fileURLWithPath: folder + "/relay.db"))
    XCTAssertThrowsError(try start()) { error in
      XCTAssertTrue("\(error)".contains("not a database"), "\(error)")
    }
  }
}
