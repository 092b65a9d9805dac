import PorterCrypto
import PorterJSON
import PorterPlatform

extension ServerRequest {
  var json: JSONValue {
    var object = JSONObject([
      ("correlation", encoded(correlation.bytes)),
      ("reply", encoded(replyMailbox)),
      ("command", .string(commandName)),
    ])
    if let token { object["token"] = encoded(token) }
    switch command {
    case .newToken(let pushToken, let signingKey, let boxKey):
      object["pushToken"] = pushToken.json
      object["signingKey"] = encoded(signingKey.bytes)
      object["boxKey"] = encoded(boxKey.bytes)
    case .verify(_, let code): object["code"] = encoded(code.bytes)
    case .check, .delete: break
    case .replace(_, let pushToken): object["pushToken"] = pushToken.json
    case .setPeriod(_, let minutes): object["minutes"] = JSONValue(minutes)
    case .subscribe(_, let credentials):
      object["notifiers"] = .array(
        credentials.map { ["id": encoded($0.notifier), "key": encoded($0.key.exposeSeed())] })
    case .checkSubscriptions(_, let notifiers), .unsubscribe(_, let notifiers):
      object["notifiers"] = .array(notifiers.map { encoded($0) })
    }
    return .object(object)
  }

  /// The part that must be readable for a request to be answered at all.
  static func header(_ json: JSONValue) throws(PushError) -> (correlation: CorrelationID, replyMailbox: [UInt8]) {
    guard json.objectValue != nil else { throw .malformed(.request) }
    guard let correlation = CorrelationID(bytes: try json.bytes("correlation", .correlation)) else {
      throw .malformed(.correlation)
    }
    return (correlation, try json.identifier("reply", .replyMailbox))
  }

  init(json: JSONValue) throws(PushError) {
    (correlation, replyMailbox) = try Self.header(json)
    guard let name = json["command"] else { throw .missing(.command) }
    guard let name = name.stringValue else { throw .malformed(.command) }
    command = try Self.command(named: name, json)
  }

  private static func command(named name: String, _ json: JSONValue) throws(PushError) -> Command {
    switch name {
    case "TNEW":
      guard let signingKey = SigningPublicKey(bytes: try json.bytes("signingKey", .key)),
        let boxKey = BoxPublicKey(bytes: try json.bytes("boxKey", .key))
      else { throw .malformed(.key) }
      return .newToken(try PushToken(json: json["pushToken"]), signingKey: signingKey, boxKey: boxKey)
    case "TVFY":
      guard let code = VerificationCode(bytes: try json.bytes("code", .code)) else { throw .malformed(.code) }
      return .verify(token: try json.token(), code)
    case "TCHK": return .check(token: try json.token())
    case "TRPL": return .replace(token: try json.token(), with: try PushToken(json: json["pushToken"]))
    case "TDEL": return .delete(token: try json.token())
    case "TCRN":
      guard let value = json["minutes"] else { throw .missing(.minutes) }
      guard let minutes = value.integerValue, 0...1_000_000 ~= minutes else { throw .malformed(.minutes) }
      return .setPeriod(token: try json.token(), minutes: Int(minutes))
    case "SNEW": return .subscribe(token: try json.token(), try json.batch(credentials))
    case "SCHK": return .checkSubscriptions(token: try json.token(), try json.batch(notifier))
    case "SDEL": return .unsubscribe(token: try json.token(), try json.batch(notifier))
    default: throw .unknownKind
    }
  }

  private static func credentials(_ json: JSONValue) throws(PushError) -> NotifierCredentials {
    guard let key = SigningKeyPair(seed: try json.bytes("key", .key)) else { throw .malformed(.key) }
    guard let credentials = NotifierCredentials(notifier: try json.bytes("id", .notifier), key: key) else {
      throw .malformed(.notifier)
    }
    return credentials
  }

  private static func notifier(_ json: JSONValue) throws(PushError) -> [UInt8] {
    guard let bytes = json.stringValue.flatMap(TextEncoding.base64URLDecoded),
      bytes.count == NotificationServerLink.identifierCount
    else { throw .malformed(.notifier) }
    return bytes
  }
}

extension PushToken {
  fileprivate var json: JSONValue { ["provider": .string(provider), "token": encoded(bytes)] }

