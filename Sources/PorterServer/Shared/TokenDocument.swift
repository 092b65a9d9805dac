import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Everything about one token, as one value replaced as a whole: changes that must happen together are one replacement.
struct TokenDocument: Equatable, Sendable {
  struct Subscription: Equatable, Sendable {
    var notifier: [UInt8]
    var key: [UInt8]
    var status: String
  }

  struct Notification: Equatable, Sendable {
    var notifier: [UInt8]
    /// Since 1970: when the relay got its message.
    var milliseconds: Int64
    var nonce: [UInt8]
    var metadata: [UInt8]
  }

  struct Push: Equatable, Sendable {
    var kind: String
    var version: Int64
    var provider: String
    var dueAt: Int64
  }

  struct Wake: Equatable, Sendable {
    var dueAt: Int64
    var wokenAt: Int64
  }

  struct Answer: Equatable, Sendable {
    var correlation: [UInt8]
    var json: [UInt8]
    var answeredAt: Int64
  }

  /// Answers that commit together with their effects. Earlier ones are separate records.
  static let mostAnswers = 8
  /// Requests remembered as carried out, at 8 bytes each.
  static let mostPast = 4_096
  private static let pastCount = 8
  /// Version 1 had the seconds of notifications.
  private static let version: UInt8 = 2

  var id: [UInt8] = []
  var provider = ""
  var pushToken: [UInt8] = []
  var generation: Int64 = 0
  var signingKey: [UInt8] = []
  var clientBoxKey: [UInt8] = []
  var boxKey: [UInt8] = []
  var pushKey: [UInt8] = []
  var code: [UInt8] = []
  var state = ""
  var period: Int64 = 0
  var usedAt: Int64 = 0
  var registeredAt: Int64 = 0
  var subscriptions: [Subscription] = []
  var notifications: [Notification] = []
  var pushes: [Push] = []
  var wake: Wake?
  var answers: [Answer] = []
  var past: [UInt8] = []

  // MARK: Names

  static func key(_ id: [UInt8]) -> SharedKey { SharedKey(.tokens, TextEncoding.base64URL(id)) }

  /// A digest, so that listing the keys does not suffice to send pushes.
  static func device(_ provider: String, _ pushToken: [UInt8]) -> SharedKey {
    SharedKey(.devices, TextEncoding.base64URL(Digest.sha256(Array(provider.utf8) + [0] + pushToken)))
  }

  /// The number of the token's row in a work file: the same in each, so that a push can be identified between two uses
  /// of the file. A digest, because it is logged.
  static func number(_ id: [UInt8]) -> Int64 {
    Digest.sha256(id).prefix(8).reduce(0) { $0 << 8 | Int64($1) } & (1 << 60 - 1) | 1 << 60
  }

  /// Likewise for a push.
  static func sequence(_ kind: String, of id: [UInt8]) -> Int64 {
    let kinds: [PushKind] = [.verification, .message, .wake]
    return number(id) & ~3 | Int64(kinds.firstIndex { $0.rawValue == kind } ?? 3)
  }

  // MARK: Pushes

  /// Versions assigned by a work file are below this.
  private static let firstName: Int64 = 1 << 32

  /// Gives each new push a version that no earlier one had: the outcome of an earlier push can come late, from a frozen
  /// server, and must not end a later one.
  mutating func nameNewPushes(_ randomness: any Randomness) {
    for index in pushes.indices where pushes[index].version < Self.firstName {
      let random = randomness.bytes(7).reduce(0) { $0 << 8 | Int64($1) }
      pushes[index].version = Self.firstName + random
    }
  }

  // MARK: Requests

  /// Whether the request was carried out, however long ago.
  func knows(_ correlation: [UInt8]) -> Bool {
    let digest = Self.digest(correlation)
    return stride(from: 0, to: past.count - Self.pastCount + 1, by: Self.pastCount).contains {
      past[$0..<$0 + Self.pastCount].elementsEqual(digest)
    }
  }

  /// Remembers the answers missing from `before`.
  mutating func remember(after before: TokenDocument?) {
    let earlier = before?.answers ?? []
    let known = Set(earlier.map(\.correlation))
    let new = answers.filter { !known.contains($0.correlation) }
    past = (before?.past ?? []) + new.flatMap { Self.digest($0.correlation) }
    past.removeFirst(max(0, past.count - Self.mostPast * Self.pastCount))
    // Not sorted by time: the clock may have been set back.
    answers = Array((earlier + new).suffix(Self.mostAnswers))
  }

