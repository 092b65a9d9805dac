import PorterJSON
import PorterPlatform
import Synchronization

/// One push, between the thread that waits for it, the one that says that its time is up, and the engine's turns.
struct PendingPush: Sendable {
  let answer = Promise<String>()
  /// What is to be answered if the engine does not get as far as the answer; settled once, by the engine or without it.
  let offer = Promise<String>()
  /// Fulfilled when the push has to end now; an engine in the midst of many messages sees this before it sees a job.
  let expiry = Promise<Void>()

  /// Answers for the engine, with what it has offered or nothing. From here on it can offer nothing, and records nothing
  /// as shown.
  func settle(_ reason: String) {
    offer.fulfil(Self.unanswered("expired", reason))
    if let text = offer.wait(atMost: .zero) { answer.fulfil(text) }
  }

  static func unanswered(_ outcome: String, _ reason: String) -> String {
    PushRun.json(
      outcome: outcome, reason: reason, work: .skipped, holders: [], content: PushContent(), quiescent: false, trace: []
    ).text
  }
}

/// The push that is in progress on a controller: one at a time. Waits for nothing; from any thread.
final class PushSlot: Sendable {
  private let pending = Mutex<PendingPush?>(nil)

  /// Nil when another push is in progress.
  func begin() -> PendingPush? {
    pending.withLock { pending in
      guard pending == nil else { return nil }
      let push = PendingPush()
      pending = push
      return push
    }
  }

  func end() { pending.withLock { $0 = nil } }

  var current: PendingPush? { pending.withLock { $0 } }

  /// Calls `begin` with the push in progress, unless it has its answer; nil when there is none. In one step with the look
  /// at what is in progress: else it could end meanwhile, and the next push be hit (INC-21).
  func expire(_ begin: (PendingPush) -> Void) -> PendingPush? {
    pending.withLock { pending in
      guard let pending, !pending.answer.isFulfilled else { return nil }
      begin(pending)
      return pending
    }
  }
}

/// Until when a push is waited for, and by whom.
struct PushTimes {
  /// Kept back for answering without the engine, should it hang in the operating system.
  static let reserve = Span.milliseconds(100)
  /// Of the reserve, for handing the answer over.
  static let handover = Span.milliseconds(20)

  let end: Moment

  init(started: Moment, deadline: Span) { end = started + deadline }

  /// For an answer that the engine gives by itself: its own timer has fired by then.
  func untilExpiry(from now: Moment) -> Span { end - now - Self.reserve }
  /// For the answer of an engine that was told that time is up.
  func untilHandover(from now: Moment) -> Span { end - now - Self.handover }
}
