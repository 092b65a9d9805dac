import PorterCrypto
import PorterJSON
import PorterMachines
import PorterPlatform
import PorterSchema
import PorterStore

/// Calls with contacts: signalling, and nothing of the media. Owns the calls in the store, each with its machine `call`.
/// Threads: the engine's.
final class Calls {
  typealias CallMachine = PorterMachines.Call

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let connections: Connections
  private let sender: Sender
  private let turns: any Turns
  private let recorder: CallRecorder
  private lazy var driver = RecordedMachineDriver<CallMachine, CallReport>(context.machines) {
    [unowned self] in CallMachine.perform($0, by: self, $1)
  }

  /// Events that this process has emitted, and those of them that the host has taken while the store was closed.
  private var emitted: Set<Int64> = []
  private var taken: Set<Int64> = []
  private let takenEvents: TakenEvents

  init(
    _ context: EngineContext, lifecycle: Lifecycle, connections: Connections, sender: Sender, turns: any Turns,
    takenEvents: TakenEvents
  ) {
    self.context = context
    self.lifecycle = lifecycle
    self.connections = connections
    self.sender = sender
    self.turns = turns
    self.takenEvents = takenEvents
    recorder = CallRecorder(context: context)
  }

  /// In which an invitation can run out of time.
  private static let pending: [CallMachine.State] = [.invited, .ringing, .accepted]

  private func isOver(_ call: StoredCall) -> Bool {
    Self.pending.contains(call.state) && call.isOver(boot: context.instance.boot, now: context.clock.now())
  }

  // MARK: Steps

  /// Takes the step. Part of the caller's transaction.
  @discardableResult
  private func take(_ change: CallChange) throws(StoreError) -> (
    call: StoredCall, answer: MachineAnswer<CallMachine.Reason>
  ) {
    guard let event = change.cause.event else { return (change.call, .stayed) }
    var changed = change
    let taken = try driver.take(event, of: String(change.call.contactID), in: change.call.state, change.report) {
      (step, report) throws(StoreError) in
      guard step.answer == .moved || step.answer == .stayed else { return }
      changed.call.state = step.next
      if changed.call.id == 0 { changed.call.id = try changed.store.insertCall(changed.call) }
      try CallMachine.record(step, by: recorder, &changed)
      try changed.store.update(changed.call)
      report = changed.report
    }
    change.store.afterCommit { [weak self] in self?.driver.post(taken) }
    return (changed.call, taken.step.answer)
  }

  // MARK: What contacts send

  /// A call to be entered into the ledger.
  struct Received {
    let itemID: Int64
    let calledAt: WallTime
    let rings: Bool
  }

