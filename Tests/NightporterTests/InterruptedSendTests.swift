import PorterPlatform
import PorterStore
import Synchronization
import XCTest

@testable import Nightporter
@testable import PorterEngine

final class InterruptedSendTests: XCTestCase {
  private final class Counter: Sendable {
    private let count = Mutex(0)
    func next() -> Int {
      count.withLock { count in
        count += 1
        return count
      }
    }
    var value: Int { count.withLock { $0 } }
  }

  /// Sends a message while a suspension asks the engine to stop before the statement that `isPlace` recognizes. Returns
  /// the answer, or nil if there was no such statement.
  private func send(
    _ text: String, _ pair: Pair, _ isPlace: @escaping @Sendable (String) -> Bool
  ) throws -> JSON? {
    let engine = try XCTUnwrap(Handles.find(pair.alice.handle))
    let raised = Counter()
    engine.call { engine in
      let stop = engine.context.stop
      engine.store?.database.observer = { statement in
        if raised.value == 0, isPlace(statement), raised.next() == 1 { stop.raise() }
      }
    }
    let answer = pair.alice.send("/_send @1 text \(text)", arrives: false)
    engine.call { engine in
      engine.store?.database.observer = nil
      if raised.value > 0 { engine.context.stop.lower() }
    }
    let count = pair.texts(pair.alice).filter { $0 == text }.count
    XCTAssertEqual(count, answer["error"].exists ? 0 : 1, "\(text): \(answer)")
    return raised.value > 0 ? answer : nil
  }

  /// If the answer is an error, the message is stored nowhere, so a host that sends it again sends it once. Otherwise
  /// it is stored once.
  func testINC34AnInterruptedMessageIsRefusedOrStoredOnce() throws {
    let pair = try Pair()
    var refused = 0
    for place in 1... {
      let passed = Counter()
      let answer = try send("at statement \(place)", pair) { _ in passed.next() == place }
      guard let answer else { break }
      if answer["error"].exists { refused += 1 }
    }
    XCTAssertGreaterThan(refused, 0)
    // SQLite checks every 512 instructions whether to stop, so a short statement is interrupted only now and then.
    for number in 1...60 {
      // The end of an earlier message's transmission may be committed first.
      let stored = Counter()
      let answer = try send("at its end, \(number)", pair) { statement in
        if statement.contains("INSERT INTO items") { _ = stored.next() }
        return statement == "COMMIT" && stored.value > 0
      }
      XCTAssertEqual(answer?["error"].exists, false, answer?.description ?? "no commit")
    }
  }
}
