import PorterPlatform

extension Command {
  /// The nonce of a box, as carried by the commands.
  private static let nonceSize = 24...24
  /// A push is at most 4096 bytes in all.
  private static let sealedSizes = 1...4_096
  /// A push names up to six connections; a host may batch several pushes.
  private static let maximumRequests = 64

  static let notificationRules: [Rule] = [
    Rule("/_ntf get", .getToken),
    Rule("/_ntf register") { (cursor) throws(ChatError) in
      let token = try cursor.deviceToken()
      return .registerToken(token, try cursor.word("INSTANT or PERIODIC", NotificationMode.init(rawValue:)))
    },
    Rule("/_ntf verify") { (cursor) throws(ChatError) in
      let token = try cursor.deviceToken()
      let nonce = try cursor.base64URL("a nonce of 24 bytes", nonceSize)
      return .verifyToken(token, nonce: nonce, code: try cursor.base64URL("a sealed code", sealedSizes))
    },
    Rule("/_ntf check") { (cursor) throws(ChatError) in .checkToken(try cursor.deviceToken()) },
    Rule("/_ntf delete") { (cursor) throws(ChatError) in .deleteToken(try cursor.deviceToken()) },
    Rule("/_ntf conns") { (cursor) throws(ChatError) in
      let nonce = try cursor.base64URL("a nonce of 24 bytes", nonceSize)
      return .notifiedConnections(nonce: nonce, sealed: try cursor.base64URL("sealed information", sealedSizes))
    },
    Rule("/_ntf conn messages") { (cursor) throws(ChatError) in
      let what = "up to \(maximumRequests) times connection:queue:timestamp"
      return .connectionMessages(try cursor.word(what, messageRequests))
    },
    Rule("/_ntf scopes", .listScopes),
    Rule("/_ntf scope subscribe") { (cursor) throws(ChatError) in
      let json = try cursor.spaceAndJSON("a scope")
      guard let request = ScopeRequest(json: json) else { throw cursor.failure(ScopeRequest.form) }
      return .subscribeScope(request)
    },
    Rule("/_ntf scope delete") { (cursor) throws(ChatError) in .deleteScope(try scopeName(&cursor)) },
    Rule("/_ntf scope pushes") { (cursor) throws(ChatError) in .listApplicationPushes(scope: try scopeName(&cursor)) },
    Rule("/_ntf scope settle") { (cursor) throws(ChatError) in
      try cursor.expectSpace(before: "the ids of pushes")
      return .settleApplicationPushes(try cursor.numbers("the id of a push"))
    },
    Rule("/ntf test") { (cursor) throws(ChatError) in
      .testNotificationServer(try cursor.word(ServerAddress.form, ServerAddress.init(parsing:)))
    },
  ]

  private static func scopeName(_ cursor: inout CommandCursor) throws(ChatError) -> String {
    try cursor.word("a scope's name") { ScopeRequest.isName($0) ? $0 : nil }
  }

  private static func messageRequests(_ text: String) -> [ConnectionMessageRequest]? {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
    let requests = parts.prefix(maximumRequests + 1).compactMap(ConnectionMessageRequest.init(parsing:))
    return requests.count == parts.count && parts.count <= maximumRequests ? requests : nil
  }
}

extension ConnectionMessageRequest {
  /// `connection:queue:timestamp`; the timestamp itself contains colons.
  fileprivate init?(parsing text: Substring) {
    let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let connection = TextEncoding.base64URLDecoded(parts[0]), !connection.isEmpty,
      let queue = Int64(parts[1]), let timestamp = WallTime(iso8601: parts[2])
    else { return nil }
    self.init(agentConnectionID: String(parts[0]), queueID: queue, timestamp: timestamp)
  }
}
