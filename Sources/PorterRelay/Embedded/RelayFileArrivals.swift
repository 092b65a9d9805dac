import PorterCrypto
import PorterPlatform
import PorterStore

/// Asking about many mailboxes at the same time.
///
/// A position is a message's number and identifier. Numbers grow, and are reused only when the newest messages were
/// deleted with their mailbox. Then the identifier differs, and the client must listen again. The number's upper bits
/// are the caller's generation: once the relay has forgotten a listener, its positions are no longer valid.
extension RelayFile {
  /// Writes nothing.
  func check(_ request: RelayRequest, entries: [RelayCommand.Entry]) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .syntax }
    return .subscriptions(try states(of: entries, of: request))
  }

  /// Which of these mailboxes have something waiting; `auth` for an entry not signed by its key.
  func states(of entries: [RelayCommand.Entry], of request: RelayRequest) throws(RelayError) -> [RelaySubscription] {
    var results: [RelaySubscription] = []
    for mailbox in try authorizedMailboxes(entries, of: request) {
      results.append(try mailbox.map { (mailbox) throws(RelayError) in try state(of: mailbox) } ?? .auth)
    }
    return results
  }

  func listen(
    _ request: RelayRequest, key: SigningPublicKey, entries: [RelayCommand.Entry], listener: String?,
    generation: Int64 = 0
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: key)
    let mailboxes = try authorizedMailboxes(entries, of: request)
    return try commit(.normal) { () throws(RelayError) in
      let results = try subscribe(entries, mailboxes, listener)
      return .listening(try newestPosition(generation), results)
    }
  }

  /// `listener` is nil if this process does not listen under the key. Reads either the messages since the position or
  /// those of the listener's mailboxes, whichever are fewer: neither many mailboxes nor an old position, which can be
  /// made up, costs much.
  func arrivals(
    _ request: RelayRequest, key: SigningPublicKey, listener: String?, generation: Int64 = 0,
    after position: RelayPosition, limit: UInt16
  ) throws(RelayError) -> RelayAnswer {
    guard request.entity == nil else { throw .syntax }
    try authorize(request, key: listener == nil ? nil : key)
    guard let listener else { throw .auth }
    let answer = try arrivals(
      to: listener, generation, after: position, limit: max(1, min(Int(limit), RelayLimits.batch)))
    // It has nothing to fetch and acknowledge, which would show that it is running.
    if case .arrivals(_, []) = answer, try isUnanswered(listener) {
      try commit(.normal) { () throws(RelayError) in try noteSignOfLife(of: listener) }
    }
    return answer
  }

  private func arrivals(
    to listener: String, _ generation: Int64, after position: RelayPosition, limit: Int
  ) throws(RelayError) -> RelayAnswer {
    try database.transaction(.deferred, throwing: RelayError.self) { () throws(RelayError) in
      guard let last = try number(of: position, generation),
        let listener = try storage({ () throws(SQLiteError) in
          try database.integer("SELECT number FROM listener WHERE name = ?1", [.text(listener)])
        })
      else { throw .auth }
      var end: (number: Int64, identifier: RelayIdentifier)?
      var mailboxes: [RelayIdentifier] = []
      try storage { () throws(SQLiteError) in
        let tables =
          try hasFewMailboxes(listener, beside: last)
          ? """
          subscription INDEXED BY subscription_listener
          CROSS JOIN message INDEXED BY message_waiting ON message.mailbox = subscription.mailbox
          """ : "message CROSS JOIN subscription ON subscription.mailbox = message.mailbox"
        try database.query(
          """
          SELECT message.number, message.identifier, mailbox.recipient FROM \(tables)
          CROSS JOIN mailbox ON mailbox.number = message.mailbox
          WHERE subscription.listener = ?1 AND message.number > ?2 AND message.body IS NOT NULL AND message.stored_at >= ?3
          ORDER BY message.number LIMIT ?4
          """, [.integer(listener), .integer(last), .integer(try oldestKept()), .integer(Int64(limit))]
        ) { (row) throws(SQLiteError) in
          guard let identifier = RelayIdentifier(bytes: row.blob(1)),
            let recipient = RelayIdentifier(bytes: row.blob(2))
          else { throw SQLiteError(kind: .corrupt) }
          end = (row.integer(0), identifier)
          mailboxes.append(recipient)
        }
      }
      let isWhole = mailboxes.count < limit
      return .arrivals(
        isWhole
          ? try newestPosition(generation)
          : end.flatMap { Self.position($0.number, $0.identifier, generation) } ?? position, mailboxes)
    }
  }

  /// Whether the listener has fewer mailboxes than there are messages after this one.
  private func hasFewMailboxes(_ listener: Int64, beside last: Int64) throws(SQLiteError) -> Bool {
    let newest = try database.integer("SELECT max(number) FROM message") ?? 0
    // Among a few messages, either way costs the same.
    guard newest - last > Int64(RelayLimits.batch) else { return false }
    let count = try database.integer(
      "SELECT count(*) FROM (SELECT 1 FROM subscription WHERE listener = ?1 LIMIT ?2)",
      [.integer(listener), .integer(newest - last)])
    return count ?? 0 < newest - last
  }

  private func newestPosition(_ generation: Int64) throws(RelayError) -> RelayPosition {
    let newest = try storage { () throws(SQLiteError) in
      try database.first("SELECT number, identifier FROM message ORDER BY number DESC LIMIT 1") {
        (row) throws(SQLiteError) in
        guard let identifier = RelayIdentifier(bytes: row.blob(1)) else { throw SQLiteError(kind: .corrupt) }
        return (number: row.integer(0), identifier: identifier)
      }
    }
    let position = Self.position(newest?.number ?? 0, newest?.identifier ?? .zero, generation)
    guard let position else { throw .unavailable }
    return position
  }

  /// Bits of a message number within a position; the other bits are the generation.
  private static let numberBits: Int64 = 40

  /// Nil if the message no longer exists, or the position has another generation.
  private func number(of position: RelayPosition, _ generation: Int64) throws(RelayError) -> Int64? {
    var reader = RelayReader(position.bytes)
    let (combined, identifier) = (try reader.signed64(), try reader.identifier())
    guard combined >> Self.numberBits == generation else { return nil }
    let number = combined & (1 << Self.numberBits - 1)
    if number == 0 { return identifier == .zero ? 0 : nil }
    let isThere = try storage { () throws(SQLiteError) in
      try database.integer(
        "SELECT 1 FROM message WHERE number = ?1 AND identifier = ?2", [.integer(number), .blob(identifier.bytes)])
    }
    return isThere == nil ? nil : number
  }

  private static func position(
    _ number: Int64, _ identifier: RelayIdentifier, _ generation: Int64
  ) -> RelayPosition? {
    var bytes: [UInt8] = []
    bytes.append(signed64: generation << numberBits | number)
    return RelayPosition(bytes: bytes + identifier.bytes)
  }
}
