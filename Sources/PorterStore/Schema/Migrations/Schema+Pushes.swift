/// Reduces the pages that a push reads and writes, and the tables read before it.
extension Schema {
  static let pushes = """
    -- One row: the key that authenticates messages between processes, and the highest numbers of items and of the ledger's
    -- entries that were deleted, so that none is given twice.
    CREATE TABLE store (
      store_id INTEGER PRIMARY KEY,
      channel_key BLOB NOT NULL,
      items INTEGER NOT NULL,
      entries INTEGER NOT NULL
    );
    INSERT INTO store SELECT 1, key,
      (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'items'),
      (SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'ledger') FROM channel;
    DROP TABLE channel;

    -- What each message changes of its chat is in its connection's row, which it changes anyway.
    ALTER TABLE connections ADD COLUMN unread INTEGER;
    ALTER TABLE connections ADD COLUMN unread_mentions INTEGER;
    ALTER TABLE connections ADD COLUMN chat_at INTEGER;
    ALTER TABLE connections ADD COLUMN sounded_at INTEGER;
    ALTER TABLE connections ADD COLUMN sounded_boot TEXT;
    UPDATE connections SET (unread, unread_mentions, chat_at, sounded_at, sounded_boot) = (
      SELECT unread, unread_mentions, chat_at, sounded_at, sounded_boot FROM contacts
      WHERE contacts.contact_id = connections.contact_id)
    WHERE contact_id IS NOT NULL;
    DROP INDEX contacts_recent;
    ALTER TABLE contacts DROP COLUMN unread;
    ALTER TABLE contacts DROP COLUMN unread_mentions;
    ALTER TABLE contacts DROP COLUMN chat_at;
    ALTER TABLE contacts DROP COLUMN sounded_at;
    ALTER TABLE contacts DROP COLUMN sounded_boot;

    ALTER TABLE ledger RENAME TO earlier_ledger;
    DROP INDEX ledger_item;
    DROP INDEX ledger_removal;
    DROP INDEX ledger_summary;
    DROP INDEX ledger_waiting;
    DROP INDEX ledger_announced;
    DROP INDEX ledger_quarantined;
    DROP INDEX ledger_outdated;
    DROP INDEX ledger_request;
    -- No entry before `waiting_from` waits to be shown, as of this one's commit; NULL for this one itself. An entry that
    -- could not be shown is `late`, and does not keep later ones from moving that on.
    CREATE TABLE ledger (
      entry_id INTEGER PRIMARY KEY,
      connection_id INTEGER NOT NULL REFERENCES connections ON DELETE CASCADE,
      message_id BLOB NOT NULL,
      message_at INTEGER NOT NULL,
      state TEXT NOT NULL,
      kind TEXT NOT NULL,
      waiting_from INTEGER,
      late INTEGER,
      contact_id INTEGER,
      item_id INTEGER,
      request_id INTEGER,
      removal_due INTEGER NOT NULL DEFAULT 0,
      attempts INTEGER NOT NULL DEFAULT 0,
      reason TEXT,
      body BLOB,
      detail TEXT,
      summary TEXT,
      created_at INTEGER NOT NULL,
      UNIQUE (connection_id, message_id)
    );
    INSERT INTO ledger (entry_id, connection_id, message_id, message_at, state, kind, waiting_from, contact_id, item_id,
      request_id, removal_due, attempts, reason, body, detail, summary, created_at)
    SELECT entry_id, connection_id, message_id, message_at, state, kind,
      (SELECT min(entry_id) FROM earlier_ledger WHERE state IN ('committed', 'upgraded')), contact_id, item_id,
      request_id, removal_due, attempts, reason, body, detail, summary, created_at
    FROM earlier_ledger ORDER BY entry_id;
    CREATE INDEX ledger_late ON ledger (entry_id) WHERE state = 'outdated' OR late = 1;
    CREATE INDEX ledger_unopened ON ledger (connection_id, entry_id) WHERE state = 'quarantined' OR state = 'announced';
    CREATE INDEX ledger_removal ON ledger (entry_id) WHERE removal_due = 1;
    CREATE INDEX ledger_summary ON ledger (summary) WHERE summary IS NOT NULL;
    CREATE INDEX ledger_request ON ledger (request_id) WHERE request_id IS NOT NULL;

    ALTER TABLE items RENAME TO earlier_items;
    DROP INDEX items_contact;
    DROP INDEX items_unread;
    DROP INDEX items_shared;
    DROP INDEX items_disappearing;
    -- `ledger_entry` is that of the message that brought it.
    CREATE TABLE items (
      item_id INTEGER PRIMARY KEY,
      ledger_entry INTEGER,
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      sent INTEGER NOT NULL,
      content TEXT NOT NULL,
      status TEXT NOT NULL,
      shared_id BLOB,
      item_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      quote TEXT,
      edited INTEGER,
      deleted_at INTEGER,
      live INTEGER,
      ttl INTEGER,
      delete_at INTEGER,
      delete_boot TEXT,
      delete_moment INTEGER,
      mentions_user INTEGER,
      overtook INTEGER
    );
    CREATE INDEX earlier_entries ON earlier_ledger (item_id, entry_id);
    INSERT INTO items (item_id, ledger_entry, contact_id, sent, content, status, shared_id, item_at, created_at, updated_at,
      quote, edited, deleted_at, live, ttl, delete_at, delete_boot, delete_moment, mentions_user, overtook)
    SELECT item_id, (SELECT max(entry_id) FROM earlier_ledger WHERE earlier_ledger.item_id = earlier_items.item_id),
      contact_id, sent, content, status, shared_id, item_at, created_at, updated_at,
      quote, edited, deleted_at, live, ttl, delete_at, delete_boot, delete_moment, mentions_user, overtook
    FROM earlier_items ORDER BY item_id;
    DROP TABLE earlier_ledger;
    DROP TABLE earlier_items;
    CREATE INDEX items_chat ON items (contact_id, status = 'rcvNew');
    CREATE INDEX items_shared ON items (contact_id, shared_id) WHERE shared_id IS NOT NULL;
    CREATE INDEX items_disappearing ON items (delete_moment) WHERE delete_at IS NOT NULL;
    """

  /// On tables that are small, or rarely searched this way.
  static let fewerIndexes = """
    DROP INDEX users_active;
    DROP INDEX connections_user;
    """
}
