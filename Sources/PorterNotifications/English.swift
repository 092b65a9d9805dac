extension Phrase {
  /// The phrase itself, which has the form `other`.
  var english: Wording {
    switch self {
    case .newMessages: .plural(one: "%d new message", other: rawValue)
    case .fromMore: .plural(one: "From: %@, %@ and %d other chat", other: rawValue)
    case .fromChats: .plural(one: "From %d chat", other: rawValue)
    case .newRequests: .plural(one: "%d contact request", other: rawValue)
    case .fromOthers: .plural(one: "From: %@, %@ and %d other", other: rawValue)
    default: .plain(rawValue)
    }
  }
}
