import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// What other processes committed while this one was frozen, suspended or displaced, told to the host of an app.
///
/// Nothing of the store is kept in memory, so "reload" is this: the entries of the ledger since the last one that this
/// process knows of, and no others (INC-05).
extension Engine {
  /// Tells what others committed since the last look, up to the entry `last`. Costs one look into an index when there is
  /// nothing. What cannot be told now is told later: an entry counts as known when its events are on their way.
  func reloadChanges(through last: Int64 = .max) {
    guard let known = knownEntry, known < last, let store else { return }
    do throws(StoreError) {
      let entries = try store.ledgerEntries(after: known, through: last)
      guard let newest = entries.last?.id else {
        if last != .max { knownEntry = last }
        return
      }
      if entries.contains(where: { $0.state == PorterMachines.LedgerEntry.State.committed.name }) {
        try store.lightTransaction { () throws(StoreError) in
          // An app on screen tells its user itself, through the event; read again, since an extension may just show it.
          for entry in try store.ledgerEntries(after: known, through: newest) { try store.raise(.present, entry) }
        }
      }
      for entry in entries {
        for event in try events(of: entry, store) { emit(event) }
        knownEntry = entry.id
      }
      if last != .max { knownEntry = last }
    } catch {
      log(.warning, "what others committed could not be read", ["error": error.description])
      reloadLater()
    }
  }

  /// A chat that suspends meanwhile does it when it is activated.
  func reloadLater() {
    timers.set(TimerName.reload, after: Self.reloadDelay) { [weak self] in self?.reloadChanges() }
  }

  private static let reloadDelay = Span.milliseconds(500)

  /// What this process committed itself, from the entry `earlier` to `newest`, is no news, once what was there before it
  /// was told. False if that could not be told yet: then this waits its turn, and is told after it.
  @discardableResult
  func noteOwnCommit(after earlier: Int64, through newest: Int64) -> Bool {
    reloadChanges(through: earlier)
    guard let known = knownEntry else { return true }
    guard known >= earlier else { return false }
    knownEntry = max(known, newest)
    return true
  }

  private func events(of entry: StoredLedgerEntry, _ store: Store) throws(StoreError) -> [Event] {
    guard let contactID = entry.contactID else { return [] }
    do throws(StoreError) {
      let connection = try store.connection(entry.connectionID)
      let user = UserRecord(try store.user(connection.userID))
      let contact = ContactRecord(try store.contact(contactID), connection: connection)
      switch entry.kind {
      case .silent: return []
      // What it was before was not seen by this process.
      case .updated: return [.contactUpdated(user, from: contact, to: contact)]
      case .left: return [.contactDeletedByContact(user, contact)]
      case .connected: return [.contactConnected(user, contact)]
      case .message:
        guard let itemID = entry.itemID else { return [] }
        let item = ChatItemRecord(try store.item(itemID))
        return [.newChatItems(user, [ChatItemInChat(info: .direct(contact), item: item)])]
      }
    } catch .notFound {
      // Deleted meanwhile.
      return []
    } catch .damaged(let entity) {
      // It will not be better later, and what comes after it must not wait for that.
      log(.error, "what others committed is damaged", ["what": entity.rawValue])
      return []
    }
  }
}
