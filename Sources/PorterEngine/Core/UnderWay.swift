/// What is being asked of the relay, by key, so that nothing is asked twice at the same time.
///
/// Closing the relay gives everything up, and each request that was given up ends only after that. Such a late end must
/// not clear the mark of a request that began since (INC-21), so that each mark has a ticket of its cycle.
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

  /// To be ended with the ticket.
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
