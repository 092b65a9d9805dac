extension Schema {
  /// Users, contacts, the connections to them, and the requests for them.
  static let people = """
    CREATE TABLE settings (
      name TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- One row: the key that authenticates messages between processes, and the highest numbers of items and of the ledger's
    -- entries that were deleted, so that none is given twice.
    CREATE TABLE store (
      store_id INTEGER PRIMARY KEY,
      channel_key BLOB NOT NULL,
      items INTEGER NOT NULL,
      entries INTEGER NOT NULL
    );

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
      created_at INTEGER NOT NULL,
      -- What a person shows of themselves, as JSON; NULL for a name only.
      profile TEXT,
      -- Whether contacts learn that their messages arrived, unless the contact has a setting of its own.
      sends_receipts INTEGER NOT NULL DEFAULT 0,
      view_hash BLOB,
      view_salt BLOB
    );

    CREATE TABLE contacts (
      contact_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      local_name TEXT NOT NULL,
      display_name TEXT NOT NULL,
      full_name TEXT NOT NULL,
      notifications TEXT NOT NULL DEFAULT 'all' CHECK (notifications IN ('all', 'mentions', 'none')),
      favorite INTEGER NOT NULL DEFAULT 0,
      marked_unread INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      profile TEXT,
      -- NULL for what is usual.
      sends_receipts INTEGER,
      -- The name that the user gives; empty for none.
      local_alias TEXT NOT NULL DEFAULT '',
      -- The host's own, as JSON.
      custom_data TEXT,
      -- What the user allows this contact in particular, as JSON.
      user_preferences TEXT,
      -- When something was last said, of a contact that the user has deleted and whose messages stay; NULL for others, whose
      -- connections know it.
      kept_chat_at INTEGER,
      UNIQUE (user_id, local_name)
    );

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
      updated_at INTEGER NOT NULL,
      -- The profile that this contact sees instead of the user's own, as JSON.
      incognito TEXT,
      -- Of a connection that was asked for through another's address: the address's mailbox, the key that seals what is left
      -- there, and our name in it.
      address_mailbox BLOB,
      address_key BLOB,
      address_person BLOB,
      local_alias TEXT NOT NULL DEFAULT '',
      -- What each message changes of its chat is in its connection's row, which it changes anyway.
      unread INTEGER,
      unread_mentions INTEGER,
      chat_at INTEGER,
      sounded_at INTEGER,
      sounded_boot TEXT,
      -- Why the subscription last had to be made anew, as the name of an event of `subscription`, and when that was noticed.
      repair_reason TEXT,
      repair_at INTEGER
    );
    CREATE INDEX connections_address ON connections (address_mailbox) WHERE address_mailbox IS NOT NULL;

    CREATE TABLE skipped_keys (
      connection_id INTEGER NOT NULL REFERENCES connections ON DELETE CASCADE,
      sequence INTEGER NOT NULL,
      stored BLOB NOT NULL,
      PRIMARY KEY (connection_id, sequence)
    ) WITHOUT ROWID;
    CREATE INDEX skipped_keys_name ON skipped_keys (connection_id, substr(stored, 1, 36));

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

    -- A user's address: a mailbox that anyone with its link may write to. Its keys are those of its connection.
    CREATE TABLE addresses (
      address_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL UNIQUE REFERENCES users ON DELETE CASCADE,
      connection_id INTEGER NOT NULL UNIQUE REFERENCES connections ON DELETE CASCADE,
      link TEXT NOT NULL,
      -- As JSON, exactly as it was set.
      settings TEXT NOT NULL,
      created_at INTEGER NOT NULL
    );

    CREATE TABLE contact_requests (
      request_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      address_id INTEGER NOT NULL REFERENCES addresses ON DELETE CASCADE,
      -- The name that the requesting person chose for this address; by it a repeat is recognised.
      person BLOB NOT NULL,
      -- A state of the machine contact_request.
      state TEXT NOT NULL,
      display_name TEXT NOT NULL,
      full_name TEXT NOT NULL,
      profile TEXT,
      -- The mailbox of the person's invitation, and the invitation until it is used.
      mailbox BLOB NOT NULL,
      invitation TEXT,
      -- The profile to show to this person instead of the user's own, as JSON.
      incognito TEXT,
      repeats INTEGER NOT NULL DEFAULT 0,
      contact_id INTEGER REFERENCES contacts ON DELETE SET NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      UNIQUE (address_id, person)
    );
    CREATE INDEX contact_requests_state ON contact_requests (address_id, state);
    CREATE INDEX contact_requests_mailbox ON contact_requests (mailbox);
    CREATE INDEX contact_requests_contact ON contact_requests (contact_id) WHERE contact_id IS NOT NULL;

    -- A mailbox that a service of the host's writes to. Its keys are those of its connection.
    CREATE TABLE scopes (
      scope_id INTEGER PRIMARY KEY AUTOINCREMENT,
      user_id INTEGER NOT NULL REFERENCES users ON DELETE CASCADE,
      connection_id INTEGER NOT NULL UNIQUE REFERENCES connections ON DELETE CASCADE,
      name TEXT NOT NULL,
      address TEXT NOT NULL,
      -- With which the service signs.
      service_key BLOB NOT NULL,
      -- The newest version of envelopes that the host knows, and the commands that it knows, as a JSON list; NULL for all.
      version INTEGER NOT NULL,
      commands TEXT,
      -- The relay's time of the newest message; what was long over by then is not valid any more.
      newest_at INTEGER NOT NULL DEFAULT 0,
      created_at INTEGER NOT NULL,
      UNIQUE (user_id, name)
    );
    """
}
