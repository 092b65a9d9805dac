/// Nested parts of a transaction.
extension Database {
  /// Runs `body` inside the running transaction. If it throws, its changes are undone and the transaction continues,
  /// unless SQLite has rolled back the whole transaction (a full disk); then the next statement fails.
  package func nested<Result, Failure: SQLiteFailure>(
    throwing failure: Failure.Type, _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    guard isInTransaction else { throw Failure(SQLiteError(kind: .misuse, detail: "no transaction to be a part of")) }
    try Failure.carrying { () throws(SQLiteError) in try run("SAVEPOINT part") }
    let result: Result
    do throws(Failure) {
      result = try body()
    } catch {
      if isInTransaction {
        _ = try? run("ROLLBACK TO part")
        _ = try? run("RELEASE part")
      }
      throw error
    }
    try Failure.carrying { () throws(SQLiteError) in try run("RELEASE part") }
    return result
  }
}
