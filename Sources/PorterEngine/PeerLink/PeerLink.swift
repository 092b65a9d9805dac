import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterStore

/// What another process asks of this one.
protocol PeerLinkHost: AnyObject {
  /// Whether this process works, so that it answers questions.
  var isAtWork: Bool { get }
  /// The app came to the foreground, and wants the store.
  func appAsksToYield(_ app: Owner)
  /// Another process committed something.
  func storeChanged()
}

/// What processes that share a store say to each other, and whether the other role's process is at work (machine
/// `presence`).
///
/// All of it is a hint: the store is the referee, and the kernel says which processes live. An end that cannot be opened,
/// or a message that is lost, costs time and nothing else. Threads: the engine's.
final class PeerLink {
  let context: EngineContext
  unowned let host: any PeerLinkHost

  private lazy var presence = MachineDriver<Presence, Void>(context.machines) {
    [unowned self] effect, argument in Presence.perform(effect, by: self, argument)
  }
  /// Callers that want to know whether the other role is at work.
  private var waiters: [(Bool) -> Void] = []
  /// The counter of the question that was asked last.
  private var lastQuestion: UInt64?
  private var end = End.closed
  /// This process's end of the channel, while it works.
  private enum End {
    case closed
    /// No app was running when this extension began to work. The end is opened when one is, or after a moment.
    case deferred
    case open(Channel)
  }

  /// Read whenever the store is opened.
  private var key: AuthenticationKey?

  init(_ context: EngineContext, host: any PeerLinkHost) {
    self.context = context
    self.host = host
  }

  func use(_ key: AuthenticationKey) { self.key = key }

  // MARK: Presence

  var presenceState: Presence.State { presence.state }
  private var role: Role { context.role.peer }

  /// The other role's phase file: its lock is what the kernel answers by.
  var peerFile: PhaseFile { file(of: role) }

  func file(of role: Role) -> PhaseFile {
    PhaseFile(prefix: context.configuration.prefix, role: role.rawValue, ports: context.configuration.ports)
  }

  /// Finds out whether the other role is at work. `then` is called once, at the latest when the machine's patience is
  /// over, and immediately when the kernel's word is enough.
  func askPresence(then: @escaping (Bool) -> Void) {
    waiters.append(then)
    presence.post(.question, ())
  }

  /// Like `askPresence`, but never waits: whether the other role's process holds its lock. Call it from outside of a step.
  func probe() -> Bool {
    presence.post(.question, ())
    switch presence.state {
    case .asking, .alive, .silent: return true
    case .unknown, .gone: return false
    }
  }

  /// Whether `owner` is a running app that is at work and not in the background, so that an extension leaves its connections alone. An app
  /// gives way to no process.
  func hasPriority(_ owner: Owner) -> Bool {
    guard context.role == .extension, owner.role == Role.app.rawValue, owner.instance != context.instance else {
      return false
    }
    // One that was frozen at work still holds its lock, and does not answer.
    guard presence.state != .silent else { return false }
    let app = peerFile
    guard app.isHeldElsewhere(), let published = app.published(), published.instance == owner.instance else {
      return false
    }
    return published.showsWhatArrives
  }

  /// An authentic message of the other role. An answer counts if it is to the question that was asked last; what was said
  /// unasked counts while the kernel agrees.
  private func peerSpoke(answering counter: UInt64) {
    if counter == 0 ? peerFile.isHeldElsewhere() : counter == lastQuestion { presence.post(.here, ()) }
  }

  // MARK: The channel

  /// Set from the engine's thread as it waits in poll(2).
  var descriptor: Int32? { channel?.descriptor }

  var channel: Channel? {
    switch end {
    case .closed, .deferred: nil
    case .open(let channel): channel
    }
  }

  /// Opens this process's end, so that it can be asked. A socket costs more than looking for an app, and most pushes are over
  /// before one could start: an extension beside which none runs opens its end `Durations.quietWork` later.
  func listen() {
    guard case .closed = end else { return }
    guard context.role == .extension, presence.state == .gone || !peerFile.isHeldElsewhere() else {
      _ = openChannel()
      return
    }
    end = .deferred
    context.timers.set(TimerName.listening, after: Durations.quietWork) { [unowned self] in listenAtLast() }
  }

  /// An app that has started meanwhile found no end to ask, so its phase file says what it wants.
  private func listenAtLast() {
    _ = openChannel()
    guard let app = peerFile.published(), app.showsWhatArrives, let instance = app.instance else { return }
    yield(to: Owner(role: role.rawValue, instance: instance))
  }

  /// This process's end, opened if need be; nil when it cannot have one.
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

  /// The end to say something through; nil also when no process of the other role would hear it. One that holds no lock may: an app in the
  /// background.
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

  /// Afterwards no socket is open, and none of its name is left.
  func close() {
    context.timers.cancel(TimerName.listening)
    channel?.close()
    end = .closed
    // No answer can come any more.
    presence.post(.deaf, ())
  }

  /// Says that this process is at work now.
  func announcePresence() {
    listen()
    speakingChannel()?.send(.here, toAll: role.channelRole)
  }

  /// Says that something was committed, to every process of the other role that listens.
  func announceChange() { speakingChannel()?.send(.changed, toAll: role.channelRole) }

  func askExtensionToYield() {
    guard context.role == .app else { return }
    openChannel()?.send(.yield, toAll: .extension)
  }

  /// Takes what other processes have sent.
  func receive() {
    guard let channel else { return }
    for message in channel.receive() { receive(message) }
  }

  private func receive(_ message: ChannelMessage) {
    let isPeer = message.sender.role == role.channelRole
    context.log(.debug, "channel", ["kind": "\(message.kind)", "process": String(message.process)])
    switch message.kind {
    // A process that is about to close has closed this end when it suspends.
    case .ask: if host.isAtWork { channel?.answer(message) }
    case .here: if isPeer { peerSpoke(answering: message.answers) }
    case .yield: if isPeer { yield(to: owner(message)) }
    case .changed: host.storeChanged()
    }
  }

  /// Authentic, so these are the sender's own words, in this boot.
  private func owner(_ message: ChannelMessage) -> Owner {
    Owner(
      role: message.sender.role.name,
      instance: Instance(
        boot: context.instance.boot, process: message.process, started: message.started, nonce: message.nonce))
  }

  /// An app came to the foreground. One that has left since gets nothing: the kernel says so, whatever a message says that
  /// was read late.
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
  /// What the machine knows, and what the kernel says at this moment.
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
