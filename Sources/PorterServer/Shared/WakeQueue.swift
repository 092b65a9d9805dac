import PorterCrypto
import PorterPlatform
import PorterRelay

/// A queue in which all wake-ups wait equally long, so that they leave it in the order in which they were added. Nodes
/// search a list of postponed items, and write it as a whole: of a million wake-ups, only the next few may be postponed.
/// A longer wait is a sequence of queues.
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
  /// The longest postponement. A replaced consumer immediately delivers every item again, but a server counts those it had
  /// postponed until their time, and takes fewer.
  static let longestHold = Span.seconds(60)
  /// The shortest time between two looks at a queue that has nothing more.
  static let shortestLook = Span.seconds(1)
  /// The pause after a failed turn: by then the lease of what it has taken is over.
  static let pause = Span.seconds(7)

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
