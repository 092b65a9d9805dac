import PorterMachines
import PorterSchema
import PorterStore

/// How a response ended, and where to navigate.
struct ResponseEnding {
  var reason: ResponseReport.Reason?
  var userID: Int64?
  var chatID: String?

  static func stale(_ reason: ResponseReport.Reason) -> ResponseEnding { ResponseEnding(reason: reason) }
}

extension ResponseReport {
  /// Nil for a row that this version does not understand.
  init?(_ response: StoredResponse, isRepeat: Bool = false) {
    guard let action = NotificationAction(rawValue: response.action) else { return nil }
    let outcome: Outcome
    var contactRequestID: Int64?
    switch response.state {
    // A row is first written with the state after its first step.
    case .received, .waiting: outcome = .waiting
    case .applying: outcome = .applying
    case .applied:
      outcome = .applied
      // For a stale one, the number may belong to another person's request in this store.
      contactRequestID = response.requestID
    case .stale: outcome = .stale(response.reason.flatMap(Reason.init) ?? .refused)
    }
    self.init(
      id: response.id, action: action, outcome: outcome, userID: response.userID, chatID: response.chatID,
      contactRequestID: contactRequestID, isRepeat: isRepeat)
  }
}
