import PorterCrypto
import PorterPlatform
import PorterRelay

/// A queue of wake-ups that all wait equally long in it, so that they leave it in the order in which they were added.
/// Nodes keep postponed items in a list that they search, and write as a whole: of a million wake-ups, only the few that
/// are next may be postponed. A longer wait is a sequence of these.
struct WakeQueue: Hashable, Sendable {
  /// How long a wake-up is in it.
  let wait: Span

  private static let minutes: [Int64] = [1_440, 360, 120, 60, 30, 20, 10, 5, 2, 1]
  /// For wake-ups that are due, and for those that servers of earlier versions have added, due or not.
  static let due = WakeQueue(wait: .seconds(0))
  static let all = minutes.map { WakeQueue(wait: .seconds($0 * 60)) } + [due]
  /// How long before or after its time a wake-up may come. Without it, a wake-up added a moment after it was stored
  /// would not fit into the queue of its period.
  static let tolerance = Span.seconds(30)
  /// How long items are postponed at most. A replaced consumer delivers them again at once; a server must not count them
  /// as held for longer.
  static let longestHold = Span.seconds(60)
  static let shortestLook = Span.seconds(1)
  /// When items are given again that a failed turn has taken: their lease is over.
  fileprivate static let pause = Span.seconds(7)

  var name: String { self == Self.due ? "wakes" : "wakes-\(wait.milliseconds / 60_000)" }

  /// How long to wait before looking again for items that other servers have added: much shorter than an item waits, if
  /// it does.
  var lookInterval: Span { min(max(.milliseconds(wait.milliseconds / 20), Self.shortestLook), Self.longestHold) }

  /// The queue for a wake-up due in this many milliseconds, and what is left of them after it.
  static func first(for milliseconds: Int64) -> (queue: WakeQueue, left: Int64) {
    let fitting = all.first { $0.wait.milliseconds <= milliseconds &+ tolerance.milliseconds } ?? due
    let left = milliseconds - fitting.wait.milliseconds
    return (fitting, left < tolerance.milliseconds ? 0 : left)
  }
}

/// An item of such a queue.
struct WakeItem {
  let work: TakenWork
  let queue: WakeQueue
  let id: [UInt8]
  /// As in the token's document.
  let dueAt: Int64
  /// How many milliseconds the wake-up has to wait after this queue.
  let left: Int64

  init(_ work: TakenWork, _ queue: WakeQueue) {
    (self.work, self.queue) = (work, queue)
    id = Array(work.bytes.prefix(RelayIdentifier.count))
    let times = work.bytes.dropFirst(RelayIdentifier.count)
    func number(_ bytes: ArraySlice<UInt8>) -> Int64 { bytes.reduce(0) { $0 << 8 | Int64($1) } }
    dueAt = number(times.prefix(8))
    left = max(0, number(times.dropFirst(8).prefix(8)))
  }

  /// How many milliseconds it still has to be in its queue, by the cluster's time. None if the wake-up is overdue by
  /// the wall clock, if that is certain: nodes' clocks may differ.
  func wait(at time: Int64, _ wall: WallTime?) -> Int64 {
    if let wall, dueAt < wall.milliseconds &- TokenDocument.Wake.clockDifference.milliseconds { return 0 }
    return max(0, queue.wait.milliseconds &- (time &- work.addedAt))
  }

  /// Work for a wake-up of the token that is due in this many milliseconds. `dueAt`: as in the document. Named by that,
  /// so that duplicates of one wake-up collapse into one.
  static func work(of id: [UInt8], dueAt: Int64, in milliseconds: Int64) -> SharedWork {
    let (queue, left) = WakeQueue.first(for: milliseconds)
    var bytes = id
    bytes.append(signed64: dueAt)
    let name = bytes
    if queue != .due { bytes.append(signed64: left) }
    return SharedWork(queue.name, bytes, identifier: TextEncoding.base64URL(name))
  }

  var isReadable: Bool { id.count == RelayIdentifier.count }

  /// Work for the wait that is left: not longer than until it is due, by the wall clock if that is certain. Named by it,
  /// as it may be another wait in the same queue.
  func next(at wall: WallTime?) -> SharedWork {
    let left = wall.map { max(0, min(self.left, dueAt &- $0.milliseconds)) } ?? self.left
    let work = Self.work(of: id, dueAt: dueAt, in: left)
    return SharedWork(work.queue, work.bytes, identifier: TextEncoding.base64URL(work.bytes))
  }
}

extension TokenDocument.Wake {
  /// How far servers' clocks may differ.
  static let clockDifference = Span.seconds(60)

  /// How many milliseconds are left until it is due. None if the token was last woken in the future: the wall clock was
  /// set back (INC-14).
  func left(at wall: WallTime) -> Int64 {
    guard wokenAt <= wall.milliseconds &+ Self.clockDifference.milliseconds else { return 0 }
    return max(0, min(dueAt &- wall.milliseconds, dueAt &- wokenAt))
  }

  /// Whether it is not due yet, even if its item has waited.
  func isEarly(at wall: WallTime) -> Bool { left(at: wall) > Self.clockDifference.milliseconds }
}

/// Which wake-ups this server has postponed, and when it looks at each queue next.
struct HeldWakes {
  private struct Entry {
    /// Until when items are postponed.
    var held: [Moment] = []
    /// How many were postponed until now.
    var expected = 0
    /// When to look for items that other servers have added or left.
    var look: Moment?
  }

  private var entries: [WakeQueue: Entry] = [:]
  private var turns = 0

  /// All queues, each first in its turn: what is due may be more than one turn takes.
  mutating func queues() -> [WakeQueue] {
    let first = turns % WakeQueue.all.count
    turns = first + 1
    return Array(WakeQueue.all[first...] + WakeQueue.all[..<first])
  }

  /// How many items to take now: as many as are not postponed, up to `most`. 0 before the next look.
  mutating func room(_ queue: WakeQueue, most: Int, now: Moment) -> Int {
    var entry = entries[queue] ?? Entry()
    let left = entry.held.filter { $0 > now }
    entry.expected = entry.held.count - left.count
    entry.held = left
    // Also if they cannot be taken now.
    if entry.expected > 0 { entry.look = now }
    entries[queue] = entry
    guard now >= entry.look ?? now else { return 0 }
    return max(0, most - left.count)
  }

  mutating func hold(_ queue: WakeQueue, until time: Moment) { entries[queue, default: Entry()].held.append(time) }

  /// Call after taking items, at most `room`. `found`: how many of them had been postponed. If that is fewer than were
  /// postponed until now, the others may come in a moment, or other servers have them.
  mutating func looked(_ queue: WakeQueue, taken: Int, found: Int, room: Int, now: Moment) {
    let isComplete = found >= entries[queue]?.expected ?? 0
    let next = now + (isComplete ? queue.lookInterval : WakeQueue.shortestLook)
    entries[queue, default: Entry()].look = taken < room ? next : now
  }

  /// Call when a turn failed that has taken items from some of these. No other turn waits for the queue that failed.
  mutating func lookAgain(_ queues: [WakeQueue], now: Moment) {
    for queue in queues { entries[queue, default: Entry()].look = now + WakeQueue.pause }
  }
}
