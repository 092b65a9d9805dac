import PorterSchema

/// Why a contact request was not answered.
enum ContactRequestFailure: Error {
  /// May succeed later. An acceptance is final, and the contact is created when the relay is reachable.
  case pending
  /// The request no longer exists.
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

/// What responses need from contact requests. Each action is carried out once, however often it is requested: a
/// response that a killed process left half-done asks again.
protocol ContactRequestActions: AnyObject {
  /// `then` is called once, with the new contact's id.
  func acceptContactRequest(
    requestID: Int64, incognito: Bool, then: @escaping (Result<Int64, ContactRequestFailure>) -> Void)
  func rejectContactRequest(requestID: Int64, then: @escaping (Result<Void, ContactRequestFailure>) -> Void)
}
