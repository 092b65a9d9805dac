import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay
import PorterStore

/// A push to carry to its provider now.
package struct PendingPush: Sendable {
  let due: DuePush
  let generation: Int64
  package let provider: String
  package let push: OutgoingPush

  package var kind: PushKind { due.kind }
  /// Whether nothing follows from its acceptance but its end.
  var isOverOnceAccepted: Bool { kind != .verification }
  /// Identifies it among the pushes under way.
  package var sequence: Int64 { due.sequence }
}

extension NotificationServer {
  /// The push that has waited longest for this provider; nil if there is none, or the provider is paused after a
  /// failure.
  package func nextPush(for provider: String) throws(ServerError) -> PendingPush? {
    try nextPushes(for: provider, count: 1, underWay: []).first
  }

  /// The pushes that have waited longest for this provider, except those under way; none while the provider is paused
  /// after a failure.
  ///
  /// They stay stored until `finish` is called, and are returned again after a restart.
  package func nextPushes(
    for provider: String, count: Int, underWay: Set<Int64>
  ) throws(ServerError) -> [PendingPush] {
    if let pause = times.providerPauses[provider], clock.now() < pause.until { return [] }
    guard times.providerPauses[provider] == nil else {
      // A provider that has just failed is tried with a single push.
      return underWay.isEmpty && count > 0 ? try nextTrial(for: provider) : []
    }
    return try pushes { () throws(ServerError) in
      let due = try state.duePushes(provider: provider, limit: underWay.count + count)
      return due.filter { !underWay.contains($0.sequence) }.prefix(count)
    }
  }

  /// A different push each time: one that fails by itself must not keep the provider paused.
  private func nextTrial(for provider: String) throws(ServerError) -> [PendingPush] {
    let last = times.lastTrials[provider] ?? 0
    let trial = try pushes { () throws(ServerError) in
      let due = try state.duePushes(provider: provider, limit: ServerTimes.slice)
      return due[(due.firstIndex { $0.sequence > last } ?? 0)...].prefix(1)
    }
    times.lastTrials[provider] = trial.first?.sequence
    return trial
  }

  /// The due pushes among these sequences, whether or not the provider is paused. There are at most `most` pushes.
  func pushes(
    for provider: String, among sequences: Set<Int64>, outOf most: Int
  ) throws(ServerError) -> [PendingPush] {
    try pushes { () throws(ServerError) in
      try state.duePushes(provider: provider, limit: most).filter { sequences.contains($0.sequence) }[...]
    }
  }

  /// These pushes, without any that cannot be sent or need not be.
  func pushes(_ due: [DuePush]) throws(ServerError) -> [PendingPush] {
    try state.reading { () throws(ServerError) in try pending(due[...]) }.pushes
  }

  private func pushes(_ due: () throws(ServerError) -> ArraySlice<DuePush>) throws(ServerError) -> [PendingPush] {
    while true {
      // A snapshot of one point in time. It also takes SQLite's locks once instead of for each query.
      let (pushes, dropped) = try state.reading { () throws(ServerError) in try pending(try due()) }
      if !dropped.isEmpty {
        try state.transaction { () throws(ServerError) in for push in dropped { try state.remove(push) } }
      }
      if !pushes.isEmpty || dropped.isEmpty { return pushes }
    }
  }

  /// Also returns the pushes that cannot be sent or need not be.
  private func pending(
    _ due: ArraySlice<DuePush>
  ) throws(ServerError) -> (pushes: [PendingPush], dropped: [DuePush]) {
    var (pushes, dropped): ([PendingPush], [DuePush]) = ([], [])
    for push in due {
      do throws(ServerError) {
        if let pending = try pendingPush(push) {
          pushes.append(pending)
          continue
        }
      } catch {
        guard case .damaged(let record) = error else { throw error }
        state.noteDamage(record, of: push.token)
        log(.error, "cannot build a push", ["token": "\(push.token)", "reason": "\(error)"])
      }
      dropped.append(push)
    }
    return (pushes, dropped)
  }

  /// The next time to try a failed provider again; nil if none is paused.
  package var nextProviderAttempt: Moment? {
    times.providerPauses.values.map(\.until).filter { $0 > clock.now() }.min()
  }

