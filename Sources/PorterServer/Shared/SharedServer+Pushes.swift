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
  static let pushesOfAToken = 3
  /// How many milliseconds to wait before looking again at a push that is being sent, or whose token is being changed.
  static let lookAgain: Int64 = 250
  /// Likewise for an unreadable token, which an operator must repair.
  static let damagedWait: Int64 = 3_600_000

  // MARK: Notifications

  /// Stores everything that follows from due notifications. They are acknowledged by the next turn's exchange with the
  /// relay, so that no push waits for that, or once their direct pushes have ended.
  func takeNotifications() throws(ServerError) {
    let pending = try server.receive { () throws(ServerError) in
      try forwardRequests()
      try takeRequests()
    }
    try confirmOutcomes()
    if pending.contains(where: { direct.holds($0) || acknowledgements.has($0) }) {
      direct.suspend(now: clock.now())
      dueAcknowledgements(all: true)
    }
    let again = recent.take(limit: ServerTimes.slice, now: clock.now())
    if !again.isEmpty { try takeAgain(again) }
    if recent.hasMore { server.times.hasMoreAtRelay = true }
    guard !pending.isEmpty else { return }
    given = clock.now()
    let finished = try take(pending, isAgain: false)
    server.given = []
    // The relay may have more.
    if pending.count >= ServerTimes.slice { server.times.hasMoreAtRelay = true }
    acknowledge(finished.filter { !direct.holds($0) })
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
    // Together: a watcher is removed only a minute after it was noted, and if its record has not changed since.
    let probe = try asking { (store) throws(SharedStoreFailure) in try store.probe([.subscriptions, .tokens]) }
    let watched = try watching(pending.map(\.notifier.bytes), asOf: probe)
    var chosen: [Int64: [UInt8]] = [:]
    let choose = { (stored: [TokenDocument]) -> Set<Int64> in
      // The relay would not give those again.
      guard !isAgain else { return [] }
      let new = self.directPushes(stored)
      chosen.merge(new) { first, _ in first }
      return Set(new.keys)
    }
    let stored = try change(Set(watched.flatMap(\.ids)), asOf: probe, direct: choose) { () throws(ServerError) in
      try self.state.transaction { () throws(ServerError) in
        for notification in pending {
          try self.server.take(notification, except: self.knowing(notification, isAgain: isAgain))
        }
        try self.sweepLoaded()
      }
    }
    // The server that stored it may have ended before adding the work; or the notification waits for another token.
    let known = loaded.values.map(\.document).filter { document in pending.contains { document.knows($0) } }
    try addPushes(known) { !direct.has($0, version: $1) }
    let waiting = try dropOutdated(watched)
    let finished = pending.filter { !waiting.contains($0.notifier.bytes) }
    try prepare(chosen, of: stored, for: finished)
    return finished
  }

  /// The tokens that have the notification already, or had it.
  private func knowing(_ notification: RelayNotification, isAgain: Bool) -> Set<Int64> {
    let knowing = loaded.values.map(\.document).filter {
      $0.knows(notification) || (isAgain && $0.hasOutlived(notification))
    }
    return Set(knowing.map { TokenDocument.number($0.id) })
  }

  /// Loads the tokens, applies `body` to them and stores the result; repeats this for those that another server has
  /// changed in the meantime. Returns them as stored. `probe` is of tokens.
  @discardableResult
  func change(
    _ ids: Set<[UInt8]>, asOf probe: SharedProbe? = nil, remembered: ([UInt8]) -> SharedRecord? = { _ in nil },
    direct: ([TokenDocument]) -> Set<Int64> = { _ in [] }, atFirst: () throws(ServerError) -> Void = {},
    _ body: () throws(ServerError) -> Void
  ) throws(ServerError) -> [[UInt8]: TokenDocument] {
    var (left, all): (Set<[UInt8]>, [[UInt8]: Loaded]) = (ids, [:])
    var documents: [[UInt8]: TokenDocument] = [:]
    for attempt in 0..<Self.mostTries {
      guard !left.isEmpty else {
        loaded = all
        return documents
      }
      // The rest were changed by other servers.
      let isFirst = attempt == 0
      try load(left, asOf: isFirst ? probe : nil, remembered: isFirst ? remembered : { _ in nil })
      all.merge(loaded) { _, newest in newest }
      if left == ids { try atFirst() }
      try body()
      left = try commit(direct: direct)
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
    let prepared = direct.take(count, for: provider)
    do throws(ServerError) {
      return prepared + (try queuedPushes(for: provider, count: count - prepared.count, underWay: sequences))
    } catch {
      guard !prepared.isEmpty else { throw error }
      // These need nothing of the cluster. The next turn asks it again.
      log(.warning, "pushes wait", ["reason": "\(error)"])
      return prepared
    }
  }

  private func queuedPushes(
    for provider: String, count: Int, underWay sequences: Set<Int64>
  ) throws(ServerError) -> [PendingPush] {
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

  static func token(_ work: TakenWork) -> [UInt8] { Array(work.bytes.prefix(RelayIdentifier.count)) }
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
      if direct.isLate(sequence), underWay[sequence] == nil {
        // It is the work of this push, which has been under way for long: its lease is extended from here on.
        underWay[sequence] = work
      } else if sequences.contains(sequence) || storing?.has(sequence) == true || direct.token(sequence) != nil {
        postpone(work, milliseconds: Self.lookAgain)
      } else if push.dueAt > wall.milliseconds, !state.isBeyond(push.dueAt, wall) {
        postpone(work, milliseconds: push.dueAt - wall.milliseconds)
      } else {
        due[sequence] = work
      }
    }
    return (due, spare)
  }
}
