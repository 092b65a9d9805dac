import PorterPlatform
public import PorterRelay

/// An operator's queries on the mailboxes in a cluster, whether or not relays are serving them. Reads only.
public struct ClusterAdministration: Sendable {
  /// A message's body, as stored.
  public struct Body: Sendable {
    public let number: UInt64
    public let bytes: [UInt8]
  }

  public enum Finding: Sendable {
    case whole
    case damaged
    /// Waiting messages that have none.
    case withoutBody(Int)
  }

  private let store: any ClusterStore
  private let identifiers: ClusterKey

  /// Nil unless the secret has 32 bytes.
  public init?(_ store: any ClusterStore, secret: [UInt8]) {
    guard let identifiers = ClusterKey(secret) else { return nil }
    (self.store, self.identifiers) = (store, identifiers)
  }

  /// The usage of the mailbox with this identifier, its recipient's or its sender's; nil if there is none.
  public func usage(of name: String) async throws(ClusterFailure) -> RelayAdministration.Usage? {
    guard let identifier = RelayIdentifier(base64URL: name) else { throw ClusterFailure("expected an identifier") }
    for end in [ClusterKey.Name.recipient, .sender] {
      let parts = identifiers.parts(end, of: identifier)
      let key = ClusterKey.text(parts.mailbox)
      try await store.settle([key])
      guard let stored = try await store.record(key) else { continue }
      guard let record = try? MailboxRecord(decoding: stored.bytes) else {
        throw ClusterFailure("the mailbox's record does not read")
      }
      if record.generation == parts.generation { return try await usage(of: record, key) }
    }
    return nil
  }

  private func usage(of record: MailboxRecord, _ key: String) async throws(ClusterFailure) -> RelayAdministration.Usage
  {
    let now = Ports.system.clock.wall().milliseconds
    let waiting = record.waiting.filter { !MailboxRecord.isExpired($0.sentAt, at: now) }
    var bytes = 0
    for entry in waiting {
      if let body = try await body(entry, key) { bytes += body.bytes.count - RelayIdentifier.count }
    }
    return RelayAdministration.Usage(
      waiting: waiting.count, quota: RelayLimits.undelivered, bytes: bytes,
      oldestSeconds: waiting.map(\.sentAt).min().map { Int(max(0, now - $0) / 1_000) },
      isSecured: record.senderKey != nil, isWatched: record.notifier?.service != nil, listeners: nil)
  }

  private func body(_ entry: MailboxRecord.Entry, _ key: String) async throws(ClusterFailure) -> Body? {
    let name = entry.message.bytes
    let bytes = try await store.body(key, entry.body) { $0.starts(with: name) }
    return bytes.map { Body(number: entry.body, bytes: $0) }
  }

  // MARK: Records

  /// Whether the record is readable and its messages exist. A message acknowledged in the meantime counts as existing.
  public func finding(_ key: String, _ bytes: [UInt8]) async throws(ClusterFailure) -> Finding {
    guard let record = try? MailboxRecord(decoding: bytes) else { return .damaged }
    var missing: [MailboxRecord.Entry] = []
    for entry in kept(record) where try await body(entry, key) == nil { missing.append(entry) }
    guard !missing.isEmpty else { return .whole }
    let newest = try await store.record(key)
    guard let newest, let record = try? MailboxRecord(decoding: newest.bytes) else { return .whole }
    let count = missing.count { record.waiting.contains($0) }
    return count == 0 ? .whole : .withoutBody(count)
  }

  /// The bodies of the waiting messages, where they exist.
  public func bodies(_ key: String, of bytes: [UInt8]) async throws(ClusterFailure) -> [Body] {
    guard let record = try? MailboxRecord(decoding: bytes) else { return [] }
    var bodies: [Body] = []
    for entry in kept(record) {
      if let body = try await body(entry, key) { bodies.append(body) }
    }
    return bodies
  }

  private func kept(_ record: MailboxRecord) -> [MailboxRecord.Entry] {
    let now = Ports.system.clock.wall().milliseconds
    return record.waiting.filter { !MailboxRecord.isExpired($0.sentAt, at: now) }
  }

  // MARK: Restoring

  public static func reads(_ record: [UInt8]) -> Bool { (try? MailboxRecord(decoding: record)) != nil }

  /// The record with renumbered bodies; messages without a body are dropped. Nil if it is unreadable.
  public static func renumbered(_ record: [UInt8], bodies: [UInt64: UInt64]) -> [UInt8]? {
    guard var renumbered = try? MailboxRecord(decoding: record) else { return nil }
    let now = Ports.system.clock.wall().milliseconds
    for entry in renumbered.waiting where bodies[entry.body] == nil { _ = renumbered.drop(entry.message, at: now) }
    for index in renumbered.waiting.indices {
      if let number = bodies[renumbered.waiting[index].body] { renumbered.waiting[index].body = number }
    }
    return renumbered.encoded()
  }
}
