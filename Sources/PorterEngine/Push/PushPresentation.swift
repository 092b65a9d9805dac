import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// From the ledger to what the user sees.
struct PushPresentation {
  private let context: EngineContext
  private let strings: NotificationStrings
  /// Nil where nothing is handed over.
  private let scopes: Scopes?

  init(_ context: EngineContext, _ strings: NotificationStrings, _ scopes: Scopes? = nil) {
    self.context = context
    self.strings = strings
    self.scopes = scopes
  }

  /// Shows everything committed but not yet shown, whichever push or process committed it (INC-38).
  func compose(_ run: PushRun) -> Push.Event {
    guard let store = context.store else { return .storeFailed }
    do throws(StoreError) {
      try composeAndRecord(run, store)
    } catch {
      run.noteStoreError(error)
      return .storeFailed
    }
    if run.content.isEmpty { return .composedNothing }
    return run.isPresenting ? .composedShow : .composedAnnounced
  }

  /// Recorded in the transaction that reads what to show: of two extensions working at the same time, one shows it
  /// (INC-36). And recorded before the answer is given: a process killed in between shows nothing twice. Not synced: a
  /// power failure at this very moment shows it again, under the same identifier.
  ///
  /// Not recorded for a caller that was answered without it: it would never be seen. Once per push: what is recorded as
  /// shown would not be found again.
  private func composeAndRecord(_ run: PushRun, _ store: Store) throws(StoreError) {
    guard !run.hasStagedAnswer else { return }
    // Most pushes with nothing to show need no write, and wait for no writer.
    let placeholders = PushPlaceholders(context)
    let overview = try store.overview()
    let due =
      try store.entriesToPresent(limit: 1, asOf: overview).count + store.withdrawals(limit: 1, asOf: overview).count
    let announced = run.expecting.isEmpty ? 0 : try placeholders.due(run, policy(store), store).count
    // What another process commits between the two reads is recorded as shown.
    if due + announced == 0, try fill(run, store).recordsNothing { return }
    do throws(StoreError) {
      try store.lightTransaction { () throws(StoreError) in
        let filled = try fill(run, store)
        guard run.stageAnswer() else { return }
        // From here on it may be seen: recording is completed even if time is up.
        try context.stop.withReleaseBudget(Durations.releaseBudget) {
          Result { () throws(StoreError) in
            for entry in filled.shown { try Self.recordShown(entry, store) }
            for entry in filled.silenced { try Self.recordSilenced(entry, store) }
            for entry in filled.left { try store.postpone(entry) }
            for removal in filled.removals { try store.markWithdrawn(removal) }
            try scopes?.recordHanded(filled.handed, store)
            try filled.bursts?.record(store)
            try placeholders.record(filled.placeholders, store)
          }
        }.get()
      }
      FaultPoint.reach(.shownRecorded)
    } catch {
      context.log(.error, "what is shown could not be recorded", ["error": error.description])
      guard !run.hasStagedAnswer else { return run.content.isRecorded = false }
      // Interrupted because another push's time was up: this one has time to record what it shows.
      if context.stop.isStopRequested, !run.isOver(at: context.clock.now()) { throw error }
      // A store that failed earlier fails at each push, for example while a process is frozen with its lock: everything
      // shown would come again with the next push.
      if run.findings.hasFailed {
        run.content = PushContent()
        // Nothing that was looked up is shown: the push reports that the store failed.
        run.findings.noteUnaccounted()
      } else {
        // Showing it twice under one identifier is better than never.
        try fill(run, store)
        run.content.isRecorded = false
      }
    }
  }

  /// Limits of one answer, which must be ready in time and fit an extension's memory (INC-33), even if thousands of
  /// messages waited. The rest stays in the ledger for the next push or the app.
  private static let notificationsAtOnce: Int64 = 256
  private static let withdrawalsAtOnce: Int64 = 1_024

