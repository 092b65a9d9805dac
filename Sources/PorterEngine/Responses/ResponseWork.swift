import PorterMachines
import PorterNotifications
import PorterPlatform
import PorterSchema
import PorterStore

/// What responses need from the parts that write and send messages.
protocol ResponseHost: AnyObject {
  /// Records the message, puts it into the outbox, and enters it into the ledger, which notifies the host. Part of the
  /// caller's transaction. Returns false when the contact cannot be written to.
  func recordReply(
    _ text: String, to contact: StoredContact, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool
  /// Starts the time of disappearing messages.
  func messagesWereRead()
  /// Accepts or rejects the call of this item. Part of the caller's transaction. Returns false when it no longer rings.
  func answerCall(
    accepts: Bool, itemID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool
  /// Not in a transaction of the caller.
  func endCallsThatAreOver(_ store: Store) throws(StoreError)
  /// Reports the message to the host, and sends what waits in the outbox.
  func replyWasRecorded()
  /// Reports about the contact's calls no longer wait for this answer.
  func callAnswerHasEnded()
}

/// Does the part of a response that happens in the store. Part of the transaction that ends the response.
struct ResponseWork {
  let context: EngineContext
  unowned let host: any ResponseHost

  func carryOut(
    _ action: NotificationAction, _ response: StoredResponse, _ store: Store
  ) throws(StoreError) -> ResponseEnding {
    switch try ResponseTarget.find(response, store) {
    case .gone(let reason): return .stale(reason)
    case .app(let user):
      guard action == .open else { return .stale(.noSuchChat) }
      if let user { try activate(user, store) }
      return ResponseEnding(userID: user?.id)
    case .request(let user, let request):
      // Another part accepts and rejects.
      guard action == .open else { return .stale(.noSuchChat) }
      guard let chatID = try RequestDestination(request).chatID else { return .stale(.noSuchRequest) }
      try activate(user, store)
      return ResponseEnding(userID: user.id, chatID: chatID)
    case .contact(let user, let contact, nil):
      // The chat can be shown even so (INC-44).
      guard action == .open else { return .stale(.refused) }
      try activate(user, store)
      return ResponseEnding(userID: user.id, chatID: "@\(contact.id)")
    case .contact(let user, let contact, let connection?):
      return try carryOut(action, response, user, contact, connection, store)
    }
  }

  private func carryOut(
    _ action: NotificationAction, _ response: StoredResponse, _ user: StoredUser, _ contact: StoredContact,
    _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> ResponseEnding {
    let ending = ResponseEnding(userID: user.id, chatID: "@\(contact.id)")
    switch action {
    case .open: try activate(user, store)
    case .markRead:
      guard try markRead(response, contact, connection, store) else { return .stale(.noSuchMessage) }
    case .reply:
      guard try host.recordReply(response.text ?? "", to: contact, connection, store) else {
        return .stale(.contactNotReady)
      }
      // The notification of an answered message is no longer news.
      _ = try markRead(response, contact, connection, store)
    case .acceptCall, .rejectCall:
      guard let item = try Self.item(of: response, connection, store),
        try host.answerCall(accepts: action == .acceptCall, itemID: item, connection, store)
      else { return .stale(.noSuchCall) }
      if action == .acceptCall { try activate(user, store) }
    case .acceptContact, .acceptContactIncognito, .rejectContact: return .stale(.noSuchRequest)
    }
    return ending
  }

  private func activate(_ user: StoredUser, _ store: Store) throws(StoreError) {
    if !user.isActive { try store.makeActive(user.id) }
  }

  /// Marks the notification's message and earlier ones as read. Returns false when the ledger does not know the
  /// message.
  private func markRead(
    _ response: StoredResponse, _ contact: StoredContact, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    guard let item = try Self.item(of: response, connection, store) else { return false }
    let unread = try store.unreadItems(contactID: contact.id, through: item)
    try store.recordRead(contactID: contact.id, only: unread, at: context.clock.wall()) {
      context.disappearance(after: $0)
    }
    store.afterCommit { [weak host] in host?.messagesWereRead() }
    return true
  }

  /// The item the notification was about; nil when the ledger does not know its message.
  static func item(
    of response: StoredResponse, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Int64? {
    guard let message = response.identifier.flatMap({ NotificationIdentifier.message(in: $0) }),
      let messageID = TextEncoding.base64URLDecoded(message)
    else { return nil }
    return try store.ledgerEntry(connectionID: connection.id, messageID: messageID)?.itemID
  }
}
