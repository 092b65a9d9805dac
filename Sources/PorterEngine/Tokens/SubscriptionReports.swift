import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// What is reported to a host about its push subscriptions: the events `subscriptionStatus`, each with all connections of one turn that
/// have come to the same status, and none for a connection whose status the host knows. Threads: the engine's.
final class SubscriptionReports {
  private let context: EngineContext
  private var reported: [Int64: SubscriptionStatus] = [:]
  private var waiting: [(id: Int64, status: SubscriptionStatus)] = []

  init(_ context: EngineContext) { self.context = context }

  func add(_ status: SubscriptionStatus, of id: Int64) {
    guard reported[id] != status else { return }
    reported[id] = status
    waiting.append((id, status))
    if waiting.count == 1 { context.later { [weak self] in self?.report() } }
  }

  func forget(_ id: Int64) { reported[id] = nil }

  private func report() {
    let due = waiting
    waiting = []
    guard let store = context.store, let server = (try? store.token())?.server ?? (try? store.setting(Setting.server))
    else { return }
    for status in due.map(\.status).uniqued {
      let connections = due.filter { $0.status == status }.compactMap { try? store.connection($0.id).agentID }
      guard !connections.isEmpty else { continue }
      context.emit(
        .subscriptionStatus(server: server, status, connections: connections.map { TextEncoding.base64URL($0) }))
    }
  }
}

extension SubscriptionStatus {
  /// Nil while the server is asked or does not answer: what it said last may still hold.
  init?(_ state: SubscriptionMachine.State) {
    switch state {
    case .createdNew, .createdActive: self = .active
    case .new, .enabling, .key, .subscribing, .createdPending, .createdInactive: self = .pending
    case .turningOff, .releasing, .off, .deleted: self = .noSubscription
    case .checking, .unchecked: return nil
    }
  }
}

extension [SubscriptionStatus] {
  /// Each once, in the order of their first occurrences.
  fileprivate var uniqued: [SubscriptionStatus] {
    var seen: Set<SubscriptionStatus> = []
    return filter { seen.insert($0).inserted }
  }
}
