import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_update item`, `/_delete item`, `/_reaction`, `/_set receipts contacts`.
extension Engine {
  /// Inputs of a command about a message, as read by its transaction.
  private struct Subject {
    let store: Store
    let time: ClockReading
    let user: StoredUser
    let contact: StoredContact
    /// Nil if only the conversation is kept: nothing can be sent.
    let connection: StoredConnection?
    let items: [StoredItem]

    var features: ContactFeatures { ContactFeatures(user, contact) }
    var now: WallTime { time.wall }
    var info: ChatInfo { .direct(ContactRecord(contact, connection: connection)) }

    func inChat(_ item: StoredItem) -> ChatItemInChat {
      ChatItemInChat(info: info, item: ChatItemRecord(item, at: time))
    }
  }

  private typealias Answer = Result<Response, ChatError>

  /// Reads, decides and writes in one transaction: another process may change a message, or the contact's permissions,
  /// at any time. A refusal writes nothing.
  private func change(
    _ contactID: Int64, _ itemIDs: [Int64], _ work: (Subject) throws(StoreError) -> Answer
  ) throws(ChatError) -> Response {
    let store = try requireStore()
    try requireStarted()
    _ = try requireContact(contactID)
    let time = context.clockReading
    let answer = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> Answer in
        let contact = try store.visibleContact(contactID)
        var items: [StoredItem] = []
        for id in itemIDs {
          guard let item = try Self.item(id, of: contactID, store) else {
            return .failure(.store(.chatItemNotFound(id)))
          }
          if !items.contains(where: { $0.id == id }) { items.append(item) }
        }
        return try work(
          Subject(
            store: store, time: time, user: try store.user(contact.userID), contact: contact,
            connection: try store.currentConnection(contactID: contactID), items: items))
      }
    }
    return try answer.get()
  }

  /// Nil if it does not exist, or no longer does.
  static func item(_ id: Int64, of contactID: Int64, _ store: Store) throws(StoreError) -> StoredItem? {
    do throws(StoreError) {
      let item = try store.item(id)
      return item.contactID == contactID ? item : nil
    } catch .notFound {
      return nil
    }
  }

  /// Records the change and puts its messages into the contact's outbox; the connection's machine decides whether
  /// anything can be sent. Part of the command's transaction. Returns why nothing was sent.
  private func send(
    _ messages: [ChatMessage], _ subject: Subject, recording change: @escaping () throws(StoreError) -> Void
  ) throws(StoreError) -> ChatError? {
    let store = subject.store
    let record = ContactRecord(subject.contact, connection: subject.connection)
    guard let connection = subject.connection else { return Self.notSendable(record) }
    var isSent = false
    let enqueue = { () throws(StoreError) in
      guard var ratchet = try store.ratchet(connectionID: connection.id) else { throw .notFound(.connection) }
      for message in messages {
        try store.enqueue(
          message, connectionID: connection.id, itemID: nil, with: &ratchet, attempt: self.context.randomness.bytes(24))
      }
      try store.save(ratchet, connectionID: connection.id)
      try change()
      isSent = true
    }
    try connections.take(.given(enqueue), of: connection, store)
    guard isSent else { return Self.notSendable(record) }
    store.afterCommit { [weak self] in self?.sender.offerNew() }
    return nil
  }

  /// Notifies the app's host through the ledger, since it gets no answer to an extension's command. Part of the
  /// command's transaction.
  private func enterForApp(_ change: ItemChange, _ subject: Subject) throws(StoreError) {
    guard configuration.role != .app, let connection = subject.connection else { return }
    try changes.enter(
      .changed, connectionID: connection.id, contactID: subject.contact.id, subject.store, change)
  }

  static func notSendable(_ contact: ContactRecord) -> ChatError {
    .error(contact.status == .active ? .contactNotReady(contact) : .contactNotActive(contact))
  }

  // MARK: Edits

  func updateItem(
    contactID: Int64, _ itemID: Int64, _ message: UpdatedMessage, isLive: Bool
  ) throws(ChatError) -> Response {
    try change(contactID, [itemID]) { (subject) throws(StoreError) in
      guard let item = subject.items.first, let sharedID = item.sharedID,
        ItemRules.edit(ItemRules.Subject(item, at: subject.time)) == .allowed
      else { return .failure(.error(.invalidChatItemUpdate)) }
      let text = message.content.json.text
      let remainsLive = item.isLive && isLive
      let traits = MessageTraits(
        isLive: remainsLive, secondsToLive: item.secondsToLive, mentions: message.mentions)
      let bytes = text.utf8.count + traits.mentionBytes
      guard bytes <= Envelope.largestContent else {
        return .failure(.nightporter(.messageTooLarge(bytes: bytes, limit: Envelope.largestContent)))
      }
      // The end of a live message is reported even if its text has not changed.
      guard text != item.content || item.isLive else {
        return .success(.chatItemNotChanged(UserRecord(subject.user), subject.inChat(item)))
      }
      let edit = ChatMessage.Edit(sharedID: sharedID, content: message.content, traits: traits)
      let end = item.secondsToLive.flatMap { remainsLive ? nil : self.context.disappearance(after: $0) }
      let store = subject.store
      let refusal = try send([.edit(edit)], subject) { () throws(StoreError) in
        try store.edit(item, ItemEdit(content: text, mentionsUser: false, isLive: remainsLive), at: subject.now)
        if let end { try store.startDisappearing(itemID, end) }
        try self.enterForApp(.edited(itemID: itemID), subject)
      }
      if let refusal { return .failure(refusal) }
      if end != nil { store.afterCommit { [weak self] in self?.disappearing.takeUp() } }
      return .success(.chatItemUpdated(UserRecord(subject.user), subject.inChat(try store.item(itemID))))
    }
  }

  // MARK: Deletions

  func deleteItems(contactID: Int64, _ itemIDs: [Int64], _ mode: ItemDeletion) throws(ChatError) -> Response {
    try change(contactID, itemIDs) { (subject) throws(StoreError) in
      let isKept: Bool
      switch mode {
      case .broadcast:
        isKept = !subject.features.allow(.fullDelete, .user)
        if let refusal = try deleteForBoth(subject, isKept: isKept) { return .failure(refusal) }
      case .internal, .internalMark:
        isKept = mode == .internalMark
        for item in subject.items { try self.delete(item, isKept: isKept, subject) }
      case .history: return .failure(.error(.invalidChatItemDelete))
      }
      var deletions: [ChatItemDeletion] = []
      for item in subject.items {
        let remaining = isKept ? subject.inChat(try subject.store.item(item.id)) : nil
        deletions.append(ChatItemDeletion(deleted: subject.inChat(item), remaining: remaining))
      }
      return .success(.chatItemsDeleted(UserRecord(subject.user), deletions))
    }
  }

  private func deleteForBoth(_ subject: Subject, isKept: Bool) throws(StoreError) -> ChatError? {
    var messages: [ChatMessage] = []
    for item in subject.items {
      guard let sharedID = item.sharedID,
        ItemRules.deleteForBoth(ItemRules.Subject(item, at: subject.time)) == .allowed
      else { return .error(.invalidChatItemDelete) }
      messages.append(.removal(sharedID: sharedID))
    }
    return try send(messages, subject) { () throws(StoreError) in
      for item in subject.items { try self.delete(item, isKept: isKept, subject) }
    }
  }

  private func delete(_ item: StoredItem, isKept: Bool, _ subject: Subject) throws(StoreError) {
    guard isKept else { return try subject.store.remove(item) }
    try disappearing.markDeleted(item, at: subject.now, subject.store)
  }

  // MARK: Reactions

  func react(
    contactID: Int64, _ itemID: Int64, adds: Bool, _ reaction: MessageReaction
  ) throws(ChatError) -> Response {
    try change(contactID, [itemID]) { (subject) throws(StoreError) in
      guard let item = subject.items.first, let sharedID = item.sharedID else {
        return .failure(.command("reaction not possible - no item shared message ID"))
      }
      let (store, now) = (subject.store, subject.now)
      let own = try store.reactions(contactID: contactID, sharedID: sharedID, isOwn: true)
      let added = StoredReaction(isOwn: true, reaction: reaction.json.text)
      let verdict = ItemRules.react(
        adds: adds, isThere: own.contains(added.reaction), reactions: own.count,
        isAllowed: subject.features.allow(.reactions, .user), isDeleted: item.deletedAt != nil)
      if let refusal = Self.refusal(verdict, adds: adds) { return .failure(refusal) }
      let message = ChatMessage.Reaction(sharedID: sharedID, reaction: reaction, isAdded: adds)
      let refusal = try send([.reaction(message)], subject) { () throws(StoreError) in
        try store.setReaction(added, contactID: contactID, sharedID: sharedID, isAdded: adds, at: now)
      }
      if let refusal { return .failure(refusal) }
      return .success(
        .chatItemReaction(
          UserRecord(subject.user), isAdded: adds,
          ReactionInChat(
            info: subject.info, direction: .sent, item: ChatItemRecord(try store.item(itemID), at: subject.time),
            sentAt: now, reaction: reaction)))
    }
  }

  /// The refusal in the terms of SimpleX's interface.
  private static func refusal(_ verdict: ItemRules.Verdict, adds: Bool) -> ChatError? {
    switch verdict {
    case .allowed: nil
    case .refused(.notAllowed): .command("feature not allowed Message reactions")
    case .refused(.tooManyReactions): .command("too many reactions")
    case .ignored(.nothingToChange): .command("reaction already \(adds ? "added" : "removed")")
    case .ignored(let reason), .refused(let reason): .command("reaction not allowed - \(reason.rawValue)")
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
