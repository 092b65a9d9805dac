import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// Placeholders for messages that a push names and that did not arrive: because the relay is unreachable, time is up,
/// or another process has their connection. A message that arrives later replaces its placeholder, under the same
/// identifier (INC-47). Used by an extension, and by an app that is not on screen. Chats and profiles that the user has
/// muted or hidden get none.
struct PushPlaceholders {
  struct Placeholder {
    let content: NotificationContent
    fileprivate let entry: NewLedgerEntry
    var contactID: Int64? { entry.contactID }
  }

  private let context: EngineContext

  init(_ context: EngineContext) { self.context = context }

  /// The placeholders to announce. Notes in the findings that everything the push names is accounted for, unless a
  /// record needed to decide that is damaged.
  func due(_ run: PushRun, _ policy: NotificationPolicy, _ store: Store) throws(StoreError) -> [Placeholder] {
    guard run.named != nil else { return [] }
    var placeholders: [Placeholder] = []
    // An app on screen shows what arrives on its own, and a running app fetches the rest.
    let isLeft = run.isOnScreen || run.findings.isLeftToApp
    let expecting = isLeft ? [] : run.expecting
    var isComplete = isLeft || !run.namesUnknown
    for named in expecting {
      do throws(StoreError) {
        placeholders += try due(named, run, policy, store)
        // No message would ever replace a placeholder; a notice is due.
        if named.hasUnreadable, try isToBeShown(named, run, policy, store) { isComplete = false }
      } catch .damaged(let entity) {
        run.noteDamage(.damaged(entity))
        isComplete = false
      } catch .notFound {
        // Deleted in the meantime.
      }
    }
    if isComplete { run.findings.noteAccountedFor() }
    return placeholders
  }

  private func due(
    _ named: NamedConnection, _ run: PushRun, _ policy: NotificationPolicy, _ store: Store
  ) throws(StoreError) -> [Placeholder] {
    let connection = try run.records.connection(named.id, store)
    // Its content is the host's own.
    if connection.isAddress, try store.scope(connectionID: named.id) != nil { return [] }
    var placeholders: [Placeholder] = []
    for message in named.expected {
      // Another process may have received or announced it in the meantime.
      guard try store.ledgerEntry(connectionID: named.id, messageID: message.identifier) == nil,
        case .success(var content) = ContentBuilder.content(
          for: try event(message.identifier, connection, run, store), policy)
      else { continue }
      content.userInfo.connection = TextEncoding.base64URL(connection.agentID)
      let entry = NewLedgerEntry(
        connectionID: named.id, messageID: message.identifier, messageAt: message.timestamp, kind: .message,
        contactID: connection.contactID)
      placeholders.append(Placeholder(content: content, entry: entry))
    }
    return placeholders
  }

  /// Whether a message in this connection would be announced: the user has neither muted nor hidden it.
  private func isToBeShown(
    _ named: NamedConnection, _ run: PushRun, _ policy: NotificationPolicy, _ store: Store
  ) throws(StoreError) -> Bool {
    let connection = try run.records.connection(named.id, store)
    if connection.isAddress, try store.scope(connectionID: named.id) != nil { return false }
    guard case .success = ContentBuilder.content(for: try event([], connection, run, store), policy) else {
      return false
    }
    return true
  }

  private func event(
    _ message: [UInt8], _ connection: StoredConnection, _ run: PushRun, _ store: Store
  ) throws(StoreError) -> NotificationEvent {
    let owner = NotificationEvent.Owner(UserRecord(try run.records.user(connection.userID, store)))
    let identifier = NotificationIdentifier.message(
      connection: TextEncoding.base64URL(connection.agentID), message: TextEncoding.base64URL(message))
    guard let contactID = connection.contactID else {
      return NotificationEvent(
        identifier: identifier, owner: owner, kind: .connection(connection.isAddress ? .address : .newContact))
    }
    let contact = try run.records.contact(contactID, store)
    return NotificationEvent(
      identifier: identifier, owner: owner,
      kind: .connection(.chat(.init(ContactRecord(contact, connection: connection)))),
      filter: NotificationFilter(contact.notifications))
  }

  /// Part of the transaction that records what is shown.
  func record(_ placeholders: [Placeholder], _ store: Store) throws(StoreError) {
    for placeholder in placeholders { _ = try store.announce(placeholder.entry, at: context.clock.wall()) }
  }
}
