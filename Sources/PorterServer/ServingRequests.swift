import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

extension NotificationServer {
  /// Serves requests until the mailbox is empty, or the turn has served its share.
  func serveRequests() throws(ServerError) {
    let (recipient, key) = (mailbox.recipient, identity.recipientKey)
    for _ in 0..<ServerTimes.requestsOfATurn {
      let message: RelayMessage?
      do throws(RelayError) { message = try relay.getMessage(recipient, key: key) } catch {
        throw error == .auth ? .mailboxUnknown : .relay(error)
      }
      guard let message else { return }
      try serve(message)
      // Only now: after a crash before this point, the request is repeated and gets the stored answer.
      try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
        _ = try relay.acknowledge(message.identifier, in: recipient, key: key)
      }
    }
    times.hasMoreAtRelay = true
  }

  private func serve(_ message: RelayMessage) throws(ServerError) {
    let request: SignedRequest
    do throws(PushError) {
      request = try SignedRequest(opening: message.body, with: identity.boxKey)
    } catch {
      // Whatever it is, it must not delay the messages behind it.
      log(.warning, "a message is not a request", ["reason": "\(error)"])
      return
    }
    guard let answer = try answer(to: request) else { return }
    try send(answer, to: request, messageIdentifier: message.identifier)
  }

  func send(
    _ answer: ServerAnswer, to request: SignedRequest, messageIdentifier: RelayIdentifier
  ) throws(ServerError) {
    let body = try ServerError.mappingErrors(from: PushError.self) { () throws(PushError) in
      try request.seal(answer, randomness: randomness)
    }
    // The same for the same message, so that a repeat after a crash is kept once; a different one for a request that
    // the client resent.
    let digest = Digest.sha256(answer.correlation.bytes + messageIdentifier.bytes)
    guard let mailbox = RelayIdentifier(bytes: request.replyMailbox),
      let attempt = RelayIdentifier(bytes: digest.prefix(RelayIdentifier.count))
    else { return }
    do throws(RelayError) {
      try relay.send(body, to: mailbox, key: nil, attempt: attempt, notify: false)
    } catch {
      // A client that left, or does not read its answers, must not delay others.
      guard error == .auth || error == .quota else { throw .relay(error) }
      log(.info, "an answer could not be delivered", ["reason": "\(error)"])
    }
  }

  /// Nil if no answer is due.
  func answer(to signed: SignedRequest) throws(ServerError) -> ServerAnswer? {
    do throws(ServerError) {
      if let recorded = try state.recordedRequest(signed.correlation) {
        log(.info, "a request was repeated")
        return signed.isSigned(by: recorded.signer) ? recorded.answer : refusal(signed.correlation, .authorization)
      }
      let request: ServerRequest
      switch signed.request {
      case .success(let understood): request = understood
      case .failure(let error):
        log(.info, "a request was not understood", ["reason": "\(error)"])
        return refusal(signed.correlation, .syntax)
      }
      let answer = try carryOut(request, signed)
      log(.info, "request", ["command": request.commandName, "answer": answer.resultName])
      return answer
    } catch {
      guard error.isOneRequestsOwn else { throw error }
      log(.error, "a request failed", ["reason": "\(error)"])
      return refusal(signed.correlation, .internal)
    }
  }

  /// For a request not proven to be from a token's owner.
  func refusal(_ correlation: CorrelationID, _ reason: ServerRefusal) -> ServerAnswer {
    ServerAnswer(correlation: correlation, result: .refused(reason), tokenStatus: nil)
  }
}

extension ServerError {
  /// Whether it concerns only one request, or the token it names, so that others are served as usual (INC-44).
  fileprivate var isOneRequestsOwn: Bool {
    switch self {
    case .damaged(let record): record != .identity
    case .push, .crypto: true
    case .cannotOpenState, .notServerState, .newerState, .stateInUse, .neverRan, .storage, .relay, .cluster,
      .otherLayout, .mailboxUnknown, .socketPathTooLong, .noResources:
      false
    }
  }
}

extension ServerAnswer {
  fileprivate var resultName: String {
    switch result {
    case .token: "token"
    case .done: "done"
    case .subscriptions: "subscriptions"
    case .refused(let reason): reason.rawValue
    }
  }
}
