import PorterJSON
import PorterNotifications
import PorterPlatform
import PorterPush

/// A controller's pushes, from any thread.
extension Controller {
  /// The most exchanges with the relay that are useful at the same time: one for each push, one for sending, and those
  /// that receive what no push is about. `NP_RELAY_CALLS` in the header.
  package static let exchangesAtOnce = PushQueue.bound + 1 + RelayWays.receivingWays

  /// `identifier` is the caller's name for the push, used to expire it.
  package func receivePush(_ payload: String, identifier: String? = nil, deadline: Span) -> String {
    let started = configuration.clock.now()
    let admission = pushes.add(payload, identifier, log: configuration.log) { push in
      turns.enqueue { $0.pushes.arrive(payload, push, started: started, deadline: deadline) }
    }
    switch admission {
    case .full:
      let isHeard = NoticeMark(configuration).makesSound
      let content = content(without: payload, isHeard: isHeard)
      if !content.isEmpty { NoticeMark(configuration).set(isHeard: isHeard) }
      return PushRun.unanswered("expired", "\(PushQueue.bound) pushes are waiting", content)
    case .refused: return PushRun.unanswered("failed", "the controller was freed")
    case .admitted(let push):
      defer { pushes.remove(push) }
      return answer(to: push, PushTimes(started: started, deadline: deadline))
    }
  }

  private func answer(to push: PendingPush, _ times: PushTimes) -> String {
    let patience = times.untilExpiry(from: configuration.clock.now())
    if let text = turns.wait(for: push.answer, atMost: patience) { return text }
    // The engine's own timer has fired by now, unless the engine waits for the disk or another process.
    expire(push)
    let left = times.untilHandover(from: configuration.clock.now())
    awaitAnswer(to: push, within: left, "the engine did not end in time")
    return turns.wait(for: push.answer, atMost: nil) ?? ""
  }

  /// Ends the push in progress. Returns false when there is none.
  package func expirePush() -> Bool {
    guard let push = pushes.running else { return false }
    expire(push)
    awaitAnswer(to: push, within: PushTimes.reserve, "time was up while the engine was at work")
    return true
  }

  /// Ends the pushes with this name, whether in progress or waiting for their turn. Returns false when there are none.
  package func expirePush(_ identifier: String) -> Bool {
    let named = pushes.named(identifier)
    for push in named { expire(push) }
    for push in named { awaitAnswer(to: push, within: PushTimes.reserve, "time was up while the engine was at work") }
    return !named.isEmpty
  }

  /// For a controller that is being freed.
  func expireAllPushes() -> [PendingPush] {
    let all = pushes.all
    for push in all { expire(push) }
    return all
  }

  private func expire(_ push: PendingPush) {
    // Decided in one step with the push's state: a push that has ended since is left alone, and so is the next one
    // (INC-21).
    guard let urgency = push.expire() else { return }
    // An extension may be frozen after its answer, and must have released everything by then.
    let interrupts = urgency == .interrupts && configuration.role == .extension
    enqueue(interrupts ? .now : .none) { $0.pushes.expire(push) }
  }

  /// Waits for the engine's best answer so far; without one, answers the push itself.
  private func awaitAnswer(to push: PendingPush, within span: Span, _ reason: String) {
    if turns.wait(for: push.answer, atMost: span) == nil { answerWithoutEngine(push, reason) }
  }

  /// At this point it is unknown what the push names.
  func answerWithoutEngine(_ push: PendingPush, _ reason: String) {
    // The engine may have staged something, or answered, in the meantime.
    let isHeard = NoticeMark(configuration).makesSound
    let givesNotice = push.answerWithoutEngine(content(without: push.payload, isHeard: isHeard)) { notice in
      .init(text: PushRun.unanswered("expired", reason, notice), givesNotice: !notice.isEmpty)
    }
    if givesNotice { NoticeMark(configuration).set(isHeard: isHeard) }
  }

  /// The content for a payload that the engine has not looked into.
  private func content(without payload: String, isHeard: Bool) -> PushContent {
    var content = PushContent()
    if !isOnScreen, let push = try? PushPayload(decoding: payload), case .message = push,
      !SilentPush.isSilent(push, configuration)
    {
      content.notifications = [NotificationNotice.event.content(isHeard: isHeard).json(in: strings.current)]
    }
    return content
  }
}
