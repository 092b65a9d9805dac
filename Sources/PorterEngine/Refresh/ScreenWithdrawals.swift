import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// Notifications an app on screen has the platform remove: those of what the user has read or decided on, of what was
/// deleted, and of calls that are over (INC-46). Otherwise they would stay until the next push. Also the badge, when it
/// changes with none of them (INC-60).
///
/// An event is not kept: the store records a notification as removed when the answer to a push or round names it again.
/// Threads: the engine's.
final class ScreenWithdrawals {
  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let strings: NotificationStrings
  private let presentation: PushPresentation
  private let events: ScreenEvents
  /// Removals reported while the app is on screen, and still in the store: each is reported once, and again if its
  /// entry was shown again in the meantime.
  private var reported: Set<Removal> = []
  private var hasEndedNotice = false
  private var isDue = false

  /// The removal of a ledger entry, or of one whose connection was deleted.
  private struct Removal: Hashable {
    let entry: Int64?
    /// Given again once another process has reported the removal.
    let id: Int64?
    let agentID: [UInt8]
    let messageID: [UInt8]
    /// Whether it is part of a summary.
    let isPart: Bool
  }

  private static func removal(_ withdrawal: StoredWithdrawal) -> Removal {
    Removal(
      entry: withdrawal.entryID, id: withdrawal.id, agentID: withdrawal.agentID, messageID: withdrawal.messageID,
      isPart: withdrawal.summary != nil)
  }

  init(_ context: EngineContext, lifecycle: Lifecycle, strings: NotificationStrings, events: ScreenEvents) {
    self.context = context
    self.lifecycle = lifecycle
    self.strings = strings
    self.events = events
    presentation = PushPresentation(context, strings)
  }

  /// Starts reporting what each commit leaves to remove, and the badge.
  func beginWatching(_ store: Store) {
    guard context.role == .app else { return }
    store.screenOutdated = { [weak self] in self?.reportSoon() }
    store.removalOver = { [weak self] (entry, id) in
      guard let self else { return }
      reported = reported.filter { $0.entry != entry || $0.id != id }
    }
  }

  /// Off screen, other processes show and remove notifications without this one noticing. No part of a summary is shown
  /// again, and a summary that the user has dismissed stays away.
  func phaseChanged() {
    guard !lifecycle.phase.isOnScreen else { return }
    reported = reported.filter(\.isPart)
    events.forgetBadge()
  }

  /// Once for everything a turn changes, such as a whole chat.
  private func reportSoon() {
    guard !isDue else { return }
    isDue = true
    context.later { [weak self] in
      self?.isDue = false
      self?.report()
    }
  }

  /// The app comes to the screen: a notice may have been shown since it was last there, and the badge changed.
  func reportAnew() {
    hasEndedNotice = false
    report()
  }

  func report() {
    guard context.role == .app, lifecycle.phase.isOnScreen, let store = context.store else { return }
    do throws(StoreError) { try report(store) } catch {
      context.log(.warning, "what is to be removed from the screen could not be read", ["error": error.description])
    }
  }

  /// Beyond this number, the oldest wait for the next answer.
  private static let atOnce: Int64 = 256

  private func report(_ store: Store) throws(StoreError) {
    let overview = try store.overview(badge: true)
    let due = try store.withdrawals(limit: Self.atOnce, asOf: overview)
    let removals = Set(due.map(Self.removal))
    reported.formIntersection(removals)
    let new = due.filter { !reported.contains(Self.removal($0)) }
    // The store is readable again: the notice about it is outdated.
    let endsNotice = NoticeMark(context.configuration).isSet && !hasEndedNotice
    let badge = overview.badge
    guard !new.isEmpty || endsNotice || events.lacks(badge: badge) else { return }
    var bursts = try BurstComposition([], [], try presentation.policy(store), context, store)
    for summary in Set(new.compactMap(\.summary)).sorted() { try bursts.update(summary, store) }
    var identifiers = new.filter { $0.summary == nil }.map {
      PushPresentation.notificationIdentifier(of: $0).description
    }
    identifiers += bursts.withdrawals
    if endsNotice { identifiers.append(NotificationNotice.identifier) }
    hasEndedNotice = endsNotice || hasEndedNotice
    reported = removals
    let table = try strings.table(store)
    let summaries = bursts.notifications.map { summary in
      var summary = summary
      summary.badge = badge
      let listed = ForegroundPresentation.list
      return PresentedNotification(content: summary.json(in: table), presentation: listed.names)
    }
    guard !identifiers.isEmpty || !summaries.isEmpty || events.lacks(badge: badge) else { return }
    // Notifications of the last profile are removed with it.
    let user = try store.activeUser().map { UserRecord($0) }
    events.post(user, summaries, withdrawals: identifiers, badge: badge)
  }
}
