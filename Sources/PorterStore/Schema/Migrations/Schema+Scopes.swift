extension Schema {
  /// Scopes, and the host's own pushes that come through them.
  static let scopes = """
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
    """
}