  private static func digest(_ correlation: [UInt8]) -> ArraySlice<UInt8> {
    Digest.sha256(correlation).prefix(pastCount)
  }
}

// MARK: Bytes

extension TokenDocument {
  func encoded() -> [UInt8] {
    var bytes = [Self.version]
    for each in [id, Array(provider.utf8), pushToken, signingKey, clientBoxKey, boxKey, pushKey, code] {
      bytes.append(counted: each)
    }
    bytes.append(counted: Array(state.utf8))
    for each in [generation, period, usedAt, registeredAt] { bytes.append(signed64: each) }
    bytes.append(list: subscriptions) { bytes, each in
      bytes.append(counted: each.notifier)
      bytes.append(counted: each.key)
      bytes.append(counted: Array(each.status.utf8))
    }
    bytes.append(list: notifications) { bytes, each in
      bytes.append(counted: each.notifier)
      bytes.append(signed64: each.milliseconds)
      bytes.append(counted: each.nonce)
      bytes.append(counted: each.metadata)
    }
    bytes.append(list: pushes) { bytes, each in
      bytes.append(counted: Array(each.kind.utf8))
      bytes.append(signed64: each.version)
      bytes.append(counted: Array(each.provider.utf8))
      bytes.append(signed64: each.dueAt)
    }
    bytes.append(list: wake.map { [$0] } ?? []) { bytes, each in
      bytes.append(signed64: each.dueAt)
      bytes.append(signed64: each.wokenAt)
    }
    bytes.append(list: answers) { bytes, each in
      bytes.append(counted: each.correlation)
      bytes.append(counted: each.json)
      bytes.append(signed64: each.answeredAt)
    }
    bytes.append(counted: past)
    return bytes
  }

  init(decoding bytes: [UInt8]) throws(ServerError) {
    do throws(RelayError) { try self.init(reading: bytes) } catch { throw .damaged(.token) }
  }

  private init(reading bytes: [UInt8]) throws(RelayError) {
    var reader = RelayReader(bytes)
    let version = try reader.byte()
    guard 1...Self.version ~= version else { throw .version }
    id = try reader.counted()
    provider = try reader.text()
    pushToken = try reader.counted()
    signingKey = try reader.counted()
    clientBoxKey = try reader.counted()
    boxKey = try reader.counted()
    pushKey = try reader.counted()
    code = try reader.counted()
    state = try reader.text()
    generation = try reader.signed64()
    period = try reader.signed64()
    usedAt = try reader.signed64()
    registeredAt = try reader.signed64()
    subscriptions = try reader.list(limit: .max) { (reader) throws(RelayError) in
      Subscription(notifier: try reader.counted(), key: try reader.counted(), status: try reader.text())
    }
    notifications = try reader.list(limit: .max) { (reader) throws(RelayError) in
      let (notifier, time) = (try reader.counted(), try reader.signed64())
      return Notification(
        notifier: notifier, milliseconds: version == 1 ? time &* 1_000 : time, nonce: try reader.counted(),
        metadata: try reader.counted())
    }
    pushes = try reader.list(limit: .max) { (reader) throws(RelayError) in
      Push(
        kind: try reader.text(), version: try reader.signed64(), provider: try reader.text(),
        dueAt: try reader.signed64())
    }
    wake = try reader.list(limit: 1) { (reader) throws(RelayError) in
      Wake(dueAt: try reader.signed64(), wokenAt: try reader.signed64())
    }.first
    answers = try reader.list(limit: .max) { (reader) throws(RelayError) in
      Answer(correlation: try reader.counted(), json: try reader.counted(), answeredAt: try reader.signed64())
    }
    past = try reader.counted()
    try reader.end()
    guard isConsistent else { throw .syntax }
  }

  /// Content that does not fit in a work file is damage to this token, not a failure of the file (INC-44).
  private var isConsistent: Bool {
    let notified = Set(notifications.map(\.notifier)), kinds = Set(pushes.map(\.kind))
    return notifiers.count == subscriptions.count && notified.count == notifications.count
      && kinds.count == pushes.count && kinds.allSatisfy { PushKind(rawValue: $0) != nil }
  }
}

extension [UInt8] {
  mutating func append(counted bytes: [UInt8]) {
    append(unsigned32: UInt32(bytes.count))
    append(contentsOf: bytes)
  }
}

extension RelayReader {
  mutating func counted() throws(RelayError) -> [UInt8] { Array(try bytes(Int(try unsigned32()))) }
  mutating func text() throws(RelayError) -> String {
    guard let text = String(validating: try counted(), as: UTF8.self) else { throw .syntax }
    return text
  }
}
