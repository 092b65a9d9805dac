import PorterJSON
import PorterNotifications
import PorterPlatform
import PorterPush

/// The pushes of a controller, from any thread.
extension Controller {
  /// As many exchanges with the relay as can be of use at the same time: one for each push, one that receives, and one that sends.
  /// `NP_RELAY_CALLS` in the header.
  package static let exchangesAtOnce = PushQueue.bound + 2

  /// `identifier` is what the caller calls the push, to expire it by.
  package func receivePush(_ payload: String, identifier: String? = nil, deadline: Span) -> String {
    let started = configuration.clock.now()
    let admission = pushes.add(identifier) { push in
      turns.enqueue { $0.pushes.arrive(payload, push, started: started, deadline: deadline) }
    }
    switch admission {
    case .full: return unanswered("\(PushQueue.bound) pushes are waiting", payload)
    case .refused: return PushRun.unanswered("failed", "the controller was freed")
    case .admitted(let push):
      defer { pushes.remove(push) }
      return answer(to: push, payload, PushTimes(started: started, deadline: deadline))
    }
  }

  private func answer(to push: PendingPush, _ payload: String, _ times: PushTimes) -> String {
    let patience = times.untilExpiry(from: configuration.clock.now())
    if let text = turns.wait(for: push.answer, atMost: patience) { return text }
    // The engine's own timer has fired by now, unless the engine waits for the disk or another process.
    expire(push)
    let left = times.untilHandover(from: configuration.clock.now())
    awaitAnswer(to: push, within: left, unanswered("the engine did not end in time", payload))
    return turns.wait(for: push.answer, atMost: nil) ?? ""
  }

  /// Ends the push in progress. False when there is none.
  package func expirePush() -> Bool {
    guard let push = pushes.running else { return false }
    expire(push)
    awaitAnswer(to: push, within: PushTimes.reserve, unanswered("time was up while the engine was at work"))
    return true
  }

  /// Ends the pushes of this name, whether they are in progress or wait for their turn. False when there is none.
  package func expirePush(_ identifier: String) -> Bool {
    let named = pushes.named(identifier)
    for push in named { expire(push) }
    for push in named {
      awaitAnswer(to: push, within: PushTimes.reserve, unanswered("time was up while the engine was at work"))
    }
    return !named.isEmpty
  }

  /// For a controller that is freed.
  func expireAllPushes() -> [PendingPush] {
    let all = pushes.all
    for push in all { expire(push) }
    return all
  }

  private func expire(_ push: PendingPush) {
    // Decided in one step with the state of the push: one that ended meanwhile is left alone, and so is the next (INC-21).
    guard let urgency = push.expire() else { return }
    // An extension may be frozen after its answer, and must have released everything by then.
    let interrupts = urgency == .interrupts && configuration.role == .extension
    enqueue(interrupts ? .now : .none) { $0.pushes.expire(push) }
  }

  /// The engine gives its best now; if it does not, the push is answered without it.
  private func awaitAnswer(to push: PendingPush, within span: Span, _ text: String) {
    if turns.wait(for: push.answer, atMost: span) == nil { push.answerWithoutEngine(text) }
  }

  /// An answer without the engine: what the push names is not known.
  private func unanswered(_ reason: String, _ payload: String? = nil) -> String {
    var content = PushContent()
    if !isOnScreen, let payload, let push = try? PushPayload(decoding: payload), case .message = push,
      !SilentPush.isSilent(push, configuration)
    {
      let strings = ProcessStrings.shared.table ?? .english
      content.notifications = [NotificationNotice.event.content.json(in: strings)]
      NoticeMark(configuration).set()
    }
    return PushRun.unanswered("expired", reason, content)
  }
}
