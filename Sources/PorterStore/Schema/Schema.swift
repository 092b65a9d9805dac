/// The store's tables: as created in a new store, and the migrations that update an earlier one. A migration that has
/// shipped is never edited; a new one is added, and its result is also written into `newest`. `MigrationTests` compares
/// the two.
enum Schema {
  struct Migration: Sendable {
    let name: String
    let sql: String
    /// The part that SQL cannot do; in the same transaction.
    var step: (@Sendable (Store) throws(StoreError) -> Void)?

    init(name: String, sql: String, step: (@Sendable (Store) throws(StoreError) -> Void)? = nil) {
      self.name = name
      self.sql = sql
      self.step = step
    }
  }

  /// A new store does not run the migrations: in those, SQLite rereads the whole schema at each change of a table.
  static let newest = people + "\n" + messages

  /// SQLite keeps the text of each statement, and every opening reads all of it: hence no comments or indentation.
  static func withoutComments(_ sql: String) -> String {
    sql.split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.hasPrefix("--") }.joined(separator: "\n")
  }

  /// `Benchmarks/reference/push.c` knows the newest schema by its number: its `SCHEMA` and statements must follow this.
  static let migrations = [
    Migration(name: "20261121_first", sql: first),
    Migration(name: "20261121_channel", sql: channel) { (store) throws(StoreError) in try store.makeChannelKey() },
    Migration(name: "20261121_reservations", sql: reservations),
    Migration(name: "20261121_profiles", sql: profiles),
    Migration(name: "20261122_responses", sql: responses),
    Migration(name: "20261122_bursts", sql: bursts),
    Migration(name: "20261122_announcements", sql: announcements),
    Migration(name: "20261122_push_health", sql: pushHealth),
    Migration(name: "20261122_changes", sql: changes),
    Migration(name: "20261122_contact_requests", sql: contactRequests),
    Migration(name: "20261122_hidden_profiles", sql: hiddenProfiles),
    Migration(name: "20261122_calls", sql: calls),
    Migration(name: "20261122_contact_settings", sql: contactSettings),
    Migration(name: "20261122_skipped_keys", sql: skippedKeys),
    Migration(name: "20261122_scopes", sql: scopes),
    Migration(name: "20261122_pushes", sql: pushes) { (store) throws(StoreError) in try store.limitCache() },
    Migration(name: "20261122_fewer_indexes", sql: fewerIndexes),
    Migration(name: "20261123_kept_conversations", sql: keptConversations),
    Migration(name: "20261123_subscription_repairs", sql: subscriptionRepairs),
    Migration(name: "20261125_marked_disappearing", sql: markedDisappearing),
    Migration(name: "20261126_sent_moments", sql: sentMoments),
    Migration(name: "20261126_unfinished_messages", sql: unfinishedMessages),
  ]

  /// "NPst": identifies a store among SQLite files.
  static let applicationID: Int64 = 0x4e50_7374
}
