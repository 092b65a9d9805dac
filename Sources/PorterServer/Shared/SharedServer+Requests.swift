import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterPush
import PorterRelay

/// Moves requests from the server's mailbox into a queue shared by all servers, and from there to one of them.
extension SharedServer {
  func forwardRequests() throws(ServerError) {
    let (relay, recipient, key) = (server.relay, server.mailbox.recipient, server.identity.recipientKey)
    for _ in 0..<ServerTimes.requestsOfATurn {
      let message: RelayMessage?
      do throws(RelayError) { message = try relay.getMessage(recipient, key: key) } catch {
        throw error == .auth ? .mailboxUnknown : .relay(error)
      }
      guard let message else { return }
      // Another server may have received it as well, and adds it under the same name.
      let work = SharedWork(
        Self.requests, message.identifier.bytes + message.body, identifier: message.identifier.base64URL)
      try asking { (store) throws(SharedStoreFailure) in try store.add([work]) }
      try ServerError.mappingErrors(from: RelayError.self) { () throws(RelayError) in
        _ = try relay.acknowledge(message.identifier, in: recipient, key: key)
      }
    }
    server.times.hasMoreAtRelay = true
  }

  func takeRequests() throws(ServerError) {
    let taken = try asking { (store) throws(SharedStoreFailure) in
      try store.take(Self.requests, limit: ServerTimes.requestsOfATurn)
    }
    for (index, work) in taken.enumerated() {
      do throws(ServerError) { try serve(work) } catch {
        for rest in taken[index...] { postpone(rest, milliseconds: ServerTimes.firstRetry.milliseconds) }
        throw error
      }
      try asking { (store) throws(SharedStoreFailure) in try store.end([work]) }
    }
    if taken.count == ServerTimes.requestsOfATurn {
      server.times.hasMoreAtRelay = true
    } else {
      looks.noteEmpty(Self.requests, now: clock.now())
    }
  }

  /// Requests that other servers have forwarded, and left.
  func takeRequestsIfDue() throws(ServerError) {
    if looks.isDue(Self.requests, now: clock.now()) { try takeRequests() }
  }

  private func serve(_ work: TakenWork) throws(ServerError) {
    let body = Array(work.bytes.dropFirst(RelayIdentifier.count))
    guard let identifier = RelayIdentifier(bytes: work.bytes.prefix(RelayIdentifier.count)) else { return }
    let request: SignedRequest
    do throws(PushError) {
      request = try SignedRequest(opening: body, with: server.identity.boxKey)
    } catch {
      return log(.warning, "a message is not a request", ["reason": "\(error)"])
    }
    guard let answer = try carryOut(request) else { return }
    try server.send(answer, to: request, messageIdentifier: identifier)
  }

  /// Nil if no answer is due.
  private func carryOut(_ request: SignedRequest) throws(ServerError) -> ServerAnswer? {
    let name = Self.answerKey(request.correlation.bytes)
    for _ in 0..<Self.mostTries {
      var recorded = try asking { (store) throws(SharedStoreFailure) in try store.records([name])[0] }
      try load(try concerned(by: request))
      if recorded == nil, hasMovedAnswer(to: request) {
        recorded = try asking { (store) throws(SharedStoreFailure) in try store.records([name])[0] }
      }
      if let id = server.proposedIdentifier, loaded[id] != nil || unreadable.contains(id) {
        server.proposedIdentifier = nil
      }
      let isRepeat = try noteRepeat(request, recorded?.bytes)
      if !isRepeat {
        try state.transaction { () throws(ServerError) in try sweepLoaded() }
        try prepare(request)
      }
      let answer = try server.answer(to: request)
      // A request carried out before its answer was stored is not carried out again, but its follow-up work may be
      // missing.
      if isRepeat { try ensureWork() } else if try !commit().isEmpty { continue }
      if recorded == nil, let answer { try store(answer, of: request) }
      if !isRepeat { try forgetWatching(of: request) }
      return answer
    }
    throw .cluster("too many changes of one token at the same time")
  }

