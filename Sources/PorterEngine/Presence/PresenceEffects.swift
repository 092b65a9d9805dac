import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// Carries out the effects of the machine `presence`, about the process of the other role.
extension Engine {
  /// The other role's phase file: its lock is what the kernel answers by.
  var peerFile: PhaseFile {
    PhaseFile(prefix: configuration.prefix, role: peerRole.rawValue, ports: configuration.ports)
  }

  private var peerRole: Role { configuration.role.peer }

  /// Finds out whether the other role is at work. `then` is called once, at the latest when the machine's patience is
  /// over; at once when the kernel's word is enough.
  func askPresence(then: @escaping (Bool) -> Void) {
    presenceWaiters.append(then)
    raise(PorterMachines.Presence.Event.question)
  }

  /// As above for whoever wants to go on at once: what is known after the kernel was asked.
  func lookForPeer() -> PorterMachines.Presence.State {
    raise(PorterMachines.Presence.Event.question)
    return presence.state
  }

  /// An authentic message of the other role. An answer counts if it is to the question that was asked last; what was
  /// said unasked counts while the kernel agrees.
  func peerSpoke(answering counter: UInt64) {
    if counter == 0 ? peerFile.isHeldElsewhere() : counter == presenceQuestion {
      raise(PorterMachines.Presence.Event.here)
    }
  }

  /// Nobody waits for an answer that cannot come.
  func stopListeningForPeer() {
    if presence.state == .asking { raise(PorterMachines.Presence.Event.deaf) }
  }

  private func raise(_ event: PorterMachines.Presence.Event) {
    guard presencePump.offer(event) else { return }
    while let event = presencePump.next() {
      let step = presence.handle(event)
      log(.debug, "presence", ["event": event.name, "state": presence.state.name])
      for effect in step.effects { perform(effect) }
    }
  }

  private func perform(_ effect: PorterMachines.Presence.Effect) {
    switch effect {
    case .readLock: raise(peerFile.isHeldElsewhere() ? .lockHeld : .lockFree)
    case .sendAsk:
      presenceQuestion = askPeer()
      if presenceQuestion == nil { raise(.lockMute) }
    case .reportAlive: report(true)
    case .reportGone: report(false)
    case .startPatience, .cancelPatience:
      switch PorterMachines.Presence.timer(effect) {
      case .start(let name, let milliseconds, let event):
        timers.set("presence " + name, after: .milliseconds(Int64(milliseconds))) { [weak self] in self?.raise(event) }
      case .cancel(let name): timers.cancel("presence " + name)
      case nil: break
      }
    }
  }

  private func report(_ isAlive: Bool) {
    let waiting = presenceWaiters
    presenceWaiters = []
    for tell in waiting { tell(isAlive) }
  }

  /// Who was waited for in vain, if that is what an error says (INC-18): the process that the kernel knows to be at work
  /// on the store, of either role.
  func holder(in error: PorterStore.StoreError) -> String? {
    guard case .sqlite(let error) = error, error.kind == .busy || error.kind == .locked else { return nil }
    let holder = [peerRole, configuration.role].lazy.compactMap { role -> Owner? in
      let file = role == self.peerRole ? self.peerFile : self.phaseFile
      guard file.isHeldElsewhere(), let instance = file.published()?.instance, instance != self.instance else {
        return nil
      }
      return Owner(role: role.rawValue, instance: instance)
    }.first
    return holder?.description ?? "another process"
  }

  /// For `np_state`: what the machine knows, and what the kernel says at this moment.
  var presenceDescription: JSONValue {
    let published = peerFile.published()
    return .compact([
      "role": .string(peerRole.rawValue), "state": .string(presence.state.name),
      "working": .bool(peerFile.isHeldElsewhere()),
      "phase": published.map { .string($0.phase) },
      "instance": published?.instance.map { .string($0.description) },
      "process": published?.instance.map { JSONValue(Int64($0.process)) },
    ])
  }

  var channelDescription: JSONValue? {
    channel.map { channel in
      [
        "name": .string(channel.address.name), "sent": JSONValue(channel.counts.sent),
        "received": JSONValue(channel.counts.received), "rejected": JSONValue(channel.counts.rejected),
        "repeated": JSONValue(channel.counts.repeated),
      ]
    }
  }
}
