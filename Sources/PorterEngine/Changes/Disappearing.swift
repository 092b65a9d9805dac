import PorterPlatform
import PorterSchema
import PorterStore

/// Deletes messages whose time is over. How long each of them has left is stored in its row and survives the process; an app
/// deletes them while it is active, and what fell due meanwhile at its next activation. Threads: the engine's.
final class Disappearing {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let changes: CommittedChanges

  init(_ context: EngineContext, lifecycle: Lifecycle, changes: CommittedChanges) {
    self.context = context
    self.lifecycle = lifecycle
    self.changes = changes
  }

  /// Deletes what is due, and waits for the next. Called when the chat begins to run and whenever a message's time begins.
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

  /// Marks a message as deleted, whose time begins with that unless it runs already. Part of the caller's transaction.
  func markDeleted(_ item: StoredItem, at time: WallTime, _ store: Store) throws(StoreError) {
    try store.markDeleted(item, at: time) { context.disappearance(after: $0) }
    guard item.secondsToLive != nil else { return }
    takeUpLater(store)
  }

  /// The contact has left. What the user has not finished is whole as it is, and its time begins if it disappears; the app's host hears
  /// of it from the ledger. Part of the caller's transaction.
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

  /// Not immediately: the transaction may be that of a message, whose event comes before those about what is due.
  private func takeUpLater(_ store: Store) {
    store.afterCommit { [weak self] in self?.context.later { self?.takeUp() } }
  }

  private func wait(_ left: Span) {
    context.timers.set(TimerName.disappearing, after: left) { [weak self] in self?.takeUp() }
  }

  /// Of thousands that are due, some at a time: other work gets its turn between them.
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
    // Else they are reported from the ledger, with what is left of them.
    let isInTurn = changes.noteOwnCommit(after: earlier, through: newest)
    for some in removed {
      guard let entry = some.entry else {
        context.emit(some.event)
        continue
      }
      if isInTurn { changes.emit(some.event, of: entry) }
    }
  }

  /// The messages of one contact, as they were.
  private struct Removed {
    let event: Event
    /// The ledger's; nil if the contact has no connection, to which an entry belongs.
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
  /// When the time of a message ends that begins to run now.
  func disappearance(after seconds: Int64) -> Disappearance {
    let (span, wall) = (Span.seconds(seconds), clock.wall())
    return Disappearance(
      at: WallTime(milliseconds: wall.milliseconds + span.milliseconds), boot: instance.boot,
      moment: clock.now() + span)
  }
}
