import PorterCrypto
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Carries each push from the call to its single answer. Owns those in progress and their machines.
///
/// Whether a push is about a call is known only once its mailbox was looked into. So pushes run side by side, and none
/// waits for what another one waits for (INC-43). They share what they find: claims, emptied mailboxes, and the ledger.
final class PushRunner {
  unowned let engine: Engine
  let context: EngineContext
  private let presentation: PushPresentation
  let vanished: VanishedMessages
  /// Pushes in progress, in order of arrival.
  private(set) var running: [PushRun] = []
  /// Pushes that arrived while everything was being released.
  private var waiting: [PushRun] = []
  /// The last push, for which everything is being released.
  private var releasing: PushRun?
  /// When a connection's mailbox was last seen empty: pushes that arrived earlier need not look again.
  var emptySince = [Int64: Moment]()
  private var arrived = 0
  /// Pushes that looked into the mailboxes since the last time none was in progress.
  private var looks = LookRecord()

  init(_ engine: Engine) {
    self.engine = engine
    context = engine.context
    presentation = PushPresentation(engine.context, engine.strings, engine.scopes)
    vanished = VanishedMessages(engine.context)
  }

  /// The state of the oldest push in progress.
  var state: Push.State? { running.first?.state }
  /// How many pushes are unanswered, in addition to the oldest.
  var waitingCount: Int { max(0, running.count + waiting.count - 1) }

  /// Takes in a new push. It is answered exactly once, before `deadline`.
  func arrive(_ text: String, _ pending: PendingPush, started: Moment, deadline: Span) {
    let due = started + max(.zero, deadline - Durations.pushMargin)
    arrived += 1
    let run = PushRun(text: text, started: started, due: due, number: arrived, pending)
    run.driver = MachineDriver(context.machines) { [unowned self] effect, run in
      withTime(of: run) { Push.perform(effect, by: self, run) }
    }
    // For an answer that must be given without the engine.
    if context.role == .app { run.nextRefresh = RefreshSchedule.least }
    do throws(PushError) { run.payload = try PushPayload(decoding: text) } catch {
      run.reason = "the payload is not one of ours: \(error)"
    }
    context.timers.set(run.timer, after: max(.zero, due - context.clock.now())) { [weak self] in
      self?.post(.expire, run)
    }
    waiting.append(run)
    beginWaiting()
  }

  private func beginWaiting() {
    guard releasing == nil else { return }
    let new = waiting
    waiting = []
    let sending = running.filter(isSending)
    running += new
    FaultPoint.note(pushes: running.count)
    if running.isEmpty {
      emptySince.removeAll()
      looks = LookRecord()
      engine.mailboxWatch.forget()
    }
    // Anything left to send waits for the new push.
    if !new.isEmpty { for run in sending { post(.sent, run) } }
    for run in new { begin(run) }
  }

  private func begin(_ run: PushRun) {
    run.pending.begin()
    limitWork()
    switch run.payload {
    case .message: post(.payloadMessage, run)
    case .verification: post(.payloadVerification, run)
    case .checkMessages: post(.payloadWake, run)
    case nil: post(.payloadUnknown, run)
    }
  }

  /// An extension working on a push sends nothing until what the push shows is settled.
  var admitsSending: Bool { context.role != .extension || running.allSatisfy(isSending) }

  private func isSending(_ run: PushRun) -> Bool {
    if case .moved? = run.driver?.answer(to: .sent) { true } else { false }
  }

  // MARK: Time

  /// A push's work ends with its own time, not with another push's. The platform freezes an extension soon after; an
  /// app continues, and its other work is not cut off.
  private func withTime(of run: PushRun, _ body: () -> Void) {
    run.cuts = context.stop.cuts
    guard context.role == .extension, running.contains(where: { $0 === run }) else { return body() }
    context.stop.set(.push, end(of: run))
    body()
    limitWork()
  }

  /// Work done alongside the pushes must not take time from any of them.
  private func limitWork() {
    guard context.role == .extension else { return }
    let now = context.clock.now()
    var (first, firstInTime): (Moment?, Moment?)
    for run in running {
      let end = end(of: run)
      first = min(first ?? end, end)
      if !run.isOver(at: now) { firstInTime = min(firstInTime ?? end, end) }
    }
    context.stop.set(.push, firstInTime ?? first)
  }

  private func end(of run: PushRun) -> Moment {
    run.pending.isExpired ? min(run.due, context.clock.now()) : run.due
  }

  /// Whether a store error means that some other time limit was up, such as another push's, which cuts off what the
  /// engine waits for. This push has its own time, and tries again.
  func isOthersTime(_ error: StoreError, _ run: PushRun) -> Bool {
    guard case .sqlite(let error) = error, [.interrupted, .busy].contains(error.kind) else { return false }
    return run.cuts != context.stop.cuts && !run.isOver(at: context.clock.now())
  }

