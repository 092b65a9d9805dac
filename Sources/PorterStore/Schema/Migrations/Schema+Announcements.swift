extension Schema {
  /// Placeholders in the ledger, and retries of messages that did not open.
  static let announcements = """
    -- How often it was tried again to open what is in quarantine.
    ALTER TABLE ledger ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
    DROP INDEX ledger_waiting;
    CREATE INDEX ledger_waiting ON ledger (entry_id) WHERE state IN ('committed', 'upgraded');
    CREATE INDEX ledger_announced ON ledger (contact_id) WHERE state = 'announced';
    CREATE INDEX ledger_quarantined ON ledger (connection_id, entry_id) WHERE state = 'quarantined';
    """
}
