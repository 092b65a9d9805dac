import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// How a push takes in waiting messages: it claims a connection, then fetches, commits and acknowledges one message
/// after another.
extension PushRunner {
  func claimNext(_ run: PushRun) {
    if context.role == .app { return receive(run) }
    guard context.store != nil else { return post(.storeFailed, run) }
    if let named = nextConnection(of: run) { return claim(named, run) }
    let unasked = run.takeUnasked()
    guard unasked.count < 2 else { return askWhoWaits(among: unasked, run) }
    run.look(alsoInto: unasked)
    if let named = nextConnection(of: run) { claim(named, run) } else { post(.claimNoneLeft, run) }
  }

  private func claim(_ named: NamedConnection, _ run: PushRun) {
    run.wanted = named
    let holder = ConnectionClaims.Holder(
      rank: run.number, asked: { run.asked }, giveBack: { [weak self] in self?.post(.mailboxTaken, run) })
    let waiter = waiter(run)
    engine.mailboxWatch.begin(named.id, waiter)
    engine.claims.claim(named.id, known: named.record, for: holder) { [weak self] result in
      guard let self else { return }
      engine.mailboxWatch.end(named.id, waiter)
      switch result {
      case .success(.granted(let claimed)) where run.state != .claiming:
        // Its time was up before the connection became free.
        self.engine.claims.end(claimed.claim)
      case .failure(let error) where self.isOthersTime(error, run):
        self.again(run, in: .claiming) { $0.claim(named, run) }
      case .success(.granted(let claimed)):
        run.holding = .connection(claimed)
        self.post(.claimGranted, run)
      case .success(.skipped(let holder)):
        run.noteHeld(by: holder)
        self.post(.claimBusy, run)
      case .failure(.notFound(.connection)):
        run.noteExhausted(named.id)
        self.post(.claimMissing, run)
      case .failure(.damaged(let entity)):
        run.reason = StoreError.damaged(entity).description
        self.post(.claimDamaged, run)
      case .failure(let error):
        self.note(error, run)
        self.post(.claimFailed, run)
      }
    }
  }

  private func waiter(_ run: PushRun) -> MailboxWaiter {
    MailboxWaiter(name: run.timer, rank: run.number, since: run.started) { run.state == .claiming }
  }

  func putMailboxBack(_ run: PushRun) {
    giveRequestUp(run)
    run.putBack()
  }

  /// Stops waiting for the answer, and asks for nothing on behalf of a push that has ended.
  func giveRequestUp(_ run: PushRun) {
    run.forgetRequest()
    if let claimed = run.holding.claimed { engine.source.giveUp(claimed.claim) }
  }

  /// Only connections with something waiting are claimed.
  private func askWhoWaits(among connections: [NamedConnection], _ run: PushRun) {
    let asked = context.clock.now()
    let announced = vanished.newestAnnounced()
    engine.source.whoWaits(among: connections.map(\.id)) { [weak self] result in
      guard let self, run.state == .claiming else { return }
      switch result {
      case .success(let waiting?):
        let waiting = Set(waiting)
        let empty = connections.filter { !waiting.contains($0.id) }
        for connection in empty {
          run.noteExhausted(connection.id)
          emptySince[connection.id] = asked
          vanished.note(connection.id, through: announced[connection.id])
        }
        if !empty.isEmpty { run.findings.note(.fetchEmpty) }
        run.look(alsoInto: connections.filter { waiting.contains($0.id) })
        claimNext(run)
      case .success(nil):
        run.look(alsoInto: connections)
        claimNext(run)
      case .failure(let error):
        run.reason = error.description
        run.findings.note(.fetchOffline)
        post(.claimNoneLeft, run)
      }
    }
  }

  /// An app receives on its own: two fetches by one process on one connection would displace each other.
  private func receive(_ run: PushRun) {
    var named: [Int64] = []
    while let next = run.nextConnection() { named.append(next.id) }
    engine.receiver.look(into: named, for: waiter(run), emptied: { run.noteExhausted($0) }) { [weak self] look in
      for finding in look.findings { run.findings.note(finding) }
      for holder in look.holders { run.noteHeld(by: holder) }
      if let reason = look.reason { run.reason = reason }
      self?.post(.claimNoneLeft, run)
    }
  }

  /// A mailbox found empty after this push arrived counts as looked into for it as well.
  private func nextConnection(of run: PushRun) -> NamedConnection? {
    while let named = run.nextConnection() {
      if !isEmpty(named.id, for: run) { return named }
    }
    return nil
  }

  private func isEmpty(_ connectionID: Int64, for run: PushRun) -> Bool {
    guard let since = emptySince[connectionID], since >= run.started else { return false }
    run.noteExhausted(connectionID)
    return true
  }

  func releaseClaim(_ run: PushRun) {
    if case .committed(_, _, _, let delivery) = run.holding { delivery.end() }
    if let claim = run.holding.claimed?.claim { engine.claims.end(claim) }
    run.holding = .nothing
  }

  /// After a message, the next one gets a turn of its own, so that the engine can handle requests in between.
  func fetchMessage(_ run: PushRun) {
    guard run.findings.answers > 1 else { return fetchNow(run) }
    context.later { [weak self] in
      guard run.state == .fetching else { return }
      self?.fetchNow(run)
    }
  }

