import PorterJSON
import PorterMachines
import PorterPlatform
import PorterRelay
import PorterSchema
import PorterStore

/// The outcome of a request that the user accepted.
enum RequestAcceptance {
  case accepted(StoredContact)
  /// The acceptance is final, and the contact is created when the relay is reachable; this is why it cannot be created
  /// now. `isTemporary`: retried automatically, soon; otherwise when the app starts, or when the request is accepted
  /// again.
  case pending(ChatError, isTemporary: Bool)
  /// There is nothing left to accept: the request was rejected or withdrawn, or never existed.
  case stale(ChatError)
}

/// Requests to become a contact, received through addresses: takes them in with the message that brings them, and
/// carries out the user's decisions. Owns the machine `contact_request`, whose state is stored. Threads: the engine's.
final class ContactRequests {
  typealias RequestMachine = PorterMachines.ContactRequest
  typealias Completion = (RequestAcceptance) -> Void

  private let context: EngineContext
  private let lifecycle: Lifecycle
  private let joiner: Joiner
  private let connections: Connections
  private let changes: CommittedChanges
  private let recorder: ContactRequestRecorder
  private lazy var driver = RecordedMachineDriver<RequestMachine, Int64?>(context.machines) {
    [unowned self] in RequestMachine.perform($0, by: self, $1)
  }

  /// Requests for whose mailbox the relay is being asked.
  private var underWay = UnderWay<Int64>()
  /// The first of the accepted requests to be joined once others have ended; nil when there are none.
  private var left: Int64?
  /// Callers waiting for a contact, by request.
  private var waiting = [Int64: [Waiter]]()

  /// On whose behalf a request is accepted.
  enum Asker {
    /// Its answer reports the contact to the host.
    case command
    /// A response to the request's notification.
    case response
  }

  private struct Waiter {
    let asker: Asker
    let complete: Completion
  }

  init(
    _ context: EngineContext, lifecycle: Lifecycle, joiner: Joiner, connections: Connections, changes: CommittedChanges
  ) {
    self.context = context
    self.changes = changes
    self.lifecycle = lifecycle
    self.joiner = joiner
    self.connections = connections
    recorder = ContactRequestRecorder(context: context, connections: connections)
  }

  /// The relay was closed: what is in progress belongs to it.
  func relayHasClosed() { underWay.giveUp() }

  // MARK: Steps

  /// Takes the step: stores the state and what the step records. Its other effects follow the commit. Part of the
  /// caller's transaction.
  private func take(
    _ change: ContactRequestChange
  ) throws(StoreError) -> (step: MachineStep<RequestMachine>, change: ContactRequestChange) {
    let state = try change.request.map { (request) throws(StoreError) in try Self.state(of: request) } ?? .none
    var changed = change
    let subject = change.requestID.map { String($0) } ?? "-"
    let taken = try driver.take(change.event, of: subject, in: state, change.requestID) {
      (step, id) throws(StoreError) in
      if let known = change.requestID, step.next != state {
        try change.store.setContactRequest(known, state: step.next.name, at: self.context.clock.wall())
      }
      try RequestMachine.record(step, by: self.recorder, &changed)
      id = changed.requestID
    }
    change.store.afterCommit { [weak self] in self?.driver.post(taken) }
    return (taken.step, changed)
  }

  private static func state(of request: StoredContactRequest) throws(StoreError) -> RequestMachine.State {
    guard let state = RequestMachine.State(name: request.state) else { throw .damaged(.request) }
    return state
  }

  // MARK: Receiving

  /// Records the content of a message left at the address. Part of the transaction that commits the message.
  func receive(
    _ message: RequestMessage, _ address: StoredAddress, _ store: Store
  ) throws(StoreError) -> OpenedMessage.Content {
    switch message {
    case .withdrawn(let person):
      guard let request = try store.contactRequest(addressID: address.id, person: person) else {
        return .nothingToShow(contactID: nil)
      }
      guard case .moved = try take(ContactRequestChange(.withdraw, request, store)).step.answer else {
        return .nothingToShow(contactID: nil)
      }
      return .requestWithdrawn(request.id)
    case .contact(let profile, let person, let invitation):
      // Reduced to a name that could have been typed here.
      let name = DisplayName.sanitized(profile.displayName)
      guard !name.isEmpty else { return .quarantined("a contact request without a name") }
      let new = NewContactRequest(
        person: person, displayName: name, fullName: profile.fullName, profile: profile.stored,
        mailbox: invitation.senderID, invitation: invitation.text)
      let (_, change) = try take(try arrival(of: new, address, store))
      guard change.isShown, let id = change.requestID else { return .nothingToShow(contactID: nil) }
      return .request(id)
    }
  }

