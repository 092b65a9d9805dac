import PorterCrypto

/// Carries out whole requests.
extension RelayFile {
  /// The sender of a request, as far as the relay can wake it.
  struct Caller {
    /// The name of its listener; nil if it has none yet.
    var name: String?
    /// The keys under which it listens.
    var keys: Set<SigningPublicKey> = []
    /// Positions of other generations are unknown to the relay.
    var generation: Int64 = 0
    /// Creates the listener if there is none; nil if this caller cannot be woken.
    var startListening: () throws(RelayError) -> String?
  }

  func reply(to request: RelayRequest, from caller: Caller) throws(RelayError) -> Reply {
    switch request.command {
    case .createMailbox(let recipientKey, let senderKey):
      return .init(answer: try createMailbox(request, recipientKey: recipientKey, senderKey: senderKey))
    case .secureMailbox(let senderKey): return .init(answer: try secureMailbox(request, senderKey: senderKey))
    case .send(let attempt, let notify, let body):
      return try send(request, attempt: attempt, notify: notify, body: body)
    case .getMessage: return .init(answer: try getMessage(request, listener: caller.name))
    case .getMessageWithAge:
      return .init(answer: try getMessage(request, withAge: true, listener: caller.name))
    case .acknowledge(let message):
      return .init(answer: try acknowledge(request, message: message, listener: caller.name))
    case .acknowledgeAndGet(let message):
      return .init(answer: try acknowledgeAndGet(request, message: message, listener: caller.name))
    case .enableNotifier(let notifierKey, let boxKey):
      return .init(answer: try enableNotifier(request, notifierKey: notifierKey, boxKey: boxKey))
    case .disableNotifier: return .init(answer: try disableNotifier(request))
    case .deleteMailbox: return .init(answer: try deleteMailbox(request))
    case .subscribe, .check, .checkByKeys, .shareCheckKeys, .listen, .arrivals:
      return .init(answer: try answer(listening: request, from: caller))
    case .subscribeNotifiers(let service, let entries):
      return .init(
        answer: try subscribeNotifiers(
          request, service: service, entries: entries, listener: try caller.startListening()))
    case .notifications(let service, let limit):
      return .init(answer: try notifications(request, service: service, limit: limit))
    case .dueNotifications(let service, let limit):
      return .init(answer: try dueNotifications(request, service: service, limit: limit))
    case .acknowledgeNotifications(let service, let nonces):
      return .init(answer: try acknowledgeNotifications(request, service: service, nonces: nonces))
    case .acknowledgeAndGetNotifications(let service, let limit, let nonces, let entries):
      return .init(answer: try acknowledgeAndGetNotifications(request, service, limit: limit, nonces, entries))
    }
  }

  private func answer(listening request: RelayRequest, from caller: Caller) throws(RelayError) -> RelayAnswer {
    switch request.command {
    case .subscribe(let entries):
      return try subscribe(request, entries: entries, listener: try caller.startListening())
    case .check(let entries): return try check(request, entries: entries)
    case .checkByKeys(let entries): return try checkByKeys(request, entries)
    case .shareCheckKeys(let entries): return try shareCheckKeys(request, entries)
    case .listen(let key, let entries):
      return try listen(
        request, key: key, entries: entries, listener: try caller.startListening(), generation: caller.generation)
    case .arrivals(let key, let position, let limit):
      return try arrivals(
        request, key: key, listener: caller.keys.contains(key) ? caller.name : nil, generation: caller.generation,
        after: position, limit: limit)
    default: throw .syntax
    }
  }
}
