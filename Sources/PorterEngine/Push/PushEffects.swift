import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterSchema
import PorterStore

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Carries out the effects of the machine `push`.
extension Engine {
  /// Begins a push. It is answered exactly once, before `deadline`.
  func beginPush(_ text: String, _ pending: PendingPush, started: Moment, deadline: Span) {
    let due = started + max(.zero, deadline - Durations.pushMargin)
    let run = PushRun(text: text, started: started, due: due, pending)
    push = run
    // The platform freezes an extension soon after; an app goes on, and what else it does is not cut off.
    if configuration.role == .extension { stop.set(.push, due) }
    timers.set(Self.deadlineTimer, after: max(.zero, due - configuration.clock.now())) { [weak self] in
      self?.raise(.expire, run)
    }
    do throws(PushError) {
      let payload = try PushPayload(decoding: text)
      run.payload = payload
      switch payload {
      case .message: raise(.payloadMessage, run)
      case .verification: raise(.payloadVerification, run)
      case .checkMessages: raise(.payloadWake, run)
      }
    } catch {
      run.reason = "the payload is not one of ours: \(error)"
      raise(.payloadUnknown, run)
    }
  }

  private static let deadlineTimer = "push"

  func expirePush() {
    if let push { raise(.expire, push) }
  }

  func raise(_ event: Push.Event, _ run: PushRun) {
    guard run.pump.offer(event) else { return }
    while let waiting = run.pump.next() {
      // With a relay in this process one message is one turn of the engine, in which the channel is not polled.
      channelHasNews()
      let now = configuration.clock.now()
      // And no timer fires.
      let event = run.isOver(at: now) ? Push.Event.expire : waiting
      let step = run.machine.handle(event)
      run.note(Push.name, event.name, step.next.name, at: now)
      guard event == .expire else {
        for effect in step.effects { perform(effect, run) }
        continue
      }
      stop.set(.push, nil)
      stop.whileLettingGo(waitingAtMost: Durations.lettingGo) {
        for effect in step.effects { perform(effect, run) }
      }
    }
  }

  private func perform(_ effect: Push.Effect, _ run: PushRun) {
    switch effect {
    case .readAppPhase: readAppPhase(run)
    case .openStore: raise(openStoreForPush(run), run)
    case .decodePayload: raise(decode(run), run)
    case .quarantinePayload:
      try? store?.quarantinePush(reason: run.reason, payload: run.text, at: configuration.clock.wall())
    case .verifyToken: verifyToken(run)
    case .claimNext: raise(claimNext(run), run)
    case .releaseClaim:
      if let claim = run.claimed?.claim { endClaim(claim) }
      run.claimed = nil
    case .fetchMessage: fetchInTurn(run)
    case .commitMessage: raise(commitMessage(run), run)
    case .discardWork: run.message = nil
    case .acknowledge: acknowledge(run)
    case .noteYielded: run.wasDisplaced = true
    case .noteOffline: run.wasOffline = true
    case .noteUnknown: run.metUnknown = true
    case .composeContent: raise(compose(run), run)
    case .composeBest: _ = compose(run)
    case .cancelWork: cancelWork(of: run)
    case .closeStore:
      if run.content.badge == nil { run.content.badge = try? store?.badge() }
      letGo()
      raise(.quiescent, run)
    case .closeStoreNow: letGo()
    case .answer:
      // Also what was open before the push and was not needed for it (INC-48).
      letGo()
      timers.cancel(Self.deadlineTimer)
      stop.set(.push, nil)
      push = nil
      run.finish(quiescent: isQuiescent)
    }
  }

  // MARK: Who acts

  private func readAppPhase(_ run: PushRun) {
    // In the app itself there is nobody else to ask.
    guard configuration.role == .extension else { return raise(isStopped ? .appStopped : .appInactive, run) }
    askPresence { [weak self] isAlive in
      guard let self else { return }
      let published = self.peerFile.published()
      if isAlive {
        run.skip(published?.instance.map { Owner(role: Role.app.rawValue, instance: $0) })
        self.raise(.appRunning, run)
      } else {
        self.raise(published?.phase == AppPhase.State.stopped.name ? .appStopped : .appInactive, run)
      }
    }
  }

  /// The user's word, which holds until the chat is started again, also for a process that a push has started.
  private var isStopped: Bool {
    switch appPhase.state {
    case .stopped: true
    case .suspended: phaseFile.published()?.phase == AppPhase.State.stopped.name
    case .active, .activating, .bgRefresh, .suspending: false
    }
  }

