import PorterPlatform
import PorterStore

/// Unreadable records that each concern one token (INC-44): the server skips them, and an operator must repair them.
struct DamagedRecords {
  struct Name: Hashable {
    let record: ServerError.Record
    let token: Int64
  }

  private(set) var names: Set<Name> = []

  /// Returns whether it is new.
  mutating func note(_ record: ServerError.Record, of token: Int64) -> Bool {
    names.insert(Name(record: record, token: token)).inserted
  }

  mutating func forget(_ name: Name) { names.remove(name) }
  mutating func forget(token: Int64) { names = names.filter { $0.token != token } }
}

extension ServerState {
  /// Like `allRows`, but skips damaged rows. The first column is the token's number.
  func readableRows<Value>(
    _ sql: String, _ bindings: [Binding] = [], _ map: (borrowing Row) throws(ServerError) -> Value
  ) throws(ServerError) -> [Value] {
    try database.allRows(sql, bindings) { (row) throws(ServerError) in try self.readable(row, map) }.compactMap(\.self)
  }

  /// Nil if the row is damaged. The first column is the token's number.
  func readable<Value>(
    _ row: borrowing Row, _ map: (borrowing Row) throws(ServerError) -> Value
  ) throws(ServerError) -> Value? {
    do throws(ServerError) { return try map(row) } catch {
      guard case .damaged(let record) = error else { throw error }
      noteDamage(record, of: row.integer(0))
      return nil
    }
  }

  func noteDamage(_ record: ServerError.Record, of token: Int64) {
    guard damaged.note(record, of: token) else { return }
    log(.error, "a damaged record is skipped", ["record": record.rawValue, "token": "\(token)"])
  }

  /// Forgets records that have since been repaired or deleted.
  func checkDamage() throws(ServerError) {
    for name in damaged.names where try !isDamaged(name) { damaged.forget(name) }
  }

  private func isDamaged(_ name: DamagedRecords.Name) throws(ServerError) -> Bool {
    do throws(ServerError) {
      switch name.record {
      case .token: _ = try token(number: name.token)
      case .subscription: _ = try subscriptions(token: name.token)
      case .notification: try checkNotifications(token: name.token)
      case .identity, .request, .device: break
      }
      return false
    } catch {
      guard case .damaged = error else { throw error }
      return true
    }
  }
}
