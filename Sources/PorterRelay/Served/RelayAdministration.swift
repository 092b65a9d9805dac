import PorterCrypto
import PorterPlatform
import PorterStore

/// An operator's queries on a relay's file, alongside the process that serves it or without one. Reads only.
public struct RelayAdministration: Sendable {
  /// A mailbox's use of its quota.
  public struct Usage: Sendable, Equatable {
    public var waiting: Int
    public var quota: Int
    public var bytes: Int
    /// Age of the longest-waiting message; nil if none is waiting.
    public var oldestSeconds: Int?
    /// Only one sender may send.
    public var isSecured: Bool
    /// A notification server sends pushes for it.
    public var isWatched: Bool
    /// Nil if not stored: relays of a cluster keep listeners in memory.
    public var listeners: Int?

    package init(
      waiting: Int, quota: Int, bytes: Int, oldestSeconds: Int?, isSecured: Bool, isWatched: Bool, listeners: Int?
    ) {
      (self.waiting, self.quota, self.bytes, self.oldestSeconds) = (waiting, quota, bytes, oldestSeconds)
      (self.isSecured, self.isWatched, self.listeners) = (isSecured, isWatched, listeners)
    }
  }

  private let path: String

  public init(path: String) { self.path = path }

  /// The usage of the mailbox with this identifier, its recipient's or its sender's; nil if there is none.
  public func usage(of name: String) throws(RelayServiceError) -> Usage? {
    guard let identifier = RelayIdentifier(base64URL: name) else { throw RelayServiceError("expected an identifier") }
    return try reading { (file) throws(RelayError) in
      for end in [RelayFile.End.recipient, .sender] {
        if let mailbox = try file.mailbox(end, identifier) { return try usage(of: mailbox, in: file) }
      }
      return nil
    }
  }

  private func usage(of mailbox: RelayFile.Mailbox, in file: RelayFile) throws(RelayError) -> Usage {
    try file.storage { () throws(SQLiteError) in
      let now = try file.now()
      let (number, kept) = (Binding.integer(mailbox.number), Binding.integer(RelayFile.oldestKept(at: now)))
      let messages = try file.database.first(
        """
        SELECT count(*), coalesce(sum(length(body)), 0), min(stored_at) FROM message INDEXED BY message_waiting
        WHERE mailbox = ?1 AND body IS NOT NULL AND stored_at >= ?2
        """, [number, kept]
      ) { (count: Int($0.integer(0)), bytes: Int($0.integer(1)), oldest: $0.integer(2)) }
      let service = "SELECT 1 FROM notifier WHERE mailbox = ?1 AND service IS NOT NULL"
      let listeners = "SELECT count(*) FROM subscription WHERE mailbox = ?1"
      let waiting = messages?.count ?? 0
      return Usage(
        waiting: waiting, quota: RelayLimits.undelivered, bytes: messages?.bytes ?? 0,
        oldestSeconds: waiting == 0 ? nil : Int(max(0, now - (messages?.oldest ?? now)) / 1_000),
        isSecured: mailbox.senderKey != nil, isWatched: try file.database.integer(service, [number]) != nil,
        listeners: Int(try file.database.integer(listeners, [number]) ?? 0))
    }
  }

  /// Problems with the file; empty if there are none.
  public func problems() -> [String] {
    do throws(RelayServiceError) {
      return try reading { (file) throws(RelayError) in
        try file.storage { () throws(SQLiteError) in try Self.problems(of: file.database) }
      }
    } catch {
      return [error.description]
    }
  }

  private static func problems(of database: Database) throws(SQLiteError) -> [String] {
    // Cross-checks between tables are useless if their pages are damaged.
    let damage = try database.integrityCheck()
    guard damage.isEmpty else { return damage }
    var problems = try database.foreignKeyCheck().map { "rows that refer to none: \($0)" }
    for (name, table, condition) in contents {
      let count = try database.integer("SELECT count(*) FROM \(table) WHERE NOT (\(condition))") ?? 0
      if count > 0 { problems.append("\(name): \(count)") }
    }
    let crowded =
      try database.integer(
        """
        SELECT count(*) FROM (SELECT 1 FROM message WHERE body IS NOT NULL GROUP BY mailbox
        HAVING count(*) > \(RelayLimits.undelivered))
        """) ?? 0
    if crowded > 0 { problems.append("mailboxes over their quota: \(crowded)") }
    return problems
  }

  /// Conditions that hold for each row that the relay wrote.
  private static let contents = [
    (
      "mailboxes with malformed identifiers or keys", "mailbox",
      "length(recipient) = 24 AND length(sender) = 24 AND length(recipient_key) = 32 AND ifnull(length(sender_key), 32) = 32"
    ),
    (
      "malformed messages", "message",
      "length(identifier) = 24 AND length(attempt) = 24 AND ifnull(length(body), 0) <= \(RelayLimits.body)"
    ),
    ("malformed notifiers", "notifier", "length(identifier) = 24 AND length(key) = 32"),
  ]

  /// Copies the file as of one moment to a new file, which must not exist.
  public func backUp(to copy: String) throws(RelayServiceError) {
    try reading { (file) throws(RelayError) in
      try file.storage { () throws(SQLiteError) in try file.database.backUp(to: copy) }
    }
  }

  private func reading<Result>(
    _ body: (RelayFile) throws(RelayError) -> Result
  ) throws(RelayServiceError) -> Result {
    do throws(RelayError) {
      let file = try RelayFile(path: path, access: .readOnly, ports: .system, log: .silent)
      defer { try? file.database.close() }
      return try body(file)
    } catch {
      throw RelayServiceError(error)
    }
  }
}