  /// The same check for what a push reads or composes, which reports that the store failed.
  private func isOthersTime(_ event: Push.Event, _ run: PushRun) -> Bool {
    guard event == .storeFailed, let error = run.takeStoreError() else { return false }
    return isOthersTime(error, run)
  }

  /// Time is up for this push.
  func expire(_ pending: PendingPush) {
    guard let run = (running + waiting).first(where: { $0.pending === pending }) else { return }
    post(.expire, run)
  }

  /// Time is up for the round that an app's pushes form.
  func expireAll() {
    for run in running { post(.expire, run) }
  }

  /// A call to this connection was committed alongside the pushes. It must not wait as long as a message may for what
  /// else they look into. If none of the pushes that can still show it is about it, the rounds show it, or any of them.
  func callCommitted(_ connectionID: Int64) {
    let able = running.filter { $0.driver?.answer(to: .callCame) == .stayed }
    let about = able.filter { isAbout(connectionID, $0) }
    let rounds = able.filter { $0.isRound }
    for run in !about.isEmpty ? about : !rounds.isEmpty ? rounds : able { post(.callCame, run) }
  }

  /// Whether a push in progress is about this connection and says so.
  func name(_ connectionID: Int64) -> Bool {
    running.contains { isAbout(connectionID, $0) }
  }

  private func isAbout(_ connectionID: Int64, _ run: PushRun) -> Bool {
    guard case .message = run.payload else { return false }
    return run.named?.contains { $0.id == connectionID } ?? false
  }

  /// Returns false when there is no push in progress.
  func yieldToApp(_ app: Owner) -> Bool {
    for run in running {
      run.noteHeld(by: app)
      post(.appWoke, run)
    }
    return !running.isEmpty
  }

  /// A push whose time is up ends, whatever event was due: no timer fires while one message follows another.
  func post(_ event: Push.Event, _ run: PushRun) {
    let event = run.isOver(at: context.clock.now()) ? .expire : event
    run.driver?.post(event, run) { [context] answer in
      switch answer {
      case .moved, .stayed: run.findings.note(event)
      case .ignored, .refused: break
      }
      run.note(Push.name, event.name, run.state.name, at: context.clock.now())
    }
  }

  /// The store is released: the push ends, even if its time was up in the meantime.
  private func end(_ run: PushRun, _ outcome: Push.Event) {
    run.driver?.post(outcome, run) { [context] _ in
      run.note(Push.name, outcome.name, run.state.name, at: context.clock.now())
    }
  }

  /// Notes why the store failed, and which process had it if it was busy.
  func note(_ error: StoreError, _ run: PushRun) {
    run.reason = error.description
    guard let holder = engine.lifecycle.holder(in: error) else { return }
    run.reason += "; held by \(holder)"
    run.noteHeld(by: holder)
  }
}

// MARK: - Which process acts, and the store

extension PushRunner: PushEffects {
  func readAppPhase(_ run: PushRun) {
    // In the app itself there is no other process to ask.
    guard context.role == .extension else {
      return post(engine.lifecycle.phase.isStopped ? .appStopped : .appInactive, run)
    }
    engine.peers.askPresence { [weak self] isAlive in
      guard let self else { return }
      let published = self.engine.peers.peerFile.published()
      if isAlive, published?.showsWhatArrives ?? true {
        run.noteHeld(by: published?.instance.map { Owner(role: Role.app.rawValue, instance: $0) })
        self.post(.appRunning, run)
      } else {
        self.post(published?.isStopped == true ? .appStopped : .appInactive, run)
      }
    }
  }

  /// Runs this in a later turn, if the push still waits for it then.
  func again(_ run: PushRun, in state: Push.State, _ work: @escaping (PushRunner) -> Void) {
    context.later { [weak self] in
      if let self, run.state == state { withTime(of: run) { work(self) } }
    }
  }

