import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterStore

/// A stored token.
struct TokenRecord: Sendable {
  let number: Int64
  let id: [UInt8]
  let pushToken: PushToken
  let generation: Int64
  let signingKey: SigningPublicKey
  let clientBoxKey: BoxPublicKey
  /// The public half; only the agreed key is kept of the secret half.
  let boxKey: BoxPublicKey
  let pushKey: BoxSharedKey
  let code: VerificationCode
  let state: ServerToken.State
}

/// The values that TNEW stores.
struct NewToken: Sendable {
  let id: [UInt8]
  let pushToken: PushToken
  let signingKey: SigningPublicKey
  let clientBoxKey: BoxPublicKey
  let boxKey: BoxPublicKey
  let pushKey: BoxSharedKey
  let code: VerificationCode
}

/// What a push needs from its token, without keys.
struct TokenStatus: Sendable {
  let number: Int64
  let generation: Int64
  let state: ServerToken.State
}

extension ServerState {
  private static let tokenColumns =
    """
    SELECT number, id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state
    FROM token
    """

  func token(id: [UInt8]) throws(ServerError) -> TokenRecord? {
    try database.firstRow(Self.tokenColumns + " WHERE id = ?1", [.blob(id)], Self.token)
  }

  func token(number: Int64) throws(ServerError) -> TokenRecord? {
    try database.firstRow(Self.tokenColumns + " WHERE number = ?1", [.integer(number)], Self.token)
  }

  func token(_ pushToken: PushToken, signingKey: SigningPublicKey) throws(ServerError) -> TokenRecord? {
    try database.firstRow(
      Self.tokenColumns + " WHERE push_token = ?1 AND provider = ?2 AND signing_key = ?3",
      [.blob(pushToken.bytes), .text(pushToken.provider), .blob(signingKey.bytes)], Self.token)
  }

  private static func token(_ row: borrowing Row) throws(ServerError) -> TokenRecord {
    guard let pushToken = PushToken(provider: row.text(2), bytes: row.blob(3)),
      let signingKey = SigningPublicKey(bytes: row.blob(5)), let clientBoxKey = BoxPublicKey(bytes: row.blob(6)),
      let boxKey = BoxPublicKey(bytes: row.blob(7)), let pushKey = BoxSharedKey(stored: row.blob(8)),
      let code = VerificationCode(bytes: row.blob(9)), let state = ServerToken.State(name: row.text(10))
    else { throw .damaged(.token) }
    return TokenRecord(
      number: row.integer(0), id: row.blob(1), pushToken: pushToken, generation: row.integer(4), signingKey: signingKey,
      clientBoxKey: clientBoxKey, boxKey: boxKey, pushKey: pushKey, code: code, state: state)
  }

  /// Nil if there is none or it is damaged.
  func readableStatus(number: Int64) throws(ServerError) -> TokenStatus? {
    try readableRows(
      "SELECT number, generation, state FROM token WHERE number = ?1", [.integer(number)], Self.tokenStatus
    ).first
  }

  func tokenStatus(number: Int64) throws(ServerError) -> TokenStatus? {
    try database.firstRow(
      "SELECT number, generation, state FROM token WHERE number = ?1", [.integer(number)], Self.tokenStatus)
  }

  static func tokenStatus(_ row: borrowing Row) throws(ServerError) -> TokenStatus {
    guard let state = ServerToken.State(name: row.text(2)) else { throw .damaged(.token) }
    return TokenStatus(number: row.integer(0), generation: row.integer(1), state: state)
  }

  func tokenCount() throws(ServerError) -> Int {
    try storage { () throws(SQLiteError) in
      Int(clamping: try database.integer("SELECT count FROM token_count") ?? 0)
    }
  }

