import Dispatch
import Foundation
import NIOCore
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

  /// In most tests there is more time than any machine needs.
  private func start(
    _ metrics: Metrics = Metrics(buckets: RelayMetrics.buckets), answerTime: TimeAmount = .hours(1),
    log: LogWriter = LogWriter { _ in }
  ) throws -> FileBackEnd {
    RelayMetrics.declare(in: metrics)
    return try FileBackEnd(
      .init(path: folder + "/relay.db"), answerTime: answerTime, metrics: metrics, log: log, admit: { _ in true },
      onNews: { _ in })
  }

  /// Has the thread do nothing until the gate is signalled.
  private func block(_ backEnd: FileBackEnd) -> DispatchSemaphore {
    let gate = DispatchSemaphore(value: 0)
    backEnd.exchange(.init(request: unknown)) { _ in _ = gate.wait(timeout: .now() + 60) }
    while backEnd.waiting > 0 {}
    return gate
  }

  private func wait(for condition: () -> Bool) {
    let end = Date() + 60
    while !condition(), Date() < end { usleep(1_000) }
    XCTAssertTrue(condition())
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
    let gate = block(backEnd)
    let refused = Mutex(0)
    func ask(_ request: [UInt8]) {
      backEnd.exchange(.init(request: request)) { reply in
        if reply == .unavailable { refused.withLock { $0 += 1 } }
      }
    }
    for _ in 0..<2_100 { ask(long) }
    XCTAssertEqual(refused.withLock { $0 }, 2_100 - 1_024, "a quarter of 8,192, half of which is for other sources")
    for _ in 0..<1_000 { ask(unknown) }
    XCTAssertEqual(refused.withLock { $0 }, 2_100 - 1_024)
    gate.signal()
    backEnd.close()
  }

  func testASourceDoesNotWaitBehindTheLongRequestsOfAnother() throws {
    let backEnd = try start()
    let gate = block(backEnd)
    let order = Mutex<[String]>([])
    func ask(_ name: String, _ source: [UInt8], listener: String? = nil) {
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
    // Until the queue is full.
    let gate = block(backEnd)
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

  // MARK: Time

  /// A question about as many mailboxes as one may name; it is not even well-formed.
  private let long = [1] + [UInt8](repeating: 7, count: 24) + [0, 0, 10] + [UInt8](repeating: 0, count: 22_528)

  func testWhatWaitsForTooLongIsRefusedAndNotCarriedOut() throws {
    let metrics = Metrics(buckets: RelayMetrics.buckets)
    let lines = Mutex<[String]>([])
    let backEnd = try start(
      metrics, answerTime: .milliseconds(300), log: LogWriter { line in lines.withLock { $0.append(line) } })
    let gate = block(backEnd)
    let replies = Mutex<[RelayReply]>([])
    for number in 0..<20 {
      // The one of a listener that waits behind its long ones, too.
      let request = number % 10 == 0 ? long : unknown
      backEnd.exchange(.init(request: request, listener: "me")) { reply in replies.withLock { $0.append(reply) } }
    }
    backEnd.attach("me")
    wait { replies.withLock { $0.count } == 20 }
    XCTAssertTrue(replies.withLock { $0.allSatisfy { $0 == .unavailable } })
    XCTAssertEqual(backEnd.waiting, 1, "what concerns a listener is not forgotten")
    // Nothing that arrives now would be answered in time.
    let late = Mutex<RelayReply?>(nil)
    backEnd.exchange(.init(request: unknown)) { reply in late.withLock { $0 = reply } }
    XCTAssertEqual(late.withLock { $0 }, .unavailable)
    wait { backEnd.problem != nil }
    XCTAssertTrue(backEnd.problem?.hasPrefix("the file has not answered for ") == true)
    XCTAssertFalse(backEnd.isServing)
    gate.signal()
    wait { backEnd.problem == nil }
    wait { backEnd.waiting == 0 }
    let answered = Mutex<RelayReply?>(nil)
    backEnd.exchange(.init(request: unknown)) { reply in answered.withLock { $0 = reply } }
    backEnd.close()
    guard case .answer = answered.withLock({ $0 }) else { return XCTFail("\(answered.withLock { $0 } as Any)") }
    XCTAssertTrue(metrics.text.contains("porter_relay_batch_exchanges_sum 2\n"), metrics.text)
    let said = { lines.withLock { $0 }.filter { $0.contains("the relay's file") } }
    wait { said().count >= 2 }
    XCTAssertEqual(said().count, 2, "\(said())")
    XCTAssertTrue(said().first?.contains("the relay's file does not answer") == true)
    XCTAssertTrue(said().last?.contains("the relay's file answers again") == true)
  }

  /// Of a second's time each source may have half of what is left, by what a signature takes.
  func testLongRequestsForWhichThereIsNoTimeAreRefusedImmediately() throws {
    let backEnd = try start(answerTime: .milliseconds(900))
    let gate = block(backEnd)
    let begin = NIODeadline.now()
    let counts = [UInt8](1...9).map { source -> Int in
      let refused = Mutex(0)
      for _ in 0..<20 {
        backEnd.exchange(.init(request: long, source: [source])) { reply in
          if reply == .unavailable { refused.withLock { $0 += 1 } }
        }
      }
      return 20 - refused.withLock { $0 }
    }
    // After that, they are refused because the thread hangs.
    if .now() - begin < .milliseconds(800) {
      XCTAssertEqual(counts, [6, 3, 2, 1, 0, 0, 0, 0, 0], "of 3,000 signatures")
    }
    gate.signal()
    backEnd.close()
  }

  func testOfWhatTheFileOwesOnlyTheLatestOfEachListenerCounts() {
    var owed = ListenerChanges()
    for number in UInt64(1)...10_000 {
      owed.note(.init(isAttached: number % 2 == 0, number: number), of: "listener \(number % 3)")
    }
    owed.note(.init(isAttached: true, number: 1), of: "listener 0")
    XCTAssertEqual(owed.count, 3)
    owed.forget("listener 1")
    XCTAssertFalse(owed.contains("listener 1"))
    let taken = owed.take(atMost: 9).sorted { $0.listener < $1.listener }
    XCTAssertEqual(taken.map(\.listener), ["listener 0", "listener 2"])
    XCTAssertEqual(
      taken.map(\.change), [.init(isAttached: false, number: 9_999), .init(isAttached: true, number: 9_998)])
    XCTAssertTrue(owed.isEmpty)
  }

  func testAFileThatIsNoRelayIsRefusedAtTheStart() throws {
    try Data(repeating: 7, count: 5_000).write(to: URL(fileURLWithPath: folder + "/relay.db"))
    XCTAssertThrowsError(try start()) { error in
      XCTAssertTrue("\(error)".contains("not a database"), "\(error)")
    }
  }
}
