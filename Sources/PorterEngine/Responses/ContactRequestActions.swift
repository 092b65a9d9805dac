import PorterSchema

/// What responses ask of contact requests. Each is carried out once, however often it is asked for: a response that a
/// killed process left in the middle asks again.
protocol ContactRequestActions: AnyObject {
  /// `then` is called once, with the new contact's id.
  func acceptContactRequest(
    requestID: Int64, incognito: Bool, then: @escaping (Result<Int64, ChatError>) -> Void)
  func rejectContactRequest(requestID: Int64, then: @escaping (Result<Void, ChatError>) -> Void)
}
