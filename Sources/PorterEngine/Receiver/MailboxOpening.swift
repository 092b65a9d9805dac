import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Opens a mailbox's messages, and records their content: the item, the contact, the ratchet step, and the answer to
/// send. Everything here is part of the transaction that commits the message.
struct MailboxOpening {
  private let context: EngineContext
  private let connections: Connections
  private let requests: ContactRequests
  private let calls: Calls
  private let scopes: Scopes
  private let disappearing: Disappearing

  init(
    _ context: EngineContext, connections: Connections, requests: ContactRequests, calls: Calls, scopes: Scopes,
    disappearing: Disappearing
  ) {
    self.context = context
    self.connections = connections
    self.requests = requests
    self.calls = calls
    self.scopes = scopes
    self.disappearing = disappearing
  }

  func open(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    switch Envelope(bytes: message.body) {
    case .confirmation(let publicKeys, let signingKey, let sealed):
      return try receiveConfirmation(connection, publicKeys, signingKey, sealed, store)
    case .message(let sealed):
      guard var stored = try store.ratchet(of: connection, opening: sealed) else {
        return OpenedMessage(.quarantined("no ratchet"))
      }
      switch decrypt(sealed, &stored) {
      case .failure(let reason): return OpenedMessage(.quarantined(reason))
      case .success(let chatMessage):
        let recorded = try record(chatMessage, message, connection, &stored, store)
        // Its key is kept: the message is retried once the connection has changed.
        if case .quarantined = recorded.content { return recorded }
        try store.save(stored, connectionID: connection.id)
        return recorded
      }
    case .request(let key, let nonce, let sealed): return try receiveRequest(connection, key, nonce, sealed, store)
    case .application: return try receiveApplicationPush(message, connection, store)
    case nil: return OpenedMessage(.quarantined("unknown envelope"))
    }
  }

  // MARK: The host's scopes

  private func receiveApplicationPush(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    if let reason = try connections.refusal(of: .requestArrived, connection) {
      return OpenedMessage(.quarantined("an application push: \(reason.name)"))
    }
    var content = OpenedMessage.Content.nothingToShow(contactID: nil)
    let record = { () throws(StoreError) in content = try self.scopes.receive(message, connection, store) }
    try connections.take(.requestArrived(record), of: connection, store)
    return OpenedMessage(content)
  }

  // MARK: The user's address

  private func receiveRequest(
    _ connection: StoredConnection, _ ephemeral: BoxPublicKey, _ nonce: BoxNonce, _ sealed: [UInt8], _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    if let reason = try connections.refusal(of: .requestArrived, connection) {
      return OpenedMessage(.quarantined("a contact request: \(reason.name)"))
    }
    guard let address = try store.address(connectionID: connection.id),
      let key = connection.invitation.flatMap({ BoxSecretKey(stored: $0.exposeForStorage()) })
    else { return OpenedMessage(.quarantined("no address")) }
    let message: RequestMessage
    switch RequestMessage.open(sealed, ephemeral, nonce, with: key) {
    case .failed(let reason): return OpenedMessage(.quarantined(reason))
    case .opened(let opened): message = opened
    }
    var content = OpenedMessage.Content.nothingToShow(contactID: nil)
    let record = { () throws(StoreError) in content = try self.requests.receive(message, address, store) }
    try connections.take(.requestArrived(record), of: connection, store)
    return OpenedMessage(content)
  }

  /// Anyone may write to an address: of messages that show nothing, only the newest are kept.
  func prune(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard connection.isAddress, try store.newestLedgerEntry() % RequestLimits.pruningInterval == 0,
      let address = try store.address(connectionID: connection.id)
    else { return }
    try store.pruneAddress(address, keeping: RequestLimits.kept, rejected: RequestLimits.rejected)
  }

