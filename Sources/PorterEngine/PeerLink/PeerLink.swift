import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// Requests of other processes to this one.
protocol PeerLinkHost: AnyObject {
  /// Whether this process is at work and answers questions.
  var answersQuestions: Bool { get }
  /// The app came to the foreground and wants the store.
  func appAsksToYield(_ app: Owner)
  /// An extension has a push, and leaves it to this app, which answers that it is at work.
  func extensionHasPush()
  /// Another process committed something.
  func storeChanged()
}

/// Communication between processes that share a store, and whether the other role's process is at work (machine
/// `presence`).
///
/// All of it is a hint: the store decides, and the kernel knows which processes are running. An end that cannot be
/// opened, or a lost message, costs only time. Threads: the engine's.
final class PeerLink {
  let context: EngineContext
  unowned let host: any PeerLinkHost

  private lazy var presence = MachineDriver<Presence, Void>(context.machines) {
    [unowned self] effect, argument in Presence.perform(effect, by: self, argument)
  }
  /// Callers waiting to learn whether the other role is at work.
  private var waiters: [(Bool) -> Void] = []
  /// The counter of the last question.
  private var lastQuestion: UInt64?
  private var end = End.closed
  /// This process's end of the channel while it is at work.
  private enum End {
    case closed
    /// No app was running when this extension began to work. The end is opened when one runs, or after a short delay.
    case deferred
    case open(Channel)
  }

  /// Read each time the store is opened.
  private var key: AuthenticationKey?

  init(_ context: EngineContext, host: any PeerLinkHost) {
    self.context = context
    self.host = host
  }

  func use(_ key: AuthenticationKey) { self.key = key }

  // MARK: Presence

  var presenceState: Presence.State { presence.state }
  private var role: Role { context.role.peer }

  /// The other role's phase file; the kernel answers by its lock.
  var peerFile: PhaseFile { file(of: role) }

  func file(of role: Role) -> PhaseFile {
    PhaseFile(prefix: context.configuration.prefix, role: role.rawValue, ports: context.configuration.ports)
  }

  /// Finds out whether the other role is at work. `then` is called once: immediately if the kernel's answer is enough,
  /// and at the latest when the machine's time limit expires.
  func askPresence(then: @escaping (Bool) -> Void) {
    waiters.append(then)
    presence.post(.question, ())
  }

  /// Like `askPresence`, but never waits: returns whether the other role's process holds its lock. Call from outside a
  /// step.
  func probe() -> Bool {
    presence.post(.question, ())
    switch presence.state {
    case .asking, .alive, .silent: return true
    case .unknown, .gone: return false
    }
  }

  /// Whether `owner` is a running app, at work and not in the background, whose connections an extension leaves alone.
  /// An app yields to no process.
  func hasPriority(_ owner: Owner) -> Bool {
    guard context.role == .extension, owner.role == Role.app.rawValue, owner.instance != context.instance else {
      return false
    }
    // A process frozen at work still holds its lock, but does not answer.
    guard presence.state != .silent else { return false }
    let app = peerFile
    guard app.isHeldElsewhere(), let published = app.published(), published.instance == owner.instance else {
      return false
    }
    return published.showsWhatArrives
  }

  /// Handles an authentic message from the other role. An answer counts if it is to the last question; an unsolicited
  /// message counts while the kernel agrees.
  private func peerSpoke(answering counter: UInt64) {
    if counter == 0 ? peerFile.isHeldElsewhere() : counter == lastQuestion { presence.post(.here, ()) }
  }

  // MARK: The channel

  /// Read by the engine's thread for poll(2).
  var descriptor: Int32? { channel?.descriptor }

  var channel: Channel? {
    switch end {
    case .closed, .deferred: nil
    case .open(let channel): channel
    }
  }

  /// Opens this process's end, so that it can be asked. A socket costs more than looking for an app, and most pushes
  /// are over before one could start: an extension with no app running opens its end `Durations.quietWork` later.
  func listen() {
    guard case .closed = end else { return }
    guard context.role == .extension, presence.state == .gone || !peerFile.isHeldElsewhere() else {
      _ = openChannel()
      return
    }
    end = .deferred
    context.timers.set(TimerName.listening, after: Durations.quietWork) { [unowned self] in listenAtLast() }
  }

