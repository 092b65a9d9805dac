import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

/// A push that is to be carried to its provider now.
package struct PendingPush: Sendable {
  let due: DuePush
  let generation: Int64
  package let provider: String
  package let push: OutgoingPush

  package var kind: PushKind { due.kind }
}

extension NotificationServer {
  /// The push that has waited longest for this provider; nil if there is none, or the provider is paused after a
  /// failure.
  ///
  /// It stays stored until `finish` is called; after a restart it is returned again. One at a time for each provider.
  package func nextPush(for provider: String) throws(ServerError) -> PendingPush? {
    if let pause = times.providerPauses[provider], clock.now() < pause.until { return nil }
    while let due = try state.duePush(provider: provider) {
      do throws(ServerError) {
        if let push = try pendingPush(due) { return push }
      } catch {
        guard case .damaged = error else { throw error }
        log(.error, "cannot build a push", ["token": "\(due.token)", "reason": "\(error)"])
      }
      try state.remove(due)
    }
    return nil
  }

  /// When a provider that failed is to be tried again; nil if none is paused.
  package var nextProviderAttempt: Moment? {
    times.providerPauses.values.map(\.until).filter { $0 > clock.now() }.min()
  }

  /// Nil if it is not to be sent any more.
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
    log(.info, "push", ["token": "\(pending.due.token)", "kind": pending.kind.rawValue, "outcome": outcome.name])
    if outcome == .unreachable {
      let pause = times.pause(pending.provider, now: clock.now())
      log(
        .warning, "a push provider cannot be reached",
        ["provider": pending.provider, "retryInMs": "\(pause.milliseconds)"])
      return
    }
    times.resume(pending.provider)
    try state.transaction { () throws(ServerError) in
      try state.remove(pending.due)
      // An outcome for an earlier push token says nothing about the current one.
      guard let token = try state.token(number: pending.due.token), token.generation == pending.generation else {
        return
      }
      switch outcome {
      case .accepted:
        if pending.kind == .verification { _ = try raise(.pushAccepted, token) }
      case .invalid(let reason):
        _ = try raise(ServerToken.Event(reason), token)
        try state.removePushes(token: token.number)
      case .unreachable, .failed, .rejected: break
      }
    }
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
    case .invalid(let reason): "invalid \(reason.rawValue)"
    case .unreachable: "unreachable"
    case .failed(let status): "failed \(status)"
    case .rejected(let status): "rejected \(status)"
    }
  }
}
