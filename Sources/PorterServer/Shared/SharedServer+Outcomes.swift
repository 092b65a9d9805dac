import PorterPlatform
import PorterPush

/// Outcomes whose documents are being stored, which the relay's next answer need not wait for.
struct StoringOutcomes {
  let ended: [SharedServer.EndedPush]
  /// The identifiers of the tokens, by their numbers.
  let ids: [Int64: [UInt8]]
  let changes: [SharedChange]
  /// The documents after them, and before.
  let changed: [TokenDocument]
  let loaded: [[UInt8]: SharedServer.Loaded]
  let replacement: any SharedReplacement
  let asked: Moment

  func has(_ sequence: Int64) -> Bool { ended.contains { $0.pending.sequence == sequence } }
}

/// The outcomes of pushes.
extension SharedServer {
  package typealias EndedPush = (pending: PendingPush, outcome: PushOutcome)

  private static let shortMemory = Span.seconds(1)

  /// Returns before accepted pushes are stored as such, if that needs no reading; `confirmOutcomes` waits for it. Until
  /// then the leases are extended.
  package func finish(_ ended: [EndedPush]) throws(ServerError) {
    try confirmOutcomes()
    forgetAfterTrouble()
    let ids = tokens(of: ended)
    if !isDraining, try beginStoring(ended, ids) { return }
    try addWorkToRepeat(ended)
    complete(ended, try store(ended, ids))
    endDirectPushes(ended)
  }

  /// The identifiers of the tokens, by their numbers.
  private func tokens(of ended: [EndedPush]) -> [Int64: [UInt8]] {
    Dictionary(
      ended.compactMap { pending, _ in
        (underWay[pending.sequence].map(Self.token) ?? direct.token(pending.sequence)).map {
          (pending.due.token, $0)
        }
      }, uniquingKeysWith: { first, _ in first })
  }

  private func store(
    _ ended: [EndedPush], _ ids: [Int64: [UInt8]], readsAll: Bool = false
  ) throws(ServerError) -> [[UInt8]: TokenDocument] {
    var left = ended
    let sent = sent(ended, ids)
    let remembered = { (id: [UInt8]) in
      readsAll || self.having(sent[id] ?? [], id) == nil ? nil : self.remembered.record(id)
    }
    return try change(Set(ended.compactMap { ids[$0.pending.due.token] }), remembered: remembered) {
      () throws(ServerError) in
      left = left.filter { each in ids[each.pending.due.token].map { self.loaded[$0] != nil } ?? false }
      try self.server.finish(left)
    }
  }

  private func sent(_ ended: [EndedPush], _ ids: [Int64: [UInt8]]) -> [[UInt8]: [DuePush]] {
    Dictionary(grouping: ended.map(\.pending.due), by: { ids[$0.token] ?? [] })
  }

  /// The document of the last second, if it has these pushes: the outcome replaces it, or is refused.
  private func having(_ sent: [DuePush], _ id: [UInt8]) -> Loaded? {
    guard let record = remembered.record(id, youngerThan: Self.shortMemory, now: clock.now()),
      let document = try? TokenDocument(decoding: record.bytes)
    else { return nil }
    let isThere = sent.allSatisfy { due in
      document.pushes.contains { $0.kind == due.kind.rawValue && $0.version == due.version }
    }
    return isThere ? (document, record.revision) : nil
  }

  // MARK: Without waiting

  /// Returns false if the outcomes need more than to remove pushes from remembered documents.
  private func beginStoring(_ ended: [EndedPush], _ ids: [Int64: [UInt8]]) throws(ServerError) -> Bool {
    let sent = sent(ended, ids)
    guard
      ended.allSatisfy({ $0.pending.isOverOnceAccepted && $0.outcome == .accepted && ids[$0.pending.due.token] != nil })
    else { return false }
    var (before, changed): ([[UInt8]: Loaded], [TokenDocument]) = ([:], [])
    for id in Set(ids.values) {
      guard let remembered = having(sent[id] ?? [], id) else { return false }
      var document = remembered.document
      for push in sent[id] ?? [] { document.end(push) }
      before[id] = remembered
      changed.append(document)
    }
    server.report(ended)
    let changes = changed.map {
      SharedChange(TokenDocument.key($0.id), $0.encoded(), revision: before[$0.id]?.revision ?? 0)
    }
    storing = StoringOutcomes(
      ended: ended, ids: ids, changes: changes, changed: changed, loaded: before,
      replacement: store.beginReplacing(changes), asked: clock.now())
    return true
  }

  /// Waits until the outcomes are stored that `finish` has begun to store. After a failure, or another server's change,
  /// their tokens are read. If this fails, the next call tries again.
  func confirmOutcomes() throws(ServerError) {
    guard let storing else { return }
    var conflicts = Set(storing.changed.map(\.id))
    do throws(ServerError) {
      let revisions = try asking { (_) throws(SharedStoreFailure) in try storing.replacement.wait() }
      for ((document, change), revision) in zip(zip(storing.changed, storing.changes), revisions) {
        remember(document.id, change.bytes, revision, asked: storing.asked)
        if revision != nil { conflicts.remove(document.id) }
      }
    } catch {
      // It may have been stored.
      log(.warning, "outcomes of pushes are stored again", ["reason": "\(error)"])
    }
    loaded = storing.loaded
    try noteStored(storing.changed.filter { !conflicts.contains($0.id) })
    var documents = Dictionary(storing.changed.map { ($0.id, $0) }) { first, _ in first }
    if !conflicts.isEmpty {
      let again = storing.ended.filter { conflicts.contains(storing.ids[$0.pending.due.token] ?? []) }
      documents.merge(try store(again, storing.ids, readsAll: true)) { _, newest in newest }
    }
    complete(storing.ended, documents)
    endDirectPushes(storing.ended)
    self.storing = nil
  }

  // MARK: Their work

  /// Only once the outcomes are stored: until then the lease is extended, and the caller tries again. If a later step
  /// fails, the lease runs out, and the work is found to be done.
  private func complete(_ ended: [EndedPush], _ documents: [[UInt8]: TokenDocument]) {
    var done: [TakenWork] = []
    for (pending, outcome) in ended {
      guard let work = underWay.removeValue(forKey: pending.sequence) else { continue }
      switch outcome {
      case .unreachable, .refused:
        // Until after the provider's next trial, which is then made with another push.
        let pause = server.times.providerPauses[pending.provider].map { $0.until - clock.now() }
        let span = max(pause?.milliseconds ?? 0, 0) + ServerTimes.firstRetry.milliseconds
        postpone(work, milliseconds: span)
      case .later(let seconds):
        let span = min(ServerTimes.longestDeferral, .seconds(Int64(max(1, seconds))))
        postpone(work, milliseconds: span.milliseconds)
      case .accepted, .invalid, .ended, .failed, .rejected:
        // News that came in the meantime may have no other item: a server may have found this one sufficient and ended
        // the rest.
        if documents[Self.token(work)]?.hasPush(after: pending) == true {
          postpone(work, milliseconds: Self.lookAgain)
        } else {
          done.append(work)
        }
      }
    }
    // If that is lost, the work is given again, and found to be done.
    store.endSoon(done)
  }
}
