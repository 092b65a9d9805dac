import PorterCrypto
import PorterPlatform

/// What each push asks of the store as a whole, as of one moment.
package struct StoreOverview: Sendable {
  /// Unread items over all profiles: the badge (INC-60). Profiles that hide their notifications do not count.
  /// 0 unless it was asked for.
  package let badge: Int64
  /// Of those that were asked for.
  package let settings: [String: String]
  /// With which pushes of the token are opened.
  package let pushSecret: BoxSharedKey?
  package let hasCalls: Bool
  package let hasOutbox: Bool
  /// Notifications are on screen that are to be taken away.
  package let hasWithdrawals: Bool
  /// Entries are to be shown anew, or could not be shown when they came.
  package let hasLate: Bool
}

extension Store {
  /// How many settings one look can ask for.
  private static let settingsAtOnce = 2

  /// One statement for all of it, since a push asks several times, and compiling a statement costs it more than carrying it
  /// out.
  package func overview(settings names: [String] = [], badge: Bool = false) throws(StoreError) -> StoreOverview {
    let (first, second) = (names.first, names.dropFirst().first)
    assert(names.count <= Self.settingsAtOnce)
    let found = try rows(
      """
      SELECT CASE WHEN ?3 THEN (SELECT coalesce(sum(unread), 0) FROM users WHERE show_notifications = 1) ELSE 0 END,
        EXISTS (SELECT 1 FROM calls), EXISTS (SELECT 1 FROM outbox),
        EXISTS (SELECT 1 FROM ledger WHERE removal_due = 1) OR EXISTS (SELECT 1 FROM removals),
        (SELECT push_secret FROM token), (SELECT value FROM settings WHERE name = ?1),
        (SELECT value FROM settings WHERE name = ?2),
        EXISTS (SELECT 1 FROM ledger WHERE state = 'outdated' OR late = 1)
      """, [.optional(first), .optional(second), .flag(badge)]
    ) { (row) throws(StoreError) in
      var settings: [String: String] = [:]
      for (position, name) in names.enumerated() { settings[name] = row.optionalText(Int32(5 + position)) }
      return StoreOverview(
        badge: row.integer(0), settings: settings, pushSecret: row.optionalBlob(4).flatMap { BoxSharedKey(stored: $0) },
        hasCalls: row.flag(1), hasOutbox: row.flag(2), hasWithdrawals: row.flag(3), hasLate: row.flag(7))
    }
    guard let overview = found.first else { throw .sqlite(SQLiteError(kind: .corrupt)) }
    return overview
  }
}