  /// Nil if it should no longer be sent.
  private func pendingPush(_ due: DuePush) throws(ServerError) -> PendingPush? {
    guard let token = try state.token(number: due.token) else { return nil }
    let payload: PushPayload
    switch due.kind {
    case .verification:
      payload = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
        try token.code.push(sealedWith: token.pushKey, nonce: try nonce())
      }
    case .message:
      guard token.state == .active else { return nil }
      let entries = try state.notifications(token: token.number)
      payload = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
        try NotificationBundle(entries).push(sealedWith: token.pushKey, nonce: try nonce())
      }
    case .wake:
      guard token.state == .active else { return nil }
      payload = .checkMessages
    }
    let push = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
      try OutgoingPush(payload, to: token.pushToken)
    }
    return PendingPush(due: due, generation: token.generation, provider: token.pushToken.provider, push: push)
  }

  private func nonce() throws(PushError) -> BoxNonce {
    do throws(CryptoError) { return try BoxNonce.generate(randomness: randomness) } catch { throw .crypto(error) }
  }

  /// Records the outcome of a push returned by `nextPush`.
  package func finish(_ pending: PendingPush, _ outcome: PushOutcome) throws(ServerError) {
    try finish([(pending, outcome)])
  }

  /// Records the outcomes of several pushes in one transaction. Does not wait for the disk: if a power failure undoes
  /// an outcome, the push is sent once more.
  package func finish(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) throws(ServerError) {
    let answered = ended.filter { ProviderTrouble([$0.outcome]) == nil }
    // First: what follows is not repeated if it fails, and is tried again.
    if !answered.isEmpty {
      try state.transaction(.normal) { () throws(ServerError) in
        for (pending, outcome) in answered { try record(outcome, of: pending) }
      }
    }
    report(ended)
  }

  /// Logs the outcomes, and pauses providers or ends their pauses.
  func report(_ ended: [(pending: PendingPush, outcome: PushOutcome)]) {
    for (pending, outcome) in ended {
      log(.info, "push", ["token": "\(pending.due.token)", "kind": pending.kind.rawValue, "outcome": outcome.name])
    }
    for provider in Set(ended.map(\.pending.provider)).sorted() {
      let outcomes = ended.filter { $0.pending.provider == provider }.map(\.outcome)
      guard let trouble = ProviderTrouble(outcomes) else {
        if times.resume(provider) { log(.info, "a push provider works again", ["provider": provider]) }
        continue
      }
      // Pushes under way together count as one attempt.
      let (now, last) = (clock.now(), times.providerPauses[provider])
      if let last, now < last.until { continue }
      let pause = times.pause(provider, now: now, trouble)
      // Only the operator can end a refusal, who is alerted once.
      let isNews = trouble.isRefusal && last?.trouble != trouble
      log(
        isNews ? .error : .warning, trouble.line,
        ["provider": provider, "reason": "\(trouble.failure)", "retryInMs": "\(pause.milliseconds)"])
    }
  }

  private func record(_ outcome: PushOutcome, of pending: PendingPush) throws(ServerError) {
    if case .later(let seconds) = outcome { return try postpone(pending.due, seconds: seconds) }
    try state.remove(pending.due)
    let event: ServerToken.Event
    switch outcome {
    case .accepted where pending.kind == .verification: event = .pushAccepted
    case .invalid(let reason), .ended(let reason, _): event = ServerToken.Event(reason)
    case .accepted, .unreachable, .refused, .later, .failed, .rejected: return
    }
    // An outcome for an earlier push token says nothing about the current one.
    guard let token = try state.readableStatus(number: pending.due.token), token.generation == pending.generation else {
      return
    }
    if case .ended(_, let since) = outcome, try hasComeBack(token.number, since: since) {
      return log(.info, "a push token has come back since its provider missed it", ["token": "\(token.number)"])
    }
    _ = try raise(event, of: token)
    switch outcome {
    case .invalid, .ended: try state.removePushes(token: token.number)
    case .accepted, .unreachable, .refused, .later, .failed, .rejected: break
    }
  }
}

extension NotificationServer {
  /// Whether the token was registered after that time. A registration in the future was timed by a clock that was
  /// ahead, and says nothing.
  private func hasComeBack(_ token: Int64, since time: Int64) throws(ServerError) -> Bool {
    let registration = try state.registration(of: token).milliseconds
    return registration > time && registration <= clock.wall().milliseconds
  }
}

// MARK: Later

extension NotificationServer {
  private func postpone(_ push: DuePush, seconds: Int) throws(ServerError) {
    let span = min(ServerTimes.longestDeferral, .seconds(Int64(max(1, seconds))))
    try state.postpone(push, until: WallTime(milliseconds: clock.wall().milliseconds &+ span.milliseconds))
  }

  /// Releases a slice of the deferred pushes that are now due.
  func releaseDeferredPushes() throws(ServerError) {
    let wall = clock.wall()
    guard let next = try state.nextDeferredPush(), next <= wall.milliseconds || state.isBeyond(next, wall) else {
      return
    }
    let count = try state.transaction { () throws(ServerError) in
      try state.releaseDeferredPushes(at: wall, limit: ServerTimes.slice)
    }
    if count == ServerTimes.slice { times.hasMoreToDo = true }
  }
}

extension ServerToken.Event {
  fileprivate init(_ reason: PushOutcome.Invalid) {
    switch reason {
    case .bad: self = .pushInvalidBad
    case .topic: self = .pushInvalidTopic
    case .expired: self = .pushInvalidExpired
    case .unregistered: self = .pushInvalidUnregistered
    }
  }
}

extension PushOutcome {
  fileprivate var name: String {
    switch self {
    case .accepted: "accepted"
    case .invalid(let reason), .ended(let reason, _): "invalid \(reason.rawValue)"
    case .unreachable: "unreachable"
    case .refused: "refused"
    case .later(let seconds): "later \(seconds)"
    case .failed(let status): "failed \(status)"
    case .rejected(let status): "rejected \(status)"
    }
  }
}
