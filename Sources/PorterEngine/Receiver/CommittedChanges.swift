import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Reports to an app's host what other processes committed while this one was frozen, suspended or displaced.
///
/// Nothing of the store is kept in memory, so the report is complete with the ledger entries since the last one this
/// process knows of, and no others (INC-05). Threads: the engine's.
final class CommittedChanges {
  let context: EngineContext
  private let screen: ScreenPresentation
  private let turns: any Turns
  private let scopes: Scopes
  /// The newest ledger entry that an app's host knows of; nil where nothing is reported.
  private var knownEntry: Int64?

  /// The newest entry whose event the host has taken, and whether that is stored.
  private var told: (entry: Int64, isStored: Bool)?

  private let takenEvents: TakenEvents
  /// Called when another process has committed that a contact deleted its connection, which no longer needs a
  /// subscription.
  private let contactLeft: () -> Void
  /// Notifies the other processes that the store has changed.
  let announce: () -> Void

  init(
    _ context: EngineContext, screen: ScreenPresentation, turns: any Turns, scopes: Scopes, takenEvents: TakenEvents,
    contactLeft: @escaping () -> Void, announce: @escaping () -> Void
  ) {
    self.contactLeft = contactLeft
    self.announce = announce
    self.context = context
    self.takenEvents = takenEvents
    self.turns = turns
    self.screen = screen
    self.scopes = scopes
  }

  /// Starts reporting what enters the ledger. A new process begins with what has not been handed over: what extensions
  /// committed since the app last ran, and what its last process had not handed over when it ended.
  func beginWatching() throws(StoreError) {
    guard context.role == .app, let store = context.store else { return }
    try takenEvents.beginOpening(store)
    let newest = try store.newestLedgerEntry()
    // A power failure may have undone the last commits.
    if let entry = takenEvents.kept(.entries).max() {
      told = (min(max(entry, told?.entry ?? 0), newest), isStored: false)
    }
    storeTold()
    guard knownEntry == nil else { return }
    guard let last = try store.setting(Setting.toldThrough).flatMap({ Int64($0) }) else {
      // A host loads its chats when it starts for the first time.
      noteTold(newest)
      return knownEntry = newest
    }
    knownEntry = min(last, newest)
  }

  // MARK: What was handed over to the host

  /// Emits an event about a ledger entry. Until the host has taken it, the event comes again in the app's next process.
  func emit(_ event: Event, of entry: Int64) { emit(making: { event }, bytes: nil, of: entry) }

  func emit(making make: @escaping @Sendable () -> Event, bytes: Int?, of entry: Int64) {
    guard context.role == .app else { return context.emit(making: make, bytes: bytes) }
    context.events.post(making: make, bytes: bytes) { [turns] in turns.enqueue { $0.changes.noteTold(entry) } }
  }

  func noteTold(_ entry: Int64) {
    guard entry > told?.entry ?? -1 else { return }
    told = (entry, isStored: false)
    storeTold()
    if told?.isStored == false { takenEvents.keep([entry], .entries) }
  }

  /// While the store is closed, this waits until this process or the next one opens it.
  private func storeTold() {
    guard let told, !told.isStored, let store = context.store else { return }
    do throws(StoreError) {
      try takenEvents.unwaiting { () throws(StoreError) in
        try store.noteTold(through: told.entry, as: Setting.toldThrough)
      }
      self.told = (told.entry, isStored: true)
      takenEvents.forget(.entries)
    } catch {
      context.log(.info, "events may come again after a restart", ["error": error.description])
    }
  }

  // MARK: Reporting

  /// Whether the host receives ledger entries by their numbers, as an app's does.
  var reportsEntries: Bool { context.role == .app }

