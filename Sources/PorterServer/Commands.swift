import PorterCrypto
import PorterMachines
import PorterPlatform
import PorterPush
import PorterRelay

/// Implements the commands.
extension NotificationServer {
  func carryOut(_ request: ServerRequest, _ signed: SignedRequest) throws(ServerError) -> ServerAnswer {
    switch request.command {
    case .newToken(let pushToken, let signingKey, let boxKey):
      guard signed.isSigned(by: signingKey) else { return refusal(request.correlation, .authorization) }
      return try register(request, pushToken, signingKey: signingKey, boxKey: boxKey)
    case .verify, .check, .replace, .delete, .setPeriod, .subscribe, .checkSubscriptions, .unsubscribe:
      guard let id = request.token, let token = try state.token(id: id), signed.isSigned(by: token.signingKey) else {
        return refusal(request.correlation, .authorization)
      }
      return try carryOut(request, on: token)
    }
  }

  // MARK: Tokens

  private func register(
    _ request: ServerRequest, _ pushToken: PushToken, signingKey: SigningPublicKey, boxKey: BoxPublicKey
  ) throws(ServerError) -> ServerAnswer {
    guard providers.contains(pushToken.provider) else { return refusal(request.correlation, .noCredentials) }
    if let token = try state.token(pushToken, signingKey: signingKey) {
      let event: ServerToken.Event = token.clientBoxKey == boxKey ? .registerAgain : .registerOther
      return try conclude(request, signer: signingKey, token, event)
    }
    // The answer is not stored: it would take up room, as a token does.
    guard try hasRoomForToken() else {
      guard case .refused(let reason) = try raise(.registerTooMany, nil).reply else { throw .damaged(.token) }
      return refusal(request.correlation, reason)
    }
    let new: NewToken
    do throws(ServerError) {
      new = try newToken(pushToken, signingKey: signingKey, boxKey: boxKey)
    } catch {
      if error == .crypto(.publicKeyRefused) { return refusal(request.correlation, .syntax) }
      throw error
    }
    let answer = try conclude(request, signer: signingKey, nil, .register, .created(new))
    if tokenCount == nil { try countTokens() }
    return answer
  }