  private func openStoreForPush(_ run: PushRun) -> Push.Event {
    switch configuration.role {
    case .app: if lifecycle.state != .active { raise(AppPhase.Event.refreshBegan) }
    case .extension: raise(ExtensionPhase.Event.start)
    }
    if lifecycle.state == .active { return .storeOpened }
    guard let error = lastStoreError else { return .storeFailed }
    note(error, run)
    switch error {
    case .needsMigration, .newerSchema: return .storeWrongSchema
    case .sqlite(let error) where error.kind == .busy || error.kind == .locked: return .storeBusy
    case .sqlite(let error) where error.kind == .cannotOpen && Self.isDenied(error.systemError): return .storeLocked
    // Its app gives it the key again, as it does after the first unlock.
    case .seal(.keyForgotten): return .storeLocked
    case .sqlite, .seal, .foreign, .staleEpoch, .notFound, .duplicate, .damaged: return .storeFailed
    }
  }

  /// Why the store failed, and who had it, if it was busy.
  private func note(_ error: PorterStore.StoreError, _ run: PushRun) {
    run.fail(error)
    guard let holder = holder(in: error) else { return }
    run.reason += "; held by \(holder)"
    run.skip(holder)
  }

  /// Before the first unlock after a boot, a protected file is there but may not be read (INC-50).
  private static func isDenied(_ systemError: Int32) -> Bool { systemError == EACCES || systemError == EPERM }

  // MARK: What the push says

  private func decode(_ run: PushRun) -> Push.Event {
    guard let store, let payload = run.payload else { return .storeFailed }
    do throws(PorterStore.StoreError) {
      switch payload {
      case .checkMessages:
        run.connections = try store.connectionIDs()
        return .decodedMessage
      case .verification(let nonce, let sealedCode):
        // A registration that was cut off is finished first, and brings the secret (INC-09).
        if try openTokenAttempt(store) != nil { return .decodedVerification }
        guard let secret = try store.token()?.pushSecret else { return .decodedUnknown }
        do throws(PushError) { _ = try VerificationCode(opening: sealedCode, nonce: nonce, with: secret) } catch {
          run.reason = "the verification push does not open: \(error)"
          return .decodedUndecryptable
        }
        return .decodedVerification
      case .message(let nonce, let ciphertext):
        guard let secret = try store.token()?.pushSecret else { return .decodedUnknown }
        return try decode(nonce, ciphertext, secret, run, store)
      }
    } catch {
      run.reason = error.description
      return .storeFailed
    }
  }

  private func decode(
    _ nonce: BoxNonce, _ ciphertext: [UInt8], _ secret: BoxSharedKey, _ run: PushRun, _ store: Store
  ) throws(PorterStore.StoreError) -> Push.Event {
    let bundle: NotificationBundle
    do throws(PushError) { bundle = try NotificationBundle(opening: ciphertext, nonce: nonce, with: secret) } catch {
      run.reason = "the push does not open: \(error)"
      return .decodedUndecryptable
    }
    var isRepeat = true
    for entry in bundle.entries {
      // A mailbox that we do not know, such as one of a deleted contact, is no reason to leave the others (INC-44).
      guard let connection = try connection(notifierID: entry.notifier, run, store) else { continue }
      if !run.connections.contains(connection.id) { run.connections.append(connection.id) }
      let metadata = connection.notifierSecret.flatMap {
        try? RelayMessageMetadata(opening: entry.sealedMetadata, with: $0, nonce: entry.metadataNonce)
      }
      let known = try metadata.flatMap { (metadata) throws(PorterStore.StoreError) in
        try store.ledgerEntry(connectionID: connection.id, messageID: metadata.message.bytes)
      }
      if known == nil { isRepeat = false }
    }
    if run.connections.isEmpty { return run.hasFailed ? .storeFailed : .decodedUnknown }
    return isRepeat ? .decodedRepeat : .decodedMessage
  }

  /// Nil for one that is not known, or whose record is damaged.
  private func connection(
    notifierID: [UInt8], _ run: PushRun, _ store: Store
  ) throws(PorterStore.StoreError) -> StoredConnection? {
    do throws(PorterStore.StoreError) { return try store.connection(notifierID: notifierID) } catch .damaged(let entity)
    {
      run.fail(.damaged(entity))
      return nil
    }
  }

