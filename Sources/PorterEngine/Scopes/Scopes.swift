import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterPush
import PorterSchema
import PorterStore

/// Pushes of the host's own, received through scopes: takes them in with the message that brings them, and hands each
/// to the host once. Owns the machine `application_push`, whose state is stored. Threads: the engine's.
final class Scopes {
  typealias PushMachine = PorterMachines.ApplicationPush
  private typealias Taken = RecordedMachineDriver<PushMachine, Subject>.Taken

  /// What a step's effects need: the push, and the ledger entry that its event is about.
  struct Subject {
    var pushID: Int64?
    var entry: Int64 = 0
  }

  private let context: EngineContext
  private let emit: (Event, Int64) -> Void
  private lazy var driver = RecordedMachineDriver<PushMachine, Subject>(context.machines) {
    [unowned self] in PushMachine.perform($0, by: self, $1)
  }

  /// `emit` emits an event about a ledger entry.
  init(_ context: EngineContext, emit: @escaping (Event, Int64) -> Void) {
    self.context = context
    self.emit = emit
  }

  // MARK: Steps

  /// Takes the step: stores the state and what the step records. Part of the caller's transaction; its other effects
  /// must follow the commit.
  private func take(
    _ event: PushMachine.Event, _ change: ApplicationPushChange, entry: Int64 = 0, _ store: Store
  ) throws(StoreError) -> (taken: Taken, pushID: Int64?) {
    var pushID: Int64?
    let state = try change.push.map { (push) throws(StoreError) in try Self.state(of: push) } ?? .none
    let subject = Subject(pushID: change.push?.id, entry: entry)
    let taken = try driver.take(event, of: subject.pushID.map { String($0) } ?? "-", in: state, subject) {
      (step, subject) throws(StoreError) in
      var changed = change
      if let known = change.push, step.next != state { try store.setApplicationPush(known.id, state: step.next.name) }
      try PushMachine.record(step, by: ApplicationPushRecorder(store: store), &changed)
      pushID = changed.pushID
      subject.pushID = pushID
    }
    return (taken, pushID)
  }

  /// Takes the step; its other effects follow the commit.
  @discardableResult
  private func step(
    _ event: PushMachine.Event, _ change: ApplicationPushChange, _ store: Store
  ) throws(StoreError) -> Int64? {
    let (taken, pushID) = try take(event, change, store)
    store.afterCommit { [weak self] in self?.driver.post(taken) }
    return pushID
  }

  private static func state(of push: StoredApplicationPush) throws(StoreError) -> PushMachine.State {
    guard let state = PushMachine.State(name: push.state) else { throw .damaged(.applicationPush) }
    return state
  }

  // MARK: Receiving