  /// Returns the new token's number.
  func insert(
    _ token: NewToken, state: ServerToken.State, at time: WallTime, age: Int64
  ) throws(ServerError) -> Int64 {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO token (id, provider, push_token, generation, signing_key, client_box_key, box_key, push_key, code, state,
          used_at, used_age)
        VALUES (?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
        """,
        [
          .blob(token.id), .text(token.pushToken.provider), .blob(token.pushToken.bytes), .blob(token.signingKey.bytes),
          .blob(token.clientBoxKey.bytes), .blob(token.boxKey.bytes), .blob(token.pushKey.exposeForStorage()),
          .blob(token.code.bytes), .text(state.name), .integer(time.milliseconds),
          .integer(age),
        ])
      return database.lastInsertedRow
    }
  }

  func replacePushToken(
    of number: Int64, with pushToken: PushToken, code: VerificationCode, state: ServerToken.State
  ) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        UPDATE token SET provider = ?2, push_token = ?3, code = ?4, state = ?5, generation = generation + 1
        WHERE number = ?1
        """,
        [
          .integer(number), .text(pushToken.provider), .blob(pushToken.bytes), .blob(code.bytes), .text(state.name),
        ])
      try database.run(
        "UPDATE push SET provider = ?2, due_at = 0 WHERE token = ?1", [.integer(number), .text(pushToken.provider)])
    }
  }

  func save(_ state: ServerToken.State, of number: Int64, at time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run("UPDATE token SET state = ?2 WHERE number = ?1", [.integer(number), .text(state.name)])
    }
    try restartWakes(of: number, at: time)
  }

  /// Also deletes its subscriptions, notifications and pushes, and the requests whose answers are already forgotten:
  /// none of them can be replayed without the token.
  func deleteToken(_ number: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      let signer = try database.first("SELECT signing_key FROM token WHERE number = ?1", [.integer(number)]) {
        $0.blob(0)
      }
      try database.run("DELETE FROM token WHERE number = ?1", [.integer(number)])
      if let signer { try deleteForgottenRequests(of: signer) }
    }
  }

  private func deleteForgottenRequests(of signer: [UInt8]) throws(SQLiteError) {
    try database.run(
      """
      DELETE FROM request WHERE signer = ?1 AND answer IS NULL
        AND NOT EXISTS (SELECT 1 FROM token WHERE signing_key = ?1)
      """, [.blob(signer)])
  }

  func deleteOtherTokens(than token: TokenRecord) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      let others: [Binding] = [
        .blob(token.pushToken.bytes), .text(token.pushToken.provider), .integer(token.number),
      ]
      let condition = "WHERE push_token = ?1 AND provider = ?2 AND number <> ?3"
      let signers = try database.rows("SELECT signing_key FROM token \(condition)", others) { $0.blob(0) }
      try database.run("DELETE FROM token \(condition)", others)
      for signer in signers { try deleteForgottenRequests(of: signer) }
    }
  }

  // MARK: Use

  /// Records that its client has confirmed this as its push token.
  func noteRegistration(of number: Int64, at time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE token SET registered_at = ?2 WHERE number = ?1", [.integer(number), .integer(time.milliseconds)])
    }
  }

  /// The last such registration; 1970 if unknown.
  func registration(of number: Int64) throws(ServerError) -> WallTime {
    try storage { () throws(SQLiteError) in
      WallTime(
        milliseconds: try database.integer("SELECT registered_at FROM token WHERE number = ?1", [.integer(number)]) ?? 0
      )
    }
  }

  /// `time` is shown to operators, and decides nothing.
  func noteUse(of number: Int64, at time: WallTime, age: Int64) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE token SET used_at = ?2, used_age = ?3 WHERE number = ?1",
        [.integer(number), .integer(time.milliseconds), .integer(age)])
    }
  }

  func tokensUnused(since age: Int64, limit: Int) throws(ServerError) -> [TokenStatus] {
    try readableRows(
      """
      SELECT number, generation, state FROM token
      WHERE used_age < ?1 AND state <> '\(ServerToken.State.expired.name)' LIMIT ?2
      """, [.integer(age), .integer(Int64(limit))], Self.tokenStatus)
  }

  /// Tokens that get no pushes. Expired ones have a time of their own.
  func unusableTokens(
    unusedSince age: Int64, expiredSince expiredAge: Int64, limit: Int
  ) throws(ServerError) -> [TokenStatus] {
    let (active, expired) = (ServerToken.State.active.name, ServerToken.State.expired.name)
    return try readableRows(
      """
      SELECT number, generation, state FROM token WHERE used_age < ?2 AND state = '\(expired)'
      UNION ALL
      SELECT number, generation, state FROM token
      WHERE used_age < ?1 AND state <> '\(active)' AND state <> '\(expired)' LIMIT ?3
      """, [.integer(age), .integer(expiredAge), .integer(Int64(limit))], Self.tokenStatus)
  }
}