  /// On failure, returns a reason for the quarantine and leaves the ratchet unchanged.
  private func decrypt(_ sealed: ArraySlice<UInt8>, _ stored: inout StoredRatchet) -> OpenResult {
    do throws(CryptoError) {
      let padded = try stored.ratchet.decrypt(
        sealed, associatedData: stored.associatedData, randomness: context.randomness)
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

  // MARK: The inviting side

  private func receiveConfirmation(
    _ connection: StoredConnection, _ publicKeys: [UInt8], _ signingKey: SigningPublicKey,
    _ sealed: [UInt8], _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    if let reason = try connections.refusal(of: .peerConfirmed, connection) {
      return OpenedMessage(.quarantined("a confirmation of an invitation: \(reason.name)"))
    }
    guard let secret = connection.invitation.flatMap({ InvitationSecret(stored: $0.exposeForStorage()) }) else {
      return OpenedMessage(.quarantined("no invitation"))
    }
    var stored: StoredRatchet
    do throws(CryptoError) {
      let accepted = try KeyAgreement.accept(secret, joinerKeys: publicKeys)
      stored = StoredRatchet(ratchet: accepted.ratchet, associatedData: accepted.associatedData)
    } catch {
      return OpenedMessage(.quarantined(error.description))
    }
    guard case .success(.information(let profile, let reply?)) = decrypt(sealed[...], &stored) else {
      return OpenedMessage(.quarantined("the confirmation does not open"))
    }
    let user = try store.user(connection.userID)
    let now = context.clock.wall()
    let contactID = try store.insertContact(
      userID: user.id, displayName: Self.visibleName(of: profile) ?? Self.unknownName, fullName: profile.fullName,
      profile: profile.stored, at: now)
    let change = try connections.take(
      .confirmed(key: signingKey, profile: connection.profileToSend(user)), of: connection, ratchet: stored, store
    ).change
    try store.accept(
      connectionID: connection.id, contactID: contactID, peerSenderID: reply, peerPublicKey: change.securingKey)
    try store.save(change.ratchet ?? stored, connectionID: connection.id)
    return OpenedMessage(.connecting(contactID: contactID), changesConnection: true)
  }

  // MARK: Messages

  private func record(
    _ chatMessage: ChatMessage, _ message: SourceMessage, _ connection: StoredConnection,
    _ stored: inout StoredRatchet, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    switch chatMessage {
    case .information(let profile, _): return try recordInformation(profile, connection, &stored, store)
    case .content(let content): return try recordContent(content, message, connection, &stored, store)
    case .edit(let edit):
      return try recordChange(message, connection, store) { (changes) throws(StoreError) in try changes.edit(edit) }
    case .removal(let sharedID):
      return try recordChange(message, connection, store) { (changes) throws(StoreError) in
        try changes.remove(sharedID)
      }
    case .reaction(let reaction):
      return try recordChange(message, connection, store) { (changes) throws(StoreError) in
        try changes.react(reaction)
      }
    case .receipt(let sharedID):
      return try recordChange(message, connection, store) { (changes) throws(StoreError) in
        try changes.confirm(sharedID)
      }
    case .call(let signal): return try recordCall(signal, message, connection, store)
    case .left: return try recordLeft(connection, store)
    case .greeted: return try recordAnswer(connection, store)
    case .unknown: return silent(connection)
    }
  }

  private func recordLeft(
    _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    let isTold = try connections.take(.left, of: connection, store).change.hasLeft
    guard isTold, let contactID = connection.contactID else { return silent(connection) }
    return OpenedMessage(.left(contactID: contactID), changesConnection: true)
  }

  private func recordAnswer(
    _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    // Only the side that followed the invitation answers. From the other side, before its greeting, an answer would
    // make a connection ready that has no contact, and never gets one.
    guard try !connections.awaitsGreeting(connection) else { return silent(connection) }
    let isTold = try connections.take(.answered, of: connection, store).change.isConnected
    guard isTold, let contactID = connection.contactID else { return silent(connection) }
    return OpenedMessage(.connected(contactID: contactID), changesConnection: true)
  }

  private func silent(_ connection: StoredConnection) -> OpenedMessage {
    // Even so, a step may have changed the connection.
    OpenedMessage(.nothingToShow(contactID: connection.contactID), changesConnection: true)
  }

  private func recordContent(
    _ content: ChatMessage.Content, _ message: SourceMessage, _ connection: StoredConnection,
    _ stored: inout StoredRatchet, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    let opened = try recordChange(message, connection, store) { (changes) throws(StoreError) in
      try changes.insert(content)
    }
    let contactID: Int64
    switch opened.content {
    case .item(let item): contactID = item.contactID
    case .changed(_, let contact): contactID = contact
    default: return opened
    }
    guard try changes(message, connection, contactID, store).wantsReceipt(on: connection.id) else { return opened }
    try store.enqueue(
      .receipt(sharedID: content.sharedID), connectionID: connection.id, itemID: nil, with: &stored,
      attempt: context.randomness.bytes(24))
    return opened
  }

  /// A contact's message, or a change to an earlier one.
  private func recordChange(
    _ message: SourceMessage, _ connection: StoredConnection, _ store: Store,
    _ change: @escaping (ReceivedChanges) throws(StoreError) -> OpenedMessage.Content
  ) throws(StoreError) -> OpenedMessage {
    guard let contactID = try sender(on: connection, store) else {
      guard try connections.refusal(of: .messageArrived, connection) == nil else {
        return OpenedMessage(.quarantined("content on a connection that is \(connection.status)"))
      }
      return OpenedMessage(.quarantined("content before the contact was confirmed"))
    }
    let changes = changes(message, connection, contactID, store)
    var content: OpenedMessage.Content?
    let record = { () throws(StoreError) in content = try change(changes) }
    let step = try connections.take(.arrived(record), of: connection, store).step
    guard let content else {
      return OpenedMessage(.quarantined("content on a connection that is \(step.next.name)"))
    }
    return OpenedMessage(content, changesConnection: connection.contactID == nil)
  }

  private func changes(
    _ message: SourceMessage, _ connection: StoredConnection, _ contactID: Int64, _ store: Store
  ) -> ReceivedChanges {
    let (reading, now) = (connection.reading, context.clock.wall())
    return ReceivedChanges(
      store: store, contactID: contactID, userID: connection.userID,
      contact: reading?.contact?.id == contactID ? reading?.contact : nil, user: reading?.user,
      incognito: connection.incognito, relayedAt: message.timestamp, now: now, log: context.log
    ) { [disappearing] (item) throws(StoreError) in try disappearing.markDeleted(item, at: now, store) }
  }

  /// A message that overtakes the hello has no contact yet, and is not delivered again: the contact gets its name from
  /// the hello.
  private func sender(on connection: StoredConnection, _ store: Store) throws(StoreError) -> Int64? {
    if let known = connection.contactID { return known }
    guard try connections.awaitsGreeting(connection) else { return nil }
    let contactID = try store.insertContact(
      userID: connection.userID, displayName: Self.unknownName, fullName: "", at: context.clock.wall())
    try store.setContact(connectionID: connection.id, contactID: contactID)
    return contactID
  }

  /// Of a contact whose name is not known yet, or has nothing that may be shown.
  private static let unknownName = "contact"

  /// Nil if nothing of the name may be shown: a chat without a name cannot be told from others, nor named in a command.
  private static func visibleName(of profile: Profile) -> String? {
    let name = DisplayName.sanitized(profile.displayName)
    return name.isEmpty ? nil : name
  }

  private func recordCall(
    _ signal: CallSignal, _ message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    guard let contactID = connection.contactID else { return silent(connection) }
    var content = OpenedMessage.Content.nothingToShow(contactID: contactID)
    let record = { () throws(StoreError) in
      guard let call = try self.calls.receive(signal, of: message, connection, store) else { return }
      content = .call(call.itemID, contactID: contactID, rings: call.rings)
    }
    try connections.take(.arrived(record), of: connection, store)
    return OpenedMessage(content)
  }

  /// Records a contact's changed profile; or, on the joining side, who sent the invitation, if the machine accepts the
  /// greeting.
  private func recordInformation(
    _ profile: Profile, _ connection: StoredConnection, _ stored: inout StoredRatchet, _ store: Store
  ) throws(StoreError) -> OpenedMessage {
    let now = context.clock.wall()
    let name = Self.visibleName(of: profile)
    if let contactID = connection.contactID, try !connections.awaitsGreeting(connection) {
      let before = try store.contact(contactID)
      try store.setContactProfile(
        contactID, displayName: name ?? before.displayName, fullName: profile.fullName, profile: profile.stored, at: now
      )
      return OpenedMessage(.updated(before))
    }
    let (step, change) = try connections.take(.greeted, of: connection, ratchet: stored, store)
    switch step.answer {
    case .refused(let reason): return OpenedMessage(.quarantined("a greeting: \(reason.name)"))
    // For example from a peer that has left: there is no contact to become.
    case .ignored: return silent(connection)
    case .moved, .stayed: break
    }
    let contactID: Int64
    // The contact of an accepted request, or of a message that overtook the hello.
    if let known = connection.contactID {
      contactID = known
      let before = try store.contact(known).displayName
      let name = name ?? before
      try store.setContactProfile(
        known, displayName: name, fullName: profile.fullName, profile: profile.stored, at: now)
      if name != before { try store.nameContact(known, userID: connection.userID, displayName: name) }
    } else {
      contactID = try store.insertContact(
        userID: connection.userID, displayName: name ?? Self.unknownName, fullName: profile.fullName,
        profile: profile.stored, at: now)
      try store.setContact(connectionID: connection.id, contactID: contactID)
    }
    stored = change.ratchet ?? stored
    guard change.isConnected else {
      return OpenedMessage(.nothingToShow(contactID: contactID), changesConnection: true)
    }
    try requests.welcome(contactID: contactID, connectionID: connection.id, &stored, store)
    return OpenedMessage(.connected(contactID: contactID), changesConnection: true)
  }
}
