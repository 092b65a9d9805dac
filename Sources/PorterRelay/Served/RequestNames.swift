/// A server's view of requests and answers: which of them write, and their names for counting.
extension RelayCommand {
  /// Whether the command changes the file.
  var writes: Bool {
    switch self {
    case .createMailbox, .secureMailbox, .send, .acknowledge, .acknowledgeAndGet, .enableNotifier, .disableNotifier,
      .deleteMailbox, .subscribe, .shareCheckKeys, .listen, .subscribeNotifiers, .acknowledgeNotifications:
      true
    case .acknowledgeAndGetNotifications(_, _, let acknowledged, _): !acknowledged.isEmpty
    case .getMessage, .getMessageWithAge, .check, .checkByKeys, .arrivals, .notifications, .dueNotifications: false
    }
  }

  /// Whether its answer promises that the change is on disk.
  var isDurable: Bool {
    switch self {
    case .createMailbox, .secureMailbox, .send, .enableNotifier, .disableNotifier, .deleteMailbox: true
    case .acknowledge, .acknowledgeAndGet, .subscribe, .listen, .subscribeNotifiers, .acknowledgeNotifications,
      .getMessage, .getMessageWithAge, .check, .checkByKeys, .shareCheckKeys, .arrivals, .notifications,
      .dueNotifications, .acknowledgeAndGetNotifications:
      false
    }
  }

  package var name: String {
    switch self {
    case .createMailbox: "createMailbox"
    case .secureMailbox: "secureMailbox"
    case .send: "send"
    case .getMessage: "getMessage"
    case .getMessageWithAge: "getMessageWithAge"
    case .acknowledge: "acknowledge"
    case .acknowledgeAndGet: "acknowledgeAndGet"
    case .enableNotifier: "enableNotifier"
    case .disableNotifier: "disableNotifier"
    case .deleteMailbox: "deleteMailbox"
    case .subscribe: "subscribe"
    case .check: "check"
    case .checkByKeys: "checkByKeys"
    case .shareCheckKeys: "shareCheckKeys"
    case .listen: "listen"
    case .arrivals: "arrivals"
    case .subscribeNotifiers: "subscribeNotifiers"
    case .notifications: "notifications"
    case .acknowledgeNotifications: "acknowledgeNotifications"
    case .dueNotifications: "dueNotifications"
    case .acknowledgeAndGetNotifications: "acknowledgeAndGetNotifications"
    }
  }
}

extension RelayAnswer {
  /// `done`, or the refusal.
  package var name: String {
    guard case .failed(let error) = self else { return "done" }
    return switch error {
    case .auth: "auth"
    case .quota: "quota"
    case .size: "size"
    case .noMessage: "noMessage"
    case .syntax: "syntax"
    case .version: "version"
    case .unavailable, .offline, .timeout, .answer, .closed, .storage, .crypto: "unavailable"
    }
  }
}
