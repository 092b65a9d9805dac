import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

/// Notifications, and the pushes that follow from them and from wake-ups.
extension SharedServer {
  /// How long a notification waits for a subscription that a server has noted but not yet stored.
  private static let patience = Span.seconds(60)
  /// One of each kind.
  private static let pushesOfAToken = 3
  /// How many milliseconds to wait before looking again at a push that is being sent, or whose token is being changed.
  private static let lookAgain: Int64 = 250
  /// Likewise for an unreadable token, which an operator must repair.
  static let damagedWait: Int64 = 3_600_000
  private static let shortMemory = Span.seconds(1)

  // MARK: Notifications

  /// Stores everything that follows from due notifications. They are acknowledged by the next turn's exchange with the
  /// relay, so that no push waits for that.
  func takeNotifications() throws(ServerError) {
    let pending = try server.receive { () throws(ServerError) in
      try forwardRequests()
      try takeRequests()
    }
    let again = recent.take(limit: ServerTimes.slice, now: clock.now())
    if !again.isEmpty { try takeAgain(again) }
    if recent.hasMore { server.times.hasMoreAtRelay = true }
    guard !pending.isEmpty else { return }
    let finished = try take(pending, isAgain: false)
    server.given = []
    server.unacknowledged = finished
    recent.note(finished, now: clock.now())
    if !finished.isEmpty { server.times.hasMoreAtRelay = true }
  }

  /// The relay no longer gives these to any server, so any not stored stay here.
  private func takeAgain(_ notifications: [RelayNotification]) throws(ServerError) {
    var left = notifications
    defer { recent.giveBack(left, now: clock.now()) }
    let finished = try take(notifications, isAgain: true)
    left.removeAll { finished.contains($0) }
  }

  /// Stores what follows from them. Returns those with nothing left to wait for.
  private func take(
    _ pending: [RelayNotification], isAgain: Bool
  ) throws(ServerError) -> [RelayNotification] {
    let watched = try watching(pending.map(\.notifier.bytes))
    try change(Set(watched.flatMap(\.ids)), atFirst: {}) { () throws(ServerError) in
      try self.state.transaction { () throws(ServerError) in
        for notification in pending {
          try self.server.take(notification, except: self.knowing(notification, isAgain: isAgain))
        }
        try self.sweepLoaded()
      }
    }
    // The server that stored it may have ended before adding the work; or the notification waits for another token.
    let known = loaded.values.map(\.document).filter { document in pending.contains { document.knows($0) } }
    try addPushes(known)
    let waiting = try dropOutdated(watched)
    return pending.filter { !waiting.contains($0.notifier.bytes) }
  }

  /// The tokens that have the notification already, or had it.
  private func knowing(_ notification: RelayNotification, isAgain: Bool) -> Set<Int64> {
    let knowing = loaded.values.map(\.document).filter {
      $0.knows(notification) || (isAgain && $0.hasOutlived(notification))
    }
    return Set(knowing.map { TokenDocument.number($0.id) })
  }

  /// Loads the tokens, applies `body` to them and stores the result; repeats this for those that another server has
  /// changed in the meantime. Returns them as stored.
  @discardableResult
  func change(
    _ ids: Set<[UInt8]>, remembered: ([UInt8]) -> SharedRecord? = { _ in nil },
    atFirst: () throws(ServerError) -> Void, _ body: () throws(ServerError) -> Void
  ) throws(ServerError) -> [[UInt8]: TokenDocument] {
    var (left, all): (Set<[UInt8]>, [[UInt8]: Loaded]) = (ids, [:])
    var documents: [[UInt8]: TokenDocument] = [:]
    for attempt in 0..<Self.mostTries {
      guard !left.isEmpty else {
        loaded = all
        return documents
      }
      // The rest were changed by other servers.
      try load(left, remembered: attempt == 0 ? remembered : { _ in nil })
      all.merge(loaded) { _, newest in newest }
      if left == ids { try atFirst() }
      try body()
      left = try commit()
      for (id, document) in committed where !left.contains(id) { documents[id] = document }
    }
    throw .cluster("too many changes of one token at the same time")
  }

