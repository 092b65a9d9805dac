import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Carries out the effects of the machine `chat_lifecycle`.
extension Engine {
  /// Steps the machine and does what it says. An event that is raised while another is carried out waits for its turn.
  func raise(_ event: ChatLifecycle.Event) {
    guard lifecyclePump.offer(event) else { return }
    while let event = lifecyclePump.next() {
      let step = lifecycle.handle(event)
      log(.debug, "chat_lifecycle", ["event": event.name, "state": lifecycle.state.name])
      for effect in step.effects { perform(effect) }
    }
  }

  private func perform(_ effect: ChatLifecycle.Effect) {
    switch effect {
    case .openStore: if !openStore() { raise(ChatLifecycle.Event.openFailed) }
    case .closeStore: closeStore()
    case .startWork:
      // A host loads its chats when it starts, so that only what comes afterwards is news to it.
      knownEntry = nil
      guard beginWatchingChanges() else { return raise(ChatLifecycle.Event.suspendNow) }
      startWork()
      raise(ChatLifecycle.Event.started)
    case .resumeWork:
      guard openStore(), beginWatchingChanges() else { return raise(ChatLifecycle.Event.activateFailed) }
      startWork()
      raise(ChatLifecycle.Event.activated)
    case .stopReceiving: stopReceiving()
    case .drainWork: raise(Operations.Event.suspend)
    case .cancelWork: raise(Operations.Event.suspendNow)
    case .allowStore: raise(Operations.Event.open)
    case .emitChatSuspended:
      chatWasSuspended()
      emit(.chatSuspended)
    }
  }

  // MARK: The store

  /// True when the store is open afterwards; else `lastStoreError` says why not.
  func openStore() -> Bool {
    guard store == nil else {
      // Also one that could not be closed.
      raise(Operations.Event.open)
      return true
    }
    bulletin.begin(.opening)
    defer { bulletin.end() }
    do throws(PorterStore.StoreError) {
      let opened = try Store.open(
        prefix: configuration.prefix, key: heldKey.key, confirmation: configuration.confirmation,
        mayMigrate: configuration.role == .app, stop: stop, ports: configuration.ports)
      channelKey = try opened.channelKey()
      store = opened
      heldKey.wasUsed()
      lastStoreError = nil
      raise(Operations.Event.open)
      return true
    } catch {
      lastStoreError = error
      log(.error, "the store could not be opened", ["error": error.description])
      return false
    }
  }

  /// Closes everything that can hold a lock: the relay's file too, since a frozen process would keep others out of it.
  func closeStore() {
    raise(Operations.Event.suspendNow)
    closeChannel()
    guard let store else { return }
    forgetClaims()
    bulletin.begin(.closing)
    defer { bulletin.end() }
    do throws(PorterStore.StoreError) {
      // An extension leaves writing back to the app, and so does an app that has no time for it.
      try store.close(checkpoint: configuration.role == .app && !leavesLog && !stop.isRaised)
      self.store = nil
    } catch {
      // It stays, so that it is told as open, and closed by whoever asks for that next.
      log(.error, "the store could not be closed", ["error": error.description])
    }
  }

  // MARK: Work

  private func startWork() {
    // A suspension that comes later has a time of its own (INC-21).
    suspendEnd = nil
    openRelay()
    raise(Operations.Event.resume)
    announcePresence()
  }

  private func stopReceiving() {
    // What the server is to be asked goes out now: the relay keeps it, and the server acts on it while this process
    // sleeps. Otherwise a user who leaves the app at once would get no pushes.
    askServerAboutSubscriptions()
    for name in TimerName.work { timers.cancel(name) }
  }
}