  /// Records what the contact says about a call; nil unless it is a new one. Part of the transaction that commits the
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
    if let current, !CallMachine.isFinal(current.state) {
      try take(CallChange(.replaced, store, connection, current, maySend: false))
    }
    let calledAt = WallTime(milliseconds: context.clock.wall().milliseconds &- age.milliseconds)
    let left = Durations.callInvitation - age
    var call = newCall(contactID, isIncoming: true, id, type, calledAt, left: left)
    if type.encrypts, let key {
      let secret = try newSecret()
      call.sharedKey = (try? secret.agree(with: key)).map { SecretBytes($0.exposeForStorage()) }
      call.secret = secret
    }
    let change = CallChange(.peerInvited(isLate: left <= .zero), store, connection, call, maySend: false)
    let entered = try take(change).call
    return entered.itemID.map { Received(itemID: $0, calledAt: calledAt, rings: left > .zero) }
  }

  /// For how long a message has existed. The relay says for how long it has had it, so that it does not matter whose wall
  /// clock is wrong. Without that word, as from a relay of an earlier version, the two clocks are compared; a message from
  /// the future is then of now.
  private func age(of message: SourceMessage) -> Span {
    let age =
      message.arrival.map { context.clock.now() - $0 }
      ?? .milliseconds(context.clock.wall().milliseconds &- message.timestamp.milliseconds)
    return max(.zero, age)
  }

  private func newCall(
    _ contactID: Int64, isIncoming: Bool, _ id: [UInt8], _ type: CallType, _ calledAt: WallTime, left: Span
  ) -> StoredCall {
    StoredCall(
      contactID: contactID, isIncoming: isIncoming, sharedID: id, uuid: Self.uuid(context.randomness),
      type: type.json.text, secret: nil, sharedKey: nil, calledAt: calledAt, boot: context.instance.boot,
      deadline: context.clock.now() + left)
  }

  private func newSecret() throws(StoreError) -> BoxSecretKey {
    do throws(CryptoError) { return try BoxKeyPair.generate(randomness: context.randomness).secretKey } catch {
      throw .damaged(.call)
    }
  }

  /// Random, as RFC 4122 has it.
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

  /// Either side may have switched calls off, such as a bot.
  private func mayCall(
    _ contactID: Int64, _ userID: Int64, _ store: Store
  ) throws(StoreError) -> (forUser: Bool, forContact: Bool) {
    let features = ContactFeatures(try store.user(userID), try store.contact(contactID))
    return (features.allow(.calls, .user), features.allow(.calls, .contact))
  }

  // MARK: What our user does

  /// `/_call …`, beside `get`.
  func act(_ command: CallCommand, contactID: Int64) throws(ChatError) -> StoredUser {
    try lifecycle.requireStarted()
    try check(command)
    let store = try lifecycle.requireStore()
    expireDue()
    let refusal = try lifecycle.mapStoreErrors { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> Refusal? in
        let contact = try store.visibleContact(contactID)
        let connection = try store.connection(contactID: contactID)
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
        ContactRecord(try store.contact(contactID), connection: try store.connection(contactID: contactID))
      }
      return .error(contact.status == .active ? .contactNotReady(contact) : .contactNotActive(contact))
    }
  }

  /// All of it goes into one message.
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
      // A contact that has left cannot be called any more; our side of the call ends anyway.
      guard !needsContact else { return .notReady }
      answer = try take(CallChange(cause, store, connection, call, maySend: false)).answer
    }
    if case .refused = answer { return .noCall }
    return nil
  }

  /// The user has answered the call of this item from its notification. Part of the caller's transaction. False when it
  /// rings no more.
  func respond(
    accepts: Bool, itemID: Int64, _ connection: StoredConnection, _ store: Store
  ) throws(StoreError) -> Bool {
    guard let call = try store.call(itemID: itemID), call.contactID == connection.contactID,
      call.state == .ringing, !isOver(call)
    else { return false }
    try take(CallChange(accepts ? .accepted : .rejected, store, connection, call, maySend: false))
    return true
  }

  /// Calls that wait for our user, but for those of a hidden profile that is not active.
  func invitations() throws(ChatError) -> [CallInvitation] {
    let store = try lifecycle.requireStore()
    return try lifecycle.mapStoreErrors { () throws(StoreError) in
      var invitations: [CallInvitation] = []
      for call in try store.calls(in: [.ringing, .accepted]) where !isOver(call) {
        guard try !store.user(try store.contact(call.contactID).userID).isOutOfSight else { continue }
        invitations.append(try invitation(call, store))
      }
      return invitations
    }
  }

  private func invitation(_ call: StoredCall, _ store: Store) throws(StoreError) -> CallInvitation {
    guard let type = (try? JSONValue(parsing: call.type)).flatMap({ CallType(json: $0) }) else {
      throw .damaged(.call)
    }
    let contact = try store.contact(call.contactID)
    return CallInvitation(
      user: UserRecord(try store.user(contact.userID)),
      contact: ContactRecord(contact, connection: try store.connection(contactID: contact.id)), type: type,
      sharedKey: call.sharedKey.map { TextEncoding.base64URL($0.exposeForStorage()) }, uuid: call.uuid,
      calledAt: call.calledAt)
  }

  /// The call of an item, if it still rings.
  func ringing(itemID: Int64, _ store: Store) throws(StoreError) -> CallType? {
    guard let call = try store.call(itemID: itemID), call.state == .ringing, !isOver(call) else { return nil }
    return (try? JSONValue(parsing: call.type)).flatMap { CallType(json: $0) }
  }

  // MARK: Time

  /// Ends what has run out of time, reports what the host has not heard of, and watches the clock for the rest.
  func takeUpWork() {
    expireDue()
    forgetTakenEvents()
    emitWaitingEvents()
    armTimer()
  }

  /// An invitation that has ended does not ring, and is not sent.
  func expireDue() {
    guard let store = context.store, lifecycle.operations.admits(.database) else { return }
    do throws(StoreError) {
      guard try store.calls(in: Self.pending).contains(where: isOver) else { return }
      try store.transaction { () throws(StoreError) in
        for call in try store.calls(in: Self.pending) where self.isOver(call) {
          let connection = try store.connection(contactID: call.contactID)
          try self.take(CallChange(.expired, store, connection, call, maySend: false))
        }
      }
    } catch {
      context.log(.warning, "calls that are over could not be ended", ["error": error.description])
      context.retries.later(TimerName.calls) { [weak self] in self?.takeUpWork() }
    }
  }

  private func armTimer() {
    guard context.role == .app, lifecycle.isActive, let store = context.store,
      let calls = try? store.calls(in: Self.pending), let next = calls.map(\.deadline).min()
    else { return }
    context.timers.set(TimerName.calls, after: max(.zero, next - context.clock.now())) { [weak self] in
      self?.takeUpWork()
    }
  }
}

