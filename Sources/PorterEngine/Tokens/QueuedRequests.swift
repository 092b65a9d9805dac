import PorterRelay
import PorterStore

/// Stored requests whose answers are not awaited: to the notification server, and the last message to a deleted
/// contact. Threads: the engine's.
final class QueuedRequests {
  private let context: EngineContext
  private unowned let host: any TokensHost
  private let retries: Retries
  private var sending: Coalescer

  init(_ context: EngineContext, host: any TokensHost, retries: Retries) {
    self.context = context
    self.host = host
    self.retries = retries
    sending = Coalescer("requests", context.configuration.log)
  }

  /// Offers the requests to the relay until it has them. One round at a time, and one more if requested in the
  /// meantime: each of a thousand subscriptions being turned off requests it.
  func send() {
    if sending.want() { beginSending() }
  }

  private func endSending() {
    if sending.end() { beginSending() }
  }

  private func beginSending() {
    guard host.admits(host.askingKind), host.relayIdentifier != nil,
      let requests = retries.read(
        orLater: TimerName.serverRequests, { [weak self] in self?.send() },
        { (store) throws(StoreError) in try store.serverRequests() })
    else { return endSending() }
    send(requests)
  }

  private func send(_ requests: [ServerOutboxEntry]) {
    var left = requests.count
    guard left > 0 else { return endSending() }
    for request in requests {
      send(request) { [weak self] in
        left -= 1
        if left == 0 { self?.endSending() }
      }
    }
  }

  private func send(_ request: ServerOutboxEntry, then: @escaping () -> Void) {
    guard let mailbox = RelayIdentifier(bytes: request.mailbox),
      let attempt = RelayIdentifier(bytes: request.deduplication)
    else { return then() }
    host.withRelay(host.askingKind) { (client) throws(RelayError) in
      try client.send(request.body, to: mailbox, key: request.key, attempt: attempt, notify: false)
    } then: { [weak self] result in
      defer { then() }
      guard let self else { return }
      switch result {
      case .success:
        FaultPoint.reach(.serverRequestSent)
        self.retries.reset(TimerName.serverRequests)
        try? self.context.store?.finishServerRequest(request.id)
      case .failure(.closed): break
      case .failure(let error) where error.isTemporary || error == .answer:
        self.retries.retry(TimerName.serverRequests) { [weak self] in self?.send() }
      case .failure: try? self.context.store?.finishServerRequest(request.id)
      }
    }
  }
}