  /// Opens the deferred end. An app that started in the meantime found no end to ask, so its phase file is read
  /// instead.
  private func listenAtLast() {
    _ = openChannel()
    guard let app = peerFile.published(), app.showsWhatArrives, let instance = app.instance else { return }
    yield(to: Owner(role: role.rawValue, instance: instance))
  }

  /// This process's end, opened if necessary; nil if it cannot be opened.
  private func openChannel() -> Channel? {
    if let channel { return channel }
    guard let key else { return nil }
    do throws(ChannelError) {
      let channel = try Channel(
        prefix: context.configuration.prefix, role: context.role.channelRole, instance: context.instance, key: key,
        ports: context.configuration.ports)
      end = .open(channel)
      return channel
    } catch {
      context.log(.warning, "this process cannot be asked for anything", ["error": "\(error)"])
      return nil
    }
  }

  /// The end to send through; nil also if no process of the other role would receive. A process without a lock may
  /// receive: an app in the background.
  private func speakingChannel() -> Channel? {
    switch end {
    case .open(let channel): channel
    case .deferred:
      Channel.isHeard(
        by: role.channelRole, prefix: context.configuration.prefix, ports: context.configuration.ports)
        ? openChannel() : nil
    case .closed: nil
    }
  }

  /// Closes the channel. Afterwards no socket is open, and none of its name is left.
  func close() {
    context.timers.cancel(TimerName.listening)
    channel?.close()
    end = .closed
    // No answer can arrive any longer.
    presence.post(.deaf, ())
  }

  /// Announces that this process is now at work.
  func announcePresence() {
    listen()
    speakingChannel()?.send(.here, toAll: role.channelRole)
  }

  /// Announces a commit to every listening process of the other role.
  func announceChange() { speakingChannel()?.send(.changed, toAll: role.channelRole) }

  func askExtensionToYield() {
    guard context.role == .app else { return }
    openChannel()?.send(.yield, toAll: .extension)
  }

  /// Handles the messages of other processes.
  func receive() {
    guard let channel else { return }
    for message in channel.receive() { receive(message) }
  }

  private func receive(_ message: ChannelMessage) {
    let isPeer = message.sender.role == role.channelRole
    context.log(.debug, "channel", ["kind": "\(message.kind)", "process": String(message.process)])
    switch message.kind {
    // A process about to close has already closed this end by the time it suspends.
    case .ask:
      if host.answersQuestions { channel?.answer(message) }
      if context.role == .app, isPeer { host.extensionHasPush() }
    case .here: if isPeer { peerSpoke(answering: message.answers) }
    case .yield: if isPeer { yield(to: owner(message)) }
    case .changed: host.storeChanged()
    }
  }

  /// The sender of an authentic message: these are its own claims, in this boot.
  private func owner(_ message: ChannelMessage) -> Owner {
    Owner(
      role: message.sender.role.name,
      instance: Instance(
        boot: context.instance.boot, process: message.process, started: message.started, nonce: message.nonce))
  }

  /// Yields to an app that came to the foreground. One that has left since gets nothing: the kernel's answer counts,
  /// whatever a message read late says.
  private func yield(to app: Owner) {
    guard context.role == .extension, peerFile.isHeldElsewhere() else { return }
    peerSpoke(answering: 0)
    context.log(.info, "the app asks this extension to release the store", ["app": app.description])
    host.appAsksToYield(app)
  }
}

extension PeerLink: PresenceEffects {
  func readLock(_ argument: Void) { presence.post(peerFile.isHeldElsewhere() ? .lockHeld : .lockFree, ()) }

  func sendAsk(_ argument: Void) {
    lastQuestion = openChannel()?.send(.ask, toAll: role.channelRole)
    if lastQuestion == nil { presence.post(.lockMute, ()) }
  }

  func reportAlive(_ argument: Void) { report(true) }
  func reportGone(_ argument: Void) { report(false) }

  private func report(_ isAlive: Bool) {
    let waiting = waiters
    waiters = []
    for then in waiting { then(isAlive) }
  }
}

// MARK: - For people

extension PeerLink {
  /// The machine's state, and the kernel's answer at this moment.
  var description: JSONValue {
    let peer = peerFile
    let published = peer.published()
    return .compact([
      "role": .string(context.role.peer.rawValue), "state": .string(presenceState.name),
      "working": .bool(peer.isHeldElsewhere()), "phase": published.map { .string($0.phase) },
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

extension Role {
  fileprivate var channelRole: ChannelAddress.Role {
    switch self {
    case .app: .app
    case .extension: .extension
    case .share: .share
    }
  }
}
