import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

extension Engine: ResponseHost {
  func recordReply(
    _ text: String, to contact: StoredContact, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    var isRecorded = false
    let secondsToLive = ContactFeatures(try store.user(contact.userID), contact).secondsToLive(wanted: nil)
    let draft = Draft(content: .text(text), quote: nil, traits: MessageTraits(secondsToLive: secondsToLive))
    let enqueue = { () throws(StoreError) in
      let items = try self.enqueue([draft], contact: contact, connectionID: connection.id, store)
      // No command's answer contains them.
      for id in items {
        try self.changes.enter(
          .changed, connectionID: connection.id, contactID: contact.id, store, .sent(itemID: id))
      }
      isRecorded = true
    }
    try connections.take(.given(enqueue), of: connection, store)
    return isRecorded
  }

  func messagesWereRead() { disappearing.takeUp() }

  func answerCall(
    accepts: Bool, itemID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    try calls.respond(accepts: accepts, itemID: itemID, connection, store)
  }

  func endCallsThatAreOver(_ store: Store) throws(StoreError) { try calls.expireDue(store) }

  func replyWasRecorded() {
    // First, so that the host receives the message before it is notified that the relay has it.
    changes.report()
    sender.offerNew()
  }
}

extension ChatError {
  /// Whether the same command may succeed later.
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
