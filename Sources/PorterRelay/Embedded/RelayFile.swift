import PorterCrypto
import PorterPlatform
import PorterStore

/// The embedded relay's SQLite file: opens it, and carries out requests on it. One thread at a time.
///
/// A client's mistake is thrown as the error the relay answers with; a failure of the file as `storage`.
final class RelayFile {
  /// An answer, and the sockets to wake now that it is committed.
  struct Reply {
    var answer: RelayAnswer
    var recipients: [String] = []
    var services: [String] = []
  }

  let database: Database
  let ports: Ports
  let log: Log
  /// The durability of the connection's commits; nil before the first transaction.
  private var durability: Database.Durability?
  private var nextSweep = Moment(nanoseconds: .min)
  private var decoyKey: SigningPublicKey?
  private var decoyCheckKey: RelayCheckKey?
  private var age: RelayAge?
  /// Whether several requests are being carried out in one transaction.
  private var isGathering = false
  /// Called with the entity of a request signed by its key, or of a message to a mailbox that is open to all: throws if
  /// the share is used up.
  var admission: ((_ entity: RelayIdentifier, _ isOpen: Bool) throws(RelayError) -> Void)?
  private let cacheKibibytes: Int
  private let isBrief: Bool
  private var foundLongLog = false
  /// Number of messages dropped since the file was opened.
  private var dropped = 0
  /// The last message given to a recipient.
  var given: Given?

  struct Given {
    let message: RelayIdentifier
    let number: Int64
    /// Whether a service had yet to take its notification. Once there is none, there never will be.
    let notifies: Bool
  }

  /// A short log keeps the first opening after a crash, or after `releaseFiles()`, fast: the whole log is read.
  static let logPages = 256
  /// For a process opened for one push.
  private static let mostCacheKibibytes = 128
  /// For a process that leaves the work to an exchange that may wait: some hundred messages.
  private static let mostLogPages = 1_024

  var clock: any Clock { ports.clock }
  var randomness: any Randomness { ports.randomness }

  init(
    path: String, access: Database.Access = .create, ports: Ports, log: Log,
    busyTimeout: Span = .seconds(3), cacheKibibytes: Int = 512, logPages: Int = RelayFile.logPages,
    isBrief: Bool = false, mayDoze: Bool = false, mayMigrate: Bool = true, stop: StopSignal? = nil
  ) throws(RelayError) {
    self.ports = ports
    self.log = log
    self.cacheKibibytes = cacheKibibytes
    self.isBrief = isBrief
    var options = Database.Options(
      access: access, durability: nil, busyTimeout: busyTimeout, cacheKibibytes: cacheKibibytes,
      logPages: logPages, isPlain: isBrief, stop: stop, ports: ports)
    options.mayDoze = mayDoze
    options.mayBeFrozen = access == .readOnly
    do throws(SQLiteError) { database = try Database(path: path, options: options) } catch {
      throw .storage(error)
    }
    if isBrief {
      database.reportLog(longerThan: Self.mostLogPages)
      lookAtLog()
    }
    do throws(RelayError) {
      try migrate(mayMigrate, isReadOnly: access == .readOnly)
    } catch {
      // Otherwise closing would write the log back.
      try? database.close(checkpoint: false)
      throw error
    }
  }

  /// Releases every lock, and keeps the file open. Returns false if the file must be closed.
  func doze() -> Bool {
    (given, dropped) = (nil, 0)
    return database.doze()
  }

  /// Takes the locks again. Returns false if the file must be closed and reopened: it was replaced, or a later version
  /// of this library changed it.
  func wake() -> Bool {
    guard database.wake(), hasCurrentHeader else { return false }
    lookAtLog()
    return true
  }

  /// Whether a brief opening found the log long, or made it long: then a caller that may wait must write it back.
  var hasLongLog: Bool { foundLongLog || database.hasLongLog }

  private func lookAtLog() { foundLongLog = database.logBytes > EmbeddedRelay.longestLog }

  /// Does as much as other processes allow; the next opening retries.
  func writeLogBack(waitingAtMost patience: Span) {
    lookAtLog()
    guard hasLongLog else { return }
    foundLongLog = false
    // SQLite opens the log on the first read, and does not write back a log it has not opened. An interruption that
    // came while idle would end the work; it ends with the next statement.
    _ = try? isCurrent()
    try? database.cutLog(longerThan: EmbeddedRelay.longestLog, waitingAtMost: patience)
    database.forgetLongLog()
  }

  var hasCurrentHeader: Bool {
    guard let header = database.header else { return false }
    return header.applicationIdentifier == Self.applicationIdentifier && header.userVersion == Self.schemaVersion
  }

  /// The age of the file, in milliseconds; see `RelayAge`.
  func now() throws(SQLiteError) -> Int64 { try readAge().value(at: clock.now()) }

  /// Messages stored at a lower age of the file are past their retention.
  func oldestKept() throws(SQLiteError) -> Int64 { Self.oldestKept(at: try now()) }

  static func oldestKept(at age: Int64) -> Int64 { age &- RelayLimits.retentionDays * 86_400_000 }

  /// Like `now`, for a caller that has read the stored values; nil if there are none.
  func age(stored: RelayAge.Stored?) throws(SQLiteError) -> Int64 {
    try readAge { () throws(SQLiteError) in stored }.value(at: clock.now())
  }

  private func readAge() throws(SQLiteError) -> RelayAge {
    try readAge { () throws(SQLiteError) in try RelayAge.stored(in: database) }
  }

