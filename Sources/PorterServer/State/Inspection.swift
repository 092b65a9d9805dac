import PorterMachines
import PorterPlatform
import PorterPush
import PorterStore

/// Queries for operators.
extension ServerState {
  /// A token without its keys.
  struct TokenSummary: Sendable {
    let status: TokenStatus
    let id: [UInt8]
    let provider: String
    let period: Int
    let usedAt: WallTime
    let subscriptions: [String: Int]
    let pushes: Int
  }

  /// The tokens with this identifier, or of this device.
  func summaries(id: [UInt8]?, pushToken: PushToken?) throws(ServerError) -> [TokenSummary] {
    try reading { () throws(ServerError) in
      let found = try database.allRows(
        """
        SELECT number, generation, state, id, provider, period, used_at FROM token
        WHERE id = ?1 OR (push_token = ?2 AND provider = ?3) ORDER BY number
        """, [.optional(id), .optional(pushToken?.bytes), .text(pushToken?.provider ?? "")]
      ) { (row) throws(ServerError) in
        (
          status: try Self.tokenStatus(row), id: row.blob(3), provider: row.text(4), period: Int(row.integer(5)),
          usedAt: WallTime(milliseconds: row.integer(6))
        )
      }
      return try found.map { (token) throws(ServerError) in
        let number = Binding.integer(token.status.number)
        return try storage { () throws(SQLiteError) in
          TokenSummary(
            status: token.status, id: token.id, provider: token.provider, period: token.period, usedAt: token.usedAt,
            subscriptions: try subscriptionCounts(number),
            pushes: Int(try database.integer("SELECT count(*) FROM push WHERE token = ?1", [number]) ?? 0))
        }
      }
    }
  }

  private func subscriptionCounts(_ number: Binding) throws(SQLiteError) -> [String: Int] {
    let rows = try database.rows(
      "SELECT status, count(*) FROM subscription WHERE token = ?1 GROUP BY status", [number]
    ) { (status: $0.text(0), count: Int($0.integer(1))) }
    return Dictionary(uniqueKeysWithValues: rows.map { ($0.status, $0.count) })
  }

  /// Deletes the token as its client's TDEL does. Returns false if it no longer exists.
  func revoke(_ number: Int64) throws(ServerError) -> Bool {
    try transaction { () throws(ServerError) in
      guard let token = try tokenStatus(number: number) else { return false }
      let step = NotificationServer.step(token.state, .delete)
      for effect in step.effects {
        switch effect {
        case .deleteSubscriptions: try deleteSubscriptions(token: number)
        case .deleteToken: try deleteToken(number)
        // There is no client to answer.
        case .replyOk, .replyToken, .replyStatus: break
        case .createToken, .replaceToken, .deleteOthers, .sendVerification, .sendMessage, .sendWake, .saveInterval,
          .saveStatus, .admitSubscription:
          throw .damaged(.token)
        }
      }
      return step.answer == .moved
    }
  }

  /// Problems with the file; empty if there are none. Reads every record that the server could read.
  func problems() throws(ServerError) -> [String] {
    let damage = try storage { () throws(SQLiteError) in try database.integrityCheck() }
    guard damage.isEmpty else { return damage }
    var problems = try storage { () throws(SQLiteError) in try database.foreignKeyCheck() }
      .map { "rows that refer to none: \($0)" }
    if try identity() == nil { problems.append("there is no identity") }
    let damaged = [
      ("tokens", try damagedTokens()), ("subscriptions", try damagedSubscriptions()),
      ("notifications", try damagedNotifications()),
    ]
    for (name, count) in damaged where count > 0 { problems.append("damaged \(name): \(count)") }
    return problems
  }

  private func damagedTokens() throws(ServerError) -> Int {
    var count = 0
    for number in try numbers(of: "token") {
      do throws(ServerError) { _ = try token(number: number) } catch .damaged { count += 1 }
    }
    return count
  }

  private func damagedSubscriptions() throws(ServerError) -> Int {
    var count = 0
    for number in try numbers(of: "subscription") {
      do throws(ServerError) { _ = try subscription(number: number) } catch .damaged { count += 1 }
    }
    return count
  }

  private func numbers(of table: String) throws(ServerError) -> [Int64] {
    try storage { () throws(SQLiteError) in
      try database.rows("SELECT number FROM \(table) ORDER BY number") { $0.integer(0) }
    }
  }
}
