import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// What became of a wish to work on a connection; success and doing nothing are never the same answer (INC-19).
enum Claiming {
  case granted(ClaimedMailbox)
  /// Nothing was done: an app that lives and works has the connection.
  case skipped(holder: Owner)
}

/// One connection as this process owns it, or not; the machine `ownership` with what it is about.
final class Tenure {
  let connectionID: Int64
  var machine = MachineRunner<PorterMachines.Ownership>()
  var pump = EventPump<PorterMachines.Ownership.Event>()
  /// Of a claim that is held.
  var claimed: ClaimedMailbox?

  // Between the machine's questions and its answers.
  var record: OwnershipRecord?
  var connection: StoredConnection?
  var outcome: Claiming?
  var error: PorterStore.StoreError = .notFound(.connection)

  init(connectionID: Int64) { self.connectionID = connectionID }
}

/// Carries out the effects of the machine `ownership`: a claim is a short transaction, and nothing is held after it.
extension Engine {
  /// This process, as it stands in the store.
  var identity: Owner { Owner(role: configuration.role.rawValue, instance: instance) }

  func claim(_ connectionID: Int64) throws(PorterStore.StoreError) -> Claiming {
    let tenure = tenures[connectionID] ?? Tenure(connectionID: connectionID)
    tenures[connectionID] = tenure
    tenure.outcome = nil
    raise(.want, tenure)
    guard let outcome = tenure.outcome else { throw tenure.error }
    return outcome
  }

  /// The work that `claim` was for has ended. Work that began later, under an epoch of its own, goes on.
  func endClaim(_ claim: Claim) {
    guard let tenure = tenures[claim.connectionID], tenure.claimed?.claim == claim else { return }
    raise(.finished, tenure)
  }

  /// The store refused to commit under this claim.
  func noteDisplaced(_ claim: Claim) {
    guard let tenure = tenures[claim.connectionID], tenure.claimed?.claim == claim else { return }
    raise(.displaced, tenure)
  }

  /// Another process said that it took or changed something: whoever works here looks, before it goes on from memory.
  func suspectClaims() {
    for connectionID in tenures.keys.sorted() {
      if let tenure = tenures[connectionID] { raise(.suspected, tenure) }
    }
  }

  /// The store is closed: no work is left that a claim could be for.
  func forgetClaims() { tenures.removeAll() }

  private func raise(_ event: PorterMachines.Ownership.Event, _ tenure: Tenure) {
    guard tenure.pump.offer(event) else { return }
    while let event = tenure.pump.next() {
      let step = tenure.machine.handle(event)
      log(
        .debug, "ownership",
        ["connection": String(tenure.connectionID), "event": event.name, "state": step.next.name])
      for effect in step.effects { perform(effect, tenure) }
    }
    if tenure.machine.state == .free { tenures[tenure.connectionID] = nil }
  }

  private func perform(_ effect: PorterMachines.Ownership.Effect, _ tenure: Tenure) {
    switch effect {
    case .readOwner: raise(readOwner(tenure), tenure)
    case .takeEpoch: raise(takeEpoch(tenure), tenure)
    case .beginWork: tenure.outcome = tenure.claimed.map { .granted($0) }
    case .skipWork: tenure.outcome = tenure.record?.owner.map { .skipped(holder: $0) }
    case .refuseWork: tenure.outcome = nil
    case .checkEpoch: raise(checkEpoch(tenure), tenure)
    case .discardWork: discardWork(tenure)
    case .reload:
      reloadChanges()
      raise(.reloaded, tenure)
    case .forget: tenure.claimed = nil
    }
  }

  private func readOwner(_ tenure: Tenure) -> PorterMachines.Ownership.Event {
    answering(tenure) { (store) throws(PorterStore.StoreError) in
      let record = try store.ownership(connectionID: tenure.connectionID)
      tenure.record = record
      tenure.connection = try store.connection(tenure.connectionID)
      return record.owner.map(prevails) == true ? .ownerPrevails : .ownerYields
    }
  }

  private func takeEpoch(_ tenure: Tenure) -> PorterMachines.Ownership.Event {
    answering(tenure) { (store) throws(PorterStore.StoreError) in
      guard let record = tenure.record, let connection = tenure.connection else { return .raced }
      let mailbox = try Self.relayIdentifier(connection.recipientID)
      let claim = try store.claim(connectionID: tenure.connectionID, after: record.epoch, by: self.identity)
      guard let claim else {
        // Told apart from a race, which would be looked at again for ever.
        _ = try store.ownership(connectionID: tenure.connectionID)
        return .raced
      }
      tenure.claimed = ClaimedMailbox(claim: claim, mailbox: mailbox, key: connection.recipientKey)
      return .granted
    }
  }

  private func checkEpoch(_ tenure: Tenure) -> PorterMachines.Ownership.Event {
    answering(tenure) { (store) throws(PorterStore.StoreError) in
      guard let claim = tenure.claimed?.claim else { return .displaced }
      return try store.isCurrent(claim) ? .confirmed : .displaced
    }
  }

  private func answering(
    _ tenure: Tenure, _ look: (Store) throws(PorterStore.StoreError) -> PorterMachines.Ownership.Event
  ) -> PorterMachines.Ownership.Event {
    do throws(PorterStore.StoreError) {
      guard let store else { throw .sqlite(SQLiteError(kind: .closed)) }
      return try look(store)
    } catch {
      tenure.error = error
      if case .notFound = error { return .missing }
      return .failed
    }
  }

  /// The message that was fetched under the old epoch is given up; its sender's relay still has it.
  private func discardWork(_ tenure: Tenure) {
    tenure.claimed = nil
    log(.info, "another process took a connection over", ["connection": String(tenure.connectionID)])
  }

  /// An app gives way to nobody. An extension gives way to an app, while that very process lives and works.
  private func prevails(_ owner: Owner) -> Bool {
    guard configuration.role == .extension, owner.role == Role.app.rawValue, owner.instance != instance else {
      return false
    }
    // One that was frozen at work still holds its lock, and does not answer.
    guard presence.state != .silent else { return false }
    let app = peerFile
    return app.isHeldElsewhere() && app.published()?.instance == owner.instance
  }
}