  /// The tokens that the request may change or depend on.
  private func concerned(by request: SignedRequest) throws(ServerError) -> [[UInt8]] {
    server.proposedIdentifier = nil
    devices = [:]
    guard case .success(let understood) = request.request else { return [] }
    switch understood.command {
    case .newToken(let pushToken, let signingKey, _):
      let detail = DeviceTokens.detail(ofKey: signingKey.bytes)
      let known = try tokens(of: DeviceName(provider: pushToken.provider, pushToken: pushToken.bytes))
        .filter { $0.detail == detail }
      // If it is not stored, another server is about to store it: then both store the same one.
      server.proposedIdentifier = known.last?.id
      return known.map(\.id)
    case .verify(let id, _):
      // Verification ends the device's other tokens.
      try load([id])
      guard let token = loaded[id]?.document else { return [id] }
      return try tokens(of: token.device).map(\.id) + [id]
    case .check, .replace, .delete, .setPeriod, .subscribe, .checkSubscriptions, .unsubscribe:
      return understood.token.map { [$0] } ?? []
    }
  }

  /// Whether its answer has left the document: maybe since it was looked for in `answers`.
  private func hasMovedAnswer(to request: SignedRequest) -> Bool {
    let correlation = request.correlation.bytes
    return loaded.values.map(\.document).contains { document in
      document.knows(correlation) && !document.answers.contains { $0.correlation == correlation }
    }
  }

  /// Whether the request was carried out before. If so, its answer is in the file, unless it has been forgotten.
  private func noteRepeat(_ request: SignedRequest, _ recorded: [UInt8]?) throws(ServerError) -> Bool {
    if let recorded {
      let signer = Array(recorded.prefix(SigningPublicKey.count))
      try state.load(Array(recorded.dropFirst(signer.count)), to: request.correlation, signer: signer)
      return true
    }
    let correlation = request.correlation.bytes
    guard let token = loaded.values.map(\.document).first(where: { $0.knows(correlation) }) else { return false }
    if !token.answers.contains(where: { $0.correlation == correlation }) {
      try state.load(nil, to: request.correlation, signer: token.signingKey)
    }
    return true
  }

  /// Only subscriptions that will be admitted leave a trace in the cluster.
  private func prepare(_ request: SignedRequest) throws(ServerError) {
    guard case .success(let understood) = request.request,
      case .subscribe(let id, let credentials) = understood.command,
      let token = try state.token(id: id), request.isSigned(by: token.signingKey),
      try server.admits(credentials.count, token)
    else { return }
    try noteWatching(id, credentials.map(\.notifier))
  }

  /// Forgets the subscriptions that the request ended.
  private func forgetWatching(of request: SignedRequest) throws(ServerError) {
    guard case .success(let understood) = request.request else { return }
    switch understood.command {
    case .unsubscribe, .delete, .verify, .replace: break
    case .newToken, .check, .setPeriod, .subscribe, .checkSubscriptions: return
    }
    let left = Dictionary(try state.documents().map { ($0.id, $0.notifiers) }, uniquingKeysWith: { first, _ in first })
    for (id, notifiers) in loaded.mapValues(\.document.notifiers) {
      let ended = notifiers.subtracting(left[id] ?? [])
      if !ended.isEmpty { try forgetWatching(id, Array(ended)) }
    }
  }

  /// An answer that was not recorded can be given anew.
  private func store(_ answer: ServerAnswer, of request: SignedRequest) throws(ServerError) {
    guard let recorded = try state.recordedRequest(request.correlation), recorded.answer != nil else { return }
    let change = Self.answer(answer.json.utf8, to: request.correlation.bytes, from: recorded.signer.bytes)
    _ = try asking { (store) throws(SharedStoreFailure) in try store.replace([change]) }
  }

  static func answer(_ answer: TokenDocument.Answer, from signer: [UInt8]) -> SharedChange {
    Self.answer(answer.json, to: answer.correlation, from: signer)
  }

  private static func answer(
    _ json: some Sequence<UInt8>, to correlation: [UInt8], from signer: [UInt8]
  ) -> SharedChange {
    SharedChange(answerKey(correlation), signer + json, revision: 0)
  }

  private static func answerKey(_ correlation: [UInt8]) -> SharedKey {
    SharedKey(.answers, TextEncoding.base64URL(correlation))
  }
}