  /// The contents of an answer, to be recorded in the transaction that read it.
  private struct Filled {
    /// Excludes entries that need a damaged record: they do not stop others from being shown (INC-44), and are not
    /// recorded as shown.
    var shown: [StoredLedgerEntry] = []
    /// Entries not shown by the user's choice.
    var silenced: [StoredLedgerEntry] = []
    /// Entries that need a damaged record, or that do not fit in the answer.
    var left: [StoredLedgerEntry] = []
    var removals: [StoredWithdrawal] = []
    var handed: [StoredApplicationPush] = []
    var bursts: BurstComposition?
    var placeholders: [PushPlaceholders.Placeholder] = []

    var recordsNothing: Bool {
      shown.isEmpty && silenced.isEmpty && left.isEmpty && removals.isEmpty && handed.isEmpty && placeholders.isEmpty
    }
  }

  /// Oldest first. Calls have room in addition to the limit: a call's mailbox is looked into first, so everything else
  /// is newer.
  private func due(asOf overview: StoreOverview, _ store: Store) throws(StoreError) -> [StoredLedgerEntry] {
    let boot = context.instance.boot
    let due = try store.entriesToPresent(limit: Self.notificationsAtOnce, boot: boot, asOf: overview)
    guard due.count == Self.notificationsAtOnce, overview.hasCalls else { return due }
    let known = Set(due.map(\.id))
    return try store.callsToPresent(boot: boot).reversed().filter { !known.contains($0.id) } + due
  }

  @discardableResult
  private func fill(_ run: PushRun, _ store: Store) throws(StoreError) -> Filled {
    var content = PushContent()
    var filled = Filled()
    // The overview stays valid until all of this is recorded.
    let overview = try store.overview(settings: Self.policySettings, badge: true)
    let policy = Self.policy(overview)
    var shown: [BurstComposition.Shown] = []
    var obsolete: [StoredWithdrawal] = []
    for entry in try due(asOf: overview, store) {
      do throws(StoreError) {
        if entry.kind == .application {
          try handOver(entry, &content, &filled, run, store)
          continue
        }
        let event = try notificationEvent(of: entry, &run.records, store)
        if let event, Self.isSilenced(entry, event, policy) {
          filled.silenced.append(entry)
          // What is on screen shows the text before the edit, or is a placeholder.
          if entry.isShownAnew {
            obsolete.append(Self.withdrawal(of: entry, try run.records.connection(entry.connectionID, store)))
          }
          continue
        }
        filled.shown.append(entry)
        let isReplaced = Self.appearance(of: entry) == .replaced
        // A summary gives a count, which an edit does not change.
        guard let event, !isReplaced || entry.summary == nil else { continue }
        let connection = try destination(of: entry, &run.records, store)
        shown.append(.init(entry: entry, event: event, connection: connection, isReplaced: isReplaced))
      } catch .damaged(let entity) {
        run.noteDamage(.damaged(entity))
        filled.left.append(entry)
      }
    }
    filled.placeholders = try PushPlaceholders(context).due(run, policy, store)
    content.placeholders = filled.placeholders.count
    filled.removals = try store.withdrawals(limit: Self.withdrawalsAtOnce, asOf: overview)
    filled.removals += obsolete.filter { silenced in !filled.removals.contains { $0.entryID == silenced.entryID } }
    var bursts = try BurstComposition(shown, filled.placeholders, policy, context, store)
    for summary in Set(filled.removals.compactMap(\.summary)).sorted() { try bursts.update(summary, store) }
    filled.bursts = bursts
    let notifications = bursts.notifications
    // A notification due for removal may be shown again by this answer: there is one notification per identifier, and
    // it stays.
    let staying = Set(notifications.map(\.identifier))
    content.withdrawals = filled.removals.filter { $0.summary == nil }
      .map { Self.notificationIdentifier(of: $0).description }.filter { !staying.contains($0) }
    content.withdrawals += bursts.withdrawals
    // The store is readable again, and everything that arrived is known: the notice is outdated, unless another one was
    // given in the meantime.
    if let found = run.foundNotice, !run.leavesNotice, NoticeMark(context.configuration).name == found {
      content.withdrawals.append(NotificationNotice.identifier)
      content.withdrawnNotice = found
    }
    // Computed once, here, from what is unread in the store (INC-60); the answer and each notification get the same
    // value.
    let badge = overview.badge
    content.badge = badge
    let strings = notifications.isEmpty ? .english : try strings.table(store)
    content.notifications = notifications.map { notification in
      var notification = notification
      notification.badge = badge
      return notification.json(in: strings)
    }
    run.content = content
    return filled
  }

