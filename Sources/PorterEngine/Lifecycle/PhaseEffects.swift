import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Carries out the effects of the machines `app_phase` and `extension_phase`.
extension Engine {
  /// Gives the answer, for whoever has to tell a host why nothing happened. An event that is raised while another is
  /// carried out waits for its turn, and is answered with `stayed`.
  @discardableResult
  func raise(_ event: AppPhase.Event) -> MachineAnswer<AppPhase.Reason> {
    guard appPhasePump.offer(event) else { return .stayed }
    var answer: MachineAnswer<AppPhase.Reason>?
    while let event = appPhasePump.next() {
      let step = appPhase.handle(event)
      log(.debug, "app_phase", ["event": event.name, "state": appPhase.state.name])
      for effect in step.effects { perform(effect) }
      answer = answer ?? step.answer
    }
    if resumeIsDue {
      resumeIsDue = false
      resume()
    }
    return answer ?? .stayed
  }

  @discardableResult
  func raise(_ event: ExtensionPhase.Event) -> MachineAnswer<ExtensionPhase.Reason> {
    guard extensionPhasePump.offer(event) else { return .stayed }
    var answer: MachineAnswer<ExtensionPhase.Reason>?
    while let event = extensionPhasePump.next() {
      let step = extensionPhase.handle(event)
      log(.debug, "extension_phase", ["event": event.name, "state": extensionPhase.state.name])
      for effect in step.effects { perform(effect) }
      answer = answer ?? step.answer
    }
    return answer ?? .stayed
  }

  private func perform(_ effect: AppPhase.Effect) {
    switch effect {
    case .publishPhase: publishAppPhase()
    case .askExtensionToYield: askExtensionToYield()
    // Nothing has to be done to displace it: each claim of this app is a new epoch, and what the extension still tries
    // to commit is refused (INC-04). So it is not waited for either (INC-22).
    case .displaceExtension: log(.info, "the extension is at work")
    case .activateChat: activate()
    case .suspendChat: raise(ChatLifecycle.Event.suspend)
    case .suspendChatNow: raise(ChatLifecycle.Event.suspendNow)
    case .stopChat: raise(ChatLifecycle.Event.stop)
    case .armSuspendTimer: armPhaseTimer { [weak self] in self?.raise(AppPhase.Event.timeout) }
    case .cancelSuspendTimer: cancelPhaseTimer()
    }
  }

  private func perform(_ effect: ExtensionPhase.Effect) {
    switch effect {
    case .publishPhase: publishExtensionPhase()
    case .openChat:
      activate()
      let state = lifecycle.state
      raise(state == .active ? .started : store == nil ? .startFailedNoStore : .startFailedOther)
    case .suspendChat: raise(ChatLifecycle.Event.suspend)
    case .suspendChatNow: raise(ChatLifecycle.Event.suspendNow)
    case .armSuspendTimer: armPhaseTimer { [weak self] in self?.raise(ExtensionPhase.Event.timeout) }
    case .cancelSuspendTimer: cancelPhaseTimer()
    }
  }

  // MARK: Activating

  /// Open, start or activate, whatever the chat needs.
  private func activate() {
    if configuration.role == .app, !phaseFile.hold() { return finishActivating(succeeded: false) }
    if lifecycle.state == .closed { raise(ChatLifecycle.Event.open) }
    switch lifecycle.state {
    case .opened, .stopped: raise(ChatLifecycle.Event.start)
    case .suspended, .suspending: raise(ChatLifecycle.Event.activate)
    case .closed, .starting, .active, .activating, .stopping: break
    }
    finishActivating(succeeded: lifecycle.state == .active)
  }

  private func finishActivating(succeeded: Bool) {
    guard configuration.role == .app else { return }
    raise(succeeded ? AppPhase.Event.activated : .activateFailed)
    resumeIsDue = succeeded
  }

  // MARK: Publishing

  private func publishAppPhase() {
    switch appPhase.state {
    // A stopped chat stays stopped when its process is gone: that is the user's word, not a state of the process.
    case .active, .activating, .bgRefresh: if phaseFile.hold() { phaseFile.publish(appPhase.state.name, by: instance) }
    case .suspending, .suspended, .stopped:
      // It may have been opened for a question only, before a start that failed.
      if appPhase.state != .suspending { closeChannel() }
      guard phaseFile.isHeld || appPhase.state == .stopped else { return }
      phaseFile.release(saying: appPhase.state.name, by: instance)
    }
  }

  private func publishExtensionPhase() {
    switch extensionPhase.state {
    case .starting, .active, .suspending:
      // Several extension processes may be at work, and each holds the lock: it tells the app that one is.
      if phaseFile.hold() { phaseFile.publish(extensionPhase.state.name, by: instance) }
    case .created, .suspended:
      closeChannel()
      guard phaseFile.isHeld else { return }
      phaseFile.release(saying: extensionPhase.state.name, by: instance)
    }
  }

  // MARK: The phase's own timer

  private static let phaseTimer = "phase"

  private func armPhaseTimer(_ fire: @escaping () -> Void) {
    let number = phaseCycle.begin()
    timers.set(Self.phaseTimer, after: suspensionLeft + .seconds(1)) { [weak self] in
      guard let self, self.phaseCycle.fire(number) else { return }
      fire()
    }
  }

  private func cancelPhaseTimer() {
    phaseCycle.end()
    timers.cancel(Self.phaseTimer)
  }
}
