import PorterCrypto
import PorterPlatform
import PorterRelay
import Synchronization

/// Records as this relay last saw them. A record may be outdated, which a replacement detects; so it is used only where
/// a replacement follows, and never to refuse.
final class RecordCache: Sendable {
  private static let most = 8_192
  private struct Entry {
    var record: MailboxRecord
    var revision: UInt64
    /// When it was read or stored.
    var at: Moment
  }

  private let clock: any Clock
  private let records: Mutex<[String: Entry]> = Mutex([:])

  init(_ clock: any Clock) { self.clock = clock }

  subscript(key: String) -> (record: MailboxRecord, revision: UInt64)? {
    records.withLock { $0[key] }.map { ($0.record, $0.revision) }
  }

  /// Nil if it was read or stored longer ago.
  func record(_ key: String, within span: Span) -> (record: MailboxRecord, revision: UInt64)? {
    guard let entry = records.withLock({ $0[key] }), clock.now() - entry.at < span else { return nil }
    return (entry.record, entry.revision)
  }

  /// An earlier revision never replaces a later one.
  func note(_ key: String, _ record: MailboxRecord, _ revision: UInt64) {
    let new = Entry(record: record, revision: revision, at: clock.now())
    records.withLock { records in
      if let known = records[key] {
        if known.revision <= revision { records[key] = new }
        return
      }
      if records.count >= Self.most {
        for old in records.keys.prefix(Self.most / 8) { records[old] = nil }
      }
      records[key] = new
    }
  }

  func forget(_ key: String) { records.withLock { $0[key] = nil } }
}

/// How recent a record is.
enum Recency: Comparable {
  /// As this relay last saw it.
  case remembered
  /// As reported by a node that leads, or takes itself for the leader. It may lag.
  case read
  /// With everything stored before the request arrived. Only such a record can cause anything to be refused, dropped or
  /// reported missing.
  case settled
}

/// A mailbox found by name.
struct FoundMailbox {
  let key: String
  let parts: ClusterKey.Parts
  var record: MailboxRecord
  var revision: UInt64
  var recency: Recency
}

/// The decision about a record.
enum RecordChange<Answer> {
  case replace(Answer)
  case keep(Answer)
  /// The record is not recent enough to decide by; a settled one is.
  case settle
}

extension ClusteredRelay {
  private static let mostTries = 32

  /// The cluster's time, if known: message timestamps and expiry must not depend on which relay has the message.
  var wall: Int64 {
    clusterTime.withLock { $0 }?.value(at: ports.clock.now()) ?? ports.clock.wall().milliseconds
  }

  /// The mailbox of this name, if there is one. `settled`: the caller has settled its key.
  func find(
    _ name: ClusterKey.Name, _ entity: RelayIdentifier?, _ recency: Recency
  ) async throws(ExchangeFailure) -> FoundMailbox? {
    guard let entity else { return nil }
    return try await find(name, identifiers.parts(name, of: entity), recency)
  }

  private func find(
    _ name: ClusterKey.Name, _ parts: ClusterKey.Parts, _ recency: Recency
  ) async throws(ExchangeFailure) -> FoundMailbox? {
    let key = ClusterKey.text(parts.mailbox)
    if recency == .remembered, let cached = cache[key], Self.generation(name, of: cached.record) == parts.generation {
      return FoundMailbox(
        key: key, parts: parts, record: cached.record, revision: cached.revision, recency: .remembered)
    }
    let found = max(recency, .read)
    guard let (record, revision) = try await read(key, found), Self.generation(name, of: record) == parts.generation
    else { return nil }
    return FoundMailbox(key: key, parts: parts, record: record, revision: revision, recency: found)
  }

  private static func generation(_ name: ClusterKey.Name, of record: MailboxRecord) -> [UInt8]? {
    name == .notifier ? record.notifier?.generation : record.generation
  }

  /// `recency` is `settled` if the key was settled before, and `read` otherwise. A node behind what this relay has seen
  /// lags.
  func read(
    _ key: String, _ recency: Recency
  ) async throws(ExchangeFailure) -> (record: MailboxRecord, revision: UInt64)? {
    // Before reading, because another exchange may store a later one in the meantime.
    let known = cache[key]?.revision ?? 0
    let stored = try await asking { [store] () async throws(ClusterFailure) in try await store.record(key) }
    if stored?.revision ?? 0 < known, recency < .settled { return try await readSettled(key) }
    guard let stored else {
      cache.forget(key)
      // Another relay has deleted it, or the same as below. A client takes a missing mailbox as final, so the relay
      // reports it only when the next read confirms it.
      guard known == 0 else { throw .own("the leader lags, or the mailbox was deleted") }
      return nil
    }
    guard stored.revision >= known else {
      // The answer came from a leader other than the one asked to settle, or the cluster has lost the change, which is
      // then gone.
      cache.forget(key)
      throw .failed("the leader lags")
    }
    let record: MailboxRecord
    do throws(RelayError) { record = try MailboxRecord(decoding: stored.bytes) } catch {
      throw .own("a record does not read: \(error)")
    }
    cache.note(key, record, stored.revision)
    return (record, stored.revision)
  }

