import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

/// The notification server: serves requests from its mailbox at the relay, takes notifications from the relay, and
/// determines which pushes are due.
///
/// It never waits and starts no thread: its owner calls `serve` when the relay wakes it or `nextDeadline` is reached,
/// and carries pushes to their providers (`ServerLoop` does both). Single-threaded.
package final class NotificationServer {
  let state: ServerState
  let port: any RelayPort
  let relay: RelayClient
  let notifiers: RelayNotifierClient
  let identity: Identity
  let mailbox: ServerMailbox
  /// The address for clients.
  package let link: NotificationServerLink
  /// Names of the push providers that this server can reach.
  let providers: Set<String>
  let clock: any Clock
  let randomness: any Randomness
  let log: Log
  var useClock: UseClock

  /// Per token.
  var maximumSubscriptions = 10_000
  /// Tokens per notifier: each notification is stored for all of them in one transaction.
  var maximumWatchers = Watchers.mostTokens
  var tokenBound: TokenBound
  /// Counts all tokens, if the file holds only those being worked on.
  var tokenCount: (() throws(ServerError) -> Int)?
  /// The identifier of the next new token, if another server has begun to create it.
  var proposedIdentifier: [UInt8]?

  /// Pending times. None needs to survive a restart.
  var times: ServerTimes
  /// The work left for `settle`; nil if the turn failed.
  var unsettled: UnsettledTurn?

  /// Received from the relay, but not stored because of a failure.
  var given: [RelayNotification] = []
  /// Stored, and still at the relay: the next request to it acknowledges them.
  var unacknowledged: [RelayNotification] = []

  struct UnsettledTurn {
    var asksRelay = false
    /// Stored, but perhaps not on disk yet.
    var notifications: [RelayNotification] = []
  }

  /// Creates the server's keys and mailbox on the first run, and subscribes to everything stored.
  package init(
    state: ServerState, relay port: any RelayPort, providers: Set<String>, tokens: Int? = nil, ports: Ports = .system,
    log: Log = .silent
  ) throws(ServerError) {
    self.state = state
    tokenBound = TokenBound(most: tokens ?? TokenBound.usual)
    self.port = port
    self.providers = providers
    clock = ports.clock
    randomness = ports.randomness
    self.log = log
    state.log = log
    times = ServerTimes(now: clock.now())
    useClock = .file(try state.age(boot: (ports.identity ?? .current).boot, now: clock.now()))
    relay = RelayClient(port: port, randomness: ports.randomness)

    var identity: Identity
    if let existing = try state.identity() {
      identity = existing
    } else {
      identity = try state.makeIdentity(randomness: randomness)
    }
    if identity.mailbox == nil {
      let (relay, key) = (self.relay, identity.recipientKey)
      let mailbox = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
        let mailbox = try relay.createMailbox(recipientKey: key)
        return ServerMailbox(recipient: mailbox.recipient, sender: mailbox.sender)
      }
      try state.save(mailbox)
      identity.mailbox = mailbox
    }
    guard let mailbox = identity.mailbox, let link = identity.link else { throw .damaged(.identity) }
    self.identity = identity
    self.mailbox = mailbox
    self.link = link
    notifiers = RelayNotifierClient(port: port, randomness: randomness, service: identity.serviceKey)
    try listen(checkingAll: true)
    try countTokens()
  }

  /// Does the work that is due now, large jobs one slice at a time; `nextDeadline` is now while more is left. Failures
  /// that may pass are logged and retried later; others are thrown.
  ///
  /// `isWoken`: whether the relay's wake-ups say that it has something. If not, it is asked when that is due.
  package func serve(isWoken: Bool = true) throws(ServerError) {
    try takePushes(isWoken: isWoken)
    try settle()
  }

  /// The first half of `serve`: everything that pushes to devices wait for. Only requests wait for the disk here.
  package func takePushes(isWoken: Bool) throws(ServerError) {
    unsettled = nil
    try tryingAgainLater { () throws(ServerError) in
      times.hasMoreToDo = false
      // Tokens end in more than one way, including by an operator.
      if tokenBound.isMet { try countTokens() }
      try wakeDevices()
      try releaseDeferredPushes()
      unsettled = UnsettledTurn()
      let now = clock.now()
      // Done whether it succeeds or is retried later.
      if port.takeReset() { times.listenCheck = now }
      guard now >= times.relayRetry, isWoken || times.isRelayDue(now: now) else { return }
      times.hasMoreAtRelay = false
      unsettled = nil
      try listenIfDue()
      unsettled = UnsettledTurn(asksRelay: true, notifications: try askRelay())
    }
  }

  /// The second half of `serve`, which pushes need not wait for.
  package func settle() throws(ServerError) {
    guard let turn = unsettled else { return }
    unsettled = nil
    try tryingAgainLater { () throws(ServerError) in
      // First, so as not to depend on later steps that may fail.
      try settle(turn.notifications)
      try sweepIfDue()
      guard turn.asksRelay else { return }
      try checkSubscriptions()
      noteSuccess()
    }
  }

  func noteSuccess() {
    if times.relayWorked() { log(.info, "serving works again") }
  }

  private func tryingAgainLater(_ body: () throws(ServerError) -> Void) throws(ServerError) {
    do throws(ServerError) { try body() } catch {
      guard error.mayPass(at: port) else { throw error }
      times.relayFailed(error, now: clock.now())
      // It is asked again then.
      times.hasMoreAtRelay = false
      log(.warning, "serving failed, trying again later", ["reason": "\(error)"])
    }
  }

  /// Whether the last turn ended with work left.
  package var hasMoreToDo: Bool { times.hasMoreToDo || times.hasMoreAtRelay }

  /// The latest time to call `serve`, even if the relay does not wake the server.
  package func nextDeadline() throws(ServerError) -> Moment {
    if hasMoreToDo { return clock.now() }
    let next = min(times.listenCheck, times.sweep, times.heldNotification ?? times.sweep)
    var deadline = max(next, times.relayRetry)
    if times.isRelayDown { deadline = min(deadline, times.relayRetry) }
    for time in [try state.nextWake(), try state.nextDeferredPush()] {
      guard let time else { continue }
      let (now, wall) = (clock.now(), clock.wall().milliseconds)
      deadline = min(deadline, now + .milliseconds(max(0, time &- wall)))
    }
    return deadline
  }

  /// Current problems.
  package var problems: [ServerProblem] {
    var problems: [ServerProblem] = []
    if let failure = times.failure { problems.append(ServerProblem(failure)) }
    if let problem = tokenBound.problem { problems.append(problem) }
    let damaged = state.damaged.names.count
    if damaged > 0 { problems.append(ServerProblem(part: .state, reason: "damaged records: \(damaged)")) }
    for (name, pause) in times.providerPauses.sorted(by: { $0.key < $1.key }) {
      problems.append(ServerProblem(part: .provider(name), reason: "\(pause.trouble)"))
    }
    return problems
  }

  // MARK: Being woken

  func listenIfDue() throws(ServerError) {
    let now = clock.now()
    guard now >= times.listenCheck else { return }
    try listen(checkingAll: now >= times.subscriptionCheck)
  }

  /// Subscribes to the server's own mailbox and to the notifiers taken over earlier; `checkingAll` checks every stored
  /// subscription with the relay (INC-67).
  private func listen(checkingAll: Bool) throws(ServerError) {
    let now = clock.now()
    let (recipient, key) = (mailbox.recipient, identity.recipientKey)
    let own = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      let own = try relay.subscribe([(recipient: recipient, key: key)])
      try notifiers.subscribe([])
      return own
    }
    guard own.first != .auth else { throw .mailboxUnknown }
    if checkingAll {
      times.checkedThrough = times.checkedThrough ?? 0
      times.subscriptionCheck = now + ServerTimes.subscriptionCheckInterval
    }
    times.listenCheck = now + ServerTimes.listenCheckInterval
  }

  /// Checks a slice of the subscriptions, if a check is under way.
  private func checkSubscriptions() throws(ServerError) {
    guard let last = times.checkedThrough else { return }
    let (records, next) = try state.subscriptions(after: last, limit: ServerTimes.checkSlice)
    let statuses = try subscribeAtRelay(records.map { (notifier: $0.notifier, key: $0.key) })
    let changed = zip(records, statuses).filter { $0.status != $1 }
    if !changed.isEmpty {
      try state.transaction { () throws(ServerError) in
        for (record, status) in changed {
          try state.save(status, ofSubscription: record.number)
          log(.info, "subscription changed", ["subscription": "\(record.number)", "status": status.rawValue])
        }
      }
    }
    times.checkedThrough = next
    if times.checkedThrough != nil { times.hasMoreAtRelay = true }
  }

  /// Returns one status per credential, in order.
  func subscribeAtRelay(
    _ credentials: [(notifier: RelayIdentifier, key: SigningKeyPair)]
  ) throws(ServerError) -> [SubscriptionStatus] {
    guard !credentials.isEmpty else { return [] }
    let results = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
      try notifiers.subscribe(credentials)
    }
    return results.map { result in
      switch result {
      case .subscribed, .waiting: .active
      case .auth: .refused
      }
    }
  }

  // MARK: Sweeping

  private func sweepIfDue() throws(ServerError) {
    let now = clock.now()
    guard now >= times.sweep else { return }
    let (wall, slice) = (clock.wall(), ServerTimes.slice)
    let most = try state.transaction { () throws(ServerError) in
      let answers = try state.forgetAnswers(before: wall - ServerTimes.answerRetention, limit: slice)
      let notifications = try state.deleteNotifications(
        before: wall - ServerTimes.notificationRetention, limit: slice)
      try storeAge()
      return max(answers, notifications, try expireUnusedTokens())
    }
    guard most < slice else { return times.hasMoreToDo = true }
    times.sweep = now + ServerTimes.sweepInterval
    try state.checkDamage()
  }

  /// Expires a slice of the unused tokens, and deletes slices of those that get no pushes. Returns the number of the
  /// largest slice.
  func expireUnusedTokens() throws(ServerError) -> Int {
    guard useClock.isCertain(now: clock.now(), wall: clock.wall()) else { return 0 }
    let (slice, longest) = (ServerTimes.slice, ServerTimes.tokenRetention)
    let unusable = try state.unusableTokens(
      unusedSince: useTime - ServerTimes.unusableRetention.milliseconds,
      expiredSince: useTime - (longest + ServerTimes.unusableRetention).milliseconds, limit: slice)
    for token in unusable { _ = try raise(.forget, of: token) }
    let unused = try state.tokensUnused(since: useTime - longest.milliseconds, limit: slice)
    for token in unused { _ = try raise(.stale, of: token) }
    return max(unusable.count, unused.count)
  }

  /// The time at which a token's use is recorded now.
  var useTime: Int64 { useClock.time(now: clock.now(), wall: clock.wall()) }

  /// Part of the running transaction.
  func storeAge() throws(ServerError) {
    if case .file(let age) = useClock { try state.store(age, now: clock.now()) }
  }
}

extension WallTime {
  static func - (time: WallTime, span: Span) -> WallTime {
    WallTime(milliseconds: time.milliseconds &- span.milliseconds)
  }
}
