import PorterMachines
import PorterSchema
import PorterStore

/// Where a tap on a contact request's notification leads; the notification may outlive the request.
enum RequestDestination: Equatable {
  /// The request is listed among the chats until there is a contact.
  case request(Int64)
  case contact(Int64)
  /// The request was rejected or withdrawn, or the user has deleted its contact.
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

  /// Whether starting this action makes the request's profile the active one. `isIncognito`: the request was accepted
  /// that way; one that was not can no longer be.
  func activatesProfile(_ action: NotificationAction, isIncognito: Bool) -> Bool {
    switch action {
    case .acceptContact: self != .nowhere
    case .acceptContactIncognito:
      switch self {
      case .request: true
      case .contact: isIncognito
      case .nowhere: false
      }
    // A tap does that along with its other work.
    case .open, .rejectContact, .acceptCall, .rejectCall, .markRead, .reply: false
    }
  }
}