  /// Puts a push of the host's own into an extension's answer; in an app, emits an event. What does not fit is left for
  /// the next.
  private func handOver(
    _ entry: StoredLedgerEntry, _ content: inout PushContent, _ filled: inout Filled, _ run: PushRun, _ store: Store
  ) throws(StoreError) {
    if context.role == .extension, let scopes {
      switch try scopes.due(entry, &run.records, store) {
      case .nothing: break
      case .handing(let push, let record):
        let bytes = push.envelope?.utf8.count ?? 0
        guard content.takeRoom(bytes) else { return filled.left.append(entry) }
        filled.handed.append(push)
        content.applicationPushes.append(record.json)
      }
    }
    filled.shown.append(entry)
  }

  func policy(_ store: Store) throws(StoreError) -> NotificationPolicy {
    Self.policy(try store.overview(settings: Self.policySettings))
  }

  private static let policySettings = [Setting.previewMode, Setting.appLock]

  private static func policy(_ overview: StoreOverview) -> NotificationPolicy {
    let mode = overview.settings[Setting.previewMode].flatMap { PreviewMode(rawValue: $0) }
    return NotificationPolicy(previewMode: mode ?? .message, hasAppLock: overview.settings[Setting.appLock] == "on")
  }

  /// How a tap recognises what the notification is about, even in a store restored from a backup. Requests share the
  /// connection of their address, and are known by the name that the person has chosen.
  func destination(
    of entry: StoredLedgerEntry, _ records: inout KnownRecords, _ store: Store
  ) throws(StoreError) -> String {
    if entry.kind == .request, let id = entry.requestID {
      return TextEncoding.base64URL(try store.contactRequest(id).person)
    }
    return TextEncoding.base64URL(try records.connection(entry.connectionID, store).agentID)
  }

  /// Nil for entries that are never shown, and for those deleted in the meantime.
  func notificationEvent(
    of entry: StoredLedgerEntry, _ records: inout KnownRecords, _ store: Store
  ) throws(StoreError) -> NotificationEvent? {
    let connection = try records.connection(entry.connectionID, store)
    if entry.kind == .request { return try requestEvent(of: entry, connection, &records, store) }
    guard let contactID = entry.contactID, Self.appearance(of: entry) != .none else { return nil }
    let contact = try records.contact(contactID, store)
    let owner = NotificationEvent.Owner(UserRecord(try records.user(contact.userID, store)))
    let record = ContactRecord(contact, connection: connection)
    let filter = NotificationFilter(contact.notifications)
    let identifier = Self.notificationIdentifier(of: entry, connection)
    switch entry.kind {
    case .request, .application: return nil
    case .silent, .updated, .left, .changed, .connecting, .accepting, .ready, .withdrawnRequest: return nil
    case .connected:
      return NotificationEvent(
        identifier: identifier, owner: owner, kind: .contactConnected(id: contact.id, name: record.shownName),
        filter: filter)
    case .call:
      return try callEvent(of: entry, &records, store)
    case .message:
      guard let itemID = entry.itemID else { return nil }
      let item = try store.shownItem(itemID)
      return NotificationEvent(
        identifier: identifier, owner: owner,
        kind: .message(
          .init(
            chat: .init(record), content: MessageContent(item), direction: .received, isDeleted: item.isDeleted,
            mentionsUser: item.mentionsUser)), filter: filter)
    }
  }

  /// A call's, also if it has been shown. Nil for one that the user has answered.
  func callEvent(
    of entry: StoredLedgerEntry, _ records: inout KnownRecords, _ store: Store
  ) throws(StoreError) -> NotificationEvent? {
    guard let contactID = entry.contactID else { return nil }
    let connection = try records.connection(entry.connectionID, store)
    let contact = try records.contact(contactID, store)
    guard let kind = try callKind(entry, ContactRecord(contact, connection: connection), store) else { return nil }
    return NotificationEvent(
      identifier: Self.notificationIdentifier(of: entry, connection),
      owner: NotificationEvent.Owner(UserRecord(try records.user(contact.userID, store))), kind: kind,
      filter: NotificationFilter(contact.notifications))
  }

