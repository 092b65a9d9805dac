import PorterMachines
import PorterSchema
import PorterStore

/// What a tap on a request's notification does. Repeating it gives the answer of the first time: a response that a
/// killed process left half-done asks again.
extension ContactRequests: ContactRequestActions {
  func acceptContactRequest(
    requestID: Int64, incognito: Bool, then: @escaping (Result<Int64, ContactRequestFailure>) -> Void
  ) {
    do throws(ChatError) {
      try accept(requestID, incognito: incognito, for: .response) { acceptance in
        switch acceptance {
        case .accepted(let contact): then(.success(contact.id))
        // Whatever keeps it from being finished now: a relay may report that it cannot answer.
        case .pending(_, isTemporary: true): then(.failure(.pending))
        // The relay's own answer. A store that cannot be written now may be writable later.
        case .pending(.agent(let error, let connection), isTemporary: false):
          then(.failure(ContactRequestFailure(.agent(error, connection: connection))))
        case .pending(_, isTemporary: false): then(.failure(.pending))
        case .stale(let error): then(.failure(ContactRequestFailure(error)))
        }
      }
    } catch {
      then(.failure(ContactRequestFailure(error)))
    }
  }

  func rejectContactRequest(requestID: Int64, then: @escaping (Result<Void, ContactRequestFailure>) -> Void) {
    do throws(ChatError) {
      if try !isRejected(requestID) { _ = try reject(requestID) }
      then(.success(()))
    } catch {
      then(.failure(ContactRequestFailure(error)))
    }
  }
}
