import PorterPlatform
import PorterSchema
import PorterStore

/// Deletes messages whose time is over. How long each of them has left is stored in its row and survives the process; an app
/// deletes them while it is active, and what fell due meanwhile at its next activation. Threads: the engine's.
final class Disappearing {
  private let context: EngineContext
  private let lifecycle: Lifecycle

  init(_ context: EngineContext, lifecycle: Lifecycle) {
    self.context = context
    self.lifecycle = lifecycle
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

  private func wait(_ left: Span) {
    context.timers.set(TimerName.disappearing, after: left) { [weak self] in self?.takeUp() }
  }

  /// Of thousands that are due, some at a time: other work gets its turn between them.
  private static let atOnce: Int64 = 100

  private func removeDue(_ store: Store) throws(StoreError) {
    // With its events: once they are gone, nothing has them reported later.
    let events = try store.transaction { () throws(StoreError) in
      let due = try store.disappeared(by: self.context.clock.now(), limit: Self.atOnce)
      let events = try self.events(of: due, store)
      for item in due { try store.remove(item) }
      return events
    }
    context.retries.reset(TimerName.disappearing)
    wait(.zero)
    for event in events { context.emit(event) }
  }

  private func events(of removed: [StoredItem], _ store: Store) throws(StoreError) -> [Event] {
    var events: [Event] = []
    for (contactID, items) in Dictionary(grouping: removed, by: \.contactID).sorted(by: { $0.key < $1.key }) {
      do throws(StoreError) {
        let contact = try store.contact(contactID)
        let connection = try? store.connection(contactID: contactID)
        let info = ChatInfo.direct(ContactRecord(contact, connection: connection))
        let deletions = items.map {
          ChatItemDeletion(deleted: ChatItemInChat(info: info, item: ChatItemRecord($0)), remaining: nil)
        }
        events.append(
          .chatItemsDeleted(UserRecord(try store.user(contact.userID)), deletions, byUser: true, isTimed: true))
      } catch .damaged(let entity) {
        context.log(
          .error, "messages disappeared and were not reported",
          ["contact": String(contactID), "damaged": entity.rawValue])
      }
    }
    return events
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
