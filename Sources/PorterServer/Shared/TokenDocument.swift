import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Everything about one token, as one value replaced as a whole: changes that must happen together are one replacement.
struct TokenDocument: Equatable, Sendable {
  struct Subscription: Equatable, Sendable {
    var notifier: [UInt8]
    /// The seed of its key. The public half would be as long again.
    var seed: [UInt8]
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

  /// Answers that commit together with their effects. Each is a record of its own as well, so that a document needs to
  /// keep it only until that is stored.
  static let mostAnswers = 8
  /// Requests remembered as carried out, at 8 bytes each.
  static let mostPast = 4_096
  private static let pastCount = 8

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
  /// When its subscriptions were last checked with the relay; at first, when it was stored.
  var checkedAt: Int64 = 0
  var subscriptions: [Subscription] = []
  var notifications: [Notification] = []
  var pushes: [Push] = []
  var wake: Wake?
  var answers: [Answer] = []
  var past: [UInt8] = []

  // MARK: Names

  static func key(_ id: [UInt8]) -> SharedKey { SharedKey(.tokens, TextEncoding.base64URL(id)) }

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

  /// Removes the push, like a work file in which it was accepted, and which does no more for it
  /// (`PendingPush.isOverOnceAccepted`).
  mutating func end(_ push: DuePush) {
    pushes.removeAll { $0.kind == push.kind.rawValue && $0.version == push.version }
  }

  // MARK: Checks

  /// Whether its subscriptions were not checked within the last day, or when is not known.
  func isCheckDue(now: WallTime) -> Bool {
    let (now, interval) = (now.milliseconds, ServerTimes.subscriptionCheckInterval.milliseconds)
    return !subscriptions.isEmpty && !(now - interval...now + interval).contains(checkedAt)
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
    checkedAt = max(checkedAt, before?.checkedAt ?? 0)
    past = (before?.past ?? []) + new.flatMap { Self.digest($0.correlation) }
    past.removeFirst(max(0, past.count - Self.mostPast * Self.pastCount))
    // Not sorted by time: the clock may have been set back.
    answers = Array((earlier + new).suffix(Self.mostAnswers))
  }

  /// Removes answers of the earlier document that were given before this time. Returns all that are not in this document
  /// any more.
  mutating func removeAnswers(before time: WallTime, of earlier: TokenDocument?) -> [Answer] {
    let known = earlier?.answers ?? []
    // Never one that is stored with its effect now: if this document is not stored, the request is carried out again.
    answers.removeAll { $0.answeredAt < time.milliseconds && known.contains($0) }
    let kept = Set(answers.map(\.correlation))
    return known.filter { !kept.contains($0.correlation) }
  }

  private static func digest(_ correlation: [UInt8]) -> ArraySlice<UInt8> {
    Digest.sha256(correlation).prefix(pastCount)
  }
}
