import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// The outcome of committing one message.
enum CommitOutcome {
  case committed(CommittedMessage)
  /// Already in the ledger; nothing was changed (INC-34).
  case repeated(CommittedMessage)
  /// Could not be opened, and is kept with its reason; nothing of it is shown (INC-41).
  case quarantined(CommittedMessage)
  case failed(StoreError)
}

/// Commits a source's messages: the content, the ledger entry, the counts and the answer to send are one transaction
/// (rule 4), fenced by the claim's epoch (rule 2). Threads: the engine's.
final class MessageCommitter {
  private let context: EngineContext
  private let peers: PeerLink
  private let source: any Source
  private let claims: ConnectionClaims
  private let changes: CommittedChanges
  private let connections: Connections
  private var expected = ExpectedMessages()
  /// For an app.
  private let screen: ScreenPresentation

  init(
    _ context: EngineContext, peers: PeerLink, source: any Source, claims: ConnectionClaims,
    changes: CommittedChanges, connections: Connections, screen: ScreenPresentation
  ) {
    self.context = context
    self.peers = peers
    self.source = source
    self.claims = claims
    self.changes = changes
    self.connections = connections
    self.screen = screen
  }

  /// What the transaction found and did.
  private struct Transacted {
    /// The newest ledger entry before the reported ones, with them, and at the end; 0 where no host receives entries.
    var earlier: Int64 = 0
    var own: Int64 = 0
    var newest: Int64 = 0
    var connection: StoredConnection
    /// As read under the fence. A message changes only the user's unread counts.
    var user: StoredUser?
    /// Nil for a repeat.
    var opened: OpenedMessage?
    /// What an app on screen shows of it.
    var shown: [StoredLedgerEntry] = []
    /// As counting the message left it.
    var countedContact: StoredContact?
    /// Messages that did not open earlier, but do now that the connection has changed.
    var upgraded: [(content: OpenedMessage.Content, countedContact: StoredContact?, entry: Int64)] = []
    /// A call is waiting for its user.
    var rings = false
  }

  /// Commits the message, and reports it to the host.
  func commit(_ message: SourceMessage, under claim: Claim) -> CommitOutcome {
    guard let store = context.store else { return .failed(.sqlite(SQLiteError(kind: .closed))) }
    do throws(StoreError) {
      let transacted = try store.transaction(under: claim, receiving: message.identifier) {
        (conversation) throws(StoreError) in
        try self.transact(message, conversation, store)
      }
      return committed(transacted, store)
    } catch {
      context.log(.warning, "a message was not committed", ["error": error.description])
      if case .staleEpoch = error { claims.noteDisplaced(claim) }
      return .failed(error)
    }
  }

  /// `conversation` was read under the fence: another process may have advanced the connection before the claim.
  private func transact(
    _ message: SourceMessage, _ conversation: Conversation, _ store: Store
  ) throws(StoreError) -> Transacted {
    defer { FaultPoint.reach(.insideCommit) }
    let connection = conversation.connection.withoutReading
    var transacted = Transacted(connection: connection, user: conversation.connection.reading?.user)
    if let known = conversation.knownEntry, known.isReceived {
      if changes.reportsEntries { transacted.earlier = try store.newestLedgerEntry() }
      try store.raise(.repeat, known)
    } else {
      let opened = try source.open(message, conversation.connection, store)
      // Opening it may have entered something, such as a welcome, which is reported from the ledger.
      if changes.reportsEntries { transacted.earlier = try store.newestLedgerEntry() }
      transacted.countedContact = try enter(
        message, opened.content, conversation.connection, inPlaceOf: conversation.knownEntry, store)
      transacted.opened = opened
      transacted.rings = Self.rings(opened.content, store)
      transacted.shown += shownEntries(message, opened.content, connection)
      // Inside the transaction: the source acknowledges using the record as this transaction leaves it.
      if opened.changesConnection { transacted.connection = try store.connection(connection.id) }
    }
    if changes.reportsEntries { transacted.own = try store.newestLedgerEntry() }
    transacted.newest = transacted.own
    if transacted.opened != nil, connection.opensMore(as: transacted.connection) {
      try openQuarantined(&transacted, store)
    }
    return transacted
  }

  /// Retries the connection's quarantined messages, after something other than a message has changed that could open
  /// them. Part of the caller's transaction.
  func openQuarantined(_ connectionID: Int64, _ store: Store) throws(StoreError) {
    var transacted = Transacted(connection: try store.connection(connectionID))
    if changes.reportsEntries { transacted.newest = try store.newestLedgerEntry() }
    try openQuarantined(&transacted, store)
    store.afterCommit { [changes] in changes.reportEntered() }
  }

