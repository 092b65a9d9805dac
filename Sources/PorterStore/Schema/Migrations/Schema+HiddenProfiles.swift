extension Schema {
  /// Profiles that are shown only to a user who knows their password.
  static let hiddenProfiles = """
    ALTER TABLE users ADD COLUMN view_hash BLOB;
    ALTER TABLE users ADD COLUMN view_salt BLOB;
    """
}