  private func newToken(
    _ pushToken: PushToken, signingKey: SigningPublicKey, boxKey: BoxPublicKey
  ) throws(ServerError) -> NewToken {
    let code = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
      try VerificationCode.generate(randomness: randomness)
    }
    let id = try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in try relay.newIdentifier() }
    return try ServerError.mappingErrors(from: CryptoError.self) { () throws(CryptoError) in
      let own = try BoxKeyPair.generate(randomness: randomness)
      return NewToken(
        id: proposedIdentifier ?? id.bytes, pushToken: pushToken, signingKey: signingKey, clientBoxKey: boxKey,
        boxKey: own.publicKey,
        pushKey: try own.secretKey.agree(with: boxKey), code: code)
    }
  }

  private func carryOut(_ request: ServerRequest, on token: TokenRecord) throws(ServerError) -> ServerAnswer {
    switch request.command {
    case .newToken: return refusal(request.correlation, .syntax)
    case .verify(_, let code):
      return try conclude(request, token, code.matches(token.code) ? .verifyMatch : .verifyMismatch)
    case .check: return try conclude(request, token, .check)
    case .delete: return try conclude(request, token, .delete)
    case .replace(_, let pushToken):
      guard providers.contains(pushToken.provider) else {
        return refusal(request, token, .noCredentials)
      }
      let code = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
        try VerificationCode.generate(randomness: randomness)
      }
      return try conclude(request, token, .replace, .replaced(pushToken, code))
    case .setPeriod(_, let minutes):
      let isTooShort = minutes > 0 && minutes < ServerTimes.shortestPeriod
      return try conclude(request, token, isTooShort ? .setIntervalTooShort : .setInterval, .period(minutes: minutes))
    case .subscribe(_, let credentials): return try subscribe(request, token, credentials)
    case .checkSubscriptions(_, let notifiers):
      return try conclude(request, token, .subscribe) { () throws(ServerError) in
        try self.statuses(of: notifiers, token)
      }
    case .unsubscribe(_, let notifiers):
      return try conclude(request, token, .unsubscribe) { () throws(ServerError) in
        for notifier in notifiers { try self.state.deleteSubscription(token: token.number, notifier: notifier) }
        return .subscriptions(notifiers.map { .init(notifier: $0, status: .deleted) })
      }
    }
  }

  /// Raises the event, carries out what is `admitted`, and stores the answer in one transaction, so that a repeat finds
  /// either all of it or nothing.
  private func conclude(
    _ request: ServerRequest, signer: SigningPublicKey, _ token: TokenRecord?, _ event: ServerToken.Event,
    _ input: TokenInput = .nothing, admitted: () throws(ServerError) -> ServerAnswer.Result = { .done }
  ) throws(ServerError) -> ServerAnswer {
    try state.transaction { () throws(ServerError) in
      let (reply, next) = try raise(event, token, input)
      let result: ServerAnswer.Result
      switch reply {
      case .none, .done: result = .done
      case .token(let id, let boxKey): result = .token(id: id, boxKey: boxKey)
      case .admitted: result = try admitted()
      case .refused(let reason): result = .refused(reason)
      }
      if let token {
        try state.noteUse(of: token.number, at: clock.wall(), age: useTime)
        try storeAge()
      }
      let answer = ServerAnswer(
        correlation: request.correlation, result: result, tokenStatus: ServerTokenStatus(next))
      try state.record(answer, signer: signer, at: clock.wall())
      return answer
    }
  }

  private func conclude(
    _ request: ServerRequest, _ token: TokenRecord, _ event: ServerToken.Event, _ input: TokenInput = .nothing,
    admitted: () throws(ServerError) -> ServerAnswer.Result = { .done }
  ) throws(ServerError) -> ServerAnswer {
    try conclude(request, signer: token.signingKey, token, event, input, admitted: admitted)
  }

  private func refusal(_ request: ServerRequest, _ token: TokenRecord, _ reason: ServerRefusal) -> ServerAnswer {
    ServerAnswer(
      correlation: request.correlation, result: .refused(reason), tokenStatus: ServerTokenStatus(token.state))
  }

  // MARK: Subscriptions

  /// Asks the relay first, outside any transaction. If the server ends before it has stored the answer, the request is
  /// still in its mailbox.
  private func subscribe(
    _ request: ServerRequest, _ token: TokenRecord, _ credentials: [NotifierCredentials]
  ) throws(ServerError) -> ServerAnswer {
    guard ServerToken.step(token.state, .subscribe).effects.contains(.admitSubscription) else {
      return try conclude(request, token, .subscribe)
    }
    guard try state.subscriptionCount(token: token.number) + credentials.count <= maximumSubscriptions else {
      return refusal(request, token, .quota)
    }
    let named = credentials.compactMap { credentials in
      RelayIdentifier(bytes: credentials.notifier).map { (notifier: $0, key: credentials.key) }
    }
    for (notifier, _) in named
    where try state.subscriptionStatus(token: token.number, notifier: notifier.bytes) != .active {
      guard try state.watcherCount(of: notifier, except: token.number) < maximumWatchers else {
        return refusal(request, token, .quota)
      }
    }
    let statuses = try subscribeAtRelay(named)
    return try conclude(request, token, .subscribe) { () throws(ServerError) in
      for (credentials, status) in zip(credentials, statuses) {
        try self.state.save(credentials, status: status, token: token.number)
      }
      return .subscriptions(zip(credentials, statuses).map { .init(notifier: $0.notifier, status: $1) })
    }
  }

  /// Whether the token may have `count` more subscriptions.
  func admits(_ count: Int, _ token: TokenRecord) throws(ServerError) -> Bool {
    guard ServerToken.step(token.state, .subscribe).effects.contains(.admitSubscription) else { return false }
    return try state.subscriptionCount(token: token.number) + count <= maximumSubscriptions
  }

  private func statuses(of notifiers: [[UInt8]], _ token: TokenRecord) throws(ServerError) -> ServerAnswer.Result {
    var subscriptions: [ServerAnswer.Subscription] = []
    for notifier in notifiers {
      let status = try state.subscriptionStatus(token: token.number, notifier: notifier)
      subscriptions.append(.init(notifier: notifier, status: status ?? .refused))
    }
    return .subscriptions(subscriptions)
  }
}
