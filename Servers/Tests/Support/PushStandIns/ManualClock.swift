package import NIOCore
import PorterPushClient
import Synchronization

/// Time that passes when the test says so.
package final class ManualClock: PushClock {
  private struct State {
    var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    var timers: [Int: (due: NIODeadline, loop: any EventLoop, then: @Sendable () -> Void)] = [:]
    var next = 0
    /// What the wall clock was set forward by, in seconds.
    var correction: Int64 = 0
  }

  package static let start: Int64 = 1_800_000_000
  private let state = Mutex(State())

  package init() {}

  package var now: NIODeadline { state.withLock { $0.now } }
  package var seconds: Int64 {
    state.withLock { state in
      Self.start + state.correction + (state.now - .uptimeNanoseconds(1_000_000_000)).nanoseconds / 1_000_000_000
    }
  }

  /// Sets the wall clock forward. No time passes.
  package func correct(by seconds: Int64) { state.withLock { $0.correction += seconds } }

  /// When each timer is due, from now, in seconds.
  package var timers: [Int64] {
    state.withLock { state in state.timers.values.map { ($0.due - state.now).nanoseconds / 1_000_000_000 }.sorted() }
  }

  package func schedule(after time: TimeAmount, on loop: any EventLoop, _ then: @escaping @Sendable () -> Void)
    -> @Sendable () -> Void
  {
    let number = state.withLock { state in
      state.next += 1
      state.timers[state.next] = (state.now + time, loop, then)
      return state.next
    }
    return { [self] in state.withLock { $0.timers[number] = nil } }
  }

  /// Everything due by then has been called when this returns.
  package func advance(by time: TimeAmount) throws {
    let due = state.withLock { state in
      state.now = state.now + time
      let due = state.timers.filter { $0.value.due <= state.now }
      for number in due.keys { state.timers[number] = nil }
      return due.values.sorted { $0.due < $1.due }
    }
    for timer in due { try timer.loop.submit(timer.then).wait() }
  }
}