  /// Opens a message left in a scope's mailbox, and stores it. Part of the transaction that commits the message.
  func receive(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage.Content {
    guard let scope = try store.scope(connectionID: connection.id),
      let secret = connection.invitation.flatMap({ BoxSecretKey(stored: $0.exposeForStorage()) }),
      let service = SigningPublicKey(bytes: scope.serviceKey)
    else { return .quarantined("no scope") }
    try prune(scope, store)
    let envelope: ApplicationEnvelope
    do throws(PushError) {
      envelope = try ApplicationEnvelope(opening: message.body, with: BoxKeyPair(secretKey: secret), service: service)
    } catch {
      return .quarantined("an application push: \(error)")
    }
    // Only by an envelope of the service, and no further than the service put it: the relay's time may be wrong.
    let newest = max(scope.newestAt, min(message.timestamp, envelope.expires))
    try store.noteNewest(newest, scope: scope.id)
    if let known = try store.applicationPush(scopeID: scope.id, envelopeID: envelope.identifier) {
      try step(.repeat, ApplicationPushChange(known), store)
      return .nothingToShow(contactID: nil)
    }
    if case .refused(let reason) = ScopeAdmission.of(
      envelope, arrivedAt: message.timestamp, newest: max(newest, message.timestamp))
    {
      return .quarantined(reason)
    }
    let new = NewApplicationPush(
      scopeID: scope.id, envelopeID: envelope.identifier, messageID: message.identifier, envelope: envelope.json.text,
      expiresAt: envelope.expires, messageAt: message.timestamp)
    guard let id = try step(.arrive, ApplicationPushChange(new), store) else { throw .damaged(.applicationPush) }
    return .application(id)
  }

  /// Not for each message, since it searches through the stored ones.
  private func prune(_ scope: StoredScope, _ store: Store) throws(StoreError) {
    guard try store.newestLedgerEntry() % ScopeLimits.pruningInterval == 0 else { return }
    try store.pruneApplicationPushes(
      scopeID: scope.id, expiredBefore: ScopeAdmission.oldestExpiry(at: scope.newestAt), keeping: ScopeLimits.unsettled)
    try store.pruneScopeEntries(connectionID: scope.connectionID, keeping: ScopeLimits.entries)
  }

  // MARK: Handing over

  /// How to treat a ledger entry in an extension's answer.
  enum Due {
    /// Include it in the answer; `recordHanded` follows in the same transaction, once the answer is settled.
    case handing(StoredApplicationPush, HandedPush)
    /// Already handed over, or only for the app, such as one of a hidden profile.
    case nothing
  }

  func due(_ entry: StoredLedgerEntry, _ records: inout KnownRecords, _ store: Store) throws(StoreError) -> Due {
    guard let push = try store.applicationPush(connectionID: entry.connectionID, messageID: entry.messageID),
      case .moved = PushMachine.step(try Self.state(of: push), .hand).answer,
      let record = try record(of: push, store), try !records.user(record.userID, store).isHidden
    else { return .nothing }
    return .handing(push, record)
  }

  /// Part of the caller's transaction.
  func recordHanded(_ pushes: [StoredApplicationPush], _ store: Store) throws(StoreError) {
    for push in pushes { try step(.hand, ApplicationPushChange(push), store) }
  }

  /// Reports what another process committed: the push that this ledger entry is about.
  func offer(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    let push = try store.applicationPush(connectionID: entry.connectionID, messageID: entry.messageID)
    if let push { try offer(push.id, of: entry.id, store) }
  }

  /// Reports the push to an app's host, unless an extension has handed it over.
  func offer(_ id: Int64, of entry: Int64, _ store: Store) throws(StoreError) {
    guard context.role == .app else { return }
    let taken = try store.lightTransaction { () throws(StoreError) in
      try self.take(.offer, ApplicationPushChange(try store.applicationPush(id)), entry: entry, store).taken
    }
    // In order with the events of other entries.
    driver.carryOut(taken)
  }

  /// Settles the pushes the host has dealt with. Deleted ones are skipped.
  func settle(_ ids: [Int64], userID: Int64, _ store: Store) throws(StoreError) {
    for id in ids {
      do throws(StoreError) {
        let push = try store.applicationPush(id)
        guard try store.scope(push.scopeID).userID == userID else { continue }
        try step(.settle, ApplicationPushChange(push), store)
      } catch .notFound {}
    }
  }

  /// Nil for a settled push.
  func record(of push: StoredApplicationPush, _ store: Store) throws(StoreError) -> HandedPush? {
    guard let text = push.envelope else { return nil }
    guard let json = try? JSONValue(parsing: text), let envelope = ApplicationEnvelope(json: json) else {
      throw .damaged(.applicationPush)
    }
    let scope = try store.scope(push.scopeID)
    return HandedPush(
      id: push.id, userID: scope.userID, scope: scope.name,
      outcome: HandedPush.Outcome(
        version: envelope.version, command: envelope.command, expires: envelope.expires, known: scope.version,
        commands: scope.commandNames, at: max(push.messageAt, context.clock.wall())),
      envelope: json, arrived: push.messageAt)
  }
}

extension Scopes: ApplicationPushEffects {
  func emitApplicationPush(_ subject: Subject) {
    guard let store = context.store, let id = subject.pushID else { return }
    do throws(StoreError) {
      guard let record = try record(of: try store.applicationPush(id), store) else { return }
      emit(.applicationPush(record), subject.entry)
    } catch {
      // It stays in the list of unsettled pushes.
      context.log(.warning, "a push of the host's could not be reported", ["error": error.description])
    }
  }
}

extension StoredScope {
  var commandNames: [String]? {
    commands.flatMap { try? JSONValue(parsing: $0) }?.arrayValue?.compactMap(\.stringValue)
  }
}

/// One event of the machine `application_push`, with what its step needs. Lives as long as the transaction containing
/// the step.
struct ApplicationPushChange {
  /// As it was before the step; nil for a new one.
  let push: StoredApplicationPush?
  fileprivate let new: NewApplicationPush?
  fileprivate(set) var pushID: Int64?

  init(_ push: StoredApplicationPush) { (self.push, new, pushID) = (push, nil, push.id) }
  init(_ new: NewApplicationPush) { (push, self.new, pushID) = (nil, new, nil) }
}

/// Writes what the steps of `application_push` record.
struct ApplicationPushRecorder: PorterMachines.ApplicationPushRecord {
  typealias State = PorterMachines.ApplicationPush.State

  let store: Store

  func storeEnvelope(_ change: inout ApplicationPushChange, _ next: State) throws(StoreError) {
    guard let new = change.new else { return assertionFailure("application_push: nothing to store") }
    change.pushID = try store.insertApplicationPush(new, state: next.name)
  }

  func eraseEnvelope(_ change: inout ApplicationPushChange, _ next: State) throws(StoreError) {
    if let id = change.pushID { try store.eraseEnvelope(ofApplicationPush: id) }
  }
}
