import PorterMachines
import PorterPlatform
import PorterStore

/// The outcome of a claim attempt. Skipping is reported separately from success (INC-19).
enum ClaimOutcome {
  case granted(ClaimedConnection)
  /// Nothing was done: a running app owns the connection.
  case skipped(holder: Owner)
}

/// The connections claimed by work in this process, or being claimed: one machine `ownership` for each. A claim is a
/// short transaction, and nothing is held after it. Threads: the engine's.
final class ConnectionClaims {
  typealias Completion = (Result<ClaimOutcome, StoreError>) -> Void

  /// The data for an event of the machine: what the previous step found out.
  enum Finding {
    case none
    case wanted(StoredConnection?, Completion)
    case owner(OwnershipRecord, StoredConnection, Completion)
    case granted(ClaimedConnection, Completion)
    case failed(StoreError, Completion)
  }

  /// Work in this process that holds a claim, or is about to.
  struct Holder {
    /// Like the rank of a `MailboxWaiter`.
    let rank: Int
    /// When its unanswered request to the source was made; nil without one.
    let asked: () -> Moment?
    /// Gives up the request and the claim.
    let giveBack: () -> Void
    /// From `takeNumber`, for work that may withdraw while it waits.
    var number: Int?
  }

  /// One connection, whether this process owns it or not.
  private final class Tracked {
    let connectionID: Int64
    let holder: Holder
    var driver: MachineDriver<Ownership, Finding>?
    /// Set while a claim is held.
    var claimed: ClaimedConnection?
    /// Work waiting for the connection.
    var waiting: [(holder: Holder, then: Completion)] = []

    init(connectionID: Int64, holder: Holder) {
      self.connectionID = connectionID
      self.holder = holder
    }
  }

  private let context: EngineContext
  private let peers: PeerLink
  private let source: any Source
  private let changes: CommittedChanges
  private var tracked = [Int64: Tracked]()
  private var numbers = 0

  init(_ context: EngineContext, peers: PeerLink, source: any Source, changes: CommittedChanges) {
    self.context = context
    self.peers = peers
    self.source = source
    self.changes = changes
  }

  // MARK: Claiming

  /// Claims the connection under a new epoch. `then` is called once, in a later step, unless the work withdraws first.
  /// `connection` is its record, if the caller has just read it. Work in this process gets a connection one after
  /// another, in the order of asking, so that each gets a different message.
  func claim(
    _ connectionID: Int64, known connection: StoredConnection? = nil, for holder: Holder, then: @escaping Completion
  ) {
    if let tracked = tracked[connectionID] { return tracked.waiting.append((holder, then)) }
    begin(connectionID, known: connection, holder, then)
  }

  /// Numbers one piece of work.
  func takeNumber() -> Int {
    numbers += 1
    return numbers
  }

  /// The work with this number no longer waits for the connection, and takes no epoch that would cost another process
  /// its claim.
  func withdraw(_ number: Int, from connectionID: Int64) {
    tracked[connectionID]?.waiting.removeAll { $0.holder.number == number }
  }

  func holder(of connectionID: Int64) -> Holder? { tracked[connectionID]?.holder }

  private func begin(
    _ connectionID: Int64, known connection: StoredConnection?, _ holder: Holder, _ then: @escaping Completion
  ) {
    let tracked = track(connectionID, holder)
    tracked.driver?.post(.want, .wanted(connection, then)) { answer in
      // Another attempt on it has not ended.
      if case .refused = answer { then(.failure(.sqlite(SQLiteError(kind: .busy)))) }
    }
  }

  /// The work that a claim was for has ended. Work that began later, under its own epoch, continues.
  func end(_ claim: Claim) { post(.finished, about: claim) }

  /// The store refused to commit under this claim.
  func noteDisplaced(_ claim: Claim) { post(.displaced, about: claim) }

  /// Another process reported that it took or changed something: work here checks before it continues from memory.
  func suspectAll() {
    for connectionID in tracked.keys.sorted() { tracked[connectionID]?.driver?.post(.suspected, .none) }
  }

  /// The store is closed: no work that could hold a claim is left.
  func forgetAll() {
    let waiting = tracked.keys.sorted().flatMap { tracked[$0]?.waiting ?? [] }
    tracked.removeAll()
    for (_, then) in waiting { context.steps.post { then(.failure(.sqlite(SQLiteError(kind: .closed)))) } }
  }

  /// For human readers, by connection. Read in each turn, and mostly there is none or one.
  var states: [EngineSnapshot.ClaimState] {
    var states: [EngineSnapshot.ClaimState] = []
    for tracked in tracked.values {
      states.append(
        .init(
          connectionID: tracked.connectionID, state: tracked.driver?.state ?? Ownership.initial,
          epoch: tracked.claimed?.claim.epoch))
    }
    if states.count > 1 { states.sort { $0.connectionID < $1.connectionID } }
    return states
  }

  private func post(_ event: Ownership.Event, about claim: Claim) {
    guard let tracked = tracked[claim.connectionID], tracked.claimed?.claim == claim else { return }
    tracked.driver?.post(event, .none)
  }

  private func beginNext(after ended: Tracked) {
    tracked[ended.connectionID] = nil
    guard let next = ended.waiting.first else { return }
    begin(ended.connectionID, known: nil, next.holder, next.then)
    tracked[ended.connectionID]?.waiting = Array(ended.waiting.dropFirst())
  }

