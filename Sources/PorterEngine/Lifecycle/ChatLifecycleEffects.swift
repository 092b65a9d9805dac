import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Carries out the effects of the machine `chat_lifecycle`.
extension Engine {
  /// Steps the machine and does what it says. Gives the answer, for whoever has to tell a host why nothing happened.
  @discardableResult
  func raise(_ event: ChatLifecycle.Event) -> MachineAnswer<ChatLifecycle.Reason> {
    let step = lifecycle.handle(event)
    log(.debug, "chat_lifecycle", ["event": event.name, "state": lifecycle.state.name])
    for effect in step.effects { perform(effect) }
    return step.answer
  }

  private func perform(_ effect: ChatLifecycle.Effect) {
    switch effect {
    case .openStore: if !openStore() { raise(.openFailed) }
    case .closeStore: closeStore()
    case .startWork: raise(startWork() ? ChatLifecycle.Event.started : .startFailed)
    case .resumeWork: raise(openStore() && startWork() ? ChatLifecycle.Event.activated : .activateFailed)
    case .stopReceiving: stopReceiving()
    case .drainWork: workEnded()
    case .cancelWork: closeRelay()
    case .armDrainTimer: armDrainTimer()
    case .cancelDrainTimer: timers.cancel(Self.drainTimer)
    case .emitChatSuspended:
      chatWasSuspended()
      emit(.chatSuspended)
    }
  }

  // MARK: The store

  /// True when the store is open afterwards; else `lastStoreError` says why not.
  func openStore() -> Bool {
    guard store == nil else { return true }
    do throws(PorterStore.StoreError) {
      store = try Store.open(
        prefix: configuration.prefix, confirmation: configuration.confirmation,
        mayMigrate: configuration.role == .app)
      lastStoreError = nil
      return true
    } catch {
      lastStoreError = error
      log(.error, "the store could not be opened", ["error": error.description])
      return false
    }
  }

  /// Closes everything that can hold a lock: the relay's file too, since a frozen process would keep others out of it.
  func closeStore() {
    closeRelay()
    guard let closing = store else { return }
    store = nil
    do throws(PorterStore.StoreError) {
      // An extension leaves writing back to the app, which has the time for it.
      try closing.close(checkpoint: configuration.role == .app)
    } catch {
      log(.error, "the store could not be closed", ["error": error.description])
    }
  }

  // MARK: Work

  private func startWork() -> Bool {
    openRelay()
    draining = false
    return true
  }

  private func stopReceiving() {
    draining = true
    // What the server is to be asked goes out now: the relay keeps it, and the server acts on it while this process
    // sleeps. Otherwise a user who leaves the app at once would get no pushes.
    askServerAboutSubscriptions()
    for name in TimerName.work { timers.cancel(name) }
  }

  /// True while nothing that began is still to be waited for. A notification server's answer is not: whoever asked is
  /// told that it does not come, and asks again.
  var isQuiet: Bool { fetches.isEmpty && sending.isEmpty && (relay?.isIdle ?? true) }

  /// Called whenever something that was under way has ended.
  func workEnded() {
    guard draining, isQuiet else { return }
    switch lifecycle.state {
    case .suspending, .stopping: raise(.drained)
    case .closed, .opened, .starting, .active, .suspended, .activating, .stopped: break
    }
    if lifecycle.state == .stopped { closeRelay() }
  }

  // MARK: The drain timer

  private static let drainTimer = "drain"
  /// After `/_stop`, which names no delay.
  private static let stopDelay = Span.seconds(3)

  /// The timer carries the number of its cycle: one of an earlier suspension changes nothing (INC-21).
  private func armDrainTimer() {
    cycle += 1
    let armed = cycle
    let delay = lifecycle.state == .stopping ? Self.stopDelay : suspendDelay
    timers.set(Self.drainTimer, after: delay) { [weak self] in
      guard let self, self.cycle == armed else { return }
      self.raise(ChatLifecycle.Event.timeout)
      if self.lifecycle.state == .stopped { self.closeRelay() }
    }
  }
}
