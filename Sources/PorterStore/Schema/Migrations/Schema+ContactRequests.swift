extension Schema {
  /// Addresses, and the requests that come through them.
  static let contactRequests = """
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

    -- The profile that this contact sees instead of the user's own, as JSON.
    ALTER TABLE connections ADD COLUMN incognito TEXT;
    -- Of a connection that was asked for through another's address: the address's mailbox, the key that seals what is left
    -- there, and our name in it.
    ALTER TABLE connections ADD COLUMN address_mailbox BLOB;
    ALTER TABLE connections ADD COLUMN address_key BLOB;
    ALTER TABLE connections ADD COLUMN address_person BLOB;
    CREATE INDEX connections_address ON connections (address_mailbox) WHERE address_mailbox IS NOT NULL;

    -- What a notification of the kind `request` is about.
    ALTER TABLE ledger ADD COLUMN request_id INTEGER;
    CREATE INDEX ledger_request ON ledger (request_id) WHERE request_id IS NOT NULL;
    ALTER TABLE removals ADD COLUMN request_id INTEGER;
    """
}
