import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

extension Engine: ResponseHost {
  func recordReply(
    _ text: String, to contact: StoredContact, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> [Int64]? {
    var ids: [Int64]?
    let secondsToLive = ContactFeatures(try store.user(contact.userID), contact).secondsToLive(wanted: nil)
    let draft = Draft(content: .text(text), quote: nil, traits: MessageTraits(secondsToLive: secondsToLive))
    let enqueue = { () throws(StoreError) in
      ids = try self.enqueue([draft], contact: contact, connectionID: connection.id, store)
    }
    try connections.take(.given(enqueue), of: connection, store)
    return ids
  }

  func messagesWereRead() { disappearing.takeUp() }

  func answerCall(
    accepts: Bool, itemID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    try calls.respond(accepts: accepts, itemID: itemID, connection, store)
  }

  func replyWasRecorded(_ items: [Int64]) {
    sender.offerNew()
    guard let store else { return }
    do throws(StoreError) {
      for id in items {
        let item = try store.item(id)
        let contact = try store.contact(item.contactID)
        let connection = try store.connection(contactID: contact.id)
        emit(
          .newChatItems(
            UserRecord(try store.user(contact.userID)),
            [
              ChatItemInChat(
                info: .direct(ContactRecord(contact, connection: connection)), item: ChatItemRecord(item))
            ]))
      }
    } catch {
      log(.warning, "a reply could not be reported", ["error": error.description])
    }
  }
}

extension ChatError {
  /// Whether the same may succeed later.
  var isTemporary: Bool {
    switch self {
    case .agent(.broker, _), .agent(.inactive, _): true
    // The disk may work again.
    case .store(.databaseBusy), .store(.databaseException): true
    case .nightporter(.relayUnavailable), .nightporter(.relayMissing), .nightporter(.networkStopped),
      .nightporter(.ownershipLost), .nightporter(.ownedElsewhere), .nightporter(.storeClosed), .nightporter(.storeFull):
      true
    case .error, .agent, .store, .database, .nightporter: false
    }
  }
}