  private func verifyToken(_ run: PushRun) {
    let left: (token: StoredToken, attempt: TokenAttempt)?
    do throws(PorterStore.StoreError) { left = try leftTokenAttempt() } catch {
      run.reason = error.description
      return raise(.storeFailed, run)
    }
    guard let (token, attempt) = left else { return sendCode(run) }
    // The app was cut off. Asked again under this process's name, so that what the app still does with the earlier answer
    // is refused (INC-09).
    finish(attempt, of: token) { [weak self] in
      switch attempt {
      case .register: self?.sendCode(run)
      case .replace:
        run.reason = "the token was being replaced; the server sends another code"
        self?.raise(.verifyFailed, run)
      }
    }
  }

  private func sendCode(_ run: PushRun) {
    guard case .verification(let nonce, let ciphertext) = run.payload, let token = try? store?.token() else {
      return raise(.verifyFailed, run)
    }
    verify(token, nonce: nonce, sealedCode: ciphertext, within: Durations.serverAnswer) { [weak self] answer in
      if case .error = answer { run.reason = "the notification server did not take the code" }
      if case .error = answer { self?.raise(.verifyFailed, run) } else { self?.raise(.verified, run) }
    }
  }

  // MARK: One message after the other

  private func claimNext(_ run: PushRun) -> Push.Event {
    guard store != nil else { return .storeFailed }
    while !run.connections.isEmpty {
      let id = run.connections.removeFirst()
      do throws(PorterStore.StoreError) {
        switch try claim(id) {
        case .granted(let claimed):
          run.claimed = claimed
          return .claimGranted
        case .skipped(let holder):
          run.skip(holder)
          return .claimBusy
        }
      } catch .notFound(.connection) {
        run.metUnknown = true
      } catch .damaged(let entity) {
        run.fail(.damaged(entity))
      } catch {
        // What is committed already is shown all the same.
        note(error, run)
        return .claimNoneLeft
      }
    }
    return .claimNoneLeft
  }

  /// After a message, the next one is another turn's, so that the engine hears who asks it to let go.
  private func fetchInTurn(_ run: PushRun) {
    guard run.looks > 1 else { return fetchMessage(run) }
    later { [weak self] in
      guard run.machine.state == .fetching else { return }
      self?.fetchMessage(run)
    }
  }

  private func fetchMessage(_ run: PushRun) {
    guard let claimed = run.claimed else { return raise(.storeFailed, run) }
    getMessage(claimed) { [weak self] result in
      switch result {
      case .success(let message?):
        run.message = message
        self?.raise(.fetchMessage, run)
      case .success(nil):
        run.looks += 1
        self?.raise(.fetchEmpty, run)
      case .failure(.auth): self?.raise(.fetchDenied, run)
      case .failure(let error):
        run.reason = error.description
        self?.raise(.fetchOffline, run)
      }
    }
  }

  private func commitMessage(_ run: PushRun) -> Push.Event {
    guard let message = run.message, let claimed = run.claimed, let delivery = begin(.delivery) else {
      return .commitFailed
    }
    run.delivery = delivery
    switch commit(message, under: claimed.claim) {
    case .committed(let events):
      FaultPoint.reach(.afterCommit)
      for event in events { emit(event) }
      run.committed += 1
      run.looks += 1
      flushOutbox()
      return .commitDone
    case .repeated:
      run.looks += 1
      return .commitRepeat
    case .quarantined:
      run.looks += 1
      run.quarantined += 1
      return .commitQuarantined
    case .failed(.staleEpoch(let owner)):
      run.skip(owner)
      run.endDelivery()
      return .commitStale
    case .failed(.damaged(let entity)):
      run.endDelivery()
      run.fail(.damaged(entity))
      return .commitDamaged
    case .failed(let error):
      run.endDelivery()
      note(error, run)
      return .commitFailed
    }
  }

  private func acknowledge(_ run: PushRun) {
    guard let message = run.message, let claimed = run.claimed else { return raise(.acknowledgeFailed, run) }
    acknowledge(message, claimed) { [weak self] result in
      run.message = nil
      run.endDelivery()
      if case .success = result { self?.raise(.acknowledged, run) } else { self?.raise(.acknowledgeFailed, run) }
    }
  }

  // MARK: Letting go

  private func cancelWork(of run: PushRun) {
    // In the app, a command may be waiting for the server, which is none of this push's business.
    if configuration.role == .extension { abandonServerRequests() }
    if let claim = run.claimed?.claim { endClaim(claim) }
    run.claimed = nil
  }

  /// An extension's process may be frozen the moment it has answered (INC-48). The app goes on.
  private func letGo() {
    guard configuration.role == .extension, !isQuiescent else { return }
    suspendNow()
  }
}
