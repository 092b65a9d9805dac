import PorterMachines
import PorterPlatform

/// One event of the machine `ledger_entry`, with what its step needs and what it found out. Part of the caller's
/// transaction, like the step.
package struct LedgerChange {
  fileprivate let kind: StoredLedgerEntry.Kind
  fileprivate let contactID: Int64?
  /// When the relay took the message that is counted.
  fileprivate let messageAt: WallTime?
  fileprivate let mentionsUser: Bool
  fileprivate let quarantineReason: String?
  /// As the transaction has read it.
  fileprivate let contact: StoredContact?

  /// The contact as counting left it; nil if nothing was counted.
  package fileprivate(set) var countedContact: StoredContact?
  /// Whether it counted as unread and does not any more. The caller corrects the counts, once for all that it reads.
  package fileprivate(set) var isUncounted = false
  /// Whether the platform has to remove what was shown.
  fileprivate(set) var isRemovalDue = false
  fileprivate(set) var reason: String?
  /// Whether another attempt to open it failed.
  fileprivate(set) var isAttempt = false
  /// Whether a placeholder is on screen that what is shown now does not replace.
  fileprivate(set) var dropsPlaceholder = false
  /// Whether it waits to be shown, though later entries do not any more.
  fileprivate(set) var isLate = false
  /// Whether what is under its identifier now stays on screen, though it was to be removed before.
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

  /// The notification of a message has the identifier of its placeholder; what is not shown is removed when it is read.
  func dropPlaceholder(_ change: inout LedgerChange, _ next: State) throws(StoreError) {
    change.dropsPlaceholder = [.connected, .request, .call].contains(change.kind)
  }

  func waitLate(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isLate = true }

  func keep(_ change: inout LedgerChange, _ next: State) throws(StoreError) { change.isKept = true }

  func recordReason(_ change: inout LedgerChange, _ next: State) throws(StoreError) {
    change.reason = change.quarantineReason
  }
}