  private func arrival(
    of new: NewContactRequest, _ address: StoredAddress, _ store: Store
  ) throws(StoreError) -> ContactRequestChange {
    if let known = try store.contactRequest(addressID: address.id, person: new.person) {
      let isTooOften = known.repeats >= RequestLimits.repeats
      return ContactRequestChange(isTooOften ? .repeatTooMany : .repeatAgain, known, store, new: new)
    }
    let settings = AddressSettings(stored: address.settings)
    let (state, most): (RequestMachine.State, Int64) =
      settings?.acceptsIncognito == nil ? (.received, RequestLimits.waiting) : (.accepting, RequestLimits.accepting)
    guard try store.countContactRequests(addressID: address.id, in: state.name) < most else {
      context.log(.warning, "a contact request was dropped, since too many wait", ["address": String(address.id)])
      return ContactRequestChange(.arriveTooMany, new: new, to: address, store)
    }
    guard let acceptsIncognito = settings?.acceptsIncognito else {
      return ContactRequestChange(.arriveUndecided, new: new, to: address, store)
    }
    var new = new
    if acceptsIncognito { new.incognito = IncognitoProfile.make(context.randomness).json.text }
    return ContactRequestChange(.arriveAutomatic, new: new, to: address, store)
  }

  /// Queues the first message to a contact whose request was accepted, if the address has one. The ledger gets an entry
  /// for it, which notifies the app's host whichever process sent it. Part of the transaction in which the contact is
  /// connected.
  func welcome(
    contactID: Int64, connectionID: Int64, _ ratchet: inout StoredRatchet, _ store: Store
  ) throws(StoreError) {
    guard let request = try store.contactRequest(contactID: contactID),
      let reply = try store.address(request.addressID).flatMap({ AddressSettings(stored: $0.settings) })?.reply
    else { return }
    let (now, sharedID) = (context.clock.wall(), context.randomness.bytes(12))
    let itemID = try store.insertSentItem(
      contactID: contactID, content: reply.json.text, sharedID: sharedID, itemAt: now, at: now,
      moment: context.sinceBoot)
    try store.enqueue(
      .content(.init(content: reply, sharedID: sharedID, sentAt: now, quote: nil)), connectionID: connectionID,
      itemID: itemID, with: &ratchet, attempt: context.randomness.bytes(24))
    try changes.enter(
      .changed, connectionID: connectionID, contactID: contactID, store, .sent(itemID: itemID))
    // An app's host is notified through the ledger entry.
    guard context.role != .app else { return }
    store.afterCommit { [context] in
      guard let store = context.store else { return }
      do throws(StoreError) {
        let contact = try store.contact(contactID)
        let record = ContactRecord(contact, connection: try store.connection(contactID: contactID))
        let item = ChatItemRecord(try store.item(itemID))
        context.emit(
          .newChatItems(
            UserRecord(try store.user(contact.userID)), [ChatItemInChat(info: .direct(record), item: item)]))
      } catch {
        context.log(.warning, "a sent message could not be reported", ["error": error.description])
      }
    }
  }

  // MARK: Deciding

