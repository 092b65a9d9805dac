/// The first tables, and the later additions to them.
extension Schema {
  static let first = """
    CREATE TABLE settings (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) WITHOUT ROWID;

    CREATE TABLE users (
      user_id INTEGER PRIMARY KEY AUTOINCREMENT,
      display_name TEXT NOT NULL UNIQUE,
      full_name TEXT NOT NULL,
      active INTEGER NOT NULL DEFAULT 0,
      active_order INTEGER NOT NULL DEFAULT 0,
      show_notifications INTEGER NOT NULL DEFAULT 1,
      -- Unread items of chats that are not muted, over all its contacts. Kept in the transaction that changes an item
      -- (INC-60), so that a push costs the same however many messages there are.
      unread INTEGER NOT NULL DEFAULT 0 CHECK (unread >= 0),
      created_at INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX users_active ON users (active) WHERE active = 1;

    CREATE TABLE contacts (
      contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      local_name TEXT NOT NULL,
      display_name TEXT NOT NULL,
      full_name TEXT NOT NULL,
      notifications TEXT NOT NULL DEFAULT 'all' CHECK (notifications IN ('all', 'mentions', 'none')),
      favorite INTEGER NOT NULL DEFAULT 0,
      unread INTEGER NOT NULL DEFAULT 0 CHECK (unread >= 0),
      marked_unread INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      chat_at INTEGER NOT NULL,
      UNIQUE (user_id, local_name)
    );
    CREATE INDEX contacts_recent ON contacts (user_id, chat_at);

    CREATE TABLE connections (
      connection_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      contact_id INTEGER UNIQUE REFERENCES contacts ON DELETE CASCADE,
      agent_id BLOB NOT NULL UNIQUE,
      status TEXT NOT NULL,
      initiated INTEGER NOT NULL,
      -- The mailbox in which the other side leaves messages for us.
      recipient_id BLOB NOT NULL UNIQUE,
      recipient_key BLOB NOT NULL,
      sender_id BLOB NOT NULL,
      secured INTEGER NOT NULL DEFAULT 0,
      -- The other side's mailbox, and the key with which we sign what we leave there.
      peer_sender_id BLOB,
      peer_key BLOB NOT NULL,
      -- What the other side needs to know of our set-up: the invitation's secret until it is used.
      invitation BLOB,
      link TEXT,
      peer_public_key BLOB,
      ratchet BLOB,
      associated_data BLOB,
      -- The push subscription of the mailbox.
      notifier_id BLOB UNIQUE,
      notifier_key BLOB,
      -- Our half of the agreement on `notifier_secret`, until the relay has answered.
      notifier_box_key BLOB,
      notifier_secret BLOB,
      subscription TEXT NOT NULL DEFAULT 'new',
      -- Who may advance this connection; see Claims.swift.
      epoch INTEGER NOT NULL DEFAULT 0,
      owner TEXT,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    );
    CREATE INDEX connections_user ON connections (user_id);

    CREATE TABLE skipped_keys (
      connection_id INTEGER NOT NULL REFERENCES connections ON DELETE CASCADE,
      sequence INTEGER NOT NULL,
      stored BLOB NOT NULL,
      PRIMARY KEY (connection_id, sequence)
    ) WITHOUT ROWID;

    CREATE TABLE items (
      item_id INTEGER PRIMARY KEY AUTOINCREMENT,
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      sent INTEGER NOT NULL,
      -- The message's content as JSON, in the form in which it travelled.
      content TEXT NOT NULL,
      status TEXT NOT NULL,
      shared_id BLOB,
      item_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL
    );
    CREATE INDEX items_contact ON items (contact_id, item_id);
    CREATE INDEX items_unread ON items (contact_id, item_id) WHERE status = 'rcvNew';

    -- Everything that may be shown, once each; a repeat of a relay's message finds its entry here.
    CREATE TABLE ledger (
      entry_id INTEGER PRIMARY KEY AUTOINCREMENT,
      connection_id INTEGER NOT NULL REFERENCES connections ON DELETE CASCADE,
      message_id BLOB NOT NULL,
      message_at INTEGER NOT NULL,
      state TEXT NOT NULL,
      kind TEXT NOT NULL,
      contact_id INTEGER,
      item_id INTEGER,
      -- Its notification is on screen and is to be taken away.
      removal_due INTEGER NOT NULL DEFAULT 0,
      -- Why an entry is in quarantine, and what could not be opened, for diagnosis.
      reason TEXT,
      body BLOB,
      created_at INTEGER NOT NULL,
      UNIQUE (connection_id, message_id)
    );
    CREATE INDEX ledger_waiting ON ledger (entry_id) WHERE state = 'committed';
    CREATE INDEX ledger_item ON ledger (item_id) WHERE item_id IS NOT NULL;
    CREATE INDEX ledger_removal ON ledger (entry_id) WHERE removal_due = 1;

    -- The last few pushes that could not be opened, for diagnosis.
    CREATE TABLE quarantined_pushes (
      push_id INTEGER PRIMARY KEY AUTOINCREMENT,
      reason TEXT NOT NULL,
      payload TEXT NOT NULL,
      created_at INTEGER NOT NULL
    );

    -- What is encrypted and waits for the relay. `deduplication` makes sending it twice the same as once.
    CREATE TABLE outbox (
      outbox_id INTEGER PRIMARY KEY AUTOINCREMENT,
      connection_id INTEGER NOT NULL REFERENCES connections ON DELETE CASCADE,
      item_id INTEGER,
      purpose TEXT NOT NULL,
      signed INTEGER NOT NULL,
      notify INTEGER NOT NULL,
      body BLOB NOT NULL,
      deduplication BLOB NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0
    );

    -- Mailboxes of deleted contacts, until the relay has deleted them too.
    CREATE TABLE deleted_mailboxes (
      recipient_id BLOB PRIMARY KEY,
      recipient_key BLOB NOT NULL
    ) WITHOUT ROWID;

    -- At most one row: the device's token at the notification server.
    CREATE TABLE token (
      token_id INTEGER PRIMARY KEY CHECK (token_id = 1),
      provider TEXT NOT NULL,
      device_token BLOB NOT NULL,
      server TEXT NOT NULL,
      status TEXT NOT NULL,
      mode TEXT NOT NULL,
      server_token_id BLOB,
      signing_key BLOB NOT NULL,
      box_key BLOB NOT NULL,
      push_secret BLOB,
      -- The code of the last verification push, until the server has taken it.
      verification_code BLOB,
      reply_recipient_id BLOB,
      reply_recipient_key BLOB,
      reply_sender_id BLOB,
      updated_at INTEGER NOT NULL
    );

    -- Requests to notification servers whose answers are not awaited, until the relay has them.
    CREATE TABLE server_outbox (
      request_id INTEGER PRIMARY KEY AUTOINCREMENT,
      mailbox BLOB NOT NULL,
      body BLOB NOT NULL,
      deduplication BLOB NOT NULL
    );
    """

