import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Reports push subscriptions to a host: the events `subscriptionStatus`, each with all connections that reached the
/// same status in one turn, and none whose status the host already knows. Threads: the engine's.
final class SubscriptionReports {
  private let context: EngineContext
  private var changes = StatusChanges()

  init(_ context: EngineContext) { self.context = context }

  func add(_ status: SubscriptionStatus, of id: Int64) {
    if changes.note(status, of: id) { context.later { [weak self] in self?.report() } }
  }

  func forget(_ id: Int64) { changes.forget(id) }

  /// Whatever could not be read is reported later; if the store was closed, when it is open again. Called whenever work
  /// begins.
  func report() {
    guard !changes.isEmpty else { return }
    let due = changes.due
    let found = context.retries.read(orLater: TimerName.subscriptionReports, { [weak self] in self?.report() }) {
      (store) throws(StoreError) in try Self.events(due, store)
    }
    guard let found else { return }
    changes.noteReported()
    for event in found { context.emit(event) }
  }

  private static func events(
    _ due: [(status: SubscriptionStatus, ids: [Int64])], _ store: Store
  ) throws(StoreError) -> [Event] {
    var server = try store.token()?.server
    if server == nil { server = try store.setting(Setting.server) }
    guard let server else { return [] }
    var events: [Event] = []
    for (status, ids) in due {
      let connections = try agentIDs(ids, store)
      if !connections.isEmpty { events.append(.subscriptionStatus(server: server, status, connections: connections)) }
    }
    return events
  }

  /// Leaves out deleted connections.
  private static func agentIDs(_ ids: [Int64], _ store: Store) throws(StoreError) -> [String] {
    var found: [String] = []
    for id in ids {
      do throws(StoreError) { found.append(TextEncoding.base64URL(try store.connection(id).agentID)) } catch .notFound {
      } catch .damaged {}
    }
    return found
  }
}

/// The connections to report to a host: those whose status differs from the one last reported, whatever it was in
/// between.
struct StatusChanges {
  private var told = [Int64: SubscriptionStatus]()
  /// `place`: in the order of their last changes.
  private var pending = [Int64: (place: Int, status: SubscriptionStatus)]()
  private var places = 0

  var isEmpty: Bool { pending.isEmpty }

  /// By status, in order of arrival.
  var due: [(status: SubscriptionStatus, ids: [Int64])] {
    var groups: [(status: SubscriptionStatus, ids: [Int64])] = []
    for (id, (_, status)) in pending.sorted(by: { $0.value.place < $1.value.place }) {
      if let index = groups.firstIndex(where: { $0.status == status }) {
        groups[index].ids.append(id)
      } else {
        groups.append((status, [id]))
      }
    }
    return groups
  }

  /// Returns whether this is the first one due.
  mutating func note(_ status: SubscriptionStatus, of id: Int64) -> Bool {
    let wasEmpty = pending.isEmpty
    places += 1
    pending[id] = told[id] == status ? nil : (places, status)
    return wasEmpty && !pending.isEmpty
  }

  mutating func noteReported() {
    for (id, (_, status)) in pending { told[id] = status }
    pending = [:]
  }

  mutating func forget(_ id: Int64) {
    told[id] = nil
    pending[id] = nil
  }
}

extension SubscriptionStatus {
  /// Nil while the server is being asked or does not answer: its last answer may still hold.
  init?(_ state: SubscriptionMachine.State) {
    switch state {
    case .createdNew, .createdActive: self = .active
    case .new, .enabling, .key, .subscribing, .createdPending, .createdInactive: self = .pending
    case .turningOff, .releasing, .off, .deleted: self = .noSubscription
    case .checking, .unchecked: return nil
    }
  }
}