  func readSettled(_ key: String) async throws(ExchangeFailure) -> (record: MailboxRecord, revision: UInt64)? {
    try await settle([key])
    return try await read(key, .settled)
  }

  /// The mailbox whose recipient signed the request.
  func authorizedMailbox(_ request: RelayRequest, _ recency: Recency) async throws(ExchangeFailure) -> FoundMailbox {
    try await admitted(.recipient, request, recency) { (found) throws(ExchangeFailure) in
      try authorize(request, key: found?.record.recipientKey)
    }
  }

  /// The mailbox that the request names, if `check` does not throw. Only a settled record can cause a refusal, after
  /// the same requests to the cluster, and one check, whether or not there is such a mailbox.
  func admitted(
    _ name: ClusterKey.Name, _ request: RelayRequest, _ recency: Recency,
    _ check: (FoundMailbox?) throws(ExchangeFailure) -> Void
  ) async throws(ExchangeFailure) -> FoundMailbox {
    guard let entity = request.entity else {
      try check(nil)
      throw .refused(.auth)
    }
    let parts = identifiers.parts(name, of: entity)
    if recency == .settled { try await settle([ClusterKey.text(parts.mailbox)]) }
    var found = try await find(name, parts, recency)
    do throws(ExchangeFailure) { try check(found) } catch {
      guard recency < .settled, case .refused = error else { throw error }
      found = try await later(name, parts, after: found, error, check)
    }
    guard let found else { throw .refused(.auth) }
    try takeShare(of: entity, isOpen: name == .sender && found.record.senderKey == nil)
    return found
  }

  /// Repeats the check with a later record than this one, which it refused, and finally with a settled one. The same
  /// record is not checked again: a mailbox that is remembered would take longer to refuse than one that does not
  /// exist.
  private func later(
    _ name: ClusterKey.Name, _ parts: ClusterKey.Parts, after found: FoundMailbox?, _ refusal: ExchangeFailure,
    _ check: (FoundMailbox?) throws(ExchangeFailure) -> Void
  ) async throws(ExchangeFailure) -> FoundMailbox? {
    var (refused, refusal) = (found?.record, refusal)
    // A nonexistent mailbox is never remembered, and was asked for. This one must be asked for as often.
    if found?.recency == .remembered {
      let read = try await find(name, parts, .read)
      if read?.record != refused {
        do throws(ExchangeFailure) {
          try check(read)
          return read
        } catch {
          guard case .refused = error else { throw error }
          (refused, refusal) = (read?.record, error)
        }
      }
    }
    try await settle([ClusterKey.text(parts.mailbox)])
    let settled = try await find(name, parts, .settled)
    guard settled?.record != refused else { throw refusal }
    try check(settled)
    return settled
  }

  func settle(_ keys: [String]) async throws(ExchangeFailure) {
    try await asking { [store] () async throws(ClusterFailure) in try await store.settle(keys) }
  }

  /// Changes the record by compare-and-set: calls `body` again with the newest record until no other relay was faster.
  /// It keeps the record only if that is recent enough for the answer; what it throws is a refusal, and stands if the
  /// record is settled.
  func change<Answer: Sendable>(
    _ start: FoundMailbox, _ name: ClusterKey.Name,
    _ body: (inout MailboxRecord, Recency) throws(ExchangeFailure) -> RecordChange<Answer>
  ) async throws(ExchangeFailure) -> Answer {
    try await turns.take(start.key) { () async throws(ExchangeFailure) in
      if let deadline = ExchangeDeadline.current, deadline <= .now { throw .own("the mailbox is busy") }
      return try await changeInTurn(start, name, body)
    }
  }

  private func changeInTurn<Answer: Sendable>(
    _ start: FoundMailbox, _ name: ClusterKey.Name,
    _ body: (inout MailboxRecord, Recency) throws(ExchangeFailure) -> RecordChange<Answer>
  ) async throws(ExchangeFailure) -> Answer {
    var (record, revision, recency) = (start.record, start.revision, start.recency)
    // A change with an earlier turn has produced a newer one.
    if let cached = cache[start.key], cached.revision > revision,
      Self.generation(name, of: cached.record) == start.parts.generation
    {
      (record, revision) = (cached.record, cached.revision)
    }
    for _ in 0..<Self.mostTries {
      var changed = record
      var isEnough = true
      switch try decision(recency, { () throws(ExchangeFailure) in try body(&changed, recency) }) {
      case .keep(let answer): return answer
      case .replace(let answer):
        let (bytes, expected) = (changed.encoded(), revision)
        do throws(ClusterFailure) {
          if let revision = try await store.replace(start.key, bytes, revision: expected) {
            cache.note(start.key, changed, revision)
            return answer
          }
        } catch {
          // Whether it was replaced is unknown.
          cache.forget(start.key)
          throw ExchangeFailure(error)
        }
      case .settle: isEnough = false
      }
      (record, revision, recency) = try await newest(start, name, after: isEnough ? revision : nil)
    }
    throw .own("too many changes of one mailbox at the same time")
  }