  /// Accepts the request; `then` is called once, with the outcome. Accepting it again is no error: the answer is the
  /// same as the first time. As long as there is no contact it may still become incognito, and stays so; afterwards
  /// that is refused.
  func accept(_ id: Int64, incognito: Bool, for asker: Asker, then: @escaping Completion) throws(ChatError) {
    let store = try lifecycle.requireStore()
    // Before the commit, which may immediately be followed by everything the step causes.
    waiting[id, default: []].append(Waiter(asker: asker, complete: then))
    let step: MachineStep<RequestMachine>
    do throws(ChatError) {
      step = try stored(id) { () throws(StoreError) in
        try store.transaction { () throws(StoreError) in
          let request = try store.visibleContactRequest(id)
          let taken = try self.take(ContactRequestChange(.accept, request, store))
          if incognito, request.incognito == nil, taken.step.next == .accepting {
            try store.setContactRequest(id, incognito: IncognitoProfile.make(self.context.randomness).json.text)
          }
          return taken.step
        }
      }
    } catch {
      _ = waiting[id]?.popLast()
      throw error
    }
    switch step.answer {
    case .moved, .stayed: return
    case .ignored, .refused:
      // A contact that the user has since deleted cannot be accepted again.
      let request = try stored(id) { () throws(StoreError) in try store.contactRequest(id) }
      guard step.next == .accepted, let contactID = request.contactID else {
        return settle(id, .stale(.store(.contactRequestNotFound(id))))
      }
      // Too late to hide it.
      if incognito, request.incognito == nil { return settle(id, .stale(.nightporter(.profileShown))) }
      settle(id, .accepted(try stored(id) { () throws(StoreError) in try store.contact(contactID) }))
    }
  }

  /// The person gets no message about this.
  func reject(_ id: Int64) throws(ChatError) -> StoredContactRequest {
    let store = try lifecycle.requireStore()
    let rejected = try stored(id) { () throws(StoreError) in
      try store.transaction { () throws(StoreError) -> StoredContactRequest? in
        let request = try store.visibleContactRequest(id)
        guard case .moved = try self.take(ContactRequestChange(.reject, request, store)).step.answer else { return nil }
        return request
      }
    }
    guard let rejected else { throw .store(.contactRequestNotFound(id)) }
    return rejected
  }

  func isRejected(_ id: Int64) throws(ChatError) -> Bool {
    let store = try lifecycle.requireStore()
    return try stored(id) { () throws(StoreError) in
      try store.contactRequest(id).state == RequestMachine.State.rejected.name
    }
  }

  /// The user deletes the address: nothing that came through it can be accepted any longer. Part of the caller's
  /// transaction.
  func withdrawAll(of address: StoredAddress, _ store: Store) throws(StoreError) {
    for request in try store.contactRequests(addressID: address.id) {
      do throws(StoreError) {
        let state = try Self.state(of: request)
        // Contacts stay.
        if state == .received || state == .accepting { _ = try take(ContactRequestChange(.withdraw, request, store)) }
      } catch .damaged(let entity) {
        // Deleted with the address.
        context.log(
          .error, "a request is deleted without being withdrawn",
          ["request": String(request.id), "damaged": entity.rawValue])
      }
    }
  }

  /// The relay does not know the mailbox of the contact about to be connected. Part of the transaction that ends the
  /// connection.
  func noteMailboxGone(contactID: Int64, _ store: Store) throws(StoreError) {
    guard let request = try store.contactRequest(contactID: contactID) else { return }
    _ = try take(ContactRequestChange(.mailboxGone, request, store))
  }

  private func stored<Value>(
    _ id: Int64, _ work: () throws(StoreError) -> Value
  ) throws(ChatError) -> Value {
    do throws(StoreError) { return try work() } catch {
      throw error == .notFound(.request) ? .store(.contactRequestNotFound(id)) : ChatError(error)
    }
  }

  // MARK: Joining

  /// Continues with accepted requests that have no contact yet: accepted by an extension, by a process that has ended,
  /// or without a relay.
  func takeUpWork() {
    left = 0
    joinLeft()
  }

  /// A limited number at a time: thousands may have arrived while the app did not run.
  private func joinLeft() {
    guard let first = left, underWay.count <= RequestLimits.joining / 2 else { return }
    let room = RequestLimits.joining - underWay.count
    guard lifecycle.maySend, context.role == .app,
      let accepted = context.retries.read(
        orLater: TimerName.requests, { [weak self] in self?.takeUpWork() },
        { (store) throws(StoreError) in
          try store.contactRequests(in: RequestMachine.State.accepting.name, from: first, atMost: room)
        })
    else { return left = nil }
    left = accepted.count < room ? nil : accepted.last.map { $0.id + 1 }
    for request in accepted { join(request) }
    // Requests that cannot be joined have left room; the next ones start in their own turn.
    if left != nil { context.later { [weak self] in self?.joinLeft() } }
  }

