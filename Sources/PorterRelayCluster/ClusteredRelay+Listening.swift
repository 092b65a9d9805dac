import PorterCrypto
import PorterPlatform
import PorterRelay

/// Subscriptions of recipients, and asking about many mailboxes at the same time.
extension ClusteredRelay {
  func subscribe(
    _ request: RelayRequest, _ entries: [RelayCommand.Entry], _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .refused(.syntax) }
    return .subscriptions(try await states(of: entries, of: request, listener))
  }

  func check(
    _ request: RelayRequest, _ entries: [RelayCommand.Entry]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .refused(.syntax) }
    return .subscriptions(try await states(of: entries, of: request, nil))
  }

  /// A nonexistent mailbox, one without a key and a tag by a different key get the same answer, after the same work.
  func checkByKeys(
    _ request: RelayRequest, _ entries: [RelayCommand.Tagged]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .refused(.syntax) }
    try await settle(entries.map { ClusterKey.text(identifiers.parts(.recipient, of: $0.entity).mailbox) })
    return .subscriptions(
      try await concurrently(entries) { [self] (entry) async throws(ExchangeFailure) in
        let record = try await find(.recipient, entry.entity, .settled)?.record
        let key = record?.checkKey
        let isProven = (key ?? decoyCheckKey).verifies(entry.tag, correlation: request.correlation, entry.entity)
        return key != nil && isProven ? state(of: record) : .auth
      })
  }

  func shareCheckKeys(
    _ request: RelayRequest, _ entries: [RelayCommand.SharedKey]
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil, request.signature == nil else { throw .refused(.syntax) }
    // Each would be another version of the record, one after the other.
    guard Set(entries.map(\.entity)).count == entries.count else { throw .refused(.syntax) }
    try await settle(entries.map { ClusterKey.text(identifiers.parts(.recipient, of: $0.entity).mailbox) })
    return .subscriptions(
      try await concurrently(entries) { [self] (entry) async throws(ExchangeFailure) in
        let found = try await find(.recipient, entry.entity, .settled)
        let signed = RelayRequest.signedBytes(correlation: request.correlation, sharing: entry.key, of: entry.entity)
        do throws(ExchangeFailure) {
          try authorize(entry.signature, of: signed, key: found?.record.recipientKey)
          guard let found else { return .auth }
          return try await change(found, .recipient) { (record, _) throws(ExchangeFailure) in
            if record.checkKey == entry.key { return .keep(state(of: record)) }
            record.checkKey = entry.key
            return .replace(state(of: record))
          }
        } catch {
          if case .refused(.auth) = error { return .auth }
          throw error
        }
      })
  }

  func listen(
    _ request: RelayRequest, _ key: SigningPublicKey, _ entries: [RelayCommand.Entry], _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: key)
    // The position is taken before the mailboxes are read, so that anything arriving in between is reported twice, not
    // never.
    if let listener { _ = listeners.subscribe(listener, []) }
    let position = listener.flatMap { listeners.position(of: $0, addingKey: key) }
    let results = try await states(of: entries, of: request, listener)
    let none = RelayPosition(bytes: [UInt8](repeating: 0, count: RelayPosition.count))
    guard let position = position ?? none else { throw .failed("no position") }
    return .listening(position, results)
  }

  func arrivals(
    _ request: RelayRequest, _ key: SigningPublicKey, after position: RelayPosition, limit: UInt16,
    _ listener: String?
  ) async throws(ExchangeFailure) -> RelayAnswer {
    guard request.entity == nil else { throw .refused(.syntax) }
    try authorize(request, key: listeners.knows(key, listener) ? key : nil)
    guard let listener else { throw .refused(.auth) }
    let most = max(1, min(Int(limit), RelayLimits.batch))
    var (reached, recipients) = (position, [RelayIdentifier]())
    // A client takes an answer that is not full for the end, so those that are gone make room for later ones.
    // In whole batches, of which a listener has a few.
    while recipients.count < most {
      guard let arrivals = listeners.arrivals(listener, after: reached, limit: RelayLimits.batch) else {
        throw .refused(.auth)
      }
      if arrivals.isEmpty { break }
      for (arrival, isWaiting) in zip(arrivals, try await areWaiting(arrivals)) where recipients.count < most {
        if isWaiting { recipients.append(arrival.recipient) }
        reached = arrival.position
      }
    }
    if reached == position { listeners.noteSignOfLife(listener) }
    return .arrivals(reached, recipients)
  }

  /// Whether each arrival's message is still waiting. None is reported again after the position that the client gets, so
  /// a lagging record must not hide one.
  private func areWaiting(
    _ arrivals: [ClusterListeners.Reported]
  ) async throws(ExchangeFailure) -> [Bool] {
    let keys = Array(Set(arrivals.map(\.arrival.key)))
    if !keys.isEmpty { try await settle(keys) }
    let records = try await concurrently(keys) { [self] (key) async throws(ExchangeFailure) in
      try await read(key, .settled)?.record
    }
    let now = wall
    let waiting = Dictionary(uniqueKeysWithValues: zip(keys, records))
    return arrivals.map { each in
      guard let record = waiting[each.arrival.key] ?? nil else { return false }
      return record.waiting.contains {
        $0.message.bytes == each.arrival.message && !MailboxRecord.isExpired($0.sentAt, at: now)
      }
    }
  }

  /// What is waiting in each mailbox whose key has signed its entry. The listener, if there is one, is subscribed
  /// before the mailbox is read, so that nothing is missed in between.
  func states(
    of entries: [RelayCommand.Entry], of request: RelayRequest, _ listener: String?
  ) async throws(ExchangeFailure) -> [RelaySubscription] {
    let read = try await mailboxes(of: entries, .recipient, of: request) { $0.recipientKey }
    guard let listener else { return read.map { state(of: $0?.record) } }
    let allowed = read.enumerated().compactMap { index, mailbox in
      mailbox.map { (key: $0.key, recipient: entries[index].entity) }
    }
    let (first, isWhole) = listeners.subscribe(listener, allowed)
    guard isWhole else { throw .own("too many subscriptions") }
    for key in first { store.answersHold(key, true) }
    let keys = read.map { $0?.key }
    // Arrivals before the listener was subscribed have no signal: now the records contain them.
    try await settle(keys.compactMap { $0 })
    let newest = try await concurrently(keys) { [self] (key) async throws(ExchangeFailure) -> MailboxRecord? in
      guard let key else { return nil }
      return try await self.read(key, .settled)?.record
    }
    return newest.map { state(of: $0) }
  }

  private func state(of record: MailboxRecord?) -> RelaySubscription {
    guard let record else { return .auth }
    return record.oldest(at: wall) == nil ? .subscribed : .waiting
  }

  /// The mailbox of each entry signed by its key.
  func mailboxes(
    of entries: [RelayCommand.Entry], _ name: ClusterKey.Name, of request: RelayRequest,
    key: @escaping @Sendable (MailboxRecord) -> SigningPublicKey?
  ) async throws(ExchangeFailure) -> [FoundMailbox?] {
    try await settle(entries.map { ClusterKey.text(identifiers.parts(name, of: $0.entity).mailbox) })
    return try await concurrently(entries) { [self] (entry) async throws(ExchangeFailure) -> FoundMailbox? in
      let found = try await find(name, entry.entity, .settled)
      let bytes = RelayRequest.signedBytes(correlation: request.correlation, entry: entry.entity, of: request.command)
      do throws(ExchangeFailure) {
        try authorize(entry.signature, of: bytes, key: found.flatMap { key($0.record) })
        return found
      } catch {
        if case .refused(.auth) = error { return nil }
        throw error
      }
    }
  }

  /// Runs all at the same time; the results are in order.
  func concurrently<Item: Sendable, Value: Sendable>(
    _ items: [Item], _ body: @escaping @Sendable (Item) async throws(ExchangeFailure) -> Value
  ) async throws(ExchangeFailure) -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, ExchangeFailure>).self) { group in
      for (index, item) in items.enumerated() {
        group.addTask {
          do throws(ExchangeFailure) { return (index, .success(try await body(item))) } catch {
            return (index, .failure(error))
          }
        }
      }
      var results = [Result<Value, ExchangeFailure>?](repeating: nil, count: items.count)
      for await (index, result) in group { results[index] = result }
      return results.compactMap { $0 }
    }
    var values: [Value] = []
    for result in results { values.append(try result.get()) }
    return values
  }
}
