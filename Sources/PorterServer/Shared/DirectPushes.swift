import PorterCrypto
import PorterPlatform
import PorterPush
import PorterRelay

/// Pushes that are sent as soon as their documents are stored, without work in a queue. The relay keeps a notification
/// until its push has ended: if the server ends before that, the relay gives it to any server, which finds the push in
/// the document and adds the work.
struct DirectPushes {
  struct Push {
    /// The token's identifier.
    let id: [UInt8]
    let provider: String
    let kind: PushKind
    fileprivate let version: Int64
    fileprivate let since: Moment
  }

  private struct Held {
    let notification: RelayNotification
    /// The pushes that have not ended.
    var sequences: Set<Int64>
  }

  /// A relay gives a notification again after 5 seconds. By then its push has work.
  private static let longest = Span.seconds(3)
  /// A provider that takes longer gets no others until this one has ended: while its push has work as well, other
  /// servers may repeat it.
  private static let patience = Span.seconds(1)

  /// A relay with a file gives notifications to every server that asks until they are acknowledged, so holding them
  /// would make pushes repeat. It shows by giving one that is held.
  private static let suspension = Span.seconds(60)

  private var suspendedUntil: Moment?
  /// How many pushes each provider takes in this turn.
  private var room: [String: Int] = [:]
  /// Not yet handed over.
  private var waiting: [String: [PendingPush]] = [:]
  /// Waiting or under way, without work.
  private var pushes: [Int64: Push] = [:]
  /// Under way, with work.
  private var late: [Int64: Push] = [:]
  private var held: [BoxNonce: Held] = [:]
  private var notifications: [Int64: [BoxNonce]] = [:]

  // MARK: Turns

  /// Call when a turn begins. Providers that are slow, or still have some waiting, get none.
  mutating func begin(room: [String: Int], now: Moment) {
    self.room = room
    if !isHolding(now: now) { self.room = [:] }
    for push in pushes.values where now - push.since >= Self.patience { self.room[push.provider] = nil }
    for push in late.values { self.room[push.provider] = nil }
    for (provider, waiting) in waiting where !waiting.isEmpty { self.room[provider] = nil }
  }

  /// Whether a push of this provider may be sent directly; if so, it is counted.
  mutating func admit(_ provider: String) -> Bool {
    guard let left = room[provider], left > 0 else { return false }
    room[provider] = left - 1
    return true
  }

  /// Call when the relay has given one that is held or about to be acknowledged.
  mutating func suspend(now: Moment) {
    suspendedUntil = now + Self.suspension
    room = [:]
  }

  /// Whether the relay waits before it gives a notification again, as far as is known.
  func isHolding(now: Moment) -> Bool { suspendedUntil.map { $0 <= now } ?? true }

  /// `notifications`: those that the relay keeps until this push has ended.
  mutating func add(_ push: PendingPush, of id: [UInt8], for notifications: [RelayNotification], now: Moment) {
    let sequence = push.sequence
    waiting[push.provider, default: []].append(push)
    pushes[sequence] = Push(
      id: id, provider: push.provider, kind: push.kind, version: push.due.version, since: now)
    self.notifications[sequence] = notifications.map(\.nonce)
    for each in notifications {
      held[each.nonce, default: Held(notification: each, sequences: [])].sequences.insert(sequence)
    }
  }

  // MARK: Handing over

  func isWaiting(_ sequence: Int64) -> Bool {
    pushes[sequence].map { push in waiting[push.provider]?.contains { $0.sequence == sequence } == true } ?? false
  }

  mutating func take(_ count: Int, for provider: String) -> [PendingPush] {
    let taken = waiting[provider]?.prefix(count) ?? []
    waiting[provider]?.removeFirst(taken.count)
    return Array(taken)
  }

  // MARK: Until they end

  /// Whether this version is waiting or under way, and has no work.
  func has(_ sequence: Int64, version: Int64) -> Bool { pushes[sequence]?.version == version }
  /// Whether it is under way, and has work.
  func isLate(_ sequence: Int64) -> Bool { late[sequence] != nil }
  func holds(_ notification: RelayNotification) -> Bool { held[notification.nonce] != nil }

  /// The identifier of the token, also if the push has work by now.
  func token(_ sequence: Int64) -> [UInt8]? { (pushes[sequence] ?? late[sequence])?.id }

  /// Those that have taken so long that they need work.
  func overdue(now: Moment) -> [(sequence: Int64, push: Push)] {
    pushes.filter { now - $0.value.since >= Self.longest }.map { ($0.key, $0.value) }
  }

  /// Call once they have work. Those not yet handed over are sent when that is taken. Returns the notifications that
  /// need not be held any longer.
  mutating func noteWork(_ sequences: [Int64]) -> [RelayNotification] {
    for sequence in sequences {
      guard let push = pushes[sequence] else { continue }
      if isWaiting(sequence) {
        waiting[push.provider]?.removeAll { $0.sequence == sequence }
      } else {
        late[sequence] = push
      }
    }
    return release(sequences)
  }

  /// Likewise, when they have ended.
  mutating func end(_ sequences: [Int64]) -> [RelayNotification] {
    for sequence in sequences { late[sequence] = nil }
    return release(sequences)
  }

  private mutating func release(_ sequences: [Int64]) -> [RelayNotification] {
    var released: [RelayNotification] = []
    for sequence in sequences {
      pushes[sequence] = nil
      for nonce in notifications.removeValue(forKey: sequence) ?? [] {
        guard var each = held[nonce] else { continue }
        each.sequences.remove(sequence)
        held[nonce] = each.sequences.isEmpty ? nil : each
        if each.sequences.isEmpty { released.append(each.notification) }
      }
    }
    return released
  }
}