  /// Retries the connection's quarantined messages: what they need may have arrived after them. Each has a bounded
  /// number of attempts.
  private func openQuarantined(_ transacted: inout Transacted, _ store: Store) throws(StoreError) {
    for quarantined in try store.quarantinedMessages(connectionID: transacted.connection.id) {
      let (entry, connection) = (quarantined.entry, transacted.connection)
      var message = SourceMessage(identifier: entry.messageID, timestamp: entry.messageAt, body: quarantined.body)
      message.arrival = QuarantinedArrival(stored: entry.detail)?.moment(in: context)
      let opened = try source.open(message, connection, store)
      if case .quarantined = opened.content {
        try store.raise(.quarantine, entry)
        continue
      }
      if changes.reportsEntries {
        for entered in try store.ledgerEntries(after: transacted.newest, through: .max) {
          guard let change = entered.detail.flatMap({ ItemChange(stored: $0) }), let contactID = entered.contactID
          else {
            continue
          }
          transacted.upgraded.append((.changed(change, contactID: contactID), nil, entered.id))
        }
      }
      let counted = try enter(message, opened.content, connection, inPlaceOf: entry, store)
      if changes.reportsEntries { transacted.newest = try store.newestLedgerEntry() }
      transacted.upgraded.append((opened.content, counted, transacted.newest))
      if Self.rings(opened.content, store) { transacted.rings = true }
      transacted.shown += shownEntries(message, opened.content, connection)
      if opened.changesConnection { transacted.connection = try store.connection(connection.id) }
    }
  }

  /// Whether this is a call to notify the user of now; assumed so if the contact's record cannot be read.
  private static func rings(_ content: OpenedMessage.Content, _ store: Store) -> Bool {
    guard case .call(_, let contactID, rings: true) = content else { return false }
    do throws(StoreError) { return try Calls.reachUser(contactID: contactID, store) } catch { return true }
  }

  /// From here on the message is in the store, and nothing may be reported as failed: it would not come again. What
  /// cannot be reported now is left to `CommittedChanges`.
  private func committed(_ transacted: Transacted, _ store: Store) -> CommitOutcome {
    guard let opened = transacted.opened else {
      changes.noteOwnCommit(after: transacted.earlier, through: transacted.newest)
      return .repeated(CommittedMessage(connection: transacted.connection, records: nil))
    }
    peers.announceChange()
    if case .left = opened.content { connections.reportEnded() }
    let connection = transacted.connection
    do throws(StoreError) {
      let records = try records(
        of: opened.content, connection, transacted.user, counted: transacted.countedContact, store)
      let isInTurn = changes.noteOwnCommit(after: transacted.earlier, through: transacted.newest)
      let committed = CommittedMessage(connection: connection, records: records, rings: transacted.rings)
      if case .quarantined(let reason) = opened.content {
        let user = UserRecord(
          try transacted.user.or { () throws(StoreError) in try store.user(connection.userID) })
        let event = Event.messageError(user, severity: "error", message: reason)
        if isInTurn { changes.emit(event, of: transacted.own) }
        return .quarantined(committed)
      }
      if isInTurn { report(opened.content, committed, of: transacted.own) }
      for late in transacted.upgraded {
        let records = try self.records(
          of: late.content, connection, transacted.user, counted: late.countedContact, store)
        if isInTurn {
          report(late.content, CommittedMessage(connection: connection, records: records), of: late.entry)
        }
      }
      show(transacted.shown, committed, store)
      if case .changed(.edited, _) = opened.content { changes.showWhatWaits() }
      return .committed(committed)
    } catch {
      context.log(.warning, "what was committed could not be reported yet", ["error": error.description])
      changes.reportLater()
      return .committed(CommittedMessage(connection: connection, records: nil, rings: transacted.rings))
    }
  }

  private func records(
    of content: OpenedMessage.Content, _ connection: StoredConnection, _ user: StoredUser?, counted: StoredContact?,
    _ store: Store
  ) throws(StoreError) -> CommittedMessage.Records? {
    let contactID: Int64
    var item: StoredItem?
    switch content {
    case .item(let stored): (contactID, item) = (stored.contactID, stored)
    case .call(let id, let contact, _): (contactID, item) = (contact, try store.item(id))
    case .changed(let change, let contact): (contactID, item) = (contact, try change.remainingItem(store))
    case .connected, .updated, .left, .connecting:
      guard let contact = connection.contactID else { return nil }
      contactID = contact
    case .request, .requestWithdrawn, .application, .nothingToShow, .quarantined: return nil
    }
    return CommittedMessage.Records(
      user: try user.or { () throws(StoreError) in try store.user(connection.userID) },
      contact: try counted.or { () throws(StoreError) in try store.contact(contactID) }, item: item)
  }