  private func track(_ connectionID: Int64, _ holder: Holder) -> Tracked {
    let new = Tracked(connectionID: connectionID, holder: holder)
    let work = ConnectionClaimWork(context, peers, source, changes, connectionID) { [weak self, weak new] change in
      guard let new else { return }
      switch change {
      case .holds(let claimed): new.claimed = claimed
      case .ended:
        new.claimed = nil
        // Unless another one has begun under this number in the meantime.
        if let self, self.tracked[connectionID] === new { self.beginNext(after: new) }
      }
    }
    new.driver = MachineDriver(context.machines, subject: String(connectionID)) {
      Ownership.perform($0, by: work, $1)
    }
    work.driver = new.driver
    tracked[connectionID] = new
    return new
  }
}

/// Carries out the effects of `ownership` for one connection.
private final class ConnectionClaimWork: OwnershipEffects {
  typealias Finding = ConnectionClaims.Finding

  enum Change {
    case holds(ClaimedConnection?)
    /// Nothing left to track.
    case ended
  }

  private let context: EngineContext
  private let peers: PeerLink
  private let connectionID: Int64
  private let source: any Source
  private let changes: CommittedChanges
  private let changed: (Change) -> Void
  private var claimed: ClaimedConnection?
  weak var driver: MachineDriver<Ownership, Finding>?

  init(
    _ context: EngineContext, _ peers: PeerLink, _ source: any Source, _ changes: CommittedChanges,
    _ connectionID: Int64,
    changed: @escaping (Change) -> Void
  ) {
    self.context = context
    self.peers = peers
    self.connectionID = connectionID
    self.source = source
    self.changes = changes
    self.changed = changed
  }

  func readOwner(_ finding: Finding) {
    guard let then = finding.completion else { return }
    answer(then) { (store) throws(StoreError) in
      let connection: StoredConnection
      if let known = finding.connection { connection = known } else { connection = try store.connection(connectionID) }
      let record = connection.ownership
      let prevails = record.owner.map { peers.hasPriority($0) } ?? false
      driver?.post(prevails ? .ownerPrevails : .ownerYields, .owner(record, connection, then))
    }
  }

  func takeEpoch(_ finding: Finding) {
    guard case .owner(let record, let connection, let then) = finding else { return }
    answer(then) { (store) throws(StoreError) in
      try source.validate(connection)
      guard let claim = try store.claim(connectionID: connectionID, after: record.epoch, by: context.identity) else {
        // Read again to find out whether it was deleted; otherwise this would repeat indefinitely.
        driver?.post(.raced, .wanted(try store.connection(connectionID), then))
        return
      }
      let claimed = ClaimedConnection(claim: claim, connection: connection)
      driver?.post(.granted, .granted(claimed, then))
    }
  }

  func beginWork(_ finding: Finding) {
    guard case .granted(let claimed, let then) = finding else { return }
    hold(claimed)
    then(.success(.granted(claimed)))
  }

  func skipWork(_ finding: Finding) {
    if case .owner(let record, _, let then) = finding, let owner = record.owner {
      then(.success(.skipped(holder: owner)))
    }
    end()
  }

  func refuseWork(_ finding: Finding) {
    if case .failed(let error, let then) = finding { then(.failure(error)) }
    end()
  }

  func checkEpoch(_ finding: Finding) {
    guard let claim = claimed?.claim else {
      driver?.post(.displaced, .none)
      return
    }
    do throws(StoreError) {
      guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
      driver?.post(try store.isCurrent(claim) ? .confirmed : .displaced, .none)
    } catch .notFound {
      driver?.post(.missing, .none)
    } catch {
      driver?.post(.failed, .none)
    }
  }

  /// Gives up the message fetched under the old epoch; its source still has it.
  func discardWork(_ finding: Finding) {
    hold(nil)
    context.log(.info, "another process took a connection over", ["connection": String(connectionID)])
  }

  func reload(_ finding: Finding) {
    changes.report()
    driver?.post(.reloaded, .none)
  }

  func forget(_ finding: Finding) { end() }

  private func hold(_ claimed: ClaimedConnection?) {
    self.claimed = claimed
    changed(.holds(claimed))
  }

  private func end() {
    claimed = nil
    changed(.ended)
  }

  /// Reads the store; a failure ends the attempt.
  private func answer(
    _ then: @escaping ConnectionClaims.Completion, _ look: (Store) throws(StoreError) -> Void
  ) {
    do throws(StoreError) {
      guard let store = context.store else { throw .sqlite(SQLiteError(kind: .closed)) }
      try look(store)
    } catch {
      if case .notFound = error {
        driver?.post(.missing, .failed(error, then))
      } else {
        driver?.post(.failed, .failed(error, then))
      }
    }
  }
}

extension ConnectionClaims.Finding {
  fileprivate var connection: StoredConnection? {
    switch self {
    case .wanted(let connection, _): connection
    case .owner(_, let connection, _): connection
    case .none, .granted, .failed: nil
    }
  }

  fileprivate var completion: ConnectionClaims.Completion? {
    switch self {
    case .none: nil
    case .wanted(_, let then), .owner(_, _, let then), .granted(_, let then), .failed(_, let then): then
    }
  }
}
