import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// What became of one message from a mailbox.
enum Commitment {
  case committed([Event])
  /// The ledger has it already; nothing was changed (INC-34).
  case repeated
  /// It could not be opened, and is kept with its reason; nothing is shown of it (INC-41).
  case quarantined
  case failed(StoreError)
}

/// Decrypting and committing: the item, the ratchet's step, the ledger's entry, the counts and the answer to be sent
/// are one transaction (rule 4), fenced by the claim's epoch (rule 2).
extension Engine {
  func commit(_ message: RelayMessage, under claim: Claim) -> Commitment {
    guard let store else { return .failed(.sqlite(SQLiteError(kind: .closed))) }
    do throws(StoreError) {
      var (earlier, newest): (Int64, Int64) = (0, 0)
      let outcome = try store.transaction(under: claim) { () throws(StoreError) -> Received? in
        earlier = try store.newestLedgerEntry()
        defer { FaultPoint.reach(.insideCommit) }
        defer { newest = (try? store.newestLedgerEntry()) ?? earlier }
        let known = try store.ledgerEntry(connectionID: claim.connectionID, messageID: message.identifier.bytes)
        if let known {
          try store.raise(.repeat, known)
          return nil
        }
        return try self.receive(message, connection: try store.connection(claim.connectionID), store)
      }
      guard let outcome else {
        noteOwnCommit(after: earlier, through: newest)
        return .repeated
      }
      peers.announceChange()
      if case .left = outcome { connections.reportEnded() }
      return committed(outcome, claim.connectionID, after: earlier, through: newest, store)
    } catch {
      log(.warning, "a message was not committed", ["error": error.description])
      if case .staleEpoch = error { claims.noteDisplaced(claim) }
      return .failed(error)
    }
  }

  /// From here on the message is in the store, and nothing may be told as failed: it would not come again. What cannot be
  /// told now is left to `reloadChanges`.
  private func committed(
    _ outcome: Received, _ connectionID: Int64, after earlier: Int64, through newest: Int64, _ store: Store
  ) -> Commitment {
    do throws(StoreError) {
      let events = try events(of: outcome, connectionID, store)
      let isInTurn = noteOwnCommit(after: earlier, through: newest)
      if case .quarantined = outcome { return .quarantined }
      return .committed(isInTurn ? events : [])
    } catch {
      log(.warning, "what was committed could not be told yet", ["error": error.description])
      reloadLater()
      return .committed([])
    }
  }

  /// What a transaction did; what is told of it afterwards.
  private enum Received {
    case item(Int64)
    case connected
    /// The contact has another profile; this is what it was.
    case updated(StoredContact)
    /// The contact has deleted the connection.
    case left
    case nothingToShow
    case quarantined
  }

