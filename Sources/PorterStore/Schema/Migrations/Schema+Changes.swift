/// Messages that change after being sent: edits, deletions, reactions, receipts, and messages that disappear.
extension Schema {
  static let changes = """
    ALTER TABLE items ADD COLUMN edited INTEGER NOT NULL DEFAULT 0;
    -- When it was marked as deleted; what it said is kept.
    ALTER TABLE items ADD COLUMN deleted_at INTEGER;
    -- Still being written.
    ALTER TABLE items ADD COLUMN live INTEGER NOT NULL DEFAULT 0;
    -- Seconds that it stays once its time runs.
    ALTER TABLE items ADD COLUMN ttl INTEGER;
    -- When it disappears: on the wall clock, which is shown, and since this boot, which decides (INC-14).
    ALTER TABLE items ADD COLUMN delete_at INTEGER;
    ALTER TABLE items ADD COLUMN delete_boot TEXT;
    ALTER TABLE items ADD COLUMN delete_moment INTEGER;
    ALTER TABLE items ADD COLUMN mentions_user INTEGER NOT NULL DEFAULT 0;
    -- Made by an edit that came before its message.
    ALTER TABLE items ADD COLUMN overtook INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX items_shared ON items (contact_id, shared_id) WHERE shared_id IS NOT NULL;
    CREATE INDEX items_disappearing ON items (delete_moment) WHERE delete_at IS NOT NULL;

    -- Unread items that mention the user: what a chat counts that is set to mentions.
    ALTER TABLE contacts ADD COLUMN unread_mentions INTEGER NOT NULL DEFAULT 0 CHECK (unread_mentions >= 0);
    -- Whether contacts learn that their messages arrived, unless the contact has a setting of its own.
    ALTER TABLE users ADD COLUMN sends_receipts INTEGER NOT NULL DEFAULT 0;

    -- By the name of the message, since a reaction may come before it.
    CREATE TABLE reactions (
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      shared_id BLOB NOT NULL,
      -- Whether it is the user's.
      own INTEGER NOT NULL,
      reaction TEXT NOT NULL,
      reacted_at INTEGER NOT NULL,
      PRIMARY KEY (contact_id, shared_id, own, reaction)
    ) WITHOUT ROWID;

    -- Names of the last few messages that were deleted, some before they came. What comes under such a name
    -- is not shown.
    CREATE TABLE removed_messages (
      removed_id INTEGER PRIMARY KEY AUTOINCREMENT,
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      shared_id BLOB NOT NULL,
      UNIQUE (contact_id, shared_id)
    );

    -- What an entry of the kind `changed` changed, as JSON.
    ALTER TABLE ledger ADD COLUMN detail TEXT;
    -- Notifications on screen whose message was edited.
    CREATE INDEX ledger_outdated ON ledger (entry_id) WHERE state = 'outdated';
    """

  static let sentMoments = """
    -- When the user sent it, since that boot: what decides for how long it may be changed (INC-14). NULL for what a contact sent, and
    -- for what was sent before these columns were there.
    ALTER TABLE items ADD COLUMN sent_boot TEXT;
    ALTER TABLE items ADD COLUMN sent_moment INTEGER;
    """

  /// Messages that the user had not finished when their contact left, or was deleted without the messages, used to be
  /// kept. Their time begins with their last change; see `markedDisappearing`.
  static let unfinishedMessages = """
    CREATE INDEX items_unfinished ON items (contact_id) WHERE live = 1 AND sent = 1;
    UPDATE items SET delete_at = updated_at + ttl * 1000, delete_boot = '', delete_moment = 0
    WHERE live = 1 AND sent = 1 AND ttl IS NOT NULL AND delete_at IS NULL AND NOT EXISTS (
      SELECT 1 FROM connections WHERE connections.contact_id = items.contact_id AND status <> 'left');
    UPDATE items SET live = 0
    WHERE live = 1 AND sent = 1 AND NOT EXISTS (
      SELECT 1 FROM connections WHERE connections.contact_id = items.contact_id AND status <> 'left');
    """

  /// Messages marked as deleted before their time began used to be kept. The time begins with the mark;
  /// `continueDisappearing` takes it for a time from an earlier boot, and computes the moment at which it ends.
  static let markedDisappearing = """
    UPDATE items SET delete_at = deleted_at + ttl * 1000, delete_boot = '', delete_moment = 0
    WHERE deleted_at IS NOT NULL AND ttl IS NOT NULL AND delete_at IS NULL;
    """
}
