extension Schema {
  static let subscriptionRepairs = """
    -- Why the subscription last had to be made anew, as the name of an event of `subscription`, and when that was noticed.
    ALTER TABLE connections ADD COLUMN repair_reason TEXT;
    ALTER TABLE connections ADD COLUMN repair_at INTEGER;
    """

  static let pushHealth = """
    -- Why the token last needed repair, as the name of an event of `token_status`, and when that was noticed.
    ALTER TABLE token ADD COLUMN repair_reason TEXT;
    ALTER TABLE token ADD COLUMN repair_at INTEGER;
    -- `off` says since then that the relay has dropped the notifier.
    UPDATE connections SET subscription = 'turningOff' WHERE subscription = 'off' AND notifier_key IS NOT NULL;
    """
}
