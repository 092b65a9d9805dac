import PorterMachines
import PorterPlatform
import PorterStore

/// One event of the machine `contact_request`, with what its step needs and what it found out. Lives as long as the
/// transaction containing the step.
struct ContactRequestChange {
  typealias Event = PorterMachines.ContactRequest.Event

  let event: Event
  let store: Store
  let address: StoredAddress?
  /// The content of the message that caused the event.
  let new: NewContactRequest?
  /// Nil until the request is stored.
  private(set) var requestID: Int64?
  /// As it was before the step.
  let request: StoredContactRequest?
  /// Whether the request is shown to the user.
  private(set) var isShown = false
  private(set) var contactID: Int64?

  init(_ event: Event, _ request: StoredContactRequest, _ store: Store, new: NewContactRequest? = nil) {
    (self.event, self.store, self.new, self.request) = (event, store, new, request)
    (requestID, contactID, address) = (request.id, request.contactID, nil)
  }

  /// For a person not yet known.
  init(_ event: Event, new: NewContactRequest?, to address: StoredAddress, _ store: Store) {
    (self.event, self.store, self.new, self.address, request) = (event, store, new, address, nil)
  }

  mutating func noteStored(_ id: Int64) { requestID = id }
  mutating func noteShown() { isShown = true }
  mutating func noteContact(_ id: Int64) { contactID = id }
}

/// Writes what the steps of `contact_request` record.
struct ContactRequestRecorder: ContactRequestRecord {
  typealias State = PorterMachines.ContactRequest.State

  let context: EngineContext
  let connections: Connections

  func storeRequest(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let new = change.new, let address = change.address else { return misplaced("storeRequest", change) }
    change.noteStored(
      try change.store.insertContactRequest(
        new, userID: address.userID, addressID: address.id, state: next.name, at: context.clock.wall()))
  }

  func refreshRequest(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let new = change.new, let id = change.requestID else { return misplaced("refreshRequest", change) }
    try change.store.refreshContactRequest(id, new, at: context.clock.wall())
  }

  func notifyUser(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) { change.noteShown() }

  func clearNotification(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let id = change.requestID else { return misplaced("clearNotification", change) }
    for entry in try change.store.ledgerEntries(requestID: id) { try change.store.raise(.read, entry) }
  }

  func createContact(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let request = change.request else { return misplaced("createContact", change) }
    let contactID = try change.store.insertContact(
      userID: request.userID, displayName: request.displayName, fullName: request.fullName, profile: request.profile,
      at: context.clock.wall())
    try change.store.setContactRequest(request.id, contactID: contactID)
    change.noteContact(contactID)
  }

  func endContact(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    // Nil if the user has deleted the contact.
    guard let contactID = change.contactID else { return }
    try connections.take(.left, of: try change.store.connection(contactID: contactID), change.store)
  }

  func deleteContact(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let contactID = change.contactID else { return }
    try connections.delete(try change.store.connection(contactID: contactID), tellsPeer: false, change.store)
    try change.store.deleteContact(contactID)
  }

  func eraseInvitation(_ change: inout ContactRequestChange, _ next: State) throws(StoreError) {
    guard let id = change.requestID else { return misplaced("eraseInvitation", change) }
    try change.store.eraseInvitation(ofContactRequest: id)
  }

  /// The machine asks for something that does not belong to this event.
  private func misplaced(_ effect: String, _ change: ContactRequestChange) {
    assertionFailure("contact_request: \(effect) on \(change.event.name)")
    context.log(.error, "an effect was not recorded", ["event": change.event.name, "effect": effect])
  }
}