  /// Expires tokens that their clients have forgotten, and notifications for which no relay has a message any longer.
  func sweepLoaded() throws(ServerError) {
    let wall = clock.wall()
    _ = try state.deleteNotifications(before: wall - ServerTimes.notificationRetention, limit: ServerTimes.slice)
    _ = try server.expireUnusedTokens()
  }

  /// Removes tokens that do not watch the notifier, according to documents read after the record. Returns notifiers
  /// that a server is just subscribing to, and those whose watchers are unknown.
  private func dropOutdated(_ watched: [WatcherRecord]) throws(ServerError) -> Set<[UInt8]> {
    let past = (clock.wall() - Self.patience).milliseconds
    var waiting: Set<[UInt8]> = []
    for record in watched where record.watchers == nil { waiting.formUnion(record.notifiers) }
    let changes = watched.compactMap { record in
      record.removal { notifier in
        let idle = (record.watchers?.of(notifier) ?? []).filter {
          !unreadable.contains($0.id) && loaded[$0.id]?.document.watches(notifier) != true
        }
        if idle.contains(where: { $0.time > past }) { waiting.insert(notifier) }
        return Set(idle.filter { $0.time <= past }.map(\.id))
      }
    }
    if !changes.isEmpty {
      _ = try asking { (store) throws(SharedStoreFailure) in try store.replace(changes) }
    }
    return waiting
  }

  // MARK: Pushes

  package func nextPushes(
    for provider: String, count: Int, underWay sequences: Set<Int64>
  ) throws(ServerError) -> [PendingPush] {
    guard !isDraining else { return [] }
    let pause = server.times.providerPauses[provider]
    if let pause, clock.now() < pause.until { return [] }
    let count = pause == nil ? min(count, ServerTimes.slice) : min(count, sequences.isEmpty ? 1 : 0)
    let queue = Self.queue(provider)
    guard count > 0, looks.isDue(queue, now: clock.now()) else { return [] }
    let taken = try asking { (store) throws(SharedStoreFailure) in try store.take(queue, limit: count) }
    if taken.count < count { looks.noteEmpty(queue, now: clock.now()) }
    guard !taken.isEmpty else { return [] }
    try load(taken.map(Self.token))
    let (due, spare) = sort(taken, provider, sequences)
    try state.transaction { () throws(ServerError) in try state.makeDue(due.keys) }
    let pushes = try server.pushes(
      for: provider, among: Set(due.keys), outOf: loaded.count * Self.pushesOfAToken)
    let isSent = Set(pushes.map(\.sequence))
    // A push that should no longer be sent is not in the document either, unless another server was faster: it may have
    // found that the push is due already, and added no work.
    let unsent = due.filter { !isSent.contains($0.key) }.map(\.value)
    let changed = unsent.isEmpty ? [] : try commit()
    let isChanged = { (work: TakenWork) in changed.contains(Self.token(work)) }
    for work in unsent where isChanged(work) { postpone(work, milliseconds: Self.lookAgain) }
    let ended = spare + unsent.filter { !isChanged($0) }
    if !ended.isEmpty { try asking { (store) throws(SharedStoreFailure) in try store.end(ended) } }
    // Last: if an earlier step fails, no worker gets them, and their leases must run out.
    for sequence in isSent { underWay[sequence] = due[sequence] }
    return pushes
  }

  /// The document of the last second, if it has these pushes: the outcome replaces it, or is refused.
  private func having(_ sent: [DuePush], _ id: [UInt8]) -> SharedRecord? {
    guard let record = remembered.record(id, youngerThan: Self.shortMemory, now: clock.now()),
      let document = try? TokenDocument(decoding: record.bytes)
    else { return nil }
    let isThere = sent.allSatisfy { due in
      document.pushes.contains { $0.kind == due.kind.rawValue && $0.version == due.version }
    }
    return isThere ? record : nil
  }

