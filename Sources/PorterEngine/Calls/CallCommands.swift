import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// `/_call …`, and taps on a call's notification.
extension Calls {
  /// `/_call …`, except `get`.
  func act(_ command: CallCommand, contactID: Int64) throws(ChatError) -> StoredUser {
    try lifecycle.requireStarted()
    try check(command)
    let store = try lifecycle.requireStore()
    expireDue()
    let refusal = try lifecycle.mapStoreErrors { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> Refusal? in
        let contact = try store.visibleContact(contactID)
        guard let connection = try store.currentConnection(contactID: contactID) else { return .notReady }
        if case .invite(let type) = command { return try self.invite(type, contact, connection, store) }
        guard let call = try store.call(contactID: contactID), !CallMachine.isFinal(call.state) else { return .noCall }
        return try self.step(command, call, connection, store)
      }
    }
    let user = try lifecycle.mapStoreErrors { () throws(StoreError) in
      try store.user(try store.contact(contactID).userID)
    }
    if let refusal { throw try error(refusal, contactID, store) }
    sender.offerNew()
    armTimer()
    return user
  }

  /// Why a command changed nothing.
  private enum Refusal {
    case noCall, notAllowed, notReady
  }

  private func error(_ refusal: Refusal, _ contactID: Int64, _ store: Store) throws(ChatError) -> ChatError {
    switch refusal {
    case .noCall: return .error(.noCurrentCall)
    case .notAllowed: return .command("feature not allowed Audio/video calls")
    case .notReady:
      let contact = try lifecycle.mapStoreErrors { () throws(StoreError) in
        ContactRecord(try store.contact(contactID), connection: try store.currentConnection(contactID: contactID))
      }
      return Engine.notSendable(contact)
    }
  }

  /// The whole command goes into one message.
  private func check(_ command: CallCommand) throws(ChatError) {
    let bytes =
      switch command {
      case .offer(let offer): offer.session.json.utf8.count
      case .answer(let session): session.json.utf8.count
      case .extra(let candidates): JSONValue.string(candidates).utf8.count
      case .invite, .reject, .end, .status: 0
      }
    let limit = Envelope.largestContent - 512
    guard bytes <= limit else { throw .nightporter(.messageTooLarge(bytes: bytes, limit: limit)) }
  }

  private func invite(
    _ type: CallType, _ contact: StoredContact, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Refusal? {
    guard try mayCall(contact.id, contact.userID, store).forUser else { return .notAllowed }
    var isTaken = false
    let record = { () throws(StoreError) in
      if let current = try store.call(contactID: contact.id), !CallMachine.isFinal(current.state) {
        try self.take(CallChange(.replaced, store, connection, current, maySend: true))
      }
      var call = self.newCall(
        contact.id, isIncoming: false, self.context.randomness.bytes(16), type, self.context.clock.wall(),
        left: Durations.callInvitation)
      if type.encrypts { call.secret = try self.newSecret() }
      try self.take(CallChange(.invited(type), store, connection, call, maySend: true))
      isTaken = true
    }
    try connections.take(.given(record), of: connection, store)
    return isTaken ? nil : .notReady
  }

  private func step(
    _ command: CallCommand, _ call: StoredCall, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Refusal? {
    let (cause, needsContact): (CallChange.Cause, Bool) =
      switch command {
      // Handled before.
      case .invite(let type): (.invited(type), true)
      case .reject: (.rejected, false)
      case .offer(let offer): (.offered(offer), true)
      case .answer(let session): (.answered(session), true)
      case .extra(let candidates): (.added(candidates: candidates), true)
      case .end: (.ended, false)
      case .status(let status): (.status(status), false)
      }
    var answer: MachineAnswer<CallMachine.Reason>?
    let record = { () throws(StoreError) in
      answer = try self.take(CallChange(cause, store, connection, call, maySend: true)).answer
    }
    try connections.take(.given(record), of: connection, store)
    if answer == nil {
      // A contact that has left can no longer be called; our side of the call ends anyway.
      guard !needsContact else { return .notReady }
      answer = try take(CallChange(cause, store, connection, call, maySend: false)).answer
    }
    if case .refused = answer { return .noCall }
    return nil
  }

  /// Carries out the user's answer to this item's call from its notification. Part of the caller's transaction. False
  /// if the call no longer rings; a call that expired after the user rejected it counts as rejected already.
  func respond(
    accepts: Bool, itemID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    guard let call = try store.call(itemID: itemID), call.contactID == connection.contactID else { return false }
    if call.state == .rejected, !accepts { return true }
    // An expired call has been ended before this, as rejected or as missed.
    guard call.state == .ringing, !accepts || !isOver(call) else { return false }
    try take(CallChange(accepts ? .accepted : .rejected, store, connection, call, maySend: false))
    return true
  }

  /// Calls waiting for our user, except those of a hidden profile that is not active, whose event waits as well, and
  /// those that the user has rejected from a notification.
  func invitations() throws(ChatError) -> [CallInvitation] {
    let store = try lifecycle.requireStore()
    return try lifecycle.mapStoreErrors { () throws(StoreError) in
      var invitations: [CallInvitation] = []
      for call in try store.calls(in: [.ringing, .accepted]) where !isOver(call) {
        do throws(StoreError) {
          guard try !store.user(try store.contact(call.contactID).userID).isOutOfSight else { continue }
          if let connection = try store.currentConnection(contactID: call.contactID),
            try isRejected(call, connection, store)
          {
            continue
          }
          invitations.append(try CallInvitation(call, store))
        } catch .damaged(let entity) {
          // The other calls can still be answered.
          context.log(.error, "a call cannot be read", ["call": String(call.id), "damaged": entity.rawValue])
        }
      }
      return invitations
    }
  }
}
