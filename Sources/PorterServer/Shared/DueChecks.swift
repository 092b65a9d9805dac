/// Tokens whose subscriptions are due for a check, as found when their documents changed. In a busy cluster the daily
/// check does not reach them: a document that changes moves to the end of its bucket.
struct DueChecks {
  /// Any others are found when they change again.
  private static let most = 4_096

  private var ids: [[UInt8]] = []
  private var known: Set<[UInt8]> = []

  var isEmpty: Bool { ids.isEmpty }

  mutating func insert(_ id: [UInt8]) {
    guard ids.count < Self.most, known.insert(id).inserted else { return }
    ids.append(id)
  }

  mutating func take() -> [UInt8]? {
    guard let id = ids.popLast() else { return nil }
    known.remove(id)
    return id
  }
}
