extension Store {
  /// Records what was last handed over to the host of an app; without syncing, since a power failure at worst repeats
  /// an event.
  package func noteTold(through entry: Int64, as name: String) throws(StoreError) {
    try noteLightly(String(entry), as: name)
  }

  /// Without syncing: for what a power failure may undo.
  package func noteLightly(_ value: String, as name: String) throws(StoreError) {
    try lightTransaction { () throws(StoreError) in
      try run(
        "INSERT INTO settings (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2",
        [.text(name), .text(value)])
    }
  }
}
