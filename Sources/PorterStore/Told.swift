extension Store {
  /// What the host of an app was told last; without syncing, since a power failure repeats an event at worst.
  package func noteTold(through entry: Int64, as name: String) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run(
        "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
        [.text(name), .text(String(entry))])
    }
  }
}