  // MARK: The ledger

  /// The entries `enter` adds, if shown on screen.
  private func shownEntries(
    _ message: SourceMessage, _ content: OpenedMessage.Content, _ connection: StoredConnection
  ) -> [StoredLedgerEntry] {
    guard screen.isVisible else { return [] }
    let kind: StoredLedgerEntry.Kind
    var (contactID, itemID, requestID): (Int64?, Int64?, Int64?)
    switch content {
    case .item(let item): (kind, contactID, itemID) = (.message, item.contactID, item.id)
    case .call(let id, let contact, let rings):
      guard rings else { return [] }
      (kind, contactID, itemID) = (.call, contact, id)
    case .connected(let contact): (kind, contactID) = (.connected, contact)
    case .request(let id): (kind, requestID) = (.request, id)
    case .updated, .left, .changed, .connecting, .requestWithdrawn, .application, .nothingToShow, .quarantined:
      return []
    }
    return [
      .committed(
        connectionID: connection.id, messageID: message.identifier, messageAt: message.timestamp, kind: kind,
        contactID: contactID, itemID: itemID, requestID: requestID)
    ]
  }

  private func show(_ entries: [StoredLedgerEntry], _ committed: CommittedMessage, _ store: Store) {
    var records = KnownRecords()
    records.note(committed)
    screen.show(entries, records, in: store)
  }

  /// Writes the ledger entry. What an app on screen commits counts as shown, or as silenced by the user's choice: its
  /// host shows it as the event says. In every other phase it waits, as in an extension. Returns the contact as
  /// counting left it.
  private func enter(
    _ message: SourceMessage, _ content: OpenedMessage.Content, _ connection: StoredConnection,
    inPlaceOf earlier: StoredLedgerEntry?, _ store: Store
  ) throws(StoreError) -> StoredContact? {
    let (kind, contactID): (StoredLedgerEntry.Kind, Int64?)
    var (itemID, requestID): (Int64?, Int64?)
    var (isMention, detail): (Bool, String?) = (false, nil)
    var isOver = false
    switch content {
    case .item(let item):
      (kind, contactID, itemID) = (.message, item.contactID, item.id)
      isMention = item.mentionsUser
    case .changed(let change, let contact): (kind, contactID, detail) = (.changed, contact, change.stored)
    case .call(let id, let contact, let rings):
      (kind, contactID, itemID) = (.call, contact, id)
      isOver = !rings
    case .connected(let contact): (kind, contactID) = (.connected, contact)
    case .updated(let before): (kind, contactID) = (.updated, before.id)
    case .left(let contact): (kind, contactID) = (.left, contact)
    case .connecting(let contact): (kind, contactID) = (.connecting, contact)
    case .request(let id): (kind, contactID, requestID) = (.request, nil, id)
    case .requestWithdrawn(let id): (kind, contactID, requestID) = (.withdrawnRequest, nil, id)
    case .application: (kind, contactID) = (.application, nil)
    case .nothingToShow(let contact): (kind, contactID) = (.silent, contact)
    case .quarantined(let reason):
      try quarantine(message, connection, reason, inPlaceOf: earlier, store)
      return nil
    }
    // Entries that are never shown do not wait, nor does a call that is over where the user sees it in the app.
    var events: [PorterMachines.LedgerEntry.Event] = kind.isShown ? [] : [.read]
    if isOver, screen.isVisible { events = [.lapse] }
    if events.isEmpty, screen.isVisible {
      events = try content.isSilenced(on: connection, store) ? [.silence] : [.present]
      if let earlier { try PushPresentation.forgetResponses(to: earlier, connection, store) }
    }
    return try store.enter(
      NewLedgerEntry(
        connectionID: connection.id, messageID: message.identifier, messageAt: message.timestamp, kind: kind,
        contactID: contactID, itemID: itemID, requestID: requestID, detail: detail), inPlaceOf: earlier, after: events,
      mentionsUser: isMention, contact: connection.reading?.contact, at: context.clock.wall())
  }

