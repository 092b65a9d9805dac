import PorterMachines
import PorterPlatform

/// One event of the machine `ledger_entry`, with the input and results of its step. Part of the caller's transaction,
/// like the step.
package struct LedgerChange {
  fileprivate let kind: StoredLedgerEntry.Kind
  fileprivate let contactID: Int64?
  /// When the relay took the counted message.
  fileprivate let messageAt: WallTime?
  fileprivate let mentionsUser: Bool
  fileprivate let quarantineReason: String?
  /// As read by the transaction.
  fileprivate let contact: StoredContact?

  /// The contact as counting left it; nil if nothing was counted.
  package fileprivate(set) var countedContact: StoredContact?
  /// Whether it counted as unread and no longer does. The caller corrects the counts, once for all the items it reads.
  package fileprivate(set) var isUncounted = false
  /// Whether the platform must remove the notification shown.
  fileprivate(set) var isRemovalDue = false
  fileprivate(set) var reason: String?
  /// Whether another attempt to open it failed.
  fileprivate(set) var isAttempt = false
  /// Whether a placeholder is on screen that the new notification does not replace.
  fileprivate(set) var dropsPlaceholder = false
  /// Whether it waits to be shown although later entries no longer do.
  fileprivate(set) var isLate = false
  /// Whether the notification now under its identifier stays on screen, though it was due for removal.
  fileprivate(set) var isKept = false

  init(
    _ kind: StoredLedgerEntry.Kind, contactID: Int64? = nil, messageAt: WallTime? = nil, mentionsUser: Bool = false,
    quarantineReason: String? = nil, contact: StoredContact? = nil
  ) {
    self.kind = kind
    self.contactID = contactID
    self.messageAt = messageAt
    self.mentionsUser = mentionsUser
    self.quarantineReason = quarantineReason
    self.contact = contact
  }
}

/// Writes what the steps of `ledger_entry` record. The entry's own row is written once, by the caller.
struct LedgerRecorder: LedgerEntryRecord {
  typealias State = PorterMachines.LedgerEntry.State

  let store: Store

  /// A message counts in its chat, and in the badge unless the chat is muted. Nothing else counts.
  func countUnread(_ change: inout LedgerChange, _ next: State) throws(StoreError) {
    guard change.kind.counts, let contactID = change.contactID, let messageAt = change.messageAt else { return }
    let contact = try change.contact.or { () throws(StoreError) in try store.contact(contactID) }
    change.countedContact = try store.countUnread(contact, messageAt: messageAt, mentionsUser: change.mentionsUser)
  }

  func uncountUnread(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isUncounted = true }

  func remove(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isRemovalDue = true }

  func countAttempt(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isAttempt = true }

  /// The notification of a message has its placeholder's identifier; what is not shown is removed when read.
  func dropPlaceholder(_ change: inout LedgerChange, _ next: State) throws(StoreError) {
    change.dropsPlaceholder = [.connected, .request, .call].contains(change.kind)
  }

  func waitLate(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isLate = true }

  func keep(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isKept = true }

  func recordReason(_ change: inout LedgerChange, _ next: State) throws(StoreError) {
    change.reason = change.quarantineReason
  }
}
