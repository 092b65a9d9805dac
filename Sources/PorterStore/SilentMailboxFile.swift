import PorterCrypto
import PorterPlatform

/// The file beside the store that holds `SilentMailboxes`, for processes that cannot read the store. It is not sealed,
/// and contains neither a key nor an identifier.
package struct SilentMailboxFile {
  private let path: String
  private let directory: String
  private let files: any Files

  package init(_ location: StoreLocation, _ files: any Files) {
    path = location.stem + "_silent"
    directory = Store.directory(of: path)
    self.files = files
  }

  /// Nil if there is no readable file.
  package func read() -> SilentMailboxes? {
    guard let file = try? files.open(path, for: .reading) else { return nil }
    defer { files.close(file) }
    guard let size = try? files.status(of: file).size, size <= SilentMailboxes.largestFile else { return nil }
    return (try? files.read(file, limit: Int(size))).flatMap { SilentMailboxes(bytes: $0) }
  }

  /// At any moment, even after a power failure, either the old file or the new one is in place. Nil removes it.
  func write(_ mailboxes: SilentMailboxes?) throws(SystemError) {
    guard let mailboxes else { return try remove(path) }
    let new = path + "-new"
    // Left by a process that was killed here. Writers hold the store's lock.
    try remove(new)
    do throws(SystemError) {
      try fill(new, mailboxes.bytes)
      try files.synchronize(new)
      try files.rename(new, to: path)
    } catch {
      try? remove(new)
      throw error
    }
    try files.synchronize(directory)
  }

  private func fill(_ path: String, _ bytes: [UInt8]) throws(SystemError) {
    let file = try files.open(path, for: .creatingForLockedDevice)
    defer { files.close(file) }
    try files.write(bytes, to: file)
  }

  private func remove(_ path: String) throws(SystemError) {
    guard (try? files.status(at: path)) != nil else { return }
    try files.remove(path)
  }
}

extension Store {
  private var silentFile: SilentMailboxFile {
    SilentMailboxFile(StoreLocation(file: database.path), database.ports.files)
  }

  /// The last step of a transaction that changed what is silent, so that the file reflects the user's wish even after a
  /// kill before the commit. If it cannot be written, nothing is committed, and the user learns that nothing is muted.
  func writeSilentMailboxes() throws(StoreError) {
    let file = silentFile
    let found = file.read()
    let wanted = try silentMailboxes(after: found)
    guard wanted != found || wanted == nil else { return }
    do throws(SystemError) { try file.write(wanted) } catch { throw .sqlite(SQLiteError(opening: error.code)) }
  }

  /// Updates the file from the store, at each start of an app: the commit it was written for may have failed, and
  /// either of the two may be an older copy.
  package func repairSilentMailboxes() throws(StoreError) {
    let found = silentFile.read()
    guard try silentMailboxes(after: found) != found else { return }
    try lightTransaction { () throws(StoreError) in noteSilence() }
  }

  /// Nil before the first token: no push has tags that could be recognised.
  private func silentMailboxes(after found: SilentMailboxes?) throws(StoreError) -> SilentMailboxes? {
    guard let secret = try overview().pushSecret else { return found.map { _ in .ofNoToken } }
    let key = MailboxTagKey(of: secret)
    let silent = Set(try notifiers(silent: true).map { key.handle(of: $0) })
    var past = found?.past(beside: silent, under: key) ?? []
    if !past.isEmpty {
      for notifier in try notifiers(silent: false) { past.remove(key.handle(of: notifier)) }
    }
    return SilentMailboxes(silent, past: past, under: key)
  }

  /// The notifiers of connections for which nothing (`silent`) or something may be shown while its content is unknown.
  private func notifiers(silent: Bool) throws(StoreError) -> [[UInt8]] {
    try rows(
      """
      SELECT notifier_id FROM connections JOIN users ON users.user_id = connections.user_id
      LEFT JOIN contacts ON contacts.contact_id = connections.contact_id
      WHERE notifier_id IS NOT NULL AND (\(Self.isSilenced) OR coalesce(contacts.notifications, 'all') = 'mentions') = ?
      """, [.flag(silent)]
    ) { $0.blob(0) }
  }

  /// Whether nothing may be shown for this connection while its content is unknown.
  func isSilent(connectionID: Int64) throws(StoreError) -> Bool {
    try integer(
      """
      SELECT 1 FROM connections JOIN users ON users.user_id = connections.user_id
      LEFT JOIN contacts ON contacts.contact_id = connections.contact_id
      WHERE connections.connection_id = ?
        AND (\(Self.isSilenced) OR coalesce(contacts.notifications, 'all') = 'mentions')
      """, [.integer(connectionID)]) != nil
  }
}
