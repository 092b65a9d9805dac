extension Schema {
  /// Messages that come through connections, records about them, and the push token they come by.
  static let messages = """
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
      -- What a notification of the kind `request` is about.
      request_id INTEGER,
      -- Its notification is on screen and is to be taken away.
      removal_due INTEGER NOT NULL DEFAULT 0,
      -- How often it was tried again to open what is in quarantine.
      attempts INTEGER NOT NULL DEFAULT 0,
      -- Why an entry is in quarantine, and what could not be opened, for diagnosis.
      reason TEXT,
      body BLOB,
      -- What an entry of the kind `changed` changed, as JSON.
      detail TEXT,
      -- The identifier of the summary that stands for this message and others, while it is on screen; NULL for a notification
      -- of its own.
      summary TEXT,
      created_at INTEGER NOT NULL,
      UNIQUE (connection_id, message_id)
    );
    CREATE INDEX ledger_late ON ledger (entry_id) WHERE state = 'outdated' OR late = 1;
    CREATE INDEX ledger_unopened ON ledger (connection_id, entry_id) WHERE state = 'quarantined' OR state = 'announced';
    CREATE INDEX ledger_removal ON ledger (entry_id) WHERE removal_due = 1;
    CREATE INDEX ledger_summary ON ledger (summary) WHERE summary IS NOT NULL;
    CREATE INDEX ledger_request ON ledger (request_id) WHERE request_id IS NOT NULL;

    -- `ledger_entry` is that of the message that brought it.
    CREATE TABLE items (
      item_id INTEGER PRIMARY KEY,
      ledger_entry INTEGER,
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      sent INTEGER NOT NULL,
      -- The message's content as JSON, in the form in which it travelled.
      content TEXT NOT NULL,
      status TEXT NOT NULL,
      shared_id BLOB,
      item_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      -- What an item answers, as JSON.
      quote TEXT,
      edited INTEGER,
      -- When it was marked as deleted; what it said is kept.
      deleted_at INTEGER,
      -- Still being written.
      live INTEGER,
      -- Seconds that it stays once its time runs.
      ttl INTEGER,
      -- When it disappears: on the wall clock, which is shown, and since this boot, which decides (INC-14).
      delete_at INTEGER,
      delete_boot TEXT,
      delete_moment INTEGER,
      mentions_user INTEGER,
      -- Made by an edit that came before its message.
      overtook INTEGER,
      -- When the user sent it, since that boot: what decides for how long it may be changed (INC-14). NULL for what a contact sent, and
      -- for what was sent before these columns were there.
      sent_boot TEXT,
      sent_moment INTEGER
    );
    CREATE INDEX items_chat ON items (contact_id, status = 'rcvNew');
    CREATE INDEX items_shared ON items (contact_id, shared_id) WHERE shared_id IS NOT NULL;
    CREATE INDEX items_disappearing ON items (delete_moment) WHERE delete_at IS NOT NULL;
    CREATE INDEX items_unfinished ON items (contact_id) WHERE live = 1 AND sent = 1;

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

    -- Notifications on screen whose connection, with its ledger, was deleted; until they are removed.
    CREATE TABLE removals (
      removal_id INTEGER PRIMARY KEY,
      agent_id BLOB NOT NULL,
      message_id BLOB NOT NULL,
      kind TEXT NOT NULL,
      user_id INTEGER NOT NULL,
      contact_id INTEGER,
      summary TEXT,
      request_id INTEGER
    );

    -- What the user did with notifications; see Responses.swift. The states are those of the machine
    -- notification_response.
    CREATE TABLE responses (
      response_id INTEGER PRIMARY KEY AUTOINCREMENT,
      state TEXT NOT NULL,
      action TEXT NOT NULL,
      -- Of the notification; NULL for one that is not ours, of which a repeat is not recognised.
      identifier TEXT,
      -- Of the text of a reply. The text itself is erased when the response has ended.
      digest BLOB NOT NULL,
      text TEXT,
      -- What the notification said it was about; afterwards where to navigate.
      user_id INTEGER,
      chat_id TEXT,
      request_id INTEGER,
      connection TEXT,
      -- Why it is stale.
      reason TEXT,
      created_at INTEGER NOT NULL,
      UNIQUE (identifier, action, digest)
    );
    CREATE INDEX responses_open ON responses (response_id) WHERE state IN ('waiting', 'applying');

    -- Events about responses that have ended, until the host has taken them.
    CREATE TABLE response_events (
      response_id INTEGER PRIMARY KEY REFERENCES responses ON DELETE CASCADE
    );

    -- The last call of each contact; the states are those of the machine call.
    CREATE TABLE calls (
      call_id INTEGER PRIMARY KEY AUTOINCREMENT,
      contact_id INTEGER NOT NULL UNIQUE REFERENCES contacts ON DELETE CASCADE,
      state TEXT NOT NULL,
      incoming INTEGER NOT NULL,
      -- The name that both sides know the call by.
      shared_id BLOB NOT NULL,
      uuid TEXT NOT NULL,
      -- What the side that made the invitation can do, as JSON.
      type TEXT NOT NULL,
      -- Our half of the agreement on `shared_key`, until the other one has come.
      secret BLOB,
      shared_key BLOB,
      item_id INTEGER,
      -- In the outbox, as long as the relay has not got it.
      invitation_id INTEGER,
      called_at INTEGER NOT NULL,
      connected_at INTEGER,
      -- When the invitation expires, in nanoseconds since this boot.
      boot TEXT NOT NULL,
      deadline INTEGER NOT NULL
    );

    -- Events about what contacts sent, until the host has taken them.
    CREATE TABLE call_events (
      event_id INTEGER PRIMARY KEY AUTOINCREMENT,
      contact_id INTEGER NOT NULL REFERENCES contacts ON DELETE CASCADE,
      kind TEXT NOT NULL,
      content TEXT NOT NULL
    );

    CREATE TABLE application_pushes (
      push_id INTEGER PRIMARY KEY AUTOINCREMENT,
      scope_id INTEGER NOT NULL REFERENCES scopes ON DELETE CASCADE,
      -- The name that the service gave it; by it a repeat is recognised.
      envelope_id BLOB NOT NULL,
      -- The relay's message that brought it, as in the ledger.
      message_id BLOB NOT NULL,
      -- A state of the machine application_push.
      state TEXT NOT NULL,
      -- As JSON; NULL once the host has settled it.
      envelope TEXT,
      expires_at INTEGER NOT NULL,
      message_at INTEGER NOT NULL,
      UNIQUE (scope_id, envelope_id)
    );
    CREATE INDEX application_pushes_message ON application_pushes (message_id);
    CREATE INDEX application_pushes_expiry ON application_pushes (scope_id, expires_at);

    -- The last few pushes that could not be opened, for diagnosis.
    CREATE TABLE quarantined_pushes (
      push_id INTEGER PRIMARY KEY AUTOINCREMENT,
      reason TEXT NOT NULL,
      payload TEXT NOT NULL,
      created_at INTEGER NOT NULL
    );

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
      updated_at INTEGER NOT NULL,
      -- Why the token last needed repair, as the name of an event of `token_status`, and when that was noticed.
      repair_reason TEXT,
      repair_at INTEGER
    );

    -- Requests to notification servers whose answers are not awaited, until the relay has them.
    CREATE TABLE server_outbox (
      request_id INTEGER PRIMARY KEY AUTOINCREMENT,
      mailbox BLOB NOT NULL,
      body BLOB NOT NULL,
      deduplication BLOB NOT NULL,
      -- What is signed is the last message to a contact: it waits here, since the connection's own outbox goes with
      -- the connection.
      sender_key BLOB
    );

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
}
