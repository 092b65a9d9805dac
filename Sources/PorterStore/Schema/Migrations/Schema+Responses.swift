extension Schema {
  static let responses = """
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
    """
}
