extension Schema {
  static let calls = """
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
    """
}
