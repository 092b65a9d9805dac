import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Carries out the effects of `chat_lifecycle`.
extension Lifecycle: ChatLifecycleEffects {
  func openStore(_ request: LifecycleRequest) {
    if !openFiles() { chat.post(.openFailed, request) }
  }

  func startWork(_ request: LifecycleRequest) {
    guard beginWork() else {
      return chat.post(store == nil ? .startFailedClosed : .startFailedUnreadable, request)
    }
    chat.post(.started, request)
  }

  func resumeWork(_ request: LifecycleRequest) {
    guard beginWork() else { return chat.post(.activateFailed, request) }
    chat.post(.activated, request)
  }

  private func beginWork() -> Bool {
    guard openFiles() else { return false }
    do throws(StoreError) { try work.beginWatchingChanges() } catch {
      storeProblem = error
      return false
    }
    work.openRelay()
    operations.post(.resume)
    peers.announcePresence()
    return true
  }

  /// Returns false if the store is not open afterwards; `storeProblem` says why.
  private func openFiles() -> Bool {
    if store == nil {
      context.board.begin(.opening)
      defer { context.board.end() }
      do throws(StoreError) {
        let opened = if let woken = wokenStore() { woken } else { try newlyOpenedStore() }
        peers.use(try opened.channelKey())
        opened.gate = operations
        opened.log = context.configuration.log
        context.storeAccess.set(opened)
        heldKey.discardIfTransient()
        storeProblem = nil
      } catch {
        storeProblem = error
        context.log(.error, "the store could not be opened", ["error": error.description])
        return false
      }
    }
    operations.post(.open)
    return true
  }

  private func newlyOpenedStore() throws(StoreError) -> Store {
    try Store.open(
      at: context.configuration.location, key: heldKey.key, confirmation: context.configuration.confirmation,
      mayMigrate: context.role == .app, mayDoze: dozesBetweenPushes, stop: context.stop,
      ports: context.configuration.ports)
  }

  /// Nil if no store dozes, or if its files have been replaced, in which case it is closed.
  private func wokenStore() -> Store? {
    guard let store = dozingStore else { return nil }
    dozingStore = nil
    let isCurrent = store.wake()
    context.log(.debug, isCurrent ? "the store has woken" : "the store has changed since, and is opened anew")
    if isCurrent { return store }
    try? store.close(checkpoint: false)
    return nil
  }

  private func closeDozingStore() {
    try? dozingStore?.close(checkpoint: false)
    dozingStore = nil
    work.closeDozingRelay()
  }

  /// Releases everything that can hold a lock. Everything that depends on an open store ends as with `closeStore`.
  func dozeStore(_ request: LifecycleRequest) {
    peers.close()
    guard let store else { return chat.post(.dozeFailed, request) }
    work.storeWillClose()
    context.board.begin(.closing)
    defer { context.board.end() }
    releasing(request) {
      guard store.doze(cutsLog: hasTimeToCutLog(request)) else { return chat.post(.dozeFailed, request) }
      context.storeAccess.set(nil)
      dozingStore = store
    }
  }

  /// Closes everything that can hold a lock.
  func closeStore(_ request: LifecycleRequest) {
    peers.close()
    closeDozingStore()
    guard let store else { return }
    work.storeWillClose()
    context.board.begin(.closing)
    defer { context.board.end() }
    releasing(request) {
      // An extension, and an app without time, leaves writing the log back to the app. But a process with time left
      // never leaves a long log.
      let hasTime = request.suspension?.writesLogBack ?? true && !context.stop.isRaised
      let writesLogBack = context.role == .app && hasTime
      let cutsLog = hasTime || hasTimeToCutLog(request)
      do throws(StoreError) {
        try store.close(checkpoint: writesLogBack, cutsLog: cutsLog)
        context.storeAccess.set(nil)
      } catch {
        context.log(.error, "the store could not be closed", ["error": error.description])
        chat.post(.closeFailed, request)
      }
    }
  }

  private func hasTimeToCutLog(_ request: LifecycleRequest) -> Bool {
    guard let end = request.suspension?.end else { return context.stop.leaves(Durations.cuttingLog) }
    return end > context.clock.now() + Durations.cuttingLog && context.stop.leaves(Durations.cuttingLog)
  }

  func stopReceiving(_ request: LifecycleRequest) {
    // Applies to reads from the store before the draining begins.
    if let suspension = request.suspension, suspension.waits { context.stop.set(.drain, suspension.end) }
    releasing(request) { work.stopReceiving() }
  }

  /// Runs `body`. A suspension that cannot wait is not interrupted either, and waits only briefly for other processes'
  /// locks.
  private func releasing(_ request: LifecycleRequest, _ body: () -> Void) {
    guard let suspension = request.suspension, !suspension.waits else { return body() }
    context.stop.withReleaseBudget(Durations.releaseBudget, body)
  }

  func stopNetwork(_ request: LifecycleRequest) { operations.post(.stopNetwork) }
  func drainWork(_ request: LifecycleRequest) { operations.post(.suspend, request) }
  func cancelWork(_ request: LifecycleRequest) { operations.post(.suspendNow, request) }
  func allowStore(_ request: LifecycleRequest) { operations.post(.open) }

  func reportActive(_ request: LifecycleRequest) {
    phase.chatIsActive(request)
    reportActivation(true)
    reportReleased()
  }

  func reportInactive(_ request: LifecycleRequest) {
    phase.chatIsInactive(request)
    reportActivation(false)
  }

  func reportSuspended(_ request: LifecycleRequest) {
    phase.chatIsSuspended(request)
    // After the phase's step, which releases the phase file.
    reportReleased()
  }

  func emitChatSuspended(_ request: LifecycleRequest) {
    // Likewise: the system may freeze the process as soon as its host has the event (INC-01).
    context.steps.post { [context] in context.emit(.chatSuspended) }
  }
}
