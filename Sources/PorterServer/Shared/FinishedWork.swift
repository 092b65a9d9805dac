import PorterPlatform

/// Work whose push the token's document does not have. A node that was cut off from the others believes for 10 seconds that it leads, and
/// may answer with a document of before the push, though the leader has taken a probe. So work is over when it is found so twice, with
/// more time between than that.
struct FinishedWork {
  static let pause = Span.seconds(12)
  /// Another server has ended it by then.
  private static let memory = Span.seconds(600)
  private static let most = 65_536

  private struct Item: Hashable {
    let number: UInt64
    let bytes: [UInt8]

    init(_ work: TakenWork) { (number, bytes) = (work.number, work.bytes) }
  }

  private var found: [Item: Moment] = [:]

  /// False when it is found for the first time, or too early.
  mutating func isConfirmed(_ work: TakenWork, now: Moment) -> Bool {
    let item = Item(work)
    if let first = found[item] {
      guard now - first >= Self.pause else { return false }
      found[item] = nil
      return true
    }
    if found.count >= Self.most { found = found.filter { now - $0.value < Self.memory } }
    found[item] = now
    return false
  }

  /// Its push is due after all.
  mutating func forget(_ work: TakenWork) { found[Item(work)] = nil }
}
