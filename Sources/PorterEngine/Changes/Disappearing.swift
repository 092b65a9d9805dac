import PorterPlatform
import PorterSchema
import PorterStore

/// Deletes messages whose time is over. Each message's remaining time is stored in its row and survives the process. An
/// app deletes due messages while it is active, and those that fell due in between at its next activation. Threads: the
/// engine's.
final class Disappearing {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let changes: CommittedChanges

  init(_ context: EngineContext, lifecycle: Lifecycle, changes: CommittedChanges) {
    self.context = context
    self.lifecycle = lifecycle
    self.changes = changes
  }

  /// Deletes due messages, and waits for the next. Called when the chat begins to run and whenever a message's time
  /// begins.
  func takeUp() {
    guard lifecycle.isMain, lifecycle.isActive, let store = context.store else { return }
    do throws(StoreError) {
      try store.continueDisappearing(
        boot: context.instance.boot, now: context.clock.now(), wall: context.clock.wall())
      guard let next = try store.nextDisappearance() else { return context.timers.cancel(TimerName.disappearing) }
      let left = next - context.clock.now()
      guard left > .zero else { return try removeDue(store) }
      wait(left)
    } catch {
      context.log(.warning, "messages that disappear were not deleted", ["error": error.description])
      context.retries.later(TimerName.disappearing) { [weak self] in self?.takeUp() }
    }
  }

  /// Marks a message as deleted; its time begins now unless it is already running. Part of the caller's transaction.
  func markDeleted(_ item: StoredItem, at time: WallTime, _ store: Store) throws(StoreError) {
    try store.markDeleted(item, at: time) { context.disappearance(after: $0) }
    guard item.secondsToLive != nil else { return }
    takeUpLater(store)
  }

  /// Called when the contact has left. The user's unfinished live messages are complete as they are, and their time
  /// begins if they disappear; the app's host is notified from the ledger. Part of the caller's transaction.
  func contactHasLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let contactID = connection.contactID else { return }
    let ended = try store.endLive(contactID: contactID, at: context.clock.wall()) { context.disappearance(after: $0) }
    guard !ended.isEmpty else { return }
    for id in ended {
      try changes.enter(
        .changed, connectionID: connection.id, contactID: contactID, store, .edited(itemID: id))
    }
    takeUpLater(store)
  }

  /// Not immediately: the transaction may be that of a message, whose event precedes those about due messages.
  private func takeUpLater(_ store: Store) {
    store.afterCommit { [weak self] in self?.context.later { self?.takeUp() } }
  }

  private func wait(_ left: Span) {
    context.timers.set(TimerName.disappearing, after: left) { [weak self] in self?.takeUp() }
  }

  /// Limit of messages deleted in one go: if thousands are due, other work gets its turn in between.
  private static let atOnce: Int64 = 100

  private func removeDue(_ store: Store) throws(StoreError) {
    let (earlier, removed) = try store.transaction { () throws(StoreError) in
      let due = try store.disappeared(by: self.context.clock.now(), limit: Self.atOnce)
      let earlier = try store.newestLedgerEntry()
      var removed: [Removed] = []
      for (contactID, items) in Dictionary(grouping: due, by: \.contactID).sorted(by: { $0.key < $1.key }) {
        if let some = try self.remove(items, contactID, store) { removed.append(some) }
      }
      return (earlier, removed)
    }
    context.retries.reset(TimerName.disappearing)
    wait(.zero)
    let newest = removed.last { $0.entry != nil }?.entry ?? earlier
    // Otherwise they are reported from the ledger, with what is left of them.
    let isInTurn = changes.noteOwnCommit(after: earlier, through: newest)
    for some in removed {
      guard let entry = some.entry else {
        context.emit(some.event)
        continue
      }
      if isInTurn { changes.emit(some.event, of: entry) }
    }
  }

  /// One contact's messages as they were.
  private struct Removed {
    let event: Event
    /// The ledger's entry; nil if the contact has no connection, since each entry belongs to one.
    let entry: Int64?
  }

  /// Nil if the records of the contact are damaged.
  private func remove(_ items: [StoredItem], _ contactID: Int64, _ store: Store) throws(StoreError) -> Removed? {
    for item in items { try store.remove(item) }
    do throws(StoreError) {
      let contact = try store.contact(contactID)
      let user = UserRecord(try store.user(contact.userID))
      let connection = try? store.connection(contactID: contactID)
      let change = ItemChange.disappeared(items.map { ItemChange.RemovedItem($0) })
      guard
        let event = change.event(user: user, contact: ContactRecord(contact, connection: connection), nil)
      else { return nil }
      guard let connection else { return Removed(event: event, entry: nil) }
      try changes.enter(.changed, connectionID: connection.id, contactID: contactID, store, change)
      return Removed(event: event, entry: try store.newestLedgerEntry())
    } catch .damaged(let entity) {
      context.log(
        .error, "messages disappeared and were not reported",
        ["contact": String(contactID), "damaged": entity.rawValue])
      return nil
    }
  }
}

extension EngineContext {
  /// The end of a message's time if it begins now.
  func disappearance(after seconds: Int64) -> Disappearance {
    let (span, wall) = (Span.seconds(seconds), clock.wall())
    return Disappearance(
      at: WallTime(milliseconds: wall.milliseconds + span.milliseconds), boot: instance.boot,
      moment: clock.now() + span)
  }
}
