import Foundation
import PorterPlatform
import XCTest

@testable import PorterStore

/// A store with an earlier schema is migrated with all its content.
final class MigrationTests: XCTestCase {
  private var directory = URL(fileURLWithPath: "/")
  private var location: StoreLocation { StoreLocation(prefix: directory.appendingPathComponent("alice").path) }
  private let now = WallTime(milliseconds: 1_700_000_000_000)

  override func setUpWithError() throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("migration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  }

  override func tearDownWithError() throws { try FileManager.default.removeItem(at: directory) }

  /// As left by the library version that knew the first `count` migrations.
  private func makeStore(of count: Int, _ contents: String = "") throws {
    let database = try Database(path: location.file)
    try database.transaction { () throws(SQLiteError) in
      for migration in Schema.migrations.prefix(count) {
        try database.execute(migration.sql)
        if migration.name == "20261121_channel" {
          try database.execute("INSERT INTO channel VALUES (1, randomblob(32))")
        }
      }
      try database.execute(contents)
      try database.execute("PRAGMA application_id=\(Schema.applicationID); PRAGMA user_version=\(count)")
    }
    try database.close()
  }

  /// Its header was changed.
  func testAVersionThatNoneHasIsRefused() throws {
    try makeStore(of: Schema.migrations.count)
    let database = try Database(path: location.file)
    try database.execute("PRAGMA user_version=-1")
    try database.close()
    XCTAssertThrowsError(try open()) { XCTAssertEqual($0 as? StoreError, .foreign) }
  }

  private func open() throws -> Store {
    try Store.open(at: location, confirmation: .yesUp, mayMigrate: true)
  }

  /// Without comments, and with uniform spaces and quotes: SQLite keeps the original text of a statement, and edits its
  /// end.
  private func schema(_ store: Store) throws -> [String] {
    let all = try store.database.rows("SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema") {
      $0.text(0)
    }
    return all.map { text in
      text.replacing(#/--.*/#, with: "").replacing("\"", with: "").replacing(#/\s*([(),])\s*/#) { String($0.output.1) }
        .replacing(#/\s+/#, with: " ").trimmingCharacters(in: .whitespaces)
    }.sorted()
  }

  /// The content of a store that nothing was put into.
  private func contents(_ store: Store) throws -> [[Int64]] {
    let kept = try store.database.rows("SELECT store_id, length(channel_key), items, entries FROM store") { row in
      (0..<4).map { row.integer($0) }
    }
    let settings = ["application_id", "user_version", "auto_vacuum"]
    return kept + [try settings.map { try store.database.rows("PRAGMA \($0)") { $0.integer(0) }[0] }]
  }

  func testEachEarlierSchemaBecomesTheNewestOne() throws {
    let new = try open()
    let (newest, empty) = (try schema(new), try contents(new))
    XCTAssertEqual(try new.database.integrityCheck(), [])
    // A host's own SQLite may lack it.
    let isOmitted = try new.database.integer("SELECT sqlite_compileoption_used('OMIT_DEPRECATED')") == 1
    let limit = try new.database.rows("PRAGMA default_cache_size") { $0.integer(0) }
    XCTAssertEqual(limit, isOmitted ? [] : [256], "half a megabyte")
    try new.close(checkpoint: true)
    for count in 1..<Schema.migrations.count {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: location.file + suffix) }
      try makeStore(of: count)
      let store = try open()
      XCTAssertEqual(try schema(store), newest, "from \(count)")
      XCTAssertEqual(try contents(store), empty, "from \(count)")
      XCTAssertEqual(try store.database.integrityCheck(), [], "from \(count)")
      _ = try store.channelKey()
      try store.close(checkpoint: true)
    }
  }

  private static let chat = """
    INSERT INTO users (user_id, display_name, full_name, active, unread, created_at) VALUES (1, 'alice', '', 1, 2, 0);
    INSERT INTO contacts (contact_id, user_id, local_name, display_name, full_name, unread, created_at, updated_at, chat_at,
      unread_mentions, sounded_at, sounded_boot) VALUES (1, 1, 'bob', 'bob', '', 2, 0, 0, 77, 1, 55, 'boot');
    INSERT INTO connections (connection_id, user_id, contact_id, agent_id, status, initiated, recipient_id, recipient_key,
      sender_id, peer_key, created_at, updated_at) VALUES (1, 1, 1, x'01', 'ready', 0, x'02', x'', x'03', x'', 0, 0);
    INSERT INTO items (item_id, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at) VALUES
      (1, 1, 0, 'read', 'rcvRead', x'01', 1, 1, 1), (2, 1, 0, 'old', 'rcvNew', x'02', 2, 2, 2),
      (3, 1, 1, 'own', 'sndSent', x'03', 3, 3, 3), (4, 1, 0, 'new', 'rcvNew', x'04', 4, 4, 4),
      (9, 1, 0, 'deleted', 'rcvRead', x'09', 9, 9, 9);
    INSERT INTO ledger (entry_id, connection_id, message_id, message_at, state, kind, contact_id, item_id, created_at) VALUES
      (1, 1, x'01', 1, 'read', 'message', 1, 1, 1), (2, 1, x'02', 2, 'committed', 'message', 1, 2, 2),
      (3, 1, x'03', 3, 'read', 'silent', 1, NULL, 3), (4, 1, x'04', 4, 'committed', 'message', 1, 4, 4),
      (5, 1, x'05', 5, 'outdated', 'message', 1, NULL, 5), (6, 1, x'06', 6, 'quarantined', 'silent', NULL, NULL, 6),
      (9, 1, x'09', 9, 'read', 'silent', 1, NULL, 9);
    DELETE FROM items WHERE item_id = 9;
    DELETE FROM ledger WHERE entry_id = 9;
    """

  func testWhatWaitsAndCountsIsKeptAndNoNumberIsGivenTwice() throws {
    try makeStore(of: 15, Self.chat)
    let store = try open()
    let bob = try store.contact(1)
    XCTAssertEqual([bob.unread, bob.unreadMentions, bob.chatAt.milliseconds], [2, 1, 77])
    XCTAssertEqual(try store.badge(), 2)
    XCTAssertEqual(try store.lastSounds(contacts: [1], boot: "boot")[1], Moment(nanoseconds: 55))
    XCTAssertEqual(try store.entriesToPresent(limit: 9).map(\.id), [2, 4, 5])
    XCTAssertEqual(try store.ledgerEntries(itemID: 4).map(\.id), [4])
    XCTAssertEqual(try store.ledgerEntry(connectionID: 1, messageID: [3])?.id, 3)
    XCTAssertEqual(try store.items(contactID: 1, page: .last(count: 3)).map(\.id), [2, 3, 4])
    XCTAssertEqual(try store.items(contactID: 1, page: .after(item: 1, count: 2)).map(\.id), [2, 3])
    XCTAssertEqual(try store.firstUnreadItem(contactID: 1), 2)
    XCTAssertEqual(try store.database.integrityCheck(), [])
    XCTAssertEqual(try store.database.rows("PRAGMA foreign_key_check") { $0.text(0) }, [])

    XCTAssertEqual(try receive(10, in: store), 10)
    XCTAssertEqual(try store.newestLedgerEntry(), 10)
    XCTAssertEqual(try store.badge(), 3)
    try store.transaction { () throws(StoreError) in try store.remove(try store.item(10)) }
    XCTAssertEqual(try receive(11, in: store), 11, "the newest was deleted")
    XCTAssertEqual(try store.badge(), 3)

    // Waiting entries are found past those shown since, and past those that could not be shown.
    try store.transaction { () throws(StoreError) in
      for entry in try store.entriesToPresent(limit: 9) where entry.id > 2 { try present(entry, store) }
    }
    XCTAssertEqual(try receive(12, in: store), 12)
    XCTAssertEqual(try store.entriesToPresent(limit: 9).map(\.id), [2, 12])
    try store.transaction { () throws(StoreError) in
      let entries = try store.entriesToPresent(limit: 9)
      try store.postpone(entries[0])
      try present(entries[1], store)
    }
    XCTAssertEqual(try receive(13, in: store), 13)
    XCTAssertEqual(try store.entriesToPresent(limit: 9).map(\.id), [2, 13])
    XCTAssertNil(try store.integer("SELECT waiting_from FROM ledger WHERE entry_id = 13"), "nothing before it waits")

    // Read as a whole, the chat has nothing left to count or to show.
    try store.markRead(contactID: 1, only: nil, at: now)
    XCTAssertEqual(try store.badge(), 0)
    XCTAssertEqual(try store.entriesToPresent(limit: 9).map(\.id), [])

    // The newest entries are deleted with their connection; the next one still counts as new.
    try store.transaction { () throws(StoreError) in try store.deleteConnection(1) }
    XCTAssertEqual(try store.newestLedgerEntry(), 0)
    XCTAssertEqual(try store.integer("SELECT entries FROM store"), 13)
    try store.close(checkpoint: true)
  }

  /// A message marked as deleted before its time ran used to be kept forever. Now its time runs, from the mark or from
  /// now.
  func testWhatWasMarkedAsDeletedBeforeItsTimeRanDisappears() throws {
    let contents = """
      INSERT INTO users (user_id, display_name, full_name, created_at) VALUES (1, 'alice', '', 0);
      INSERT INTO contacts (contact_id, user_id, local_name, display_name, full_name, created_at, updated_at)
        VALUES (1, 1, 'bob', 'bob', '', 0, 0);
      INSERT INTO items (item_id, contact_id, sent, content, status, item_at, created_at, updated_at, deleted_at, ttl, delete_at,
        delete_boot, delete_moment) VALUES
        (1, 1, 0, 'marked', 'rcvRead', 1, 1, 1, 10000, 30, NULL, NULL, NULL),
        (2, 1, 1, 'marked, was live', 'sndSent', 1, 1, 1, 20000, 60, NULL, NULL, NULL),
        (3, 1, 0, 'unread', 'rcvNew', 1, 1, 1, NULL, 30, NULL, NULL, NULL),
        (4, 1, 0, 'to stay', 'rcvRead', 1, 1, 1, 10000, NULL, NULL, NULL, NULL),
        (5, 1, 0, 'runs already', 'rcvRead', 1, 1, 1, 10000, 30, 31000, 'boot', 500000000000);
      """
    try makeStore(of: 19, contents)
    let store = try open()
    try store.continueDisappearing(
      boot: "boot", now: Moment(nanoseconds: 100_000_000_000), wall: WallTime(milliseconds: 50_000))
    func gone(bySecond second: Int64) throws -> [Int64] {
      try store.disappeared(by: Moment(nanoseconds: second * 1_000_000_000), limit: 9).map(\.id)
    }
    XCTAssertEqual(try gone(bySecond: 100), [1])
    XCTAssertEqual(try gone(bySecond: 129), [1])
    XCTAssertEqual(try gone(bySecond: 130), [1, 2])
    XCTAssertEqual(try gone(bySecond: 10_000), [1, 2, 5])
    try store.close(checkpoint: true)
  }

  /// Messages still being written to a contact that has left, or was deleted without its messages, used to be kept
  /// forever.
  func testWhatWasUnfinishedWhenItsContactLeftDisappears() throws {
    let contacts = """
      INSERT INTO users (user_id, display_name, full_name, created_at) VALUES (1, 'alice', '', 0);
      INSERT INTO contacts (contact_id, user_id, local_name, display_name, full_name, created_at, updated_at) VALUES
        (1, 1, 'left', 'left', '', 0, 0), (2, 1, 'kept', 'kept', '', 0, 0), (3, 1, 'there', 'there', '', 0, 0);
      INSERT INTO connections (user_id, contact_id, agent_id, status, initiated, recipient_id, recipient_key, sender_id,
        peer_key, created_at, updated_at) VALUES
        (1, 1, x'01', 'left', 1, x'01', x'00', x'00', x'00', 0, 0),
        (1, 3, x'03', 'ready', 1, x'03', x'00', x'00', x'00', 0, 0);
      """
    let items = """
      INSERT INTO items (item_id, contact_id, sent, content, status, item_at, created_at, updated_at, live, ttl) VALUES
        (1, 1, 1, 'timed', 'sndSent', 1, 1, 10000, 1, 30),
        (2, 2, 1, 'timed', 'sndSent', 1, 1, 20000, 1, 60),
        (3, 3, 1, 'timed, and may be continued', 'sndSent', 1, 1, 10000, 1, 30),
        (4, 1, 1, 'to stay', 'sndSent', 1, 1, 10000, 1, NULL),
        (5, 1, 0, 'not read yet', 'rcvNew', 1, 1, 10000, 1, 30);
      """
    try makeStore(of: 21, contacts + items)
    let store = try open()
    try store.continueDisappearing(
      boot: "boot", now: Moment(nanoseconds: 100_000_000_000), wall: WallTime(milliseconds: 50_000))
    XCTAssertEqual(try store.disappeared(by: Moment(nanoseconds: 100_000_000_000), limit: 9).map(\.id), [1])
    XCTAssertEqual(try store.disappeared(by: Moment(nanoseconds: .max), limit: 9).map(\.id), [1, 2])
    XCTAssertEqual(try (1...5).map { try store.item($0).isLive }, [false, false, true, false, true])
    try store.close(checkpoint: true)
  }

  private func present(_ entry: StoredLedgerEntry, _ store: Store) throws(StoreError) {
    try store.run("UPDATE ledger SET state = 'presented' WHERE entry_id = ?", [.integer(entry.id)])
  }

  /// Returns the item's number; the message's ledger entry has the same number.
  private func receive(_ number: UInt8, in store: Store) throws -> Int64 {
    try store.transaction { () throws(StoreError) in
      let item = try store.insertReceivedItem(
        contactID: 1, content: "\(number)", sharedID: [number], itemAt: now, at: now
      ).id
      try store.enter(
        NewLedgerEntry(
          connectionID: 1, messageID: [number], messageAt: now, kind: .message, contactID: 1, itemID: item),
        after: [], at: now)
      return item
    }
  }
}
