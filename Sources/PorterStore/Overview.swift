import PorterCrypto
import PorterPlatform

/// The state of the whole store that each push asks for, as of one moment.
package struct StoreOverview: Sendable {
  /// Unread items over all profiles: the badge (INC-60). Profiles that hide their notifications do not count.
  /// 0 unless it was asked for.
  package let badge: Int64
  package let settings: Settings
  /// The key that opens the token's pushes.
  package let pushSecret: BoxSharedKey?
  package let hasCalls: Bool
  package let hasOutbox: Bool
  /// Whether notifications on screen must be removed.
  package let hasWithdrawals: Bool
  /// Whether entries must be shown again, or could not be shown when they arrived.
  package let hasLate: Bool

  /// The settings requested.
  package struct Settings: Sendable {
    fileprivate let first, second: (name: String, value: String?)?

    package subscript(name: String) -> String? {
      first?.name == name ? first?.value : second?.name == name ? second?.value : nil
    }
  }
}

extension Store {
  /// How many settings one overview can read.
  private static let settingsAtOnce = 2

  /// One statement for everything, since a push asks several times, and compiling a statement costs it more than
  /// executing it.
  package func overview(settings names: [String] = [], badge: Bool = false) throws(StoreError) -> StoreOverview {
    let (first, second) = (names.first, names.dropFirst().first)
    assert(names.count <= Self.settingsAtOnce)
    let overview = try only(
      """
      SELECT CASE WHEN ?3 THEN (SELECT sum(unread) FROM users NOT INDEXED WHERE show_notifications) END,
        EXISTS (SELECT 1 FROM calls), EXISTS (SELECT 1 FROM outbox),
        EXISTS (SELECT 1 FROM ledger INDEXED BY ledger_removal WHERE removal_due = 1) OR EXISTS (SELECT 1 FROM removals),
        (SELECT push_secret FROM token), (SELECT value FROM settings WHERE name = ?1),
        (SELECT value FROM settings WHERE name = ?2),
        EXISTS (SELECT 1 FROM ledger INDEXED BY ledger_late WHERE state = 'outdated' OR late = 1)
      """, [.optional(first), .optional(second), .flag(badge)]
    ) { (row) throws(StoreError) in
      StoreOverview(
        badge: row.integer(0),
        settings: .init(
          first: first.map { ($0, row.optionalText(5)) }, second: second.map { ($0, row.optionalText(6)) }),
        pushSecret: row.optionalBlob(4).flatMap { BoxSharedKey(stored: $0) },
        hasCalls: row.flag(1), hasOutbox: row.flag(2), hasWithdrawals: row.flag(3), hasLate: row.flag(7))
    }
    guard let overview else { throw .sqlite(SQLiteError(kind: .corrupt)) }
    return overview
  }
}
