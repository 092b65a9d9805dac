import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Names of the settings in the store.
enum Setting {
  static let relay = "relay"
  static let server = "ntfServer"
  static let appSettings = "appSettings"
  static let previewMode = "ntfPreviewMode"
  static let appLock = "appLock"
}

/// The engine's connection to its relay.
extension Engine {
  /// Set from the engine's thread as it waits in poll(2).
  var relayWakeDescriptor: Int32? { relay?.port.wakeDescriptor }

  var relayName: String { hostRelay == nil ? "embedded" : "host" }

  /// Opens the relay that the host gave or the settings name. Without one the chat still starts; commands that need it
  /// say so.
  func openRelay() {
    guard relay == nil else { return }
    if let hostRelay { return makeRelay(hostRelay) }
    let named = read(
      { (store) throws(StoreError) in try store.setting(Setting.relay) }, orLater: TimerName.relay,
      Engine.openRelayAgain)
    guard let path = named ?? nil else { return }
    makeRelay(
      EmbeddedRelay(
        path: path, ports: configuration.ports, log: configuration.log,
        // A file that is out of reach is told as such, and not replaced by an empty one, in which nothing waits.
        mayCreate: configuration.role == .app, stop: stop))
  }

  private func openRelayAgain() {
    guard lifecycle.isActive else { return }
    openRelay()
    if relay != nil { resume() }
  }

  private func makeRelay(_ port: any RelayPort) {
    relaysMade += 1
    relay = RelayDriver(
      identifier: relaysMade, port: port, randomness: configuration.randomness, turns: turns,
      worker: configuration.execution.makeWorker(isAwaited: port.isLocal), timers: timers,
      fileIsBusy: { [weak self] in self?.relayFileIsBusy() })
  }

  /// Afterwards no file of the relay is open, and no request of ours is under way.
  func closeRelay() {
    let closing = relay
    relay = nil
    sending.giveUp()
    joining.giveUp()
    announcing.giveUp()
    listensForReplies = nil
    let awaited = awaitedAnswers.keys.sorted()
    if let closing { abandoned.append(hostRelay == nil ? closing.close() : closing.forget()) }
    if !awaited.isEmpty { abandoned.append { [weak self] in self?.abandonServerRequests(awaited) } }
    if !abandoned.isEmpty { turns.enqueue { $0.tellAbandoned() } }
  }

  /// Tells whoever waited for a relay that was closed that nothing comes. After the turn in which it was closed, since a
  /// push that ends then must find the store closed (INC-48).
  func tellAbandoned() {
    while !abandoned.isEmpty { abandoned.removeFirst()() }
  }

  func setNetwork(_ settings: NetworkSettings) throws(ChatError) -> Response {
    let store = try requireStore()
    if let address = settings.relay, case .embedded(let path) = address {
      // The working directory may be another when it is opened, and each process has its own.
      try stored { () throws(StoreError) in
        try store.setSetting(Setting.relay, CanonicalPath.absolute(path))
      }
      if lifecycle.isActive, hostRelay == nil {
        closeRelay()
        openRelay()
        resume()
      }
    }
    if let server = settings.notificationServer {
      try stored { () throws(StoreError) in try store.setSetting(Setting.server, server.description) }
    }
    return .cmdOk(nil)
  }

  // MARK: News

  /// The relay woke this process: it says which mailboxes have something.
  func relayHasNews() {
    guard let relay else { return }
    relayHeard = configuration.clock.now()
    relay.port.drainWake()
    if isMain { subscribeAll() }
    takeReplies()
  }

  /// One round at a time, and one more when it was asked for meanwhile: a host may say for each of a thousand messages that
  /// its transport has news.
  func subscribeAll() {
    if subscribing.want() { beginSubscribing() }
  }

  private func beginSubscribing() {
    let connections = read(
      { (store) throws(StoreError) in try store.connections() }, orLater: TimerName.subscribe,
      Engine.subscribeAll)
    guard let connections else { return endSubscribing() }
    subscribe(connections) { [weak self] in self?.endSubscribing() }
  }

  private func endSubscribing() {
    if subscribing.end() { beginSubscribing() }
  }

  /// Listens to these connections' mailboxes, and fetches from those in which something waits. `then` is called when the
  /// relay was asked, or is not asked at all.
  func subscribe(_ connections: [StoredConnection], then: @escaping () -> Void = {}) {
    guard isMain, admits(.receiving) else { return then() }
    let known = connections.compactMap { connection in
      RelayIdentifier(bytes: connection.recipientID).map { (connection.id, $0, connection.recipientKey) }
    }
    guard !known.isEmpty else { return then() }
    withRelay(.receiving) { (client) throws(RelayError) in
      try client.subscribe(known.map { (recipient: $0.1, key: $0.2) })
    } then: { [weak self] result in
      defer { then() }
      guard let self else { return }
      switch result {
      case .success(let states):
        if !states.contains(.waiting) { self.backoffs.subscribing.reset() }
        for (connection, state) in zip(known, states) where state == .waiting {
          self.fetch(connection.0) { [weak self] in self?.fetched($0) }
        }
      case .failure(.closed): break
      case .failure(let error):
        self.log(.warning, "subscribing failed", ["error": error.description])
        self.subscribeLater()
      }
    }
  }

  /// The relay wakes nobody for what it woke for before, so that a fetch that did not get to its end is made up for.
  private func fetched(_ result: FetchResult) {
    switch result {
    case .drained: backoffs.subscribing.reset()
    case .interrupted: break
    case .relayFailed(let error): if error.isTemporary { subscribeLater() }
    case .displaced, .skipped, .storeFailed: subscribeLater()
    }
  }

  private func subscribeLater() { retry(TimerName.subscribe, \.subscribing, Engine.subscribeAll) }

  func resubscribe() throws(ChatError) -> Response {
    try requireStarted()
    subscribeAll()
    ensureSubscriptions()
    return .cmdOk(nil)
  }

  /// Takes up all work that a main run does by itself.
  func resume() {
    reloadChanges()
    guard isMain else { return }
    subscribeAll()
    takeReplies()
    finishJoining()
    flushOutbox()
    deleteMailboxes()
    flushServerRequests()
    releaseNotifiers()
    ensureSubscriptions()
    checkSubscriptions()
    checkTokenNow()
  }
}