  /// Reports what other processes committed since the last look, up to the entry `last`. Costs one index look-up when
  /// there is nothing. What cannot be reported now is reported later: an entry counts as known once its events are on
  /// their way. Of many entries, reports as many as the event queue has room for; the others follow as the host takes
  /// these.
  func report(through last: Int64 = .max) {
    guard let known = knownEntry, known < last, let store = context.store else { return }
    do throws(StoreError) {
      let portion = try nextPortion(after: known, through: last, store)
      if let newest = portion.entries.last?.entry.id {
        var shown: [StoredLedgerEntry] = []
        // Even if something cannot be reported now: the entries count as shown.
        defer { screen.show(shown, in: store) }
        if screen.isVisible, portion.entries.contains(where: \.entry.waitsToBeShown) {
          shown = try store.lightTransaction { () throws(StoreError) in
            // Read again, since an extension may be showing it right now.
            let unshown = try store.ledgerEntries(after: known, through: newest).filter(\.waitsToBeShown)
            return try screen.record(unshown, in: store)
          }
        }
        for (entry, events) in portion.entries {
          if entry.kind == .application { try offer(entry, store) }
          if entry.kind == .left { contactLeft() }
          for event in events { emit(event, of: entry.id) }
          knownEntry = entry.id
        }
      }
      switch portion.rest {
      case .nothing: if last != .max { knownEntry = last }
      case .more: context.later { [weak self] in self?.report() }
      case .waitsForHost: break
      }
    } catch {
      context.log(.warning, "what others committed could not be read", ["error": error.description])
      reportLater()
    }
  }

  /// The entries to report in one turn, with their events.
  private struct Portion {
    enum Rest {
      case nothing
      case more
      /// The queue is full; reporting continues here when the host next looks into it.
      case waitsForHost
    }

    var entries: [(entry: StoredLedgerEntry, events: [Event])] = []
    var rest = Rest.nothing
  }

  private func nextPortion(
    after known: Int64, through last: Int64, _ store: Store
  ) throws(StoreError) -> Portion {
    var portion = Portion()
    guard var room = room() else {
      portion.rest = .waitsForHost
      return portion
    }
    let found = try store.ledgerEntries(after: known, through: last, limit: Self.reportedAtOnce)
    if found.isEmpty { return portion }
    for entry in found {
      let events = entry.kind == .application ? [] : try events(of: entry, store)
      room.events -= max(events.count, 1)
      // Not needed for a few.
      if found.count > Self.few { for event in events { room.bytes -= event.text.utf8.count } }
      guard portion.entries.isEmpty || room.events >= 0 && room.bytes >= 0 else {
        portion.rest = .more
        return portion
      }
      portion.entries.append((entry, events))
    }
    if found.count == Self.reportedAtOnce { portion.rest = .more }
    return portion
  }

  /// Room in the event queue. Nil if there is none; waiting entries are reported once there is.
  private func room() -> (events: Int, bytes: Int)? {
    context.events.room { [turns] in turns.enqueue { $0.eventQueueHasRoom() } }
  }

  private static let reportedAtOnce = 256
  private static let few = 8

  /// The app has come to the foreground: shows what was committed but shown by no process, for example by a background
  /// round that was cut off. Its events were reported. Also shows what an edit has changed, such as a message that now
  /// mentions the user.
  func showWhatWaits() {
    guard screen.isVisible, let store = context.store else { return }
    do throws(StoreError) {
      guard try !store.entriesToPresent(limit: 1).isEmpty else { return }
      let (shown, looked) = try store.lightTransaction { () throws(StoreError) in
        let waiting = try store.entriesToPresent(limit: Self.shownAtOnce)
        return (try screen.record(waiting, in: store), waiting.count)
      }
      screen.show(shown, in: store)
      if looked == Self.shownAtOnce { context.later { [weak self] in self?.showWhatWaits() } }
    } catch {
      context.log(.warning, "what waits to be shown could not be read", ["error": error.description])
    }
  }

  private static let shownAtOnce: Int64 = 256

  /// If the chat suspends in the meantime, this happens when it is activated.
  func reportLater() {
    context.timers.set(TimerName.reload, after: Self.delay) { [weak self] in self?.report() }
  }

  private static let delay = Span.milliseconds(500)

  /// Marks this process's own commits, from the entry `earlier` to `newest`, as known once everything before them was
  /// reported. Returns false if that could not be reported yet: these then follow it. Also if the host is far behind:
  /// their event would take the place of others that the host has not taken.
  @discardableResult
  func noteOwnCommit(after earlier: Int64, through newest: Int64) -> Bool {
    report(through: earlier)
    guard let known = knownEntry else { return true }
    guard known >= earlier, room() != nil else { return false }
    knownEntry = max(known, newest)
    return true
  }