  fileprivate init(json: JSONValue?) throws(PushError) {
    guard let json else { throw .missing(.pushToken) }
    guard let provider = json["provider"]?.stringValue else { throw .missing(.provider) }
    guard let token = PushToken(provider: provider, bytes: try json.bytes("token", .pushToken)) else {
      throw .malformed(.pushToken)
    }
    self = token
  }
}

extension ServerAnswer {
  /// For a server that keeps its answers.
  package var json: JSONValue {
    var object = JSONObject([("correlation", encoded(correlation.bytes))])
    switch result {
    case .token(let id, let boxKey):
      object["result"] = "IDTKN"
      object["token"] = encoded(id)
      object["boxKey"] = encoded(boxKey.bytes)
    case .done: object["result"] = "OK"
    case .subscriptions(let subscriptions):
      object["result"] = "SUB"
      object["subscriptions"] = .array(
        subscriptions.map { ["id": encoded($0.notifier), "status": .string($0.status.rawValue)] })
    case .refused(let refusal):
      object["result"] = "ERR"
      object["error"] = .string(refusal.rawValue)
    }
    if let tokenStatus { object["status"] = .string(tokenStatus.rawValue) }
    return .object(object)
  }

  package init(json: JSONValue) throws(PushError) {
    guard json.objectValue != nil else { throw .malformed(.answer) }
    guard let correlation = CorrelationID(bytes: try json.bytes("correlation", .correlation)) else {
      throw .malformed(.correlation)
    }
    self.correlation = correlation
    if let value = json["status"] {
      guard let status = value.stringValue.flatMap(ServerTokenStatus.init(rawValue:)) else { throw .malformed(.status) }
      tokenStatus = status
    } else {
      tokenStatus = nil
    }
    result = try Self.result(json)
  }

  private static func result(_ json: JSONValue) throws(PushError) -> Result {
    switch json["result"]?.stringValue {
    case nil: throw .malformed(.answer)
    case "IDTKN":
      guard let boxKey = BoxPublicKey(bytes: try json.bytes("boxKey", .key)) else { throw .malformed(.key) }
      return .token(id: try json.token(), boxKey: boxKey)
    case "OK": return .done
    case "SUB":
      guard let items = json["subscriptions"]?.arrayValue, items.count <= ServerRequest.maximumBatch else {
        throw .malformed(.subscriptions)
      }
      var subscriptions: [Subscription] = []
      for item in items {
        guard let status = item["status"]?.stringValue.flatMap(SubscriptionStatus.init(rawValue:)) else {
          throw .malformed(.status)
        }
        subscriptions.append(Subscription(notifier: try item.identifier("id", .notifier), status: status))
      }
      return .subscriptions(subscriptions)
    case "ERR":
      guard let refusal = json["error"]?.stringValue.flatMap(ServerRefusal.init(rawValue:)) else {
        throw .malformed(.refusal)
      }
      return .refused(refusal)
    case .some: throw .unknownKind
    }
  }
}

private func encoded(_ bytes: [UInt8]) -> JSONValue { .string(TextEncoding.base64URL(bytes)) }

extension JSONValue {
  /// A member encoded as base64url.
  fileprivate func bytes(_ name: String, _ part: PushError.Part) throws(PushError) -> [UInt8] {
    guard let value = self[name] else { throw .missing(part) }
    guard let bytes = value.stringValue.flatMap(TextEncoding.base64URLDecoded) else { throw .malformed(part) }
    return bytes
  }

  fileprivate func identifier(_ name: String, _ part: PushError.Part) throws(PushError) -> [UInt8] {
    let bytes = try bytes(name, part)
    guard bytes.count == NotificationServerLink.identifierCount else { throw .malformed(part) }
    return bytes
  }

  fileprivate func token() throws(PushError) -> [UInt8] { try identifier("token", .tokenID) }

  fileprivate func batch<Element>(_ read: (JSONValue) throws(PushError) -> Element) throws(PushError) -> [Element] {
    guard let value = self["notifiers"] else { throw .missing(.notifiers) }
    guard let items = value.arrayValue else { throw .malformed(.notifiers) }
    guard items.count <= ServerRequest.maximumBatch else {
      throw .oversized(length: items.count, limit: ServerRequest.maximumBatch)
    }
    var elements: [Element] = []
    for item in items { elements.append(try read(item)) }
    return elements
  }
}