  private func fetchNow(_ run: PushRun) {
    // With a source that answers synchronously, messages follow one another without the channel being polled in
    // between.
    engine.peers.receive()
    guard let claimed = run.holding.claimed else { return post(.storeFailed, run) }
    // Another push has emptied it while this one waited for the connection.
    if isEmpty(claimed.connection.id, for: run) { return post(.fetchEmpty, run) }
    FaultPoint.reach(.beforeFetch)
    let asked = context.clock.now()
    let request = run.ask(at: asked)
    engine.source.fetch(claimed) { [weak self] result in
      FaultPoint.reach(.afterFetch)
      guard run.noteAnswer(to: request) else { return }
      switch result {
      case .success(let message?):
        run.holding = .message(message, claimed)
        self?.post(.fetchMessage, run)
      case .success(nil): self?.noteEmpty(claimed, since: asked, run)
      case .failure(let error) where error.kind == .denied:
        run.noteExhausted(claimed.connection.id)
        self?.vanished.note(claimed.connection)
        self?.post(.fetchDenied, run)
      case .failure(let error):
        run.reason = error.description
        self?.post(.fetchOffline, run)
      }
    }
  }

  /// Posts nothing and tries again when another push's time was up.
  func commitMessage(_ run: PushRun) {
    if let event = commit(run) { post(event, run) }
  }

  private func commit(_ run: PushRun) -> Push.Event? {
    guard case .message(let message, let claimed) = run.holding, let delivery = engine.begin(.delivery) else {
      return .commitFailed
    }
    switch engine.committer.commit(message, under: claimed.claim) {
    case .committed(let committed):
      FaultPoint.reach(.afterCommit)
      run.records.note(committed)
      run.holding = .committed(message, committed, claimed, delivery)
      return committed.rings ? .commitCall : .commitDone
    case .repeated(let committed):
      run.holding = .committed(message, committed, claimed, delivery)
      return .commitRepeat
    case .quarantined(let committed):
      run.holding = .committed(message, committed, claimed, delivery)
      return .commitQuarantined
    case .failed(let error):
      delivery.end()
      guard !isOthersTime(error, run) else {
        again(run, in: .committing) { $0.commitMessage(run) }
        return nil
      }
      return whyNotCommitted(error, run)
    }
  }

  private func whyNotCommitted(_ error: StoreError, _ run: PushRun) -> Push.Event {
    switch error {
    case .staleEpoch(let owner):
      run.noteHeld(by: owner)
      return .commitStale
    case .damaged:
      run.reason = error.description
      return .commitDamaged
    case .sqlite, .seal, .foreign, .needsMigration, .newerSchema, .notFound, .duplicate:
      note(error, run)
      return .commitFailed
    }
  }

  static func callTimer(_ run: PushRun) -> String { run.timer + " with a call" }

  /// With several calls, the first one counts.
  func armCallDeadline(_ run: PushRun) {
    guard !context.timers.isSet(Self.callTimer(run)) else { return }
    context.timers.set(Self.callTimer(run), after: Durations.callPatience) { [weak self] in self?.post(.callWaits, run)
    }
  }

  func discardWork(_ run: PushRun) {
    if let claimed = run.holding.claimed { run.holding = .connection(claimed) }
  }

  func acknowledge(_ run: PushRun) {
    guard case .committed(let message, let committed, let claimed, let delivery) = run.holding else {
      return post(.acknowledgeFailed, run)
    }
    run.holding = .connection(claimed)
    FaultPoint.reach(.beforeAcknowledge)
    let asked = context.clock.now()
    let request = run.ask(at: asked)
    engine.source.acknowledge(message, claimed.with(committed.connection)) { [weak self] result in
      FaultPoint.reach(.afterAcknowledge)
      let isAwaited = run.noteAnswer(to: request)
      // A request without an answer may have been carried out. The message is committed, and then does not come again.
      self?.engine.committer.emitMarker(message, committed)
      delivery.end()
      guard isAwaited else { return }
      switch result {
      case .success(.message(let next)): self?.takeNext(next, under: claimed, run)
      case .success(.nothing): self?.noteEmpty(claimed, since: asked, run)
      case .success(.unknown): self?.post(.acknowledged, run)
      case .failure: self?.post(.acknowledgeFailed, run)
      }
    }
  }

  /// In another turn, so that the engine can handle requests in between.
  private func takeNext(_ message: SourceMessage, under claimed: ClaimedConnection, _ run: PushRun) {
    context.later { [weak self] in
      guard run.state == .acknowledging, run.holding.claimed?.claim == claimed.claim else { return }
      self?.engine.peers.receive()
      run.holding = .message(message, claimed)
      self?.post(.fetchMessage, run)
    }
  }

  private func noteEmpty(_ claimed: ClaimedConnection, since asked: Moment, _ run: PushRun) {
    run.noteExhausted(claimed.connection.id)
    emptySince[claimed.connection.id] = asked
    vanished.note(claimed.connection)
    post(.fetchEmpty, run)
  }
}
