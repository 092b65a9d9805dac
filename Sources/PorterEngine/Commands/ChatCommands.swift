import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_get chats`, `/_get chat`, `/_send`, `/_read`, `/_settings`, `/_contacts`.
extension Engine {
  func contactRecord(_ contact: StoredContact) throws(ChatError) -> ContactRecord {
    let store = try requireStore()
    return try stored { () throws(StoreError) in
      do throws(StoreError) {
        return ContactRecord(contact, connection: try store.connection(contactID: contact.id))
      } catch .notFound, .damaged {
        // The contact exists anyway.
        return ContactRecord(contact, connection: nil)
      }
    }
  }

  /// A contact of a profile that is hidden and not active is treated as not found.
  func requireContact(_ id: Int64) throws(ChatError) -> StoredContact {
    let store = try requireStore()
    do throws(StoreError) {
      return try store.visibleContact(id)
    } catch {
      throw error == .notFound(.contact) ? .store(.contactNotFound(id)) : ChatError(error)
    }
  }

  func listContacts(userID: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    var records: [ContactRecord] = []
    for contact in try stored({ () throws(StoreError) in try store.contacts(userID: userID) }) {
      records.append(try contactRecord(contact))
    }
    return .contactsList(UserRecord(user), records)
  }

  func listChats(
    _ userID: Int64, _ pendingConnections: Bool, _ page: ChatListPage, _ query: ChatListQuery
  ) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(userID) }
    let contacts = try stored { () throws(StoreError) in try store.contacts(userID: userID) }
    var chats: [ChatRecord] = []
    for contact in Self.select(contacts.filter { Self.matches($0, query) }, page) {
      let last = try stored { () throws(StoreError) in try store.lastItem(contactID: contact.id) }
      chats.append(try chatRecord(contact, items: last.map { [$0] } ?? []))
    }
    for request in try stored({ () throws(StoreError) in
      try store.contactRequests(userID: userID, in: PorterMachines.ContactRequest.State.received.name)
    }) where query == .all {
      chats.append(
        ChatRecord(info: .contactRequest(UserContactRequest(request)), items: [], stats: ChatStats()))
    }
    if pendingConnections {
      let connections = try stored { () throws(StoreError) in try store.connections() }
      for connection in connections
      where connection.userID == userID && connection.contactID == nil && !connection.isAddress {
        chats.append(
          ChatRecord(
            info: .contactConnection(PendingConnectionRecord(connection)), items: [], stats: ChatStats()))
      }
    }
    return .apiChats(UserRecord(user), chats)
  }

  private static func matches(_ contact: StoredContact, _ query: ChatListQuery) -> Bool {
    switch query {
    case .filters(false, false): true
    case .filters(let favorite, let unread):
      favorite && contact.isFavorite || unread && (contact.unread > 0 || contact.isMarkedUnread)
    case .search(let text):
      [contact.localName, contact.displayName, contact.fullName].contains {
        $0.lowercased().contains(text.lowercased())
      }
    }
  }

  /// `contacts` are sorted with the most recent chat first.
  private static func select(_ contacts: [StoredContact], _ page: ChatListPage) -> [StoredContact] {
    switch page {
    case .last(let count): Array(contacts.prefix(Int(clamping: count)))
    case .after(let time, let count): contacts.filter { $0.chatAt > time }.suffix(Int(clamping: count))
    case .before(let time, let count): Array(contacts.filter { $0.chatAt < time }.prefix(Int(clamping: count)))
    }
  }

  func getChat(_ contactID: Int64, _ page: ChatPage, search: String?) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    let words = search?.lowercased() ?? ""
    let matches = words.isEmpty ? nil : { ChatItemRecord($0).content.text.lowercased().contains(words) }
    let items = try stored { () throws(StoreError) in
      let itemPage: ItemPage =
        switch page {
        case .last(let count): .last(count: count)
        case .after(let id, let count): .after(item: id, count: count)
        case .before(let id, let count): .before(item: id, count: count)
        case .around(let id, let count): .around(item: id, count: count)
        case .initial(let count):
          try store.firstUnreadItem(contactID: contactID).map { .around(item: $0, count: count) } ?? .last(count: count)
        }
      return try store.items(contactID: contactID, page: itemPage, matching: matches)
    }
    return .apiChat(UserRecord(user), try chatRecord(contact, items: items), nil)
  }

  private func chatRecord(_ contact: StoredContact, items: [StoredItem]) throws(ChatError) -> ChatRecord {
    let store = try requireStore()
    let first = try stored { () throws(StoreError) in try store.firstUnreadItem(contactID: contact.id) }
    let now = context.clockReading
    return ChatRecord(
      info: .direct(try contactRecord(contact)), items: items.map { ChatItemRecord($0, at: now) },
      stats: ChatStats(
        unreadCount: contact.unread, unreadMentions: contact.unreadMentions, minimumUnreadItemID: first ?? 0,
        isMarkedUnread: contact.isMarkedUnread))
  }

  // MARK: Sending

  func sendMessages(
    contactID: Int64, _ messages: [ComposedMessage], _ options: SendOptions = SendOptions()
  ) throws(ChatError) -> Response {
    let store = try requireStore()
    try requireStarted()
    _ = try requireContact(contactID)
    // Reads are inside the transaction: messages received in the meantime count, for example if the contact has left or
    // deleted the quoted message. And a suspension that interrupted a later statement would report a sent message as
    // refused.
    let answer = try stored { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> Result<Response, ChatError> in
        let contact = try store.visibleContact(contactID)
        let user = try store.user(contact.userID)
        let current = try store.currentConnection(contactID: contactID)
        let record = ContactRecord(contact, connection: current)
        guard let connection = current else { return .failure(Self.notSendable(record)) }
        let secondsToLive = ContactFeatures(user, contact).secondsToLive(wanted: options.secondsToLive)
        let traits = { MessageTraits(isLive: options.isLive, secondsToLive: secondsToLive, mentions: $0) }
        let drafts: [Draft]
        switch try self.drafts(messages, contactID, store, traits) {
        case .success(let made): drafts = made
        case .failure(let error): return .failure(error)
        }
        var ids: [Int64]?
        let enqueue = { () throws(StoreError) in
          ids = try self.enqueue(drafts, contact: contact, connectionID: connection.id, store)
        }
        try self.connections.take(.given(enqueue), of: connection, store)
        guard let ids else { return .failure(Self.notSendable(record)) }
        var items: [ChatItemInChat] = []
        for id in ids {
          items.append(ChatItemInChat(info: .direct(record), item: ChatItemRecord(try store.item(id))))
        }
        store.afterCommit { [weak self] in
          self?.sender.offerNew()
          if secondsToLive != nil { self?.disappearing.takeUp() }
        }
        return .success(.newChatItems(UserRecord(user), items))
      }
    }
    return try answer.get()
  }

  private func drafts(
    _ messages: [ComposedMessage], _ contactID: Int64, _ store: Store,
    _ traits: ([String]) -> MessageTraits
  ) throws(StoreError) -> Result<[Draft], ChatError> {
    var drafts: [Draft] = []
    for message in messages {
      var quote: (Quote, itemID: Int64)?
      if let id = message.quotedItemID {
        switch try self.quote(id, contactID, store) {
        case .success(let found): quote = found
        case .failure(let error): return .failure(error)
        }
      }
      let traits = traits(message.mentions)
      let bytes = message.content.json.utf8.count + (quote?.0.json.utf8.count ?? 0) + traits.mentionBytes
      guard bytes <= Envelope.largestContent else {
        return .failure(.nightporter(.messageTooLarge(bytes: bytes, limit: Envelope.largestContent)))
      }
      drafts.append(Draft(content: message.content, quote: quote, traits: traits))
    }
    return .success(drafts)
  }

  /// The quoted item, as the other side knows it. A message deleted by one side is not repeated by the other.
  private func quote(
    _ itemID: Int64, _ contactID: Int64, _ store: Store
  ) throws(StoreError) -> Result<(Quote, itemID: Int64), ChatError> {
    guard let item = try Self.item(itemID, of: contactID, store), let sharedID = item.sharedID else {
      return .failure(.store(.chatItemNotFound(itemID)))
    }
    guard item.deletedAt == nil else { return .failure(.store(.invalidQuote)) }
    let quote = Quote(
      sharedID: sharedID, sentAt: item.itemAt, isOwn: item.isSent, content: ChatItemRecord(item).content)
    return .success((quote, itemID))
  }

  struct Draft {
    let content: MessageContent
    let quote: (Quote, itemID: Int64)?
    let traits: MessageTraits
  }

  func enqueue(
    _ drafts: [Draft], contact: StoredContact, connectionID: Int64, _ store: Store
  ) throws(StoreError) -> [Int64] {
    guard var ratchet = try store.ratchet(connectionID: connectionID) else { throw .notFound(.connection) }
    let now = configuration.clock.wall()
    var ids: [Int64] = []
    for draft in drafts {
      let sharedID = configuration.randomness.bytes(12)
      let id = try store.insertSentItem(
        contactID: contact.id, content: draft.content.json.text,
        quote: draft.quote.map { $0.0.stored(itemID: $0.itemID) }, sharedID: sharedID, itemAt: now, at: now,
        moment: context.sinceBoot,
        traits: ItemTraits(isLive: draft.traits.isLive, secondsToLive: draft.traits.secondsToLive))
      // A sent message's time runs from the start; a live one's from when it is complete.
      if let seconds = draft.traits.secondsToLive, !draft.traits.isLive {
        try store.startDisappearing(id, context.disappearance(after: seconds))
      }
      let content = ChatMessage.Content(
        content: draft.content, sharedID: sharedID, sentAt: now, quote: draft.quote?.0, traits: draft.traits)
      try store.enqueue(
        .content(content), connectionID: connectionID, itemID: id, with: &ratchet, attempt: context.randomness.bytes(24)
      )
      ids.append(id)
      if configuration.role == .share {
        try changes.enter(.changed, connectionID: connectionID, contactID: contact.id, store, .sent(itemID: id))
      }
    }
    try store.save(ratchet, connectionID: connectionID)
    return ids
  }

  // MARK: Reading and settings

  func readChat(contactID: Int64, items: [Int64]?) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    try stored { () throws(StoreError) in
      _ = try store.markRead(contactID: contactID, only: items, at: self.configuration.clock.wall()) {
        self.context.disappearance(after: $0)
      }
    }
    disappearing.takeUp()
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    guard items != nil else { return .cmdOk(UserRecord(user)) }
    return .itemsReadForChat(UserRecord(user), .direct(try contactRecord(try requireContact(contactID))))
  }

  func readUser(_ id: Int64) throws(ChatError) -> Response {
    let store = try requireStore()
    let user = try stored { () throws(StoreError) in try store.visibleUser(id) }
    for contact in try stored({ () throws(StoreError) in try store.contacts(userID: id) }) {
      let isUnread = try stored { () throws(StoreError) in
        if contact.unread > 0 || contact.isMarkedUnread { return true }
        return try store.hasUncountedEntries(contactID: contact.id)
      }
      guard isUnread else { continue }
      _ = try readChat(contactID: contact.id, items: nil)
    }
    return .cmdOk(UserRecord(user))
  }

  func markUnread(contactID: Int64, _ unread: Bool) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    try stored { () throws(StoreError) in try store.markChatUnread(contactID, unread) }
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    return .cmdOk(UserRecord(user))
  }

  func changeSettings(contactID: Int64, _ settings: ChatSettings) throws(ChatError) -> Response {
    let store = try requireStore()
    let contact = try requireContact(contactID)
    try stored { () throws(StoreError) in
      try store.setChatSettings(
        contactID, settings.notifications.setting, isFavorite: settings.isFavorite,
        sendsReceipts: settings.sendsReceipts)
    }
    if contact.notifications != settings.notifications.setting { tokens.subscriptions.ensure() }
    let user = try stored { () throws(StoreError) in try store.user(contact.userID) }
    return .cmdOk(UserRecord(user))
  }
}
