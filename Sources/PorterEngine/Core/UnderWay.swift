/// Requests to the relay in progress, by key, so that nothing is asked twice at the same time.
///
/// Closing the relay abandons everything, and each abandoned request ends only after that. Its late end must not clear
/// the mark of a request that began since (INC-21), so each mark has a ticket with its cycle.
struct UnderWay<Key: Hashable> {
  struct Ticket {
    fileprivate let keys: [Key]
    fileprivate let cycle: Int
  }

  private var keys: Set<Key> = []
  private var cycle = 0

  var count: Int { keys.count }
  var isEmpty: Bool { keys.isEmpty }
  func contains(_ key: Key) -> Bool { keys.contains(key) }

  /// Returns the ticket to pass to `end`.
  mutating func begin(_ key: Key) -> Ticket { begin([key]) }

  mutating func begin(_ keys: [Key]) -> Ticket {
    self.keys.formUnion(keys)
    return Ticket(keys: keys, cycle: cycle)
  }

  mutating func end(_ ticket: Ticket) {
    guard ticket.cycle == cycle else { return }
    keys.subtract(ticket.keys)
  }

  mutating func giveUp() {
    cycle += 1
    keys.removeAll()
  }
}
