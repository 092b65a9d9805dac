import PorterMachines
import PorterSchema
import PorterStore

/// Where a tap on a contact request's notification leads, which may be on screen after the request is over.
enum RequestDestination: Equatable {
  /// Among the chats, the request is listed until there is a contact.
  case request(Int64)
  case contact(Int64)
  /// It was rejected or withdrawn, or the user has deleted its contact.
  case nowhere

  init(_ state: ContactRequest.State, id: Int64, contactID: Int64?) {
    switch state {
    case .received, .accepting: self = .request(id)
    case .accepted: self = contactID.map { .contact($0) } ?? .nowhere
    case .none, .rejected, .withdrawn: self = .nowhere
    }
  }

  init(_ request: StoredContactRequest) throws(StoreError) {
    guard let state = ContactRequest.State(name: request.state) else { throw .damaged(.request) }
    self.init(state, id: request.id, contactID: request.contactID)
  }

  /// As in `/_get chat`; nil when there is no such chat.
  var chatID: String? {
    switch self {
    case .request(let id): "<@\(id)"
    case .contact(let id): "@\(id)"
    case .nowhere: nil
    }
  }

  /// Whether this action makes the request's profile the active one when it is begun. `isIncognito`: the request was accepted so; one
  /// that was not cannot be any more.
  func activatesProfile(_ action: NotificationAction, isIncognito: Bool) -> Bool {
    switch action {
    case .acceptContact: self != .nowhere
    case .acceptContactIncognito:
      switch self {
      case .request: true
      case .contact: isIncognito
      case .nowhere: false
      }
    // A tap does that with the rest of what it does.
    case .open, .rejectContact, .acceptCall, .rejectCall, .markRead, .reply: false
    }
  }
}