  private func join(_ request: StoredContactRequest) {
    guard !underWay.contains(request.id) else { return }
    do throws(ChatError) {
      guard let link = request.invitation.flatMap({ try? InvitationLink(parsing: $0) }),
        let joining = try joiner.reserve(
          link, userID: request.userID, incognito: request.incognito)
      else { return endUnusable(request.id) }
      let ticket = underWay.begin(request.id)
      let recording = Joiner.ContactRecording(
        contact: { [unowned self] (store) throws(StoreError) in try recordContact(request.id, store) },
        incognito: { (store) throws(StoreError) in try store.contactRequest(request.id).incognito },
        connection: { [unowned self] (id, contactID, store) throws(StoreError) in
          // The host is notified by the answer to its command, if it gave one.
          guard !(waiting[request.id] ?? []).contains(where: { $0.asker == .command }) else { return }
          try changes.enter(.accepting, connectionID: id, contactID: contactID, store)
        })
      joiner.join(joining, recording) { [weak self] outcome in
        self?.underWay.end(ticket)
        self?.joined(request.id, outcome)
        self?.joinLeft()
      }
    } catch {
      // A damaged record will not improve later, and keeps no other request from being joined (INC-44).
      let isTemporary = error != .nightporter(.storeDamaged)
      settle(request.id, .pending(error, isTemporary: isTemporary))
      if isTemporary { retryLater() }
    }
  }

  /// Ends a request whose invitation was used elsewhere or cannot be used.
  private func endUnusable(_ id: Int64) {
    do throws(StoreError) {
      try context.store?.transaction { () throws(StoreError) in
        guard let store = self.context.store else { return }
        let request = try store.contactRequest(id)
        // Its contact may have been created in the meantime, and stays.
        guard try Self.state(of: request) == .accepting else { return }
        _ = try self.take(ContactRequestChange(.mailboxGone, request, store))
      }
    } catch {
      context.log(.warning, "a request that cannot be accepted stays", ["error": error.description])
    }
    settle(id, .stale(.store(.contactRequestNotFound(id))))
  }

  /// Creates the contact of a request that still waits for it. Part of the transaction that records its connection.
  private func recordContact(_ id: Int64, _ store: Store) throws(StoreError) -> Int64 {
    let (step, change) = try take(ContactRequestChange(.joined, try store.contactRequest(id), store))
    // Withdrawn in the meantime: the connection is not made.
    guard case .moved = step.answer, let contactID = change.contactID else { throw .notFound(.request) }
    return contactID
  }

  private func joined(_ id: Int64, _ outcome: Joiner.Outcome) {
    switch outcome {
    case .joined(_, let connection):
      context.retries.reset(TimerName.requests)
      do throws(StoreError) {
        guard let store = context.store, let contactID = connection.contactID else { throw .notFound(.contact) }
        settle(id, .accepted(try store.contact(contactID)))
      } catch {
        settle(id, .pending(ChatError(error), isTemporary: true))
      }
    case .refused: settle(id, .stale(.store(.contactRequestNotFound(id))))
    case .failed(let error, let isTemporary):
      if error == ChatError(.notFound(.request)) {
        return settle(id, .stale(.store(.contactRequestNotFound(id))))
      }
      settle(id, .pending(error, isTemporary: isTemporary))
      if isTemporary { retryLater() }
    }
  }

  /// Whatever is left is retried then, too.
  private func retryLater() {
    left = nil
    context.retries.retry(TimerName.requests) { [weak self] in self?.takeUpWork() }
  }

  /// Answers the waiting callers.
  private func settle(_ id: Int64, _ result: RequestAcceptance) {
    let waiters = waiting.removeValue(forKey: id) ?? []
    for waiter in waiters { waiter.complete(result) }
  }
}

extension ContactRequests: ContactRequestEffects {
  /// An extension shows a request, and leaves accepting it to the app.
  func joinInvitation(_ id: Int64?) {
    guard let id else { return }
    guard context.role == .app, lifecycle.maySend, let store = context.store else {
      return settle(
        id,
        .pending(
          lifecycle.isInBackground ? .nightporter(.networkStopped) : ChatError(.closed, relay: ""), isTemporary: true))
    }
    // A command does not wait for what the address accepts automatically.
    if underWay.count >= RequestLimits.joining, waiting[id] == nil { return left = min(left ?? id, id) }
    do throws(StoreError) { join(try store.contactRequest(id)) } catch {
      settle(id, .pending(ChatError(error), isTemporary: true))
    }
  }
}
