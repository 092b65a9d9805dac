import PorterPlatform

/// Tokens whose subscriptions are due for a check, as found when their documents changed. In a busy cluster the daily
/// check does not reach them: a document that changes moves to the end of its bucket.
struct DueChecks {
  /// Any others are found when they change again.
  private static let most = 4_096
  /// If a check fails, or others change the token all the while.
  private static let pause = Span.seconds(600)

  private var ids: [[UInt8]] = []
  private var known: Set<[UInt8]> = []
  /// When those taken recently may be checked again.
  private var pauses: [[UInt8]: Moment] = [:]

  var isEmpty: Bool { ids.isEmpty }

  mutating func insert(_ id: [UInt8], now: Moment) {
    guard ids.count < Self.most, pauses[id].map({ $0 <= now }) ?? true, known.insert(id).inserted else { return }
    ids.append(id)
  }

  /// The one that has waited longest.
  mutating func take(now: Moment) -> [UInt8]? {
    guard !ids.isEmpty else { return nil }
    let id = ids.removeFirst()
    known.remove(id)
    if pauses.count >= Self.most { pauses = pauses.filter { $0.value > now } }
    if pauses.count < Self.most { pauses[id] = now + Self.pause }
    return id
  }
}
