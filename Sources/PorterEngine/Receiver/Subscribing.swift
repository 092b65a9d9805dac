import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// Listening to the connections' mailboxes.
extension Engine {
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
        if !states.contains(.waiting) { self.context.retries.reset(TimerName.subscribe) }
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
    case .drained: context.retries.reset(TimerName.subscribe)
    case .interrupted: break
    case .relayFailed(let error): if error.isTemporary { subscribeLater() }
    case .displaced, .skipped, .storeFailed: subscribeLater()
    }
  }

  private func subscribeLater() { context.retries.retry(TimerName.subscribe) { [weak self] in self?.subscribeAll() } }
}