  /// The record to decide by next: one after this revision, which another relay replaced, or a settled one.
  private func newest(
    _ start: FoundMailbox, _ name: ClusterKey.Name, after revision: UInt64?
  ) async throws(ExchangeFailure) -> (MailboxRecord, UInt64, Recency) {
    if let revision, let later = try await read(start.key, .read), later.revision > revision,
      Self.generation(name, of: later.record) == start.parts.generation
    {
      return (later.record, later.revision, .read)
    }
    guard let settled = try await readSettled(start.key),
      Self.generation(name, of: settled.record) == start.parts.generation
    else { throw .refused(.auth) }
    return (settled.record, settled.revision, .settled)
  }

  /// A refusal counts only if the record is settled.
  private func decision<Answer>(
    _ recency: Recency, _ body: () throws(ExchangeFailure) -> RecordChange<Answer>
  ) throws(ExchangeFailure) -> RecordChange<Answer> {
    do throws(ExchangeFailure) { return try body() } catch {
      if case .refused = error, recency < .settled { return .settle }
      throw error
    }
  }

  func random(_ count: Int) -> [UInt8] { ports.randomness.bytes(count) }

  func randomIdentifier() throws(ExchangeFailure) -> RelayIdentifier {
    guard let identifier = RelayIdentifier(bytes: random(RelayIdentifier.count)) else { throw .failed("no randomness") }
    return identifier
  }
}

// MARK: Mailboxes

extension ClusteredRelay {
  func createMailbox(
    _ request: RelayRequest, _ recipientKey: SigningPublicKey, _ senderKey: SigningPublicKey?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: recipientKey)
    let mailbox = identifiers.mailbox(recipientKey: recipientKey)
    let key = ClusterKey.text(mailbox)
    for _ in 0..<4 {
      let record = MailboxRecord(generation: random(8), recipientKey: recipientKey, senderKey: senderKey)
      let revision = try await asking { [store] () async throws(ClusterFailure) in
        try await store.replace(key, record.encoded(), revision: 0)
      }
      if let revision {
        cache.note(key, record, revision)
        return try names(mailbox, record.generation)
      }
      // It already exists.
      guard let found = try await readSettled(key) else { continue }
      guard senderKey == nil || senderKey == found.record.senderKey else { throw .refused(.auth) }
      return try names(mailbox, found.record.generation)
    }
    throw .own("the mailbox is made and deleted at the same time")
  }

  private func names(_ mailbox: [UInt8], _ generation: [UInt8]) throws(ExchangeFailure) -> RelayAnswer {
    let parts = ClusterKey.Parts(mailbox: mailbox, generation: generation)
    guard let recipient = identifiers.identifier(.recipient, parts), let sender = identifiers.identifier(.sender, parts)
    else { throw .failed("no identifier") }
    return .mailbox(recipient: recipient, sender: sender)
  }

  func secureMailbox(
    _ request: RelayRequest, _ senderKey: SigningPublicKey
  ) async throws(ExchangeFailure) -> RelayAnswer {
    let mailbox = try await authorizedMailbox(request, .read)
    return try await change(mailbox, .recipient) { (record, _) throws(ExchangeFailure) in
      // Securing is final: the current sender must not be displaced.
      if record.senderKey == senderKey { return .keep(.done) }
      guard record.senderKey == nil else { throw .refused(.auth) }
      record.senderKey = senderKey
      return .replace(.done)
    }
  }

  func deleteMailbox(_ request: RelayRequest) async throws(ExchangeFailure) -> RelayAnswer {
    var mailbox = try await authorizedMailbox(request, .read)
    for _ in 0..<Self.mostTries {
      cache.forget(mailbox.key)
      let (key, revision) = (mailbox.key, mailbox.revision)
      let isRemoved = try await asking { [store] () async throws(ClusterFailure) in
        try await store.remove(key, revision: revision)
      }
      if isRemoved {
        store.dropBodies(key, mailbox.record.waiting.map(\.stored))
        return .done
      }
      try await settle([key])
      guard let newest = try await find(.recipient, request.entity, .settled) else { throw .refused(.auth) }
      mailbox = newest
    }
    throw .own("too many changes of one mailbox at the same time")
  }
}