  private func readAge(_ stored: () throws(SQLiteError) -> RelayAge.Stored?) throws(SQLiteError) -> RelayAge {
    if let age { return age }
    let read = try RelayAge(try stored(), of: database, ports: ports)
    // Until something is stored, each process would count from its own start.
    if read.isStored { age = read }
    return read
  }

  // MARK: Transactions

  /// Runs `body` in a transaction of the given durability.
  func commit<Result>(
    _ durability: Database.Durability, _ body: () throws(RelayError) -> Result
  ) throws(RelayError) -> Result {
    if isGathering { return try database.nested(throwing: RelayError.self, body) }
    try set(durability)
    return try database.transaction(.immediate, throwing: RelayError.self, body)
  }

  /// Runs `body`, which carries out several requests, in one transaction of the given durability. If one is refused,
  /// its changes are undone.
  func gather<Result>(
    _ durability: Database.Durability, _ body: () throws(RelayError) -> Result
  ) throws(RelayError) -> Result {
    try set(durability)
    return try database.transaction(.immediate, throwing: RelayError.self) { () throws(RelayError) in
      isGathering = true
      defer { isGathering = false }
      return try body()
    }
  }

  /// Likewise for one statement. Returns the number of rows changed.
  @discardableResult
  func commit(
    _ durability: Database.Durability, _ sql: String, _ bindings: [Binding]
  ) throws(RelayError) -> Int {
    if !isGathering { try set(durability) }
    return try storage { () throws(SQLiteError) in
      isGathering ? try database.run(sql, bindings) : try database.commit(sql, bindings)
    }
  }

  private func set(_ durability: Database.Durability) throws(RelayError) {
    guard durability != self.durability else { return }
    try storage { () throws(SQLiteError) in
      // A brief opening does without the statement.
      if isBrief, database.isFullByDefault {
        try database.choose(durability)
      } else {
        try database.setDurability(durability)
      }
    }
    self.durability = durability
  }

  /// Makes savings that a brief opening skips until the second dropped message, since before that they cost more than
  /// they save. The cache is limited, and the pages of a dropped body are not overwritten with zeros, because it is
  /// sealed.
  func saveForMany() throws(RelayError) {
    guard isBrief else { return }
    dropped += 1
    guard dropped == 2 else { return }
    try storage { () throws(SQLiteError) in
      try database.execute(
        "PRAGMA cache_size=-\(min(cacheKibibytes, Self.mostCacheKibibytes)); PRAGMA secure_delete=OFF;")
    }
  }

  /// Converts SQLite's errors to the relay's.
  @discardableResult
  func storage<Result>(_ body: () throws(SQLiteError) -> Result) throws(RelayError) -> Result {
    try RelayError.carrying(body)
  }

  // MARK: Who may

  /// Throws `auth` unless `key` signed the request. Without a key, as for a nonexistent entity, does the same work
  /// without a result, so that the time taken does not reveal which case it was.
  func authorize(_ request: RelayRequest, key: SigningPublicKey?) throws(RelayError) {
    try authorize(request.signature, of: request.signedBytes, key: key)
  }

  func authorize(_ signature: [UInt8]?, of bytes: [UInt8], key: SigningPublicKey?) throws(RelayError) {
    guard let signature else { throw .auth }
    let claimed: SigningPublicKey
    if let key { claimed = key } else { claimed = try someKey() }
    guard claimed.isValid(signature: signature, for: bytes), key != nil else { throw .auth }
  }

  private func someKey() throws(RelayError) -> SigningPublicKey {
    if let decoyKey { return decoyKey }
    let key = try RelayError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      try SigningKeyPair.generate(randomness: randomness).publicKey
    }
    decoyKey = key
    return key
  }

  /// Stands in for a key that a mailbox does not have.
  func someCheckKey() throws(RelayError) -> RelayCheckKey {
    if let decoyCheckKey { return decoyCheckKey }
    guard let key = RelayCheckKey(bytes: randomness.bytes(RelayCheckKey.count)) else { throw .unavailable }
    decoyCheckKey = key
    return key
  }

  // MARK: Retention

  /// Removes some of the messages past their retention: rarely, and never more at a time than a sender can wait for.
  func sweep() throws(RelayError) {
    let now = clock.now()
    guard now >= nextSweep else { return }
    let most = 64
    if try removeDeleted(most) { return }
    // Oldest first: messages are numbered in order of arrival.
    let removed = try storage { () throws(SQLiteError) in
      try readAge().store(in: database, ports: ports)
      return try database.run(
        """
        DELETE FROM message WHERE stored_at < ?1 AND number IN (SELECT number FROM message ORDER BY number LIMIT ?2)
        """, [.integer(try oldestKept()), .integer(Int64(most))])
    }
    if removed < most { nextSweep = now + .seconds(3_600) }
    if removed > 0 { log(.info, "relay: removed messages past their retention", ["count": String(removed)]) }
  }

  /// Removes messages of a deleted mailbox, and the mailbox with its last ones. Returns whether there was one.
  private func removeDeleted(_ most: Int) throws(RelayError) -> Bool {
    try storage { () throws(SQLiteError) in
      guard let mailbox = try database.integer("SELECT mailbox FROM deleted_mailbox LIMIT 1") else { return false }
      let removed = try database.run(
        "DELETE FROM message WHERE number IN (SELECT number FROM message WHERE mailbox = ?1 LIMIT ?2)",
        [.integer(mailbox), .integer(Int64(most))])
      if removed < most { try database.run("DELETE FROM mailbox WHERE number = ?1", [.integer(mailbox)]) }
      return true
    }
  }

  /// The next message that is sent continues to remove what was deleted.
  func sweepSoon() { nextSweep = Moment(nanoseconds: .min) }
}
