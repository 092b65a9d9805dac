import PorterPlatform
import PorterStore

/// A wake-up that is due.
struct DueWake: Sendable {
  let dueAt: Int64
  let number: Int64
  let series: Int64
  let owner: Owner

  enum Owner: Sendable {
    case token(TokenStatus)
    case damaged
    /// Another period was set, or the token was deleted.
    case ended
  }
}

/// When devices are woken.
///
/// A token's next wake-up is scheduled when its period is set, when its state changes, and with each wake-up. Wake-ups
/// due for a token that gets no pushes are dropped, so that they cost nothing until its state changes.
extension ServerState {
  /// 0 minutes means no wake-ups.
  func setPeriod(of token: Int64, minutes: Int, at time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE token SET period = ?2, wake_series = 0 WHERE number = ?1", [.integer(token), .integer(Int64(minutes))])
    }
    try restartWakes(of: token, at: time)
  }

  /// Schedules the next wake-up one period away, whatever was scheduled before.
  func restartWakes(of token: Int64, at time: WallTime) throws(ServerError) {
    let isPeriodic = try storage { () throws(SQLiteError) in
      try database.run(
        "UPDATE token SET wake_series = (SELECT last + 1 FROM wake_series) WHERE number = ?1 AND period > 0",
        [.integer(token)]) > 0
    }
    guard isPeriodic else { return }
    try storage { () throws(SQLiteError) in try database.run("UPDATE wake_series SET last = last + 1") }
    try scheduleWake(of: token, at: time)
  }

  /// Schedules the next wake-up after one was dropped.
  func scheduleWake(of token: Int64, at time: WallTime) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        """
        INSERT INTO wake (due_at, token, series, woken_at)
        SELECT ?2 + period * 60000, number, wake_series, ?2 FROM token WHERE number = ?1 AND period > 0
        """, [.integer(token), .integer(time.milliseconds)])
    }
  }

  func drop(_ wake: DueWake) throws(ServerError) {
    try storage { () throws(SQLiteError) in
      try database.run(
        "DELETE FROM wake WHERE due_at = ?1 AND token = ?2 AND series = ?3",
        [.integer(wake.dueAt), .integer(wake.number), .integer(wake.series)])
    }
  }

  /// The longest overdue wake-ups. One whose token was last woken in the future is also due: the wall clock was set
  /// back.
  func dueWakes(at time: WallTime, limit: Int) throws(ServerError) -> [DueWake] {
    var due: [DueWake] = []
    for rows in ["wake WHERE due_at <= ?1 ORDER BY due_at", "wake INDEXED BY wake_woken WHERE woken_at > ?1"] {
      due += try wakes("\(rows) LIMIT ?2", [.integer(time.milliseconds), .integer(Int64(limit - due.count))])
    }
    return due
  }

  /// The wake-ups of these tokens, due or not.
  func wakes(of tokens: [Int64]) throws(ServerError) -> [DueWake] {
    var found: [DueWake] = []
    for token in tokens { found += try wakes("wake WHERE token = ?1", [.integer(token)]) }
    return found
  }

  private func wakes(_ rows: String, _ bindings: [Binding]) throws(ServerError) -> [DueWake] {
    try database.allRows(
      """
      SELECT token.number, token.generation, token.state, due.due_at, due.token, due.series
      FROM (SELECT due_at, token, series FROM \(rows)) AS due
      LEFT JOIN token ON token.number = due.token AND token.wake_series = due.series
      """, bindings
    ) { (row) throws(ServerError) in
      DueWake(
        dueAt: row.integer(3), number: row.integer(4), series: row.integer(5),
        owner: row.isNull(0) ? .ended : try self.readable(row, Self.tokenStatus).map { .token($0) } ?? .damaged)
    }
  }

  /// Milliseconds since 1970; nil if no wake-up is scheduled.
  func nextWake() throws(ServerError) -> Int64? {
    try storage { () throws(SQLiteError) in try database.integer("SELECT min(due_at) FROM wake") }
  }
}
