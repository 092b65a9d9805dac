extension Schema {
  /// The user's settings for one contact, or for one invitation.
  static let contactSettings = """
    -- The name that the user gives; empty for none.
    ALTER TABLE contacts ADD COLUMN local_alias TEXT NOT NULL DEFAULT '';
    ALTER TABLE connections ADD COLUMN local_alias TEXT NOT NULL DEFAULT '';
    -- The host's own, as JSON.
    ALTER TABLE contacts ADD COLUMN custom_data TEXT;
    -- What the user allows this contact in particular, as JSON.
    ALTER TABLE contacts ADD COLUMN user_preferences TEXT;
    """
}