  private static func token(_ work: TakenWork) -> [UInt8] { Array(work.bytes.prefix(RelayIdentifier.count)) }
  private static func kind(_ work: TakenWork) -> String {
    String(decoding: work.bytes.dropFirst(RelayIdentifier.count), as: UTF8.self)
  }

  /// Returns the work to do by its push, and the work to end: a push carries everything new, so one is enough. Finished
  /// work is ended when it is found so for the second time.
  private func sort(
    _ taken: [TakenWork], _ provider: String, _ sequences: Set<Int64>
  ) -> (due: [Int64: TakenWork], spare: [TakenWork]) {
    var (due, spare): ([Int64: TakenWork], [TakenWork]) = ([:], [])
    let wall = clock.wall()
    for work in taken {
      let (id, kind) = (Self.token(work), Self.kind(work))
      let sequence = TokenDocument.sequence(kind, of: id)
      guard !unreadable.contains(id) else {
        postpone(work, milliseconds: Self.damagedWait)
        continue
      }
      guard let push = loaded[id]?.document.pushes.first(where: { $0.kind == kind }), push.provider == provider else {
        if finished.isConfirmed(work, now: clock.now()) {
          spare.append(work)
        } else {
          postpone(work, milliseconds: FinishedWork.pause.milliseconds)
        }
        continue
      }
      finished.forget(work)
      guard due[sequence] == nil else {
        spare.append(work)
        continue
      }
      if sequences.contains(sequence) {
        postpone(work, milliseconds: Self.lookAgain)
      } else if push.dueAt > wall.milliseconds, !state.isBeyond(push.dueAt, wall) {
        postpone(work, milliseconds: push.dueAt - wall.milliseconds)
      } else {
        due[sequence] = work
      }
    }
    return (due, spare)
  }

  package func finish(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) throws(ServerError) {
    let work = ended.map { underWay[$0.pending.sequence] }
    var left = ended
    let ids = Dictionary(
      zip(work, ended).compactMap { work, ended in
        work.map { (ended.pending.due.token, Self.token($0)) }
      }, uniquingKeysWith: { first, _ in first })
    forgetAfterTrouble()
    let sent = Dictionary(grouping: ended.map(\.pending.due), by: { ids[$0.token] ?? [] })
    let documents = try change(Set(ids.values), remembered: { self.having(sent[$0] ?? [], $0) }, atFirst: {}) {
      () throws(ServerError) in
      left = left.filter { each in ids[each.pending.due.token].map { self.loaded[$0] != nil } ?? false }
      try self.server.finish(left)
    }
    // Only now: until then the lease is extended, and the caller tries again. If a later step fails, the lease runs
    // out, and the work is found to be done.
    for ended in ended { underWay[ended.pending.sequence] = nil }
    var done: [TakenWork] = []
    for case (let work?, let ended) in zip(work, ended) {
      switch ended.outcome {
      case .unreachable, .refused:
        // Until after the provider's next trial, which is then made with another push.
        let pause = server.times.providerPauses[ended.pending.provider].map { $0.until - clock.now() }
        let span = max(pause?.milliseconds ?? 0, 0) + ServerTimes.firstRetry.milliseconds
        postpone(work, milliseconds: span)
      case .later(let seconds):
        let span = min(ServerTimes.longestDeferral, .seconds(Int64(max(1, seconds))))
        postpone(work, milliseconds: span.milliseconds)
      case .accepted, .invalid, .ended, .failed, .rejected:
        // News that came in the meantime may have no other item: a server may have found this one sufficient and ended
        // the rest.
        if documents[Self.token(work)]?.hasPush(after: ended.pending) == true {
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