  /// An extension's process may be frozen as soon as it has answered (INC-48), and so may an app that is not on screen.
  /// An app on screen keeps what it has open.
  func releaseStore(_ run: PushRun) {
    let outcome = run.findings.outcome
    if run.content.badge == nil, outcome != .releasedExpired { run.content.badge = try? context.store?.badge() }
    if context.role == .extension, outcome == .releasedOffline || outcome == .releasedExpired {
      engine.receiver.polling.makeDue()
    }
    looks.note(run.number, run.findings.look)
    guard isLast(run) else { return end(run, outcome) }
    if context.role == .app {
      // Time was up before the round began: a process just launched still releases what it has open.
      if !engine.isQuiescent, engine.lifecycle.phase.stateName == AppPhase.State.suspended.name {
        engine.refresh.begin()
      }
      // A host that reports that time is up may be frozen next, and a call does not wait for what still hangs.
      let now = context.clock.now()
      let hurries = run.isOver(at: now) || run.findings.isHurried
      return engine.refresh.end(isWhole: looks.isWhole, by: hurries ? now : run.due) { [weak self] in
        self?.end(run, outcome)
      }
    }
    guard !engine.isQuiescent else { return end(run, outcome) }
    releasing = run
    engine.lifecycle.release(by: run.due) { [weak self] in self?.end(run, outcome) }
  }

  /// The store is released only after the last push. Of those that end in one turn, that is the one whose step comes
  /// last.
  private func isLast(_ run: PushRun) -> Bool {
    running.contains { $0 === run } && running.allSatisfy { $0 === run || $0.state == .releasing }
  }

  func composeNotice(_ run: PushRun) {
    let mark = NoticeMark(context.configuration)
    run.isOnScreen = engine.lifecycle.phase.isOnScreen
    guard let notice = run.notice(isShown: mark.isSet), !SilentPush.isSilent(run.payload, context.configuration)
    else { return }
    let isHeard = mark.makesSound
    run.content.notifications = [notice.content(isHeard: isHeard).json(in: engine.strings.current)]
    mark.set(isHeard: isHeard)
  }

  func answer(_ run: PushRun) {
    context.timers.cancel(run.timer)
    context.timers.cancel(Self.callTimer(run))
    context.timers.cancel(Self.sendingTimer(run))
    running.removeAll { $0 === run }
    FaultPoint.note(pushes: running.count)
    waiting.removeAll { $0 === run }
    if releasing === run { releasing = nil }
    limitWork()
    run.nextRefresh = engine.refresh.nextRefresh
    let isTaken = run.finish(quiescent: engine.isQuiescent)
    NoticeMark(context.configuration).end(run.content.withdrawnNotice, isTaken: isTaken)
    beginWaiting()
  }

  // MARK: What the push says

  func decodePayload(_ run: PushRun) {
    let decoder = PushDecoder(context, engine.source, engine)
    let event = decoder.decode(run)
    if isOthersTime(event, run) { return again(run, in: .decoding) { $0.decodePayload(run) } }
    post(event, run)
    if decoder.findsCall(run) { post(.callCame, run) }
  }

  func quarantinePayload(_ run: PushRun) {
    try? context.store?.quarantinePush(reason: run.reason, payload: run.text, at: context.clock.wall())
  }

  func cancelWork(_ run: PushRun) {
    // In the app, a command may be waiting for the server, which does not concern this push. Neither does another
    // push's code.
    if context.role == .extension, run.isVerification,
      !running.contains(where: { $0 !== run && $0.isVerification && $0.state == .verifying })
    {
      engine.tokens.abandonRequests()
    }
    giveRequestUp(run)
    releaseClaim(run)
  }

  // MARK: What is shown

  func composeContent(_ run: PushRun) {
    // The process was told to rest in the meantime: the push is out of time, and nothing has failed.
    guard context.store != nil else { return post(.expire, run) }
    engine.calls.expireDue()
    let event = compose(run)
    if isOthersTime(event, run) { return again(run, in: .presenting) { $0.composeContent(run) } }
    post(event, run)
  }

  private func compose(_ run: PushRun) -> Push.Event {
    run.isOnScreen = engine.lifecycle.phase.isOnScreen
    return presentation.compose(run)
  }

  /// An app sends on its own.
  func sendOutbox(_ run: PushRun) {
    run.findings.noteSettled()
    let isLast = running.allSatisfy { $0 === run || $0.state == .sending || $0.state == .releasing }
    guard context.role == .extension, isLast, !run.findings.isLeftToApp, run.findings.hasReachedRelayAndStore
    else { return post(.sent, run) }
    context.timers.set(Self.sendingTimer(run), after: Durations.sendingPatience) { [weak self] in self?.post(.sent, run)
    }
    engine.sender.flush { [weak self] in self?.post(.sent, run) }
  }

  private static func sendingTimer(_ run: PushRun) -> String { run.timer + " sends" }

  func composeBest(_ run: PushRun) {
    // It has not read what it is about, and the store may be open for another push.
    if run.named == nil, context.store != nil { _ = PushDecoder(context, engine.source, engine).decode(run) }
    // Shown even though time is up.
    context.stop.withReleaseBudget(Durations.releaseBudget) {
      engine.calls.expireDue()
      _ = compose(run)
    }
  }
}
