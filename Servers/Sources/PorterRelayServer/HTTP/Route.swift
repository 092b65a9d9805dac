import NIOHTTP1

/// The target of a request, from its head alone, before any of the body is read.
enum Route: Equatable {
  case exchange(listener: String?)
  case news(listener: String, after: NewsPosition?)
  case health
  case refused(Refusal)

  init(_ head: HTTPRequestHead) {
    switch (head.uri, head.method) {
    case ("/v1/exchange", .POST): self = Self.exchange(head)
    case ("/v1/exchange", _): self = .refused(Refusal(.methodNotAllowed, "only POST", [("Allow", "POST")]))
    case ("/v1/news", .GET): self = Self.news(head)
    case ("/v1/news", _): self = .refused(Refusal(.methodNotAllowed, "only GET", [("Allow", "GET")]))
    case ("/health", .GET): self = .health
    default: self = .refused(Refusal(.notFound, "no such path"))
    }
  }

  private static func exchange(_ head: HTTPRequestHead) -> Route {
    guard head.headers["content-type"] == ["application/octet-stream"] else {
      return .refused(Refusal(.unsupportedMediaType, "expected application/octet-stream"))
    }
    if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }), length > HTTPLimits.body {
      return .refused(Refusal(.payloadTooLarge, "a request has at most \(HTTPLimits.body) bytes"))
    }
    switch listener(head) {
    case .some(let name): return .exchange(listener: name)
    case nil: return .refused(Self.badListener)
    }
  }

  private static func news(_ head: HTTPRequestHead) -> Route {
    guard case .some(.some(let name)) = listener(head) else { return .refused(Self.badListener) }
    guard let last = head.headers.first(name: "last-event-id") else { return .news(listener: name, after: nil) }
    // A malformed ID counts as unknown.
    return .news(listener: name, after: NewsPosition(last) ?? NewsPosition(epoch: .max, count: 0))
  }

  private static let badListener = Refusal(.badRequest, "Porter-Listener: expected 43 characters of base64url")

  /// Nil if malformed.
  private static func listener(_ head: HTTPRequestHead) -> String?? {
    let values = head.headers["porter-listener"]
    guard let name = values.first else { return .some(nil) }
    let isName =
      values.count == 1 && name.utf8.count == HTTPLimits.listenerLength
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
    return isName ? .some(name) : nil
  }
}

/// An error answer sent instead of one from the relay.
struct Refusal: Error, Equatable {
  let status: HTTPResponseStatus
  let text: String
  let headers: [(String, String)]

  init(_ status: HTTPResponseStatus, _ text: String, _ headers: [(String, String)] = []) {
    self.status = status
    self.text = text
    self.headers = headers
  }

  static func tooMany(retryAfter seconds: Int, mailbox: Bool = false) -> Refusal {
    Refusal(
      .tooManyRequests, "too many requests",
      [("Retry-After", String(seconds))] + (mailbox ? [("Porter-Limit", "mailbox")] : []))
  }

  static let unavailable = Refusal(.serviceUnavailable, "not now", [("Retry-After", "2")])

  static func == (left: Refusal, right: Refusal) -> Bool {
    left.status == right.status && left.text == right.text
      && left.headers.elementsEqual(right.headers) { $0 == $1 }
  }
}

/// Reads parts of a relay request without decoding it.
package enum RequestPeek {
  /// Whether the request creates a mailbox: used for a limit, so a wrong guess does no harm.
  static func makesMailbox(_ bytes: [UInt8]) -> Bool { command(bytes) == 1 }

  /// The maximum number of signatures to verify: also for a limit. A message and the nonces of notifications are
  /// covered by one signature, however many bytes they are; any other long request is a list of identifiers with a
  /// signature each.
  package static func signatures(_ bytes: [UInt8]) -> Int {
    switch command(bytes) {
    case 3, 12: 1
    case 21: 1 + max(0, bytes.count - 24 * min(256, nonces(bytes))) / 88
    default: 1 + bytes.count / 88
    }
  }

  private static func command(_ bytes: [UInt8]) -> UInt8? {
    commandOffset(bytes).map { bytes[$0] }
  }

  private static func commandOffset(_ bytes: [UInt8]) -> Int? {
    var offset = 25
    for length in [64, 24] {
      guard offset < bytes.count else { return nil }
      offset += bytes[offset] == 0 ? 1 : 1 + length
    }
    return offset < bytes.count ? offset : nil
  }

  /// The count that `acknowledgeAndGetNotifications` states, behind a key and a limit. A false count causes no
  /// verification, since the request does not decode.
  private static func nonces(_ bytes: [UInt8]) -> Int {
    guard let offset = commandOffset(bytes), offset + 36 < bytes.count else { return 0 }
    return Int(bytes[offset + 35]) << 8 | Int(bytes[offset + 36])
  }
}
