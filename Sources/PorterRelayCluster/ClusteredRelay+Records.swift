import PorterCrypto
import PorterPlatform
import PorterRelay
import Synchronization

/// Records that this relay has seen last. One may be outdated, which a replacement finds out; so it is used where a replacement
/// follows, and never to refuse.
final class RecordCache: Sendable {
  private static let most = 8_192
  private let records = Mutex<[String: (record: MailboxRecord, revision: UInt64)]>([:])

  subscript(key: String) -> (record: MailboxRecord, revision: UInt64)? {
    get { records.withLock { $0[key] } }
    set {
      records.withLock { records in
        if records.count >= Self.most, records[key] == nil, let newValue {
          for old in records.keys.prefix(Self.most / 8) { records[old] = nil }
          records[key] = newValue
        } else {
          records[key] = newValue
        }
      }
    }
  }
}

/// A mailbox that a name was found for.
struct FoundMailbox {
  let key: String
  let parts: ClusterKey.Parts
  var record: MailboxRecord
  var revision: UInt64
  var isFresh: Bool
}

/// What becomes of a record.
enum RecordChange<Answer> {
  case replace(Answer)
  case keep(Answer)
  /// The cached record is not enough to decide by.
  case readAgain
}

extension ClusteredRelay {
  private static let mostTries = 32

  var wall: Int64 { ports.clock.wall().milliseconds }

  /// The mailbox of this name, if there is one. `fresh`: as the cluster has it now.
  func find(
    _ name: ClusterKey.Name, _ entity: RelayIdentifier?, fresh: Bool
  ) async throws(ExchangeFailure) -> FoundMailbox? {
    guard let entity else { return nil }
    let parts = identifiers.parts(name, of: entity)
    let key = ClusterKey.text(parts.mailbox)
    if !fresh, let cached = cache[key], Self.generation(name, of: cached.record) == parts.generation {
      return FoundMailbox(key: key, parts: parts, record: cached.record, revision: cached.revision, isFresh: false)
    }
    guard let (record, revision) = try await read(key), Self.generation(name, of: record) == parts.generation else {
      return nil
    }
    return FoundMailbox(key: key, parts: parts, record: record, revision: revision, isFresh: true)
  }

  private static func generation(_ name: ClusterKey.Name, of record: MailboxRecord) -> [UInt8]? {
    name == .notifier ? record.notifier?.generation : record.generation
  }

  func read(_ key: String) async throws(ExchangeFailure) -> (record: MailboxRecord, revision: UInt64)? {
    let stored = try await asking { [store] () async throws(ClusterFailure) in try await store.record(key) }
    guard let stored else {
      cache[key] = nil
      return nil
    }
    let record: MailboxRecord
    do throws(RelayError) { record = try MailboxRecord(decoding: stored.bytes) } catch {
      throw .failed("a record does not read: \(error)")
    }
    cache[key] = (record, stored.revision)
    return (record, stored.revision)
  }

  /// The mailbox whose recipient signed the request.
  func authorizedMailbox(_ request: RelayRequest, fresh: Bool) async throws(ExchangeFailure) -> FoundMailbox {
    try await admitted(.recipient, request, fresh: fresh) { (found) throws(ExchangeFailure) in
      try authorize(request, key: found?.record.recipientKey)
    }
  }

  /// The mailbox that the request names, if `check` does not throw. It is refused by nothing but a settled record, after the same
  /// questions to the cluster whether there is such a mailbox or not.
  func admitted(
    _ name: ClusterKey.Name, _ request: RelayRequest, fresh: Bool,
    _ check: (FoundMailbox?) throws(ExchangeFailure) -> Void
  ) async throws(ExchangeFailure) -> FoundMailbox {
    var found = try await find(name, request.entity, fresh: fresh)
    do throws(ExchangeFailure) { try check(found) } catch {
      guard let entity = request.entity else { throw error }
      try await settle([ClusterKey.text(identifiers.parts(name, of: entity).mailbox)])
      found = try await find(name, entity, fresh: true)
      try check(found)
    }
    guard let found else { throw .refused(.auth) }
    try take(share: request.entity)
    return found
  }

