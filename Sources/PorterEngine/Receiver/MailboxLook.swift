import PorterMachines
import PorterPlatform
import PorterStore

/// One look into an app's mailboxes, for a push or a background round: the findings, once every fetch has ended.
final class MailboxLook {
  /// The finding for each mailbox, as events of a push.
  private(set) var findings: [Push.Event] = []
  private(set) var holders: [Owner?] = []
  /// What kept it from looking into a mailbox.
  private(set) var reason: String?
  private var open = 0
  private let emptied: (Int64) -> Void
  private let then: (MailboxLook) -> Void

  init(emptied: @escaping (Int64) -> Void, then: @escaping (MailboxLook) -> Void) {
    self.emptied = emptied
    self.then = then
  }

  func began() { open += 1 }

  /// Call once for each fetch that began.
  func ended() {
    open -= 1
    if open == 0 { then(self) }
  }

  func ended(_ result: FetchResult, _ connectionID: Int64) {
    note(result)
    if result.leavesNothing { emptied(connectionID) }
    ended()
  }

  /// Nothing waits for a connection.
  func noteEmpty() { findings.append(.fetchEmpty) }

  func note(_ result: FetchResult) {
    switch result {
    case .drained: noteEmpty()
    case .displaced(let owner):
      findings.append(.commitStale)
      holders.append(owner)
    case .skipped(let holder):
      findings.append(.claimBusy)
      holders.append(holder)
    case .interrupted, .givenBack:
      findings.append(.fetchOffline)
      reason = "the app suspends"
    case .sourceFailed(let error):
      findings.append(error.kind == .denied ? .fetchDenied : .fetchOffline)
      reason = error.description
    case .storeFailed(.notFound): findings.append(.claimMissing)
    case .storeFailed(let error):
      findings.append(.claimFailed)
      reason = error.description
    }
  }
}

extension FetchResult {
  /// Nothing more can come from the mailbox.
  fileprivate var leavesNothing: Bool {
    switch self {
    case .drained, .storeFailed(.notFound): true
    case .sourceFailed(let error): error.kind == .denied
    case .displaced, .skipped, .interrupted, .storeFailed, .givenBack: false
    }
  }
}

extension Receiver {
  /// Looks into these connections' mailboxes, and into all others with something waiting. `emptied` is called as soon
  /// as a connection has nothing left; `then` once, when nothing waits any longer or is reachable. Every wait in it is
  /// bounded.
  func look(
    into named: [Int64], for waiter: MailboxWaiter, emptied: @escaping (Int64) -> Void,
    then: @escaping (MailboxLook) -> Void
  ) {
    let look = MailboxLook(emptied: emptied, then: then)
    look.began()
    for connection in named {
      look.began()
      fetch(connection, for: waiter) { look.ended($0, connection) }
    }
    lookWhereSomethingWaits(except: named, look)
    look.ended()
  }

  private func lookInto(_ connectionID: Int64, _ look: MailboxLook) {
    look.began()
    fetch(connectionID) { look.ended($0, connectionID) }
  }

  private func lookWhereSomethingWaits(except named: [Int64], _ look: MailboxLook) {
    let connections: [StoredConnection]
    do throws(StoreError) {
      guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
      connections = try store.connections()
    } catch {
      return look.note(.storeFailed(error))
    }
    guard !connections.isEmpty else { return }
    look.began()
    parts.source.listen(to: connections) { [weak self] result in
      switch result {
      case .success(let waiting):
        self?.noteEmpty(connections, except: waiting)
        for connection in connections where !named.contains(connection.id) {
          if waiting.contains(connection.id) { self?.lookInto(connection.id, look) } else { look.noteEmpty() }
        }
      case .failure(let error): look.note(.sourceFailed(error))
      }
      look.ended()
    }
  }
}
