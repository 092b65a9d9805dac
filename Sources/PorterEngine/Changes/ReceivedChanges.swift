import PorterJSON
import PorterPlatform
import PorterSchema
import PorterStore

/// Carries out a contact's changes to other messages, as far as the rules allow, in the transaction that commits the
/// message. Forbidden changes are quarantined with their reason (rule 8).
struct ReceivedChanges {
  typealias Content = OpenedMessage.Content

  let store: Store
  let contactID: Int64
  let userID: Int64
  /// As read by the transaction.
  let contact: StoredContact?
  let user: StoredUser?
  /// The generated profile that the contact sees; nil if it sees the user's own.
  let incognito: String?
  /// When the relay accepted the message.
  let relayedAt: WallTime
  let now: WallTime
  let log: Log
  /// Marks a message as deleted, and starts its time if it disappears.
  let markDeleted: (StoredItem) throws(StoreError) -> Void

  // MARK: Messages

  /// Inserts a message or, if an edit or a deletion came first, what is left of it.
  func insert(_ content: ChatMessage.Content) throws(StoreError) -> Content {
    let overtaken = try store.overtaken(contactID: contactID, sharedID: content.sharedID)
    if case .deleted = overtaken { return .nothingToShow(contactID: contactID) }
    // The sender's clock may be wrong: a time in the future would keep its message at the chat's end permanently.
    let sentAt = content.sentAt.milliseconds > 0 ? min(content.sentAt, relayedAt) : relayedAt
    let quote = try content.quote.map { (quote) throws(StoreError) in
      try quote.stored(itemID: store.item(contactID: contactID, sharedID: quote.sharedID)?.id)
    }
    if case .edited(let itemID) = overtaken {
      try store.completeOvertaken(itemID, quote: quote, itemAt: sentAt)
      return .changed(.edited(itemID: itemID), contactID: contactID)
    }
    let item = try insert(
      content.content, content.traits, content.sharedID, quote: quote, sentAt: sentAt, hasOvertaken: false)
    if case .reacted = overtaken { return .item(try store.item(item.id)) }
    return .item(item)
  }

  private func insert(
    _ content: MessageContent, _ traits: MessageTraits, _ sharedID: [UInt8], quote: String?, sentAt: WallTime,
    hasOvertaken: Bool
  ) throws(StoreError) -> StoredItem {
    let mentionsUser = try mentionsUser(traits, content)
    var secondsToLive = traits.secondsToLive
    if secondsToLive != nil { secondsToLive = try features().secondsToLive(received: secondsToLive) }
    return try store.insertReceivedItem(
      contactID: contactID, content: content.json.text, quote: quote, sharedID: sharedID, itemAt: sentAt,
      at: now,
      traits: ItemTraits(
        isLive: traits.isLive, secondsToLive: secondsToLive, mentionsUser: mentionsUser, hasOvertaken: hasOvertaken))
  }

  /// The name is looked up only if the text may contain it: each look-up costs a push time.
  private func mentionsUser(_ traits: MessageTraits, _ content: MessageContent) throws(StoreError) -> Bool {
    guard !traits.mentions.isEmpty || content.text.utf8.contains(UInt8(ascii: "@")) else { return false }
    if let profile = Profile(incognito: incognito) { return traits.mention(profile.displayName, in: content) }
    let user = try user.or { () throws(StoreError) in try store.user(userID) }
    return traits.mention(user.displayName, in: content)
  }

  private func features() throws(StoreError) -> ContactFeatures {
    ContactFeatures(try store.user(userID), try store.contact(contactID))
  }

  /// Whether to send the contact a receipt for its message. Not while much waits for the contact already: one that
  /// sends and never fetches would fill the store with receipts.
  func wantsReceipt(on connectionID: Int64) throws(StoreError) -> Bool {
    guard try sendsReceipts() else { return false }
    return try store.outboxHasRoom(connectionID: connectionID, limit: Self.waitingBesideReceipts)
  }

  private func sendsReceipts() throws(StoreError) -> Bool {
    guard let contact, let user else { return try store.sendsReceipts(contactID: contactID) }
    return contact.sendsReceipts ?? user.sendsReceipts
  }

  /// As many messages as a mailbox at the relay holds.
  private static let waitingBesideReceipts: Int64 = 128

  // MARK: Changes

