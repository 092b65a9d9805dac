import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Call signals received from contacts.
extension Calls {
  /// A call to enter into the ledger.
  struct Received {
    let itemID: Int64
    let rings: Bool
  }

  /// Records a contact's signal about a call; nil unless it is a new call. Part of the transaction that commits the
  /// message.
  func receive(
    _ signal: CallSignal, of message: SourceMessage, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Received? {
    guard let contactID = connection.contactID else { return nil }
    let current = try store.call(contactID: contactID)
    if case .invitation(let type, let key) = signal.content {
      guard current?.sharedID != signal.id, try mayCall(contactID, connection.userID, store).forContact else {
        return nil
      }
      return try receiveInvitation(signal.id, type, key, age(of: message), connection, replacing: current, store)
    }
    guard var call = current, call.sharedID == signal.id, !CallMachine.isFinal(call.state) else { return nil }
    if isOver(call) { call = try take(CallChange(.expired, store, connection, call, maySend: false)).call }
    let cause: CallChange.Cause
    switch signal.content {
    case .invitation: return nil
    case .offer(let offer, let key): cause = .peerOffered(offer, key: key)
    case .answer(let session): cause = .peerAnswered(session)
    case .extra(let candidates): cause = .peerAdded(candidates: candidates)
    case .end: cause = .peerEnded
    }
    try take(CallChange(cause, store, connection, call, maySend: false))
    return nil
  }

  private func receiveInvitation(
    _ id: [UInt8], _ type: CallType, _ key: BoxPublicKey?, _ age: Span, _ connection: StoredConnection,
    replacing current: StoredCall?, _ store: Store
  ) throws(StoreError) -> Received? {
    guard let contactID = connection.contactID else { return nil }
    let left = Durations.callInvitation - age
    let live = current.flatMap { CallMachine.isFinal($0.state) ? nil : $0 }
    if let live, left > .zero { try take(CallChange(.replaced, store, connection, live, maySend: false)) }
    let calledAt = WallTime(milliseconds: context.clock.wall().milliseconds &- age.milliseconds)
    var call = newCall(contactID, isIncoming: true, id, type, calledAt, left: left)
    if type.encrypts, let key {
      let secret = try newSecret()
      call.sharedKey = (try? secret.agree(with: key)).map { SecretBytes($0.exposeForStorage()) }
      call.secret = secret
    }
    var change = CallChange(.peerInvited(isLate: left <= .zero), store, connection, call, maySend: false)
    // An expired call replaces no other: it was missed, and the other one continues.
    change.isBesideAnother = live != nil && left <= .zero
    let entered = try take(change).call
    return entered.itemID.map { Received(itemID: $0, rings: left > .zero) }
  }

  /// Called when the contact has deleted the connection: it no longer calls or answers. Part of the caller's
  /// transaction.
  func contactHasLeft(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let contactID = connection.contactID else { return }
    let call: StoredCall?
    do throws(StoreError) { call = try store.call(contactID: contactID) } catch .damaged(let entity) {
      // The contact's leaving is recorded anyway.
      return context.log(
        .error, "a call could not be ended", ["contact": String(contactID), "damaged": entity.rawValue])
    }
    guard let call, !CallMachine.isFinal(call.state) else { return }
    try take(CallChange(isOver(call) ? .expired : .peerEnded, store, connection, call, maySend: false))
  }

  /// Called when the user deletes the contact with its whole conversation. Part of the caller's transaction, before the
  /// deletion.
  func contactIsDeleted(_ connection: StoredConnection, _ store: Store) throws(StoreError) {
    guard let contactID = connection.contactID else { return }
    try contactHasLeft(connection, store)
    try events.emitEnds(contactID: contactID, store)
  }

  /// Called when the user deletes the profile with its contacts. Part of the caller's transaction, before the deletion.
  func profileIsDeleted(_ userID: Int64, _ store: Store) throws(StoreError) {
    for call in try store.calls(in: CallMachine.State.allCases.filter { !CallMachine.isFinal($0) }) {
      do throws(StoreError) {
        guard let connection = try store.currentConnection(contactID: call.contactID), connection.userID == userID
        else {
          continue
        }
        try contactIsDeleted(connection, store)
      } catch .damaged(let entity) {
        // The profile is deleted anyway.
        context.log(.error, "a call ends unreported", ["call": String(call.id), "damaged": entity.rawValue])
      }
    }
  }

  /// The age of a message. The relay says how long it has held it, so a wrong wall clock on either side does not
  /// matter. Without that, as from a relay of an earlier version, the two clocks are compared; a message from the
  /// future then counts as sent now.
  private func age(of message: SourceMessage) -> Span {
    let age =
      message.arrival.map { context.clock.now() - $0 }
      ?? .milliseconds(context.clock.wall().milliseconds &- message.timestamp.milliseconds)
    return max(.zero, age)
  }

  func newCall(
    _ contactID: Int64, isIncoming: Bool, _ id: [UInt8], _ type: CallType, _ calledAt: WallTime, left: Span
  ) -> StoredCall {
    StoredCall(
      contactID: contactID, isIncoming: isIncoming, sharedID: id, uuid: Self.uuid(context.randomness),
      type: type.json.text, secret: nil, sharedKey: nil, calledAt: calledAt, boot: context.instance.boot,
      deadline: context.clock.now() + left)
  }

  func newSecret() throws(StoreError) -> BoxSecretKey {
    do throws(CryptoError) { return try BoxKeyPair.generate(randomness: context.randomness).secretKey } catch {
      throw .damaged(.call)
    }
  }

  /// A random UUID as in RFC 4122.
  private static func uuid(_ randomness: any Randomness) -> String {
    var bytes = randomness.bytes(16)
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = TextEncoding.hex(bytes)
    var (text, rest) = ("", digits[...])
    for count in [8, 4, 4, 4, 12] {
      text += (text.isEmpty ? "" : "-") + rest.prefix(count)
      rest = rest.dropFirst(count)
    }
    return text
  }

  /// Whether each side may call. Either side may have switched calls off, for example a bot.
  func mayCall(
    _ contactID: Int64, _ userID: Int64, _ store: Store
  ) throws(StoreError) -> (forUser: Bool, forContact: Bool) {
    let features = ContactFeatures(try store.user(userID), try store.contact(contactID))
    return (features.allow(.calls, .user), features.allow(.calls, .contact))
  }
}
