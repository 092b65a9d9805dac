import PorterPlatform

/// Work whose push is missing from the token's document. A node cut off from the others takes itself for the leader for
/// another 10 seconds, and may answer with a document from before the push, although the real leader has taken a probe.
/// So work counts as finished only when it is found so twice, with a longer time in between.
struct FinishedWork {
  static let pause = Span.seconds(12)
  /// By then another server has ended it.
  private static let memory = Span.seconds(600)
  private static let most = 65_536

  private struct Item: Hashable {
    let number: UInt64
    let bytes: [UInt8]

    init(_ work: TakenWork) { (number, bytes) = (work.number, work.bytes) }
  }

  private var found: [Item: Moment] = [:]

  /// Returns false when it is found for the first time, or again too early.
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

  /// Call when its push is due after all.
  mutating func forget(_ work: TakenWork) { found[Item(work)] = nil }
}