  /// The key that authenticates messages between processes that share the store.
  static let channel = """
    CREATE TABLE channel (
      channel_id INTEGER PRIMARY KEY CHECK (channel_id = 1),
      key BLOB NOT NULL
    );
    """

  static let reservations = """
    -- Values that may be used once; see Reservations.swift.
    CREATE TABLE reservations (
      kind TEXT NOT NULL,
      value BLOB NOT NULL,
      owner TEXT NOT NULL,
      epoch INTEGER NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('reserved', 'used', 'undone')),
      material BLOB NOT NULL,
      created_at INTEGER NOT NULL,
      PRIMARY KEY (kind, value)
    ) WITHOUT ROWID;
    CREATE INDEX reservations_open ON reservations (kind) WHERE state = 'reserved';
    """

  static let profiles = """
    -- What a person shows of themselves, as JSON; NULL for a name only.
    ALTER TABLE users ADD COLUMN profile TEXT;
    ALTER TABLE contacts ADD COLUMN profile TEXT;
    -- NULL for what is usual.
    ALTER TABLE contacts ADD COLUMN sends_receipts INTEGER;
    -- What an item answers, as JSON.
    ALTER TABLE items ADD COLUMN quote TEXT;
    -- What is signed is the last message to a contact: it waits here, since the connection's own outbox goes with
    -- the connection.
    ALTER TABLE server_outbox ADD COLUMN sender_key BLOB;
    -- Notifications on screen whose connection, with its ledger, was deleted; until they are removed.
    CREATE TABLE removals (
      removal_id INTEGER PRIMARY KEY,
      agent_id BLOB NOT NULL,
      message_id BLOB NOT NULL,
      kind TEXT NOT NULL,
      user_id INTEGER NOT NULL,
      contact_id INTEGER
    );
    """

  static let keptConversations = """
    -- When something was last said, of a contact that the user has deleted and whose messages stay; NULL for others, whose
    -- connections know it.
    ALTER TABLE contacts ADD COLUMN kept_chat_at INTEGER;
    """
}
