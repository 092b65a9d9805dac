import PorterMachines
import PropertyTesting
import XCTest

/// One message for a command, whatever the relay and the store do.
final class MessageFetchMachineTests: XCTestCase {
  /// The events on the way to the machine's present state.
  private struct Path {
    var machine = MachineRunner<MessageFetch>()
    var effects: [MessageFetch.Effect] = []

    mutating func handle(_ event: MessageFetch.Event) { effects += Array(machine.handle(event).effects) }
    func count(_ effect: MessageFetch.Effect) -> Int { effects.count { $0 == effect } }
  }

  /// Every path ends with one answer, which is its last step, and the mailbox is free by then.
  func testINC39EveryPathGivesOneAnswer() throws {
    let events = MessageFetch.Event.allCases
    let choices = Generator<Int>.number(0...Int.max).map { number in
      (0..<16).map { events[(number >> ($0 * 3)) % events.count] }
    }
    forAll(choices, runs: 2_000) { events in
      var path = Path()
      // In the end the relay is silent, and the store refuses.
      for event in events + [.want, .claimGranted, .timeout, .abandoned, .timeout] { path.handle(event) }
      try expectEqual(path.count(.answer), 1, "\(events)")
      try expectEqual(path.effects.last, .answer, "\(events)")
      try expectEqual(path.count(.releaseMailbox), path.effects.contains(.sendGet) ? 1 : 0, "\(events)")
      try expectEqual(path.count(.startDeadline), path.count(.cancelDeadline), "\(events)")
    }
  }

  /// Rule 4: the relay is asked to drop only committed messages. The result reports a message as taken if, and only if,
  /// it is committed.
  func testWhatIsCommittedIsTheResult() {
    for (state, event, step) in allSteps(MessageFetch.self) where step.answer == .moved {
      let pair = "\(state) \(event)"
      let isCommitted = state == .acknowledging || state == .looking || event == .committed
      XCTAssertEqual(step.effects.contains(.sendAcknowledge), event == .committed, pair)
      XCTAssertEqual([.acknowledging, .looking, .taken, .last, .followed].contains(step.next), isCommitted, pair)
      XCTAssertEqual(step.effects.contains(.deliverMessage), state == .getting && event == .message, pair)
    }
  }

  /// The marker is emitted once, where the relay has dropped the message or may have.
  func testTheMarkerFollowsTheAcknowledgement() {
    for (state, event, step) in allSteps(MessageFetch.self) {
      let isOver = state == .acknowledging && [.message, .empty, .dropped, .failed, .timeout].contains(event)
      XCTAssertEqual(step.effects.contains(.emitMarker), isOver, "\(state) \(event)")
    }
  }

  /// An unanswered request is given up before the next one may ask.
  func testOnlyARequestWithoutAnAnswerIsGivenUp() {
    for (state, event, step) in allSteps(MessageFetch.self) {
      let waits = [.getting, .acknowledging, .looking].contains(state)
      XCTAssertEqual(step.effects.contains(.giveUpRequest), waits && event == .timeout, "\(state) \(event)")
    }
  }
}