  private func receive(
    _ message: RelayMessage, connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received {
    switch Envelope(bytes: message.body) {
    case .confirmation(let publicKeys, let signingKey, let sealed):
      return try receiveConfirmation(message, connection, publicKeys, signingKey, sealed, store)
    case .message(let sealed):
      guard var stored = try store.ratchet(connectionID: connection.id) else {
        return try quarantine(message, connection, "no ratchet", store)
      }
      let opened = open(sealed, &stored)
      switch opened {
      case .failure(let reason): return try quarantine(message, connection, reason, store)
      case .success(let chatMessage):
        let received = try record(chatMessage, message, connection, &stored, store)
        try store.save(stored, connectionID: connection.id)
        return received
      }
    case nil: return try quarantine(message, connection, "unknown envelope", store)
    }
  }

  /// Fails with a reason for the quarantine; then the ratchet is as it was.
  private func open(_ sealed: [UInt8], _ stored: inout StoredRatchet) -> OpenResult {
    do throws(CryptoError) {
      let padded = try stored.ratchet.decrypt(
        sealed, associatedData: stored.associatedData, randomness: configuration.randomness)
      let plaintext = try Padding.unpad(padded)
      return ChatMessage(bytes: plaintext).map(OpenResult.success) ?? .failure("not a message of this protocol")
    } catch {
      return .failure(error.description)
    }
  }

  private enum OpenResult {
    case success(ChatMessage)
    case failure(String)
  }

  /// Rule 8: kept with its reason, never shown, and its neighbours go on.
  private func quarantine(
    _ message: RelayMessage, _ connection: StoredConnection, _ reason: String, _ store: Store
  ) throws(StoreError) -> Received {
    log(.warning, "a message was quarantined", ["connection": String(connection.id), "reason": reason])
    var entry = MachineRunner<PorterMachines.LedgerEntry>()
    let step = entry.handle(.quarantine)
    try store.quarantine(
      connectionID: connection.id, messageID: message.identifier.bytes, messageAt: message.timestamp,
      state: step.next.name, reason: step.effects.contains(.recordReason) ? reason : nil, body: message.body,
      at: configuration.clock.wall())
    return .quarantined
  }

  // MARK: The inviting side

  private func receiveConfirmation(
    _ message: RelayMessage, _ connection: StoredConnection, _ publicKeys: [UInt8], _ signingKey: SigningPublicKey,
    _ sealed: [UInt8], _ store: Store
  ) throws(StoreError) -> Received {
    if case .refused(let reason) = PorterMachines.Connection.step(try connections.state(of: connection), .peerConfirmed)
      .answer
    {
      return try quarantine(message, connection, "a confirmation of an invitation: \(reason.name)", store)
    }
    guard let secret = connection.invitation.flatMap({ InvitationSecret(stored: $0.exposeForStorage()) }) else {
      return try quarantine(message, connection, "no invitation", store)
    }
    var stored: StoredRatchet
    do throws(CryptoError) {
      let accepted = try KeyAgreement.accept(secret, joinerKeys: publicKeys)
      stored = StoredRatchet(ratchet: accepted.ratchet, associatedData: accepted.associatedData)
    } catch {
      return try quarantine(message, connection, error.description, store)
    }
    guard case .success(.information(let profile, let reply?)) = open(sealed, &stored) else {
      return try quarantine(message, connection, "the confirmation does not open", store)
    }
    let user = try store.user(connection.userID)
    let now = configuration.clock.wall()
    let contactID = try store.insertContact(
      userID: user.id, displayName: DisplayName.sanitized(profile.displayName), fullName: profile.fullName,
      profile: profile.stored, at: now)
    var accepted: [UInt8]?
    for effect in try connections.step(connection, .peerConfirmed, store).effects {
      switch effect {
      // The relay is asked to before this message is acknowledged, which needs the key on record.
      case .secureMailbox: accepted = signingKey.bytes
      case .sendGreeting:
        let greeting = ChatMessage.information(user.profileToSend, replyMailbox: nil)
        try store.enqueue(
          greeting, connectionID: connection.id, itemID: nil, with: &stored, attempt: context.randomness.bytes(24))
      case .sendConfirmation, .sendAnswer, .sendLeft, .emitContactConnected, .emitContactLeft, .createSubscription,
        .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        connections.misplaced(effect, .peerConfirmed)
      }
    }
    try store.accept(
      connectionID: connection.id, contactID: contactID, peerSenderID: reply, peerPublicKey: accepted)
    try store.save(stored, connectionID: connection.id)
    try enter(message, connection.id, kind: .silent, contactID: contactID, itemID: nil, store)
    return .nothingToShow
  }

  // MARK: Messages

  private func record(
    _ chatMessage: ChatMessage, _ message: RelayMessage, _ connection: StoredConnection,
    _ stored: inout StoredRatchet, _ store: Store
  ) throws(StoreError) -> Received {
    switch chatMessage {
    case .information(let profile, _): return try recordInformation(profile, message, connection, &stored, store)
    case .content(let content): return try recordContent(content, message, connection, store)
    case .left: return try recordLeft(message, connection, store)
    case .greeted: return try recordAnswer(message, connection, store)
    case .unknown: return try recordSilently(message, connection, store)
    }
  }

  private func recordLeft(
    _ message: RelayMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received {
    var isTold = false
    for effect in try connections.step(connection, .peerLeft, store).effects {
      switch effect {
      case .emitContactLeft: isTold = connection.contactID != nil
      // By the step.
      case .deleteSubscription: break
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected,
        .createSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        connections.misplaced(effect, .peerLeft)
      }
    }
    guard isTold else { return try recordSilently(message, connection, store) }
    try enter(message, connection.id, kind: .left, contactID: connection.contactID, itemID: nil, store)
    return .left
  }

  private func recordAnswer(
    _ message: RelayMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received {
    var isTold = false
    for effect in try connections.step(connection, .peerAnswered, store).effects {
      switch effect {
      case .emitContactConnected: isTold = true
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactLeft,
        .createSubscription, .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        connections.misplaced(effect, .peerAnswered)
      }
    }
    guard isTold, let contactID = connection.contactID else { return try recordSilently(message, connection, store) }
    return try recordConnected(message, connection, contactID: contactID, store)
  }

  private func recordSilently(
    _ message: RelayMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received {
    try enter(message, connection.id, kind: .silent, contactID: connection.contactID, itemID: nil, store)
    return .nothingToShow
  }

  private func recordContent(
    _ content: ChatMessage.Content, _ message: RelayMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received {
    let step = try connections.step(connection, .messageArrived, store)
    var isTaken = false
    for effect in step.effects {
      switch effect {
      case .deliverMessage: isTaken = true
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendAnswer, .sendLeft, .emitContactConnected,
        .emitContactLeft, .createSubscription, .deleteSubscription, .sendMessage, .deleteMailbox, .forgetKeys:
        connections.misplaced(effect, .messageArrived)
      }
    }
    guard isTaken else {
      return try quarantine(message, connection, "content on a connection that is \(step.next.name)", store)
    }
    guard let contactID = connection.contactID else {
      return try quarantine(message, connection, "content before the contact was confirmed", store)
    }
    // The sender's clock may be wrong: a time in the future would keep its message at the chat's end for ever.
    let relayed = message.timestamp
    let itemID = try store.insertItem(
      contactID: contactID, isSent: false,
      content: content.content.json.text,
      quote: try content.quote.map { (quote) throws(StoreError) in
        try quote.stored(itemID: store.recentItem(contactID: contactID, sharedID: quote.sharedID))
      }, sharedID: content.sharedID,
      itemAt: content.sentAt.milliseconds > 0 ? min(content.sentAt, relayed) : relayed, at: configuration.clock.wall())
    try enter(message, connection.id, kind: .message, contactID: contactID, itemID: itemID, store)
    return .item(itemID)
  }

  /// A contact's profile has changed; or the joining side learns who invited it, if the machine takes the greeting.
  private func recordInformation(
    _ profile: Profile, _ message: RelayMessage, _ connection: StoredConnection, _ stored: inout StoredRatchet,
    _ store: Store
  ) throws(StoreError) -> Received {
    let now = configuration.clock.wall()
    let name = DisplayName.sanitized(profile.displayName)
    if let contactID = connection.contactID {
      let before = try store.contact(contactID)
      try store.setContactProfile(
        contactID, displayName: name, fullName: profile.fullName, profile: profile.stored, at: now)
      try enter(message, connection.id, kind: .updated, contactID: contactID, itemID: nil, store)
      return .updated(before)
    }
    let step = try connections.step(connection, .peerGreeted, store)
    switch step.answer {
    case .refused(let reason): return try quarantine(message, connection, "a greeting: \(reason.name)", store)
    // Such as of a peer that has left: there is no contact to be.
    case .ignored: return try recordSilently(message, connection, store)
    case .moved, .stayed: break
    }
    let contactID = try store.insertContact(
      userID: connection.userID, displayName: name, fullName: profile.fullName, profile: profile.stored, at: now)
    try store.setContact(connectionID: connection.id, contactID: contactID)
    var received = Received.nothingToShow
    for effect in step.effects {
      switch effect {
      case .sendAnswer:
        try store.enqueue(
          .greeted, connectionID: connection.id, itemID: nil, with: &stored, attempt: context.randomness.bytes(24))
      case .emitContactConnected:
        received = try recordConnected(message, connection, contactID: contactID, store)
      case .sendConfirmation, .secureMailbox, .sendGreeting, .sendLeft, .emitContactLeft, .createSubscription,
        .deleteSubscription, .sendMessage, .deliverMessage, .deleteMailbox, .forgetKeys:
        connections.misplaced(effect, .peerGreeted)
      }
    }
    return received
  }

  private func recordConnected(
    _ message: RelayMessage, _ connection: StoredConnection, contactID: Int64, _ store: Store
  ) throws(StoreError) -> Received {
    try enter(message, connection.id, kind: .connected, contactID: contactID, itemID: nil, store)
    return .connected
  }

  /// Writes the ledger's entry. An app on screen tells its user itself, through the event, so that its entries count as
  /// shown.
  private func enter(
    _ message: RelayMessage, _ connectionID: Int64, kind: StoredLedgerEntry.Kind, contactID: Int64?, itemID: Int64?,
    _ store: Store
  ) throws(StoreError) {
    var entry = MachineRunner<PorterMachines.LedgerEntry>()
    _ = entry.handle(.commit)
    // What is never shown does not wait. An app on screen tells its user itself.
    if !kind.isShown { _ = entry.handle(.read) } else if configuration.role == .app { _ = entry.handle(.present) }
    _ = try store.insertLedgerEntry(
      connectionID: connectionID, messageID: message.identifier.bytes, messageAt: message.timestamp,
      state: entry.state.name, kind: kind, contactID: contactID, itemID: itemID, at: configuration.clock.wall())
  }

  // MARK: Events

  private func events(
    of received: Received, _ connectionID: Int64, _ store: Store
  ) throws(StoreError) -> [Event] {
    let connection = try store.connection(connectionID)
    let user = UserRecord(try store.user(connection.userID))
    guard let contactID = connection.contactID else { return [] }
    let contact = ContactRecord(try store.contact(contactID), connection: connection)
    switch received {
    case .item(let id):
      return [.newChatItems(user, [ChatItemInChat(info: .direct(contact), item: ChatItemRecord(try store.item(id)))])]
    case .connected: return [.contactConnected(user, contact)]
    case .updated(let before):
      return [.contactUpdated(user, from: ContactRecord(before, connection: connection), to: contact)]
    case .left: return [.contactDeletedByContact(user, contact)]
    case .nothingToShow, .quarantined: return []
    }
  }
}
