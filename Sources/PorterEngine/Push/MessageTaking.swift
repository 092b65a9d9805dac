import PorterPlatform
import PorterSchema
import PorterStore

/// One message that a command asks for: fetched, committed, acknowledged, and handed back with what waits after it. It keeps itself
/// until it has its result.
final class MessageTaking {
  private unowned let engine: Engine
  private var claimed: ClaimedConnection?
  /// Since when a request has had no answer.
  private var asked: Moment?
  /// The result when that request is given up.
  private lazy var best = ReceivedNotification.error(.broker(server: engine.relayLink.name, .timeout))
  /// Nil once it was called.
  private var then: ((ReceivedNotification) -> Void)?

  init(_ engine: Engine, _ then: @escaping (ReceivedNotification) -> Void) {
    self.engine = engine
    self.then = then
  }

  var holder: ConnectionClaims.Holder {
    ConnectionClaims.Holder(rank: 0, asked: { self.asked }, giveBack: { self.giveBack() })
  }

  private func giveBack() {
    let (then, best) = (then, best)
    self.then = nil
    if let claimed {
      engine.source.giveUp(claimed.connection.id)
      engine.claims.end(claimed.claim)
    }
    then?(best)
  }

  func end(_ result: ReceivedNotification) {
    guard let then else { return }
    self.then = nil
    asked = nil
    if let claimed { engine.claims.end(claimed.claim) }
    then(result)
  }

  func begin(_ claimed: ClaimedConnection) {
    self.claimed = claimed
    asked = engine.context.clock.now()
    engine.source.fetch(claimed) { [self] result in
      guard then != nil else { return }
      asked = nil
      switch result {
      case .failure(let error):
        end(.error(.broker(server: engine.relayLink.name, .network(reason: error.description))))
      case .success(nil): end(.information(nil))
      case .success(let message?): commit(message, claimed)
      }
    }
  }

  private func commit(_ message: SourceMessage, _ claimed: ClaimedConnection) {
    guard let delivery = engine.begin(.delivery) else { return end(.error(.internal("the chat suspends"))) }
    switch engine.committer.commit(message, under: claimed.claim) {
    case .failed(let error):
      delivery.end()
      end(.error(.internal(error.description)))
    case .committed(let committed), .repeated(let committed), .quarantined(let committed):
      best = .information(message.notification(more: nil))
      acknowledge(message, committed, claimed, delivery)
    }
  }

  private func acknowledge(
    _ message: SourceMessage, _ committed: CommittedMessage, _ claimed: ClaimedConnection, _ delivery: Operation
  ) {
    asked = engine.context.clock.now()
    engine.source.acknowledge(message, committed.connection) { [self] result in
      delivery.end()
      // One that was given up may have been carried out; the message is committed, and does not come again then.
      if result.isSuccess || then == nil { engine.committer.emitMarker(message, committed) }
      guard then != nil else { return }
      switch result {
      case .failure: end(best)
      // The next message stays at the relay: it is given again until it is acknowledged.
      case .success(.message): end(.information(message.notification(more: true)))
      case .success(.nothing): end(.information(message.notification(more: false)))
      case .success(.unknown): lookFurther(message, claimed)
      }
    }
  }

  private func lookFurther(_ message: SourceMessage, _ claimed: ClaimedConnection) {
    asked = engine.context.clock.now()
    engine.source.fetch(claimed) { [self] result in
      guard case .success(let waiting) = result else { return end(best) }
      end(.information(message.notification(more: waiting != nil)))
    }
  }
}

extension SourceMessage {
  fileprivate func notification(more: Bool?) -> NotificationMessage {
    var named = notification
    named.flags = .init(notification: notifies, more: more)
    return named
  }
}