  func settle(_ keys: [String]) async throws(ExchangeFailure) {
    try await asking { [store] () async throws(ClusterFailure) in try await store.settle(keys) }
  }

  /// Changes the record by compare-and-set: `body` is called again with the newest record until no other relay was faster.
  func change<Answer: Sendable>(
    _ start: FoundMailbox, _ name: ClusterKey.Name,
    _ body: (inout MailboxRecord, _ isFresh: Bool) throws(ExchangeFailure) -> RecordChange<Answer>
  ) async throws(ExchangeFailure) -> Answer {
    try await turns.take(start.key) { () async throws(ExchangeFailure) in
      try await changeInTurn(start, name, body)
    }
  }

  private func changeInTurn<Answer: Sendable>(
    _ start: FoundMailbox, _ name: ClusterKey.Name,
    _ body: (inout MailboxRecord, _ isFresh: Bool) throws(ExchangeFailure) -> RecordChange<Answer>
  ) async throws(ExchangeFailure) -> Answer {
    var (record, revision, isFresh) = (start.record, start.revision, start.isFresh)
    // A change whose turn it was before has made a newer one.
    if let cached = cache[start.key], cached.revision > revision,
      Self.generation(name, of: cached.record) == start.parts.generation
    {
      (record, revision, isFresh) = (cached.record, cached.revision, false)
    }
    for _ in 0..<Self.mostTries {
      var changed = record
      switch try body(&changed, isFresh) {
      case .keep(let answer): return answer
      case .replace(let answer):
        let (bytes, expected) = (changed.encoded(), revision)
        do throws(ClusterFailure) {
          if let revision = try await store.replace(start.key, bytes, revision: expected) {
            cache[start.key] = (changed, revision)
            return answer
          }
        } catch {
          // Whether it was replaced is not known.
          cache[start.key] = nil
          throw ExchangeFailure(error)
        }
      case .readAgain: break
      }
      guard let newest = try await read(start.key), Self.generation(name, of: newest.record) == start.parts.generation
      else { throw .refused(.auth) }
      (record, revision, isFresh) = (newest.record, newest.revision, true)
    }
    throw .failed("too many changes of one mailbox at the same time")
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
        cache[key] = (record, revision)
        return try names(mailbox, record.generation)
      }
      // It is there already.
      guard let found = try await read(key) else { continue }
      guard senderKey == nil || senderKey == found.record.senderKey else { throw .refused(.auth) }
      return try names(mailbox, found.record.generation)
    }
    throw .failed("the mailbox is made and deleted at the same time")
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
    let mailbox = try await authorizedMailbox(request, fresh: true)
    return try await change(mailbox, .recipient) { (record, _) throws(ExchangeFailure) in
      // Securing is final: the sender in possession must not be displaced.
      if record.senderKey == senderKey { return .keep(.done) }
      guard record.senderKey == nil else { throw .refused(.auth) }
      record.senderKey = senderKey
      return .replace(.done)
    }
  }

  func deleteMailbox(_ request: RelayRequest) async throws(ExchangeFailure) -> RelayAnswer {
    var mailbox = try await authorizedMailbox(request, fresh: true)
    for _ in 0..<Self.mostTries {
      cache[mailbox.key] = nil
      let (key, revision) = (mailbox.key, mailbox.revision)
      let isRemoved = try await asking { [store] () async throws(ClusterFailure) in
        try await store.remove(key, revision: revision)
      }
      if isRemoved {
        store.dropBodies(key, mailbox.record.waiting.map(\.body))
        return .done
      }
      guard let newest = try await find(.recipient, request.entity, fresh: true) else { throw .refused(.auth) }
      mailbox = newest
    }
    throw .failed("too many changes of one mailbox at the same time")
  }
}
