extension Schema {
  static let bursts = """
    -- When a notification of this chat last made a sound, in nanoseconds since the boot that is named.
    ALTER TABLE contacts ADD COLUMN sounded_at INTEGER;
    ALTER TABLE contacts ADD COLUMN sounded_boot TEXT;
    -- The identifier of the summary that stands for this message and others, while it is on screen; NULL for a notification
    -- of its own.
    ALTER TABLE ledger ADD COLUMN summary TEXT;
    ALTER TABLE removals ADD COLUMN summary TEXT;
    CREATE INDEX ledger_summary ON ledger (summary) WHERE summary IS NOT NULL;
    """
}