  /// Rule 8: kept with its reason and never shown; it does not hold up its neighbours.
  private func quarantine(
    _ message: SourceMessage, _ connection: StoredConnection, _ reason: String,
    inPlaceOf earlier: StoredLedgerEntry?, _ store: Store
  ) throws(StoreError) {
    context.log(
      .warning, "a message was quarantined", ["connection": String(connection.id), "reason": reason])
    try store.quarantine(
      connectionID: connection.id, messageID: message.identifier, messageAt: message.timestamp, reason: reason,
      body: message.body,
      detail: message.arrival.map { QuarantinedArrival(boot: context.instance.boot, moment: $0).stored },
      inPlaceOf: earlier, at: context.clock.wall())
  }

  // MARK: Events

  private func report(_ content: OpenedMessage.Content, _ committed: CommittedMessage, of entry: Int64) {
    switch content {
    case .request(let id): return changes.reportRequest(id, .request, of: entry)
    case .requestWithdrawn(let id): return changes.reportRequest(id, .withdrawnRequest, of: entry)
    case .application(let id): return changes.reportApplicationPush(id, of: entry)
    default: break
    }
    guard let records = committed.records else { return }
    let connection = committed.connection
    switch content {
    case .item, .call:
      guard let item = records.item else { return }
      let shown = ShownConnection(connection)
      return changes.emit(
        making: {
          let contact = ContactRecord(records.contact, shown: shown)
          return .newChatItems(
            UserRecord(records.user), [ChatItemInChat(info: .direct(contact), item: ChatItemRecord(item))])
        }, bytes: Self.eventBytes + records.user.storedBytes + records.contact.storedBytes + item.storedBytes, of: entry
      )
    default: break
    }
    let user = UserRecord(records.user)
    let contact = ContactRecord(records.contact, connection: connection)
    switch content {
    case .changed(let change, _):
      if let event = change.event(user: user, contact: contact, records.item) { changes.emit(event, of: entry) }
    case .connected:
      changes.emit(
        .contactConnected(user, contact, incognito: Profile(incognito: committed.connection.incognito)), of: entry)
    case .connecting: changes.emit(.contactConnecting(user, contact), of: entry)
    case .updated(let before):
      changes.emit(
        .contactUpdated(user, from: ContactRecord(before, connection: committed.connection), to: contact), of: entry)
    case .left: changes.emit(.contactDeletedByContact(user, contact), of: entry)
    case .item, .call, .request, .requestWithdrawn, .application, .nothingToShow, .quarantined: break
    }
  }

  /// Notes that a push names this message.
  func expect(_ message: [UInt8], _ connectionID: Int64) { expected.note(message, connectionID) }

  /// Notes that a push names the message of this time.
  func expect(_ time: WallTime, _ connectionID: Int64) { expected.note(time, connectionID) }

  /// SimpleX's `ntfMessage`: a message named by a push was taken in, and need not come again.
  func emitMarker(_ message: SourceMessage, _ committed: CommittedMessage) {
    let connection = committed.connection
    guard let store = context.store, expected.take(message, connection.id) else { return }
    guard let user = committed.records?.user ?? (try? store.user(connection.userID)) else { return }
    let contact = committed.records?.contact ?? connection.contactID.flatMap { try? store.contact($0) }
    let address = connection.isAddress ? try? store.address(connectionID: connection.id) : nil
    let (shown, named) = (ShownConnection(connection), message.notification)
    let shownAddress = address.map { AddressRecord($0) }
    context.emit(
      making: { .ntfMessage(UserRecord(user), ConnectionEntity(shown, contact, shownAddress), named) },
      bytes: Self.eventBytes + user.storedBytes + (contact?.storedBytes ?? 0))
  }

  /// Roughly the bytes of a message event in addition to what was stored as it is.
  private static let eventBytes = 3_072
}

extension StoredConnection {
  /// Whether messages that did not open on this connection may open in its later state.
  fileprivate func opensMore(as later: StoredConnection) -> Bool {
    status != later.status || contactID != later.contactID
  }
}

extension StoredUser {
  fileprivate var storedBytes: Int { displayName.utf8.count + fullName.utf8.count + (profile?.utf8.count ?? 0) }
}

extension StoredContact {
  fileprivate var storedBytes: Int {
    let names = localName.utf8.count + displayName.utf8.count + fullName.utf8.count + localAlias.utf8.count
    let optional = [profile, customData, preferences, usersPreferences]
    return names + optional.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
  }
}

extension StoredItem {
  /// Its text is in the content, and again alongside it.
  fileprivate var storedBytes: Int { 2 * content.utf8.count + (quote?.utf8.count ?? 0) }
}
