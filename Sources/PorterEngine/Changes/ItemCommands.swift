import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_update item`, `/_delete item`, `/_reaction`, `/_set receipts contacts`.
extension Engine {
  /// What a command about a message needs.
  private struct Subject {
    let user: StoredUser
    let contact: StoredContact
    let info: ChatInfo
    let items: [StoredItem]

    var features: ContactFeatures { ContactFeatures(user, contact) }

    func inChat(_ item: StoredItem, at time: WallTime) -> ChatItemInChat {
      ChatItemInChat(info: info, item: ChatItemRecord(item, at: time))
    }
  }

  private func subject(_ contactID: Int64, _ itemIDs: [Int64]) throws(ChatError) -> Subject {
    let store = try requireStore()
    try requireStarted()
    let contact = try requireContact(contactID)
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    var items: [StoredItem] = []
    for id in itemIDs {
      let item: StoredItem?
      do throws(StoreError) { item = try store.item(id) } catch .notFound { item = nil } catch {
        throw ChatError(error)
      }
      guard let item, item.contactID == contactID else { throw .store(.chatItemNotFound(id)) }
      if !items.contains(where: { $0.id == id }) { items.append(item) }
    }
    return Subject(user: user, contact: contact, info: .direct(try contactRecord(contact)), items: items)
  }

  /// Records the change, and puts its messages into the contact's outbox, in one transaction; the machine of the connection
  /// decides whether anything can be sent.
  private func send(
    _ messages: [ChatMessage], to contactID: Int64, recording change: @escaping (Store) throws(StoreError) -> Void
  ) throws(ChatError) {
    let store = try requireStore()
    let isSent = try stored { () throws(StoreError) -> Bool in
      try store.transaction { () throws(StoreError) -> Bool in
        let connection = try store.connection(contactID: contactID)
        var isSent = false
        let enqueue = { () throws(StoreError) in
          guard var ratchet = try store.ratchet(connectionID: connection.id) else { throw .notFound(.connection) }
          for message in messages {
            try store.enqueue(
              message, connectionID: connection.id, itemID: nil, with: &ratchet,
              attempt: self.context.randomness.bytes(24))
          }
          try store.save(ratchet, connectionID: connection.id)
          try change(store)
          isSent = true
        }
        try self.connections.take(.given(enqueue), of: connection, store)
        return isSent
      }
    }
    guard isSent else {
      let now = try contactRecord(try requireContact(contactID))
      throw .error(now.status == .active ? .contactNotReady(now) : .contactNotActive(now))
    }
    sender.offerNew()
  }

  // MARK: Edits

  func updateItem(
    contactID: Int64, _ itemID: Int64, _ message: UpdatedMessage, isLive: Bool
  ) throws(ChatError) -> Response {
    let subject = try subject(contactID, [itemID])
    let now = context.clock.wall()
    guard let item = subject.items.first, let sharedID = item.sharedID,
      ItemRules.edit(ItemRules.Subject(item, at: now)) == .allowed
    else { throw .error(.invalidChatItemUpdate) }
    let text = message.content.json.text
    let bytes = text.utf8.count
    guard bytes <= Envelope.largestContent else {
      throw .nightporter(.messageTooLarge(bytes: bytes, limit: Envelope.largestContent))
    }
    // The end of a live message is reported even if its text has not changed.
    guard text != item.content || item.isLive else {
      return .chatItemNotChanged(UserRecord(subject.user), subject.inChat(item, at: now))
    }
    let remainsLive = item.isLive && isLive
    let edit = ChatMessage.Edit(
      sharedID: sharedID, content: message.content,
      traits: MessageTraits(
        isLive: remainsLive, secondsToLive: item.secondsToLive, mentions: message.mentions))
    let end = item.secondsToLive.flatMap { remainsLive ? nil : context.disappearance(after: $0) }
    try send([.edit(edit)], to: contactID) { (store) throws(StoreError) in
      try store.edit(item, ItemEdit(content: text, mentionsUser: false, isLive: remainsLive), at: now)
      if let end { try store.startDisappearing(itemID, end) }
    }
    if end != nil { disappearing.takeUp() }
    let after = try changed(item)
    return .chatItemUpdated(UserRecord(subject.user), subject.inChat(after, at: now))
  }

  private func changed(_ item: StoredItem) throws(ChatError) -> StoredItem {
    let store = try requireStore()
    return try stored { () throws(StoreError) in try store.item(item.id) }
  }

  // MARK: Deletions

  func deleteItems(contactID: Int64, _ itemIDs: [Int64], _ mode: ItemDeletion) throws(ChatError) -> Response {
    let subject = try subject(contactID, itemIDs)
    let now = context.clock.wall()
    let isKept: Bool
    switch mode {
    case .broadcast:
      isKept = !subject.features.allow(.fullDelete, .user)
      try deleteForBoth(subject, isKept: isKept, at: now)
    case .internal, .internalMark:
      isKept = mode == .internalMark
      let store = try requireStore()
      try stored { () throws(StoreError) in
        try store.transaction { () throws(StoreError) in
          for item in subject.items { try Self.delete(item, isKept: isKept, store, at: now) }
        }
      }
    case .history: throw .error(.invalidChatItemDelete)
    }
    var deletions: [ChatItemDeletion] = []
    for item in subject.items {
      let remaining = isKept ? subject.inChat(try changed(item), at: now) : nil
      deletions.append(ChatItemDeletion(deleted: subject.inChat(item, at: now), remaining: remaining))
    }
    return .chatItemsDeleted(UserRecord(subject.user), deletions)
  }

  private func deleteForBoth(_ subject: Subject, isKept: Bool, at now: WallTime) throws(ChatError) {
    var messages: [ChatMessage] = []
    for item in subject.items {
      guard let sharedID = item.sharedID, ItemRules.deleteForBoth(ItemRules.Subject(item, at: now)) == .allowed else {
        throw .error(.invalidChatItemDelete)
      }
      messages.append(.removal(sharedID: sharedID))
    }
    try send(messages, to: subject.contact.id) { (store) throws(StoreError) in
      for item in subject.items { try Self.delete(item, isKept: isKept, store, at: now) }
    }
  }

  private static func delete(
    _ item: StoredItem, isKept: Bool, _ store: Store, at now: WallTime
  ) throws(StoreError) {
    // As it is now: another process may have read or changed it meanwhile.
    let item = try store.item(item.id)
    if isKept { try store.markDeleted(item, at: now) } else { try store.remove(item) }
  }

  // MARK: Reactions

  func react(
    contactID: Int64, _ itemID: Int64, adds: Bool, _ reaction: MessageReaction
  ) throws(ChatError) -> Response {
    let subject = try subject(contactID, [itemID])
    guard let item = subject.items.first, let sharedID = item.sharedID else {
      throw .command("reaction not possible - no item shared message ID")
    }
    let store = try requireStore()
    let own = try stored { () throws(StoreError) in
      try store.reactions(contactID: contactID, sharedID: sharedID, isOwn: true)
    }
    let added = StoredReaction(isOwn: true, reaction: reaction.json.text)
    let verdict = ItemRules.react(
      adds: adds, isThere: own.contains(added.reaction), reactions: own.count,
      isAllowed: subject.features.allow(.reactions, .user), isDeleted: item.deletedAt != nil)
    try Self.require(verdict, adds: adds)
    let now = context.clock.wall()
    let message = ChatMessage.Reaction(sharedID: sharedID, reaction: reaction, isAdded: adds)
    try send([.reaction(message)], to: contactID) { (store) throws(StoreError) in
      try store.setReaction(added, contactID: contactID, sharedID: sharedID, isAdded: adds, at: now)
    }
    return .chatItemReaction(
      UserRecord(subject.user), isAdded: adds,
      ReactionInChat(
        info: subject.info, direction: .sent, item: ChatItemRecord(try changed(item), at: now), sentAt: now,
        reaction: reaction))
  }

  /// In the words of SimpleX's interface.
  private static func require(_ verdict: ItemRules.Verdict, adds: Bool) throws(ChatError) {
    switch verdict {
    case .allowed: return
    case .refused(.notAllowed): throw .command("feature not allowed Message reactions")
    case .refused(.tooManyReactions): throw .command("too many reactions")
    case .ignored(.nothingToChange): throw .command("reaction already \(adds ? "added" : "removed")")
    case .ignored(let reason), .refused(let reason): throw .command("reaction not allowed - \(reason.rawValue)")
    }
  }

  // MARK: Receipts

  func setReceipts(_ userID: Int64, _ sends: Bool, overridesContacts: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    return .cmdOk(
      UserRecord(
        try stored { () throws(StoreError) in
          _ = try store.visibleUser(userID)
          try store.setUserReceipts(userID, sent: sends, overridesContacts: overridesContacts)
          return try store.user(userID)
        }))
  }
}
