import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// What processes that share a store tell each other. All of it is a hint: the store is the referee, and the kernel says
/// who lives, so that an end that cannot be opened, or a message that is lost, costs time and nothing else.
extension Engine {
  /// Set from the engine's thread as it waits in poll(2).
  var channelDescriptor: Int32? { channel?.descriptor }

  private var channelRole: ChannelAddress.Role {
    switch configuration.role {
    case .app: .app
    case .extension: .extension
    }
  }

  private var peerChannelRole: ChannelAddress.Role {
    switch configuration.role {
    case .app: .extension
    case .extension: .app
    }
  }

  /// This process's end, opened if need be; nil when it cannot have one.
  func openChannel() -> Channel? {
    if let channel { return channel }
    guard let key = channelKey else { return nil }
    do throws(ChannelError) {
      channel = try Channel(
        prefix: configuration.prefix, role: channelRole, instance: instance, key: key,
        ports: configuration.ports)
      channelProblem = nil
    } catch {
      channelProblem = error
      log(.warning, "this process cannot be asked for anything", ["error": "\(error)"])
    }
    return channel
  }

  /// Afterwards no socket is open, and none of its name is left.
  func closeChannel() {
    channel?.close()
    channel = nil
    stopListeningForPeer()
  }

  /// Says that this process is at work now.
  func announcePresence() { openChannel()?.tell(.here, all: peerChannelRole) }

  /// Says that something was committed, to whoever listens; nobody is waited for.
  func announceChange() { channel?.tell(.changed, all: peerChannelRole) }

  func askExtensionToYield() {
    guard configuration.role == .app else { return }
    openChannel()?.tell(.yield, all: .extension)
  }

  /// Asks the other role's processes whether they are there; nil when there is nobody to ask.
  func askPeer() -> UInt64? { openChannel()?.tell(.ask, all: peerChannelRole) }

  // MARK: Hearing

  func channelHasNews() {
    guard let channel else { return }
    for message in channel.receive() { hear(message) }
  }

  private func hear(_ message: ChannelMessage) {
    let isPeer = message.sender.role == peerChannelRole
    log(.debug, "channel", ["kind": "\(message.kind)", "process": String(message.process)])
    switch message.kind {
    // Only who works says so; who is about to close has closed this end when it suspends.
    case .ask: if phaseFile.isHeld { channel?.answer(message) }
    case .here: if isPeer { peerSpoke(answering: message.answers) }
    case .yield: if isPeer { yield(to: owner(message)) }
    case .changed: somethingChanged()
    }
  }

  /// Authentic, so that these are the sender's own words, in this boot.
  private func owner(_ message: ChannelMessage) -> Owner {
    Owner(
      role: message.sender.role.name,
      instance: Instance(
        boot: instance.boot, process: message.process, started: message.started, nonce: message.nonce))
  }

  /// An app came to the front. One that has gone again since is not given way to: the kernel says so, whatever a message
  /// says that was read late.
  private func yield(to app: Owner) {
    guard configuration.role == .extension, peerFile.isHeldElsewhere() else { return }
    peerSpoke(answering: 0)
    log(.info, "the app asks this extension to let go", ["app": app.description])
    if let push {
      push.skip(app)
      raise(.appWoke, push)
    } else {
      raise(ExtensionPhase.Event.appRunning)
    }
  }

  /// Who works here looks whether its claims still hold, and a host is told what is new.
  private func somethingChanged() {
    guard lifecycle.state == .active else { return }
    suspectClaims()
    reloadChanges()
    flushOutbox()
  }
}
