/// Which connections have entries in the outbox, and which entry is next in each. A value: the entries themselves are
/// read from the store one by one, so entries that another process has sent in the meantime are simply no longer there.
struct OutboxQueue {
  /// By connection, oldest first.
  private var entries = [Int64: ArraySlice<Int64>]()
  /// Connections due for a turn, in order.
  private var ready: ArraySlice<Int64> = []
  private var isReady: Set<Int64> = []
  /// The newest known entry.
  private(set) var last: Int64 = 0

  mutating func note(_ new: [(id: Int64, connectionID: Int64)]) {
    for (id, connectionID) in new {
      entries[connectionID, default: []].append(id)
      last = max(last, id)
    }
  }

  /// Gives a turn to every connection with an entry, oldest entry first.
  mutating func makeAllReady() {
    let waiting = entries.compactMap { (connectionID, ids) in ids.first.map { (connectionID, $0) } }
    for (connectionID, _) in waiting.sorted(by: { $0.1 < $1.1 }) { makeReady(connectionID) }
  }

  /// Gives a turn to those of these connections that have an entry.
  mutating func makeReady(_ connections: [Int64]) {
    for connectionID in connections where head(of: connectionID) != nil { makeReady(connectionID) }
  }

  /// Returns the connection whose turn it is, and its oldest entry; a turn is given once.
  mutating func next() -> (connectionID: Int64, entry: Int64)? {
    while let connectionID = ready.popFirst() {
      isReady.remove(connectionID)
      if let entry = head(of: connectionID) { return (connectionID, entry) }
    }
    return nil
  }

  func head(of connectionID: Int64) -> Int64? { entries[connectionID]?.first }

  /// The entry is no longer in the outbox; the connection's next one gets a turn.
  mutating func remove(_ entry: Int64, of connectionID: Int64) {
    guard head(of: connectionID) == entry else { return }
    entries[connectionID]?.removeFirst()
    if entries[connectionID]?.isEmpty == true { entries[connectionID] = nil } else { makeReady(connectionID) }
    // Its number may be reused.
    if entry == last { last = entries.values.compactMap(\.last).max() ?? 0 }
  }

  private mutating func makeReady(_ connectionID: Int64) {
    if isReady.insert(connectionID).inserted { ready.append(connectionID) }
  }
}
