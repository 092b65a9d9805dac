import PorterPlatform

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

  /// Call when a turn failed that had asked these queues. The next turns leave out the one that did not answer.
  mutating func lookAgain(_ queues: [WakeQueue], now: Moment) {
    for queue in queues { entries[queue, default: Entry()].look = now + WakeQueue.pause }
  }
}