  private func requestEvent(
    of entry: StoredLedgerEntry, _ connection: StoredConnection, _ records: inout KnownRecords, _ store: Store
  ) throws(StoreError) -> NotificationEvent? {
    guard let requestID = entry.requestID, Self.appearance(of: entry) != .none else { return nil }
    let request = try store.contactRequest(requestID)
    let owner = NotificationEvent.Owner(UserRecord(try records.user(request.userID, store)))
    return NotificationEvent(
      identifier: Self.notificationIdentifier(of: entry, connection), owner: owner,
      kind: .contactRequest(id: request.id, name: request.displayName))
  }

  /// Nil for a call that the user has answered.
  private func callKind(
    _ entry: StoredLedgerEntry, _ contact: ContactRecord, _ store: Store
  ) throws(StoreError) -> NotificationEvent.Kind? {
    guard let itemID = entry.itemID else { return nil }
    // A later call may have taken the place of this one.
    guard let call = try store.call(itemID: itemID) else { return .missedCall(.init(contact)) }
    if call.state == .missed { return .missedCall(.init(contact)) }
    guard call.state == .ringing else { return nil }
    if call.isOver(boot: context.instance.boot, now: context.clock.now()) { return .missedCall(.init(contact)) }
    guard let type = (try? JSONValue(parsing: call.type)).flatMap({ CallType(json: $0) }) else { return nil }
    switch type.media {
    case .audio: return .call(.init(contact), .audio)
    case .video: return .call(.init(contact), .video)
    }
  }

  enum Appearance {
    case none, new
    /// Already on screen, with an outdated text.
    case replaced
  }

  /// How the machine presents it.
  static func appearance(of entry: StoredLedgerEntry) -> Appearance {
    guard let state = PorterMachines.LedgerEntry.State(name: entry.state) else { return .none }
    let showing = Showing()
    for effect in PorterMachines.LedgerEntry.step(state, .present).effects {
      PorterMachines.LedgerEntry.perform(effect, by: showing, ())
    }
    return showing.appearance
  }

  /// Whether the user has chosen not to show the entry. A summary containing it stays as it is: it gives the count.
  static func isSilenced(_ entry: StoredLedgerEntry, _ event: NotificationEvent, _ policy: NotificationPolicy) -> Bool {
    guard entry.summary == nil, case .silent = policy.verdict(for: event) else { return false }
    return true
  }

  static func notificationIdentifier(
    of entry: StoredLedgerEntry, _ connection: StoredConnection
  ) -> NotificationIdentifier {
    notificationIdentifier(of: withdrawal(of: entry, connection))
  }

  private static func withdrawal(of entry: StoredLedgerEntry, _ connection: StoredConnection) -> StoredWithdrawal {
    StoredWithdrawal(
      entryID: entry.id, agentID: connection.agentID, messageID: entry.messageID, kind: entry.kind,
      userID: connection.userID, contactID: entry.contactID, requestID: entry.requestID)
  }

  /// Identical before and after its connection is deleted.
  static func notificationIdentifier(of shown: StoredWithdrawal) -> NotificationIdentifier {
    if shown.kind == .connected, let contactID = shown.contactID {
      return .contactConnected(user: shown.userID, contact: contactID)
    }
    if shown.kind == .request, let requestID = shown.requestID {
      return .contactRequest(user: shown.userID, id: requestID)
    }
    if shown.kind == .call, let contactID = shown.contactID {
      return .call(user: shown.userID, chat: "@\(contactID)", message: TextEncoding.base64URL(shown.messageID))
    }
    return .message(
      connection: TextEncoding.base64URL(shown.agentID), message: TextEncoding.base64URL(shown.messageID))
  }
}

/// Carries out what `ledger_entry` asks for in addition to what is recorded.
private final class Showing: LedgerEntryEffects {
  private(set) var appearance = PushPresentation.Appearance.none

  func show(_ argument: Void) { appearance = .new }
  func showPlaceholder(_ argument: Void) {}
  func replace(_ argument: Void) { appearance = .replaced }
}
