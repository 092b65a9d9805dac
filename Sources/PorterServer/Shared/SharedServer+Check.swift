import PorterPlatform
import PorterPush
import PorterRelay

/// The daily check of each subscription with the relay (INC-67), shared by all servers: each takes the next tokens by
/// moving a shared position. Tokens that change meanwhile are beyond its end; the server that changes one checks it.
extension SharedServer {
  private struct Progress {
    static let key = SharedKey(.settings, "check")
    var began: Int64
    var position: UInt64
    /// Tokens changed later are not reached.
    var end: UInt64

    var isOver: Bool { position >= end }

    var bytes: [UInt8] {
      var bytes: [UInt8] = []
      for each in [began, Int64(bitPattern: position), Int64(bitPattern: end)] { bytes.append(signed64: each) }
      return bytes
    }

    init(began: Int64, end: UInt64) { (self.began, position, self.end) = (began, 0, end) }

    init?(_ bytes: [UInt8]) {
      var reader = RelayReader(bytes)
      guard let began = try? reader.signed64(), let position = try? reader.signed64(), let end = try? reader.signed64()
      else { return nil }
      (self.began, self.position, self.end) = (began, UInt64(bitPattern: position), UInt64(bitPattern: end))
    }
  }

  private static let checkInterval = Span.seconds(60)
  /// How much servers' clocks may differ, in milliseconds.
  private static let tolerance: Int64 = 60_000
  /// Each asks the relay about all of its subscriptions.
  private static let mostChecks = 3

  /// A check asks the cluster and the relay several times, one after the other, and notifications wait for it. Fewer are
  /// made while there are any: a million tokens take half a day.
  private static let busySpan = Span.seconds(1)
  private static let busyPause = Span.milliseconds(40)
  private static let idleSlice = 4

  /// Checks tokens that are due.
  func checkTokens() throws(ServerError) {
    let now = clock.now()
    let isBusy = given.map { now - $0 < Self.busySpan } ?? false
    guard !isBusy || now >= nextBusyCheck else { return }
    nextBusyCheck = now + Self.busyPause
    try checkSubscriptions(limit: isBusy ? 1 : Self.idleSlice)
    try checkChanged(limit: isBusy ? 1 : Self.changedOfATurn)
  }

  /// Checks a slice. If this server ends partway, those tokens are checked the next day.
  private func checkSubscriptions(limit: Int) throws(ServerError) {
    let now = clock.now()
    guard now >= nextCheck else { return }
    let stored = try asking { (store) throws(SharedStoreFailure) in try store.records([Progress.key])[0] }
    let wall = clock.wall().milliseconds
    var progress: Progress
    if let known = stored.flatMap({ Progress($0.bytes) }),
      !known.isOver || wall < known.began &+ ServerTimes.subscriptionCheckInterval.milliseconds, known.began <= wall
    {
      progress = known
    } else {
      let end = try asking { (store) throws(SharedStoreFailure) in try store.newestToken() }
      progress = Progress(began: wall, end: end)
    }
    var ids: [[UInt8]] = []
    while ids.count < limit, !progress.isOver {
      let position = progress.position
      let next = try asking { (store) throws(SharedStoreFailure) in try store.token(after: position) }
      progress.position = next?.revision ?? progress.end
      if let next, let id = TextEncoding.base64URLDecoded(next.key), id.count == RelayIdentifier.count {
        ids.append(id)
      }
    }
    nextCheck = progress.isOver ? now + Self.checkInterval : now
    if !progress.isOver { server.times.hasMoreAtRelay = true }
    if let stored, stored.bytes == progress.bytes { return }
    let change = SharedChange(Progress.key, progress.bytes, revision: stored?.revision ?? 0)
    let revision = try asking { (store) throws(SharedStoreFailure) in try store.replace([change])[0] }
    guard revision != nil else { return }
    // A time in the future is that of a clock that was ahead.
    let checked = progress.began...max(progress.began, wall + Self.tolerance)
    for id in ids { try check(id) { !checked.contains($0.checkedAt) } }
  }

  /// In each turn, so that the rest of it is not delayed for long.
  private static let changedOfATurn = 2

  /// Checks tokens that have changed and are due.
  private func checkChanged(limit: Int) throws(ServerError) {
    for _ in 0..<limit {
      guard let id = dueChecks.take(now: clock.now()) else { return }
      try check(id) { $0.isCheckDue(now: clock.wall()) }
    }
    if !dueChecks.isEmpty { server.times.hasMoreAtRelay = true }
  }

  private func check(_ id: [UInt8], if isDue: (TokenDocument) -> Bool) throws(ServerError) {
    checked = (id, clock.wall().milliseconds)
    defer { checked = nil }
    for _ in 0..<Self.mostChecks {
      try load([id])
      if let document = loaded[id]?.document, !isDue(document) { return }
      // Damage is found again if it is still there.
      if !unreadable.contains(id) { state.damaged.forget(token: TokenDocument.number(id)) }
      let documents = loaded.values.map(\.document)
      try ensureWatching(documents)
      try ensureDevices(documents)
      try addLostWork(documents)
      // Nothing else does this for a token that gets no messages.
      try state.transaction { () throws(ServerError) in try sweepLoaded() }
      let records = try state.subscriptions(after: 0, limit: Self.maximumSubscriptions).records
      let statuses = try server.subscribeAtRelay(records.map { (notifier: $0.notifier, key: $0.key) })
      let changed = zip(records, statuses).filter { $0.status != $1 }
      try noteWatching(id, changed.filter { $1 == .active }.map(\.0.notifier.bytes))
      try state.transaction { () throws(ServerError) in
        for (record, status) in changed { try state.save(status, ofSubscription: record.number) }
      }
      if try commit().isEmpty { return }
    }
    // The server that changes it checks it again in some minutes.
    log(.warning, "a token changes too often to be checked", ["token": "\(TokenDocument.number(id))"])
  }
}
