import PorterSchema

/// Why a contact request was not answered.
enum ContactRequestFailure: Error {
  /// It may succeed later; of an acceptance, it is final, and the contact is made when the relay can be reached.
  case pending
  /// There is no such request any more.
  case gone
  case refused

  init(_ error: ChatError) {
    if case .store(.contactRequestNotFound) = error {
      self = .gone
    } else {
      self = error.isTemporary ? .pending : .refused
    }
  }
}

/// What responses ask of contact requests. Each is carried out once, however often it is asked for: a response that a
/// killed process left in the middle asks again.
protocol ContactRequestActions: AnyObject {
  /// `then` is called once, with the new contact's id.
  func acceptContactRequest(
    requestID: Int64, incognito: Bool, then: @escaping (Result<Int64, ContactRequestFailure>) -> Void)
  func rejectContactRequest(requestID: Int64, then: @escaping (Result<Void, ContactRequestFailure>) -> Void)
}
