extension Schema {
  static let pushHealth = """
    -- Why the token last needed repair, as the name of an event of `token_status`, and when that was noticed.
    ALTER TABLE token ADD COLUMN repair_reason TEXT;
    ALTER TABLE token ADD COLUMN repair_at INTEGER;
    -- `off` says since then that the relay has dropped the notifier.
    UPDATE connections SET subscription = 'turningOff' WHERE subscription = 'off' AND notifier_key IS NOT NULL;
    """
}
