import PorterPlatform

/// The limit on a server's tokens, and whether it is reached: clients register them without asking an operator, and
/// each takes room.
struct TokenBound {
  /// Whether the limit was reached or is no longer.
  enum Change {
    case met, left
  }

  static let usual = 2_000_000

  let most: Int
  private(set) var isMet = false

  init(most: Int = usual) { self.most = most }

  /// Nil if unchanged.
  mutating func note(_ count: Int) -> Change? {
    let wasMet = isMet
    isMet = count >= most
    guard isMet != wasMet else { return nil }
    return isMet ? .met : .left
  }

  var problem: ServerProblem? {
    isMet ? ServerProblem(part: .state, reason: "tokens: \(most), which is the limit; no more are registered") : nil
  }
}

extension NotificationServer {
  /// Must be called outside any transaction.
  func hasRoomForToken() throws(ServerError) -> Bool {
    try countTokens()
    return !tokenBound.isMet
  }

  func countTokens() throws(ServerError) {
    let count: Int
    if let tokenCount { count = try tokenCount() } else { count = try state.tokenCount() }
    switch tokenBound.note(count) {
    case .met: log(.error, "no more tokens are registered", ["limit": "\(tokenBound.most)"])
    case .left: log(.info, "tokens are registered again", ["limit": "\(tokenBound.most)"])
    case nil: break
    }
  }
}
