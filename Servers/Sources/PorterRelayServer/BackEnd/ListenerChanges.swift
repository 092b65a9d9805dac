/// Streams of news that have begun or ended without the file having recorded it, because it failed or takes nothing: of
/// each listener only the latest change.
struct ListenerChanges: Sendable {
  struct Change: Sendable, Equatable {
    let isAttached: Bool
    /// A later change has a higher number.
    let number: UInt64
  }

  private var changes: [String: Change] = [:]

  var isEmpty: Bool { changes.isEmpty }
  var count: Int { changes.count }

  func contains(_ listener: String) -> Bool { changes[listener] != nil }

  mutating func note(_ change: Change, of listener: String) {
    if let known = changes[listener], known.number > change.number { return }
    changes[listener] = change
  }

  mutating func forget(_ listener: String) { changes[listener] = nil }

  mutating func take(atMost count: Int) -> [(listener: String, change: Change)] {
    let taken = changes.prefix(count).map { (listener: $0.key, change: $0.value) }
    for (listener, _) in taken { changes[listener] = nil }
    return taken
  }
}