  /// For this process's own commits.
  func reportRequest(_ id: Int64, _ kind: StoredLedgerEntry.Kind, of entry: Int64) {
    guard let store = context.store else { return }
    do throws(StoreError) {
      for event in try requestEvents(id, kind, store) { emit(event, of: entry) }
    } catch {
      context.log(.warning, "a contact request could not be reported", ["error": error.description])
    }
  }

  private func requestEvents(
    _ id: Int64, _ kind: StoredLedgerEntry.Kind, _ store: Store
  ) throws(StoreError) -> [Event] {
    do throws(StoreError) {
      let request = try store.contactRequest(id)
      let user = UserRecord(try store.user(request.userID))
      if kind == .withdrawnRequest { return [.contactRequestWithdrawn(user, UserContactRequest(request))] }
      // Rejected or accepted since: the host knows.
      guard request.state == PorterMachines.ContactRequest.State.received.name else { return [] }
      return [.receivedContactRequest(user, UserContactRequest(request))]
    } catch .notFound {
      return []
    }
  }

  /// Like `reportRequest`, for a push of the host's own.
  func reportApplicationPush(_ id: Int64, of entry: Int64) {
    guard let store = context.store else { return }
    do throws(StoreError) { try scopes.offer(id, of: entry, store) } catch {
      context.log(.warning, "a push of the host's could not be reported", ["error": error.description])
    }
  }

  private func quarantineEvents(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) -> [Event] {
    do throws(StoreError) {
      guard let reason = try store.quarantineReason(entry.id) else { return [] }
      let user = try store.user(try store.connection(entry.connectionID).userID)
      return [.messageError(UserRecord(user), severity: "error", message: reason)]
    } catch .notFound {
      return []
    } catch .damaged(let entity) {
      context.log(.error, "what others committed is damaged", ["what": entity.rawValue])
      return []
    }
  }

  private func offer(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    do throws(StoreError) { try scopes.offer(entry, store) } catch .damaged(let entity) {
      // Logged and skipped, as below.
      context.log(.error, "what others committed is damaged", ["what": entity.rawValue])
    } catch .notFound {}
  }

  private func events(of entry: StoredLedgerEntry, _ store: Store) throws(StoreError) -> [Event] {
    if let requestID = entry.requestID { return try requestEvents(requestID, entry.kind, store) }
    if entry.isQuarantined { return try quarantineEvents(entry, store) }
    guard let contactID = entry.contactID else { return [] }
    do throws(StoreError) {
      let connection = try store.connection(entry.connectionID)
      let user = UserRecord(try store.user(connection.userID))
      let contact = ContactRecord(try store.contact(contactID), connection: connection)
      switch entry.kind {
      case .silent, .request, .withdrawnRequest, .application: return []
      case .connecting: return [.contactConnecting(user, contact)]
      case .accepting: return [.acceptingContactRequest(user, contact)]
      case .ready: return [.contactSndReady(user, contact)]
      // This process did not see the earlier profile.
      case .updated: return [.contactUpdated(user, from: contact, to: contact)]
      case .left: return [.contactDeletedByContact(user, contact)]
      case .changed:
        guard let change = entry.detail.flatMap({ ItemChange(stored: $0) }) else { return [] }
        return [change.event(user: user, contact: contact, try change.remainingItem(store))].compactMap { $0 }
      case .connected:
        return [.contactConnected(user, contact, incognito: Profile(incognito: connection.incognito))]
      case .message, .call:
        guard let itemID = entry.itemID else { return [] }
        let item = ChatItemRecord(try store.item(itemID))
        return [.newChatItems(user, [ChatItemInChat(info: .direct(contact), item: item)])]
      }
    } catch .notFound {
      // Deleted in the meantime.
      return []
    } catch .damaged(let entity) {
      // Waiting would not repair it, and later entries must not wait for that.
      context.log(.error, "what others committed is damaged", ["what": entity.rawValue])
      return []
    }
  }
}
