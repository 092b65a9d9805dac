import Dispatch
import Synchronization
import XCTest

@testable import PorterJetStream

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

final class InPlaceExecutorTests: XCTestCase {
  private final class Steps: Sendable {
    private let steps = Mutex<[(name: String, thread: UInt)]>([])
    private let waiting = Mutex<UnsafeContinuation<Void, Never>?>(nil)
    let ended = DispatchSemaphore(value: 0)

    func note(_ name: String) { steps.withLock { $0.append((name, UInt(pthread_self()))) } }
    var names: [String] { steps.withLock { $0.map(\.name) } }
    var threads: [UInt] { steps.withLock { $0.map(\.thread) } }

    func wait() async { await withUnsafeContinuation { continuation in waiting.withLock { $0 = continuation } } }

    func wake() {
      waiting.withLock { waiting in
        waiting?.resume()
        waiting = nil
      }
    }

    func end() {
      note("ended")
      ended.signal()
    }
  }

  private func begin(_ steps: Steps) {
    Task(executorPreference: InPlaceExecutor.shared) {
      steps.note("begun")
      await steps.wait()
      steps.end()
    }
  }

  func testATaskRunsOnTheThreadThatWakesItOnceThatHasReturned() {
    let steps = Steps()
    InPlaceExecutor.run {
      begin(steps)
      steps.note("made")
    }
    // The lock that is held while it is woken is no longer held when it runs.
    InPlaceExecutor.run {
      steps.wake()
      steps.note("woken")
    }
    XCTAssertEqual(steps.names, ["made", "begun", "woken", "ended"])
    XCTAssertEqual(Set(steps.threads).count, 1)
  }

  func testTasksThatTasksBeginRunOnTheSameThread() {
    let steps = Steps()
    InPlaceExecutor.run {
      Task(executorPreference: InPlaceExecutor.shared) {
        await withTaskGroup(of: Void.self) { group in
          for number in 0..<100 { group.addTask { steps.note(String(number)) } }
        }
        steps.end()
      }
    }
    XCTAssertEqual(steps.names, (0..<100).map(String.init) + ["ended"])
    XCTAssertEqual(Set(steps.threads).count, 1)
  }

  func testACallWithinAnotherLeavesItsTasksToThatOne() {
    let steps = Steps()
    InPlaceExecutor.run {
      InPlaceExecutor.run { begin(steps) }
      steps.note("made")
    }
    XCTAssertEqual(steps.names, ["made", "begun"])
    InPlaceExecutor.run { steps.wake() }
    XCTAssertEqual(steps.names.last, "ended")
  }

  /// The thread that wakes it may have no time for it.
  func testATaskThatIsWokenElsewhereRunsOnAnotherThread() {
    let steps = Steps()
    InPlaceExecutor.run { begin(steps) }
    steps.wake()
    steps.ended.wait()
    XCTAssertEqual(steps.names, ["begun", "ended"])
    XCTAssertEqual(Set(steps.threads).count, 2)
  }
}
