import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_start`, `/_stop`, `/_app …`, and the functions that close and reopen the store.
extension Engine {
  func startChat(mainApp: Bool) throws(ChatError) -> Response {
    _ = try requireActiveUser()
    let wasActive = lifecycle.state == .active
    isMain = mainApp && configuration.role == .app
    try enterForeground()
    return wasActive ? .chatRunning : .chatStarted
  }

  /// Brings the role's phase to where it works; throws what kept it from that.
  private func enterForeground() throws(ChatError) {
    switch configuration.role {
    case .app:
      // Asked before anything is changed, so that a second app leaves the first alone and stays as it is (INC-16).
      guard phaseFile.hold() else {
        if let problem = phaseFile.problem { throw ChatError(problem) }
        throw .nightporter(.ownedElsewhere(holder: phaseFile.published()?.instance?.description ?? "another process"))
      }
      let event: AppPhase.Event = appPhase.state == .stopped ? .startConfirmed : foregroundEvent
      if case .refused(let reason) = raise(event) { throw .internal("refused: \(reason.name)") }
    case .extension:
      if case .refused(let reason) = raise(ExtensionPhase.Event.start) { throw .internal("refused: \(reason.name)") }
    }
    guard lifecycle.state == .active else { throw activationError() }
  }

  private var foregroundEvent: AppPhase.Event {
    switch lookForPeer() {
    case .asking, .alive, .silent: .foregroundExtensionActive
    case .unknown, .gone: .foregroundExtensionInactive
    }
  }

  private func activationError() -> ChatError {
    if let lastStoreError { return ChatError(lastStoreError) }
    return .error(.chatNotStarted)
  }

  func stopChat() throws(ChatError) -> Response {
    switch configuration.role {
    case .app: raise(AppPhase.Event.stop)
    case .extension: raise(ExtensionPhase.Event.suspendNow)
    }
    return .chatStopped
  }

  func activateChat(restores: Bool) throws(ChatError) -> Response {
    switch lifecycle.state {
    case .opened, .closed, .stopped: throw .error(.chatNotStarted)
    case .starting, .active, .suspending, .suspended, .activating, .stopping: break
    }
    isMain = isMain && configuration.role == .app
    try enterForeground()
    if restores { resume() }
    return .cmdOk(nil)
  }

  func suspendChat(_ delay: Span) throws(ChatError) -> Response {
    guard delay > .zero else {
      suspendNow()
      return .cmdOk(nil)
    }
    let end = configuration.clock.now() + delay
    suspendEnd = end
    // Also for what is still asked of the relay before the draining begins.
    stop.set(.drain, end)
    defer { if !isDraining { stop.set(.drain, nil) } }
    switch configuration.role {
    case .app: raise(AppPhase.Event.background)
    case .extension: raise(ExtensionPhase.Event.lastPushEnded)
    }
    return .cmdOk(nil)
  }

  /// Immediate, safe at any moment, and without an event; afterwards no file of the store is open.
  func suspendNow() { hurrying { letGoOfEverything() } }

  func letGoOfEverything() {
    switch configuration.role {
    case .app: raise(AppPhase.Event.suspendNow)
    case .extension: raise(ExtensionPhase.Event.suspendNow)
    }
    if store != nil { raise(ChatLifecycle.Event.suspendNow) }
    if store != nil { closeStore() }
    // It may have been opened for a question only.
    closeChannel()
  }

  /// What the lifecycle machine finished by itself, told to the phase machine.
  func chatWasSuspended() {
    switch configuration.role {
    case .app: raise(AppPhase.Event.chatSuspended)
    case .extension: raise(ExtensionPhase.Event.chatSuspended)
    }
  }

  func setPhase(_ phase: HostPhase) throws(ChatError) -> Response {
    switch phase {
    case .active: try activateChat(restores: true)
    case .background: try suspendChat(Durations.backgroundSuspension)
    case .suspended: try suspendChat(.zero)
    }
  }

  /// Woken in the background to fetch: a bounded time at work, which the host ends with `background` or `suspended`.
  func beginBackgroundRefresh() throws(ChatError) -> Response {
    guard configuration.role == .app else { throw .nightporter(.roleNotAllowed("background refresh")) }
    // Before `/_start` it is not known that this is the main run, and nothing would be fetched.
    guard isMain else { throw .error(.chatNotStarted) }
    if case .refused(let reason) = raise(AppPhase.Event.refreshBegan) { throw .internal("refused: \(reason.name)") }
    guard lifecycle.state == .active else { throw activationError() }
    return .cmdOk(nil)
  }

  // MARK: chat_close_store and chat_reopen_store

  /// "" or what kept the store from being closed. A chat that runs is suspended first: a host that closes the store
  /// means it.
  func closeStoreForHost() -> String {
    if lifecycle.state != .opened, lifecycle.state != .stopped { suspendNow() }
    raise(ChatLifecycle.Event.close)
    if store != nil { closeStore() }
    return store == nil ? "" : "the store is still in use"
  }

  func reopenStoreForHost() -> String {
    switch lifecycle.state {
    case .suspended: break
    case .closed, .opened, .starting, .active, .suspending, .activating, .stopping, .stopped:
      raise(ChatLifecycle.Event.open)
    }
    if store != nil { return "" }
    // The words that programs made for SimpleX's interface know.
    let forgotten = "reopenDBStore: no key"
    // Whoever suspended must stay quiescent until it activates, which is what opens the files then.
    if lifecycle.state == .suspended { return heldKey.isForgotten ? forgotten : "" }
    if case .seal(.keyForgotten) = lastStoreError { return forgotten }
    return lastStoreError?.description ?? "the store could not be opened"
  }
}