// MARK: - Events

extension Calls: CallEffects {
  func emitEvents(_ report: CallReport) {
    emitWaitingEvents()
    armTimer()
    guard context.role == .app, let store = context.store else { return }
    do throws(StoreError) {
      let contact = try store.contact(report.contactID)
      let user = UserRecord(try store.user(contact.userID))
      let info = ChatInfo.direct(ContactRecord(contact, connection: try store.connection(contactID: contact.id)))
      if let id = report.newItem {
        context.emit(.newChatItems(user, [ChatItemInChat(info: info, item: ChatItemRecord(try store.item(id)))]))
      } else if let id = report.changedItem {
        context.emit(.chatItemUpdated(user, ChatItemInChat(info: info, item: ChatItemRecord(try store.item(id)))))
      }
    } catch {
      context.log(.info, "a call's item was not reported", ["error": error.description])
    }
  }

  /// Only an app's host takes part in calls.
  private func emitWaitingEvents() {
    guard context.role == .app, let store = context.store else { return }
    do throws(StoreError) {
      for waiting in try store.callEvents() where !emitted.contains(waiting.id) {
        emitted.insert(waiting.id)
        guard let event = try event(waiting, store) else { continue }
        let id = waiting.id
        context.events.post(event) { [turns] in turns.enqueue { $0.calls.noteTaken(id) } }
      }
    } catch {
      context.log(.warning, "an event about a call is emitted later", ["error": error.description])
      context.retries.later(TimerName.calls) { [weak self] in self?.takeUpWork() }
    }
  }

  private func event(_ waiting: StoredCallEvent, _ store: Store) throws(StoreError) -> Event? {
    let contact = try store.contact(waiting.contactID)
    let user = UserRecord(try store.user(contact.userID))
    let record = ContactRecord(contact, connection: try store.connection(contactID: contact.id))
    guard let kind = CallEventKind(rawValue: waiting.kind), let content = try? JSONValue(parsing: waiting.content)
    else {
      return nil
    }
    switch kind {
    case .ended: return .callEnded(user, record)
    case .answer: return MediaSession(json: content).map { .callAnswer(user, record, $0) }
    case .extra: return content["rtcIceCandidates"]?.stringValue.map { .callExtraInfo(user, record, candidates: $0) }
    case .invitation:
      guard let call = try store.call(contactID: contact.id), call.state == .ringing else { return nil }
      return .callInvitation(try invitation(call, store))
    case .offer:
      guard let call = try store.call(contactID: contact.id), let offer = CallOffer(json: content) else { return nil }
      let own = (try? JSONValue(parsing: call.type)).flatMap { CallType(json: $0) }
      return .callOffer(
        user, record, offer, sharedKey: call.sharedKey.map { TextEncoding.base64URL($0.exposeForStorage()) },
        asksConfirmation: own?.encrypts == true && !offer.type.encrypts)
    }
  }

  /// The host has the event: it does not come again after a restart.
  func noteTaken(_ id: Int64) {
    taken.insert(id)
    forgetTakenEvents()
    if !taken.isEmpty { takenEvents.keep(taken, .calls) }
  }

  private func forgetTakenEvents() {
    taken.formUnion(takenEvents.kept(.calls))
    guard !taken.isEmpty, lifecycle.operations.admits(.database), let store = context.store else { return }
    do throws(StoreError) {
      // First: a number that is free again is never taken for one of these.
      takenEvents.forget(.calls)
      try store.forgetCallEvents(Array(taken))
      emitted.subtract(taken)
      taken.removeAll()
    } catch {
      takenEvents.keep(taken, .calls)
      context.log(.info, "events about calls may come again", ["error": error.description])
    }
  }
}