  func edit(_ edit: ChatMessage.Edit) throws(StoreError) -> Content {
    guard let item = try store.item(contactID: contactID, sharedID: edit.sharedID) else {
      if try store.isRemoved(contactID: contactID, sharedID: edit.sharedID) { return ignored(.alreadyDeleted, "edit") }
      // The message was lost, or is still on its way. The edit takes its place, and is shown once.
      let item = try insert(
        edit.content, edit.traits, edit.sharedID, quote: nil, sentAt: relayedAt, hasOvertaken: true)
      return .item(try store.item(item.id))
    }
    return try carryOut(ItemRules.contactEdits(Self.subject(item)), "edit") { () throws(StoreError) in
      let text = edit.content.json.text
      let isLive = item.isLive && edit.traits.isLive
      guard text != item.content || item.isLive else { return ignored(.nothingToChange, "edit") }
      try store.edit(
        item,
        ItemEdit(content: text, mentionsUser: try mentionsUser(edit.traits, edit.content), isLive: isLive),
        at: now)
      return .changed(.edited(itemID: item.id), contactID: contactID)
    }
  }

  func remove(_ sharedID: [UInt8]) throws(StoreError) -> Content {
    guard let item = try store.item(contactID: contactID, sharedID: sharedID) else {
      // If it arrives after all, it is not shown.
      try store.noteRemoved(contactID: contactID, sharedID: sharedID)
      return ignored(.unknownMessage, "deletion")
    }
    let isKept = try !features().allow(.fullDelete, .contact)
    // The sender's clock may be wrong, so the age counts from when the relay accepted the message.
    let sentAt = try store.ledgerEntries(itemID: item.id).first?.messageAt ?? item.createdAt
    let age = Span.milliseconds(max(0, relayedAt.milliseconds &- sentAt.milliseconds))
    let verdict = ItemRules.contactDeletes(ItemRules.Subject(item, age: age), inFull: !isKept)
    return try carryOut(verdict, "deletion") { () throws(StoreError) in
      if isKept { try markDeleted(item) } else { try store.remove(item) }
      return .changed(.removed(ItemChange.RemovedItem(item), isKept: isKept), contactID: contactID)
    }
  }

  func react(_ reaction: ChatMessage.Reaction) throws(StoreError) -> Content {
    let item = try store.item(contactID: contactID, sharedID: reaction.sharedID)
    if item == nil, try store.isRemoved(contactID: contactID, sharedID: reaction.sharedID) {
      return ignored(.alreadyDeleted, "reaction")
    }
    if item == nil, try store.reactionsWithoutItem(contactID: contactID) >= Self.reactionsWithoutItem {
      return refused(.tooManyReactions, "reaction")
    }
    let stored = StoredReaction(isOwn: false, reaction: reaction.reaction.json.text)
    let others = try store.reactions(contactID: contactID, sharedID: reaction.sharedID, isOwn: false)
    let verdict = ItemRules.react(
      adds: reaction.isAdded, isThere: others.contains(stored.reaction), reactions: others.count,
      isAllowed: try features().allow(.reactions, .contact), isDeleted: item?.deletedAt != nil)
    return try carryOut(verdict, "reaction") { () throws(StoreError) in
      try store.setReaction(
        stored, contactID: contactID, sharedID: reaction.sharedID, isAdded: reaction.isAdded, at: relayedAt)
      guard let item else { return .nothingToShow(contactID: contactID) }
      return .changed(
        .reacted(itemID: item.id, reaction.reaction, isAdded: reaction.isAdded, at: relayedAt), contactID: contactID)
    }
  }

  /// Limit of reactions to messages that may never arrive.
  private static let reactionsWithoutItem: Int64 = 100

  func confirm(_ sharedID: [UInt8]) throws(StoreError) -> Content {
    let item = try store.item(contactID: contactID, sharedID: sharedID)
    return try carryOut(ItemRules.contactConfirms(item.map(Self.subject)), "receipt") { () throws(StoreError) in
      guard let item, item.status != "sndRcvd" else { return ignored(.nothingToChange, "receipt") }
      try store.setItemStatus(item.id, "sndRcvd", at: now)
      return .changed(.statusChanged(itemID: item.id), contactID: contactID)
    }
  }

  // MARK: Verdicts

  /// The subject for rules without a time limit.
  private static func subject(_ item: StoredItem) -> ItemRules.Subject { ItemRules.Subject(item, age: .zero) }

  private func carryOut(
    _ verdict: ItemRules.Verdict, _ what: StaticString, _ change: () throws(StoreError) -> Content
  ) throws(StoreError) -> Content {
    switch verdict {
    case .allowed: return try change()
    case .ignored(let reason): return ignored(reason, what)
    case .refused(let reason): return refused(reason, what)
    }
  }

  private func ignored(_ reason: ChangeRefusal, _ what: StaticString) -> Content {
    log(.info, "a contact's change of a message was ignored", ["what": "\(what)", "reason": reason.rawValue])
    return .nothingToShow(contactID: contactID)
  }

  private func refused(_ reason: ChangeRefusal, _ what: StaticString) -> Content {
    .quarantined("\(what): \(reason.rawValue)")
  }
}
