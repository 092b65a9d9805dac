/// What each source has, such as connections, and what the sources of an IPv6 customer have together.
struct SourceCounts {
  /// A customer commonly has an IPv6 network of 48 bits, with 65,536 of those that count as one source. Several sources
  /// of one may be different people, so it gets more than one of them.
  static let mostOfNetwork = 4

  private let most: Int
  private var sources: [Source: Int] = [:]
  private var networks: [Source: Int] = [:]

  init(most: Int) { self.most = most }

  func hasRoom(for source: Source) -> Bool {
    source.isTrusted
      || sources[source, default: 0] < most
        && (!source.isIPv6 || networks[source.network, default: 0] < most * Self.mostOfNetwork)
  }

  mutating func add(_ source: Source) {
    guard !source.isTrusted else { return }
    sources[source, default: 0] += 1
    if source.isIPv6 { networks[source.network, default: 0] += 1 }
  }

  mutating func remove(_ source: Source) {
    guard !source.isTrusted else { return }
    Self.remove(source, &sources)
    if source.isIPv6 { Self.remove(source.network, &networks) }
  }

  private static func remove(_ source: Source, _ counts: inout [Source: Int]) {
    let left = counts[source, default: 1] - 1
    counts[source] = left > 0 ? left : nil
  }
}
