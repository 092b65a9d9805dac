extension Schema {
  /// A skipped key is looked up by the message that it opens: the first 36 of its bytes (`SkippedKey.name`).
  static let skippedKeys = """
    CREATE INDEX skipped_keys_name ON skipped_keys (connection_id, substr(stored, 1, 36));
    """
}
