import PorterJSON
import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// What an app on screen shows of committed messages: the event `notifications`, which accompanies `newChatItems` and
/// similar events. By then the ledger has them as shown. Threads: the engine's.
final class ScreenPresentation {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let strings: NotificationStrings
  private let presentation: PushPresentation
  private let events: ScreenEvents

  init(_ context: EngineContext, lifecycle: Lifecycle, strings: NotificationStrings, events: ScreenEvents) {
    self.context = context
    self.lifecycle = lifecycle
    self.strings = strings
    self.events = events
    presentation = PushPresentation(context, strings)
  }

  /// Whether the user sees what this process commits, so that it counts as shown.
  var isVisible: Bool { lifecycle.phase.isOnScreen }

  /// Records these entries as shown, or as silenced by the user's choice. Returns those to show. Part of the caller's
  /// transaction.
  func record(_ entries: [StoredLedgerEntry], in store: Store) throws(StoreError) -> [StoredLedgerEntry] {
    guard !entries.isEmpty else { return [] }
    let policy = try presentation.policy(store)
    var records = KnownRecords()
    var shown: [StoredLedgerEntry] = []
    for entry in entries {
      if try isSilenced(entry, policy, &records, store) {
        try PushPresentation.recordSilenced(entry, store)
      } else {
        try PushPresentation.recordShown(entry, store)
        shown.append(entry)
      }
    }
    return shown
  }

  private func isSilenced(
    _ entry: StoredLedgerEntry, _ policy: NotificationPolicy, _ records: inout KnownRecords, _ store: Store
  ) throws(StoreError) -> Bool {
    do throws(StoreError) {
      guard let event = try presentation.notificationEvent(of: entry, &records, store) else { return false }
      return PushPresentation.isSilenced(entry, event, policy)
    } catch .damaged, .notFound {
      // `show` leaves it out.
      return false
    }
  }

  /// Reports what to show of these entries, which were committed and now count as shown. Unreadable ones are left out:
  /// the event about the message itself has been reported.
  func show(_ entries: [StoredLedgerEntry], _ records: KnownRecords = KnownRecords(), in store: Store) {
    guard !entries.isEmpty else { return }
    do throws(StoreError) {
      let policy = try presentation.policy(store)
      let badge = try store.badge()
      var records = records
      for entry in entries { try show(entry, policy, badge, &records, store) }
    } catch {
      context.log(.warning, "what is shown on screen could not be read", ["error": error.description])
    }
  }

  private func show(
    _ entry: StoredLedgerEntry, _ policy: NotificationPolicy, _ badge: Int64, _ records: inout KnownRecords,
    _ store: Store
  ) throws(StoreError) {
    let isReplaced = PushPresentation.appearance(of: entry) == .replaced
    // A summary gives a count, which an edit does not change.
    if isReplaced, entry.summary != nil { return }
    let event: NotificationEvent?
    do throws(StoreError) {
      event = try presentation.notificationEvent(of: entry, &records, store)
    } catch .damaged, .notFound {
      // This does not stop the others from being shown.
      return
    }
    guard let event, case .success(var content) = ContentBuilder.content(for: event, policy) else { return }
    content.badge = badge
    content.userInfo.connection = try presentation.destination(of: entry, &records, store)
    let connection = try records.connection(entry.connectionID, store)
    let user = UserRecord(try records.user(connection.userID, store))
    var isHeard = !isReplaced && ForegroundPresentation(of: content.category, isRecent: false).contains(.sound)
    if isHeard { isHeard = try takeSound(of: entry, store) }
    var shown = ForegroundPresentation(of: content.category, isRecent: !isHeard)
    if isReplaced { shown.formIntersection(.list) }
    content.isHeard = shown.contains(.sound)
    events.post(
      user, [PresentedNotification(content: content.json(in: try strings.table(store)), presentation: shown.names)],
      badge: badge)
  }

  /// The user leaves the app, which showed these calls by itself: those that still ring are reported as an answer to a
  /// push would show them. Their entries count as shown already.
  func showCalls(in store: Store) {
    do throws(StoreError) {
      for call in try store.calls(in: [.ringing]) {
        guard let itemID = call.itemID else { continue }
        for entry in try store.ledgerEntries(itemID: itemID) where entry.isShown {
          // This does not stop the others from being shown.
          do throws(StoreError) { try showCall(entry, store) } catch .damaged, .notFound { continue }
        }
      }
    } catch {
      context.log(.warning, "calls that ring could not be read", ["error": error.description])
    }
  }

  private func showCall(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    var records = KnownRecords()
    guard let event = try presentation.callEvent(of: entry, &records, store), case .call = event.kind,
      case .success(var content) = ContentBuilder.content(for: event, try presentation.policy(store))
    else { return }
    let connection = try records.connection(entry.connectionID, store)
    // A new notification, distinct from an earlier one with its identifier.
    try store.lightTransaction { () throws(StoreError) in
      try PushPresentation.forgetResponses(to: entry, connection, store)
    }
    let badge = try store.badge()
    content.badge = badge
    content.userInfo.connection = try presentation.destination(of: entry, &records, store)
    let shown: ForegroundPresentation = [.sound, .banner, .list]
    events.post(
      UserRecord(try records.user(connection.userID, store)),
      [PresentedNotification(content: content.json(in: try strings.table(store)), presentation: shown.names)],
      badge: badge)
  }

  /// Whether the entry makes a sound: no sound for its chat, or for any contact that is not yet known, in the last 30
  /// s, in any process of the store. Then the sound is recorded.
  private func takeSound(of entry: StoredLedgerEntry, _ store: Store) throws(StoreError) -> Bool {
    let (now, boot) = (context.clock.now(), context.instance.boot)
    var last = try store.lastSounds(contacts: Set([entry.contactID].compactMap { $0 }), boot: boot)
    if entry.contactID == nil || entry.mayHavePlaceholder {
      last[SoundRule.unknown] = try store.lastSoundOfUnknown(boot: boot)
    }
    var rule = SoundRule(last: last, now: now)
    guard rule.takeSound(of: entry.contactID, mayHavePlaceholder: entry.mayHavePlaceholder) else { return false }
    do throws(StoreError) {
      try store.lightTransaction { () throws(StoreError) in try rule.record(at: now, boot: boot, store) }
    } catch {
      context.log(.info, "a sound could not be recorded", ["error": error.description])
    }
    return true
  }
}
