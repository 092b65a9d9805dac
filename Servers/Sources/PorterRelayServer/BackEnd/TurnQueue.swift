/// Jobs waiting for their turn. Jobs with many signatures to verify wait separately, and each turn takes only a few of
/// them, so that the others do not wait for all of these. Sources take turns with their long jobs, so that one source's
/// wait behind each other, and other sources' do not wait behind them. Jobs of one listener keep their order.
package struct TurnQueue<Job: Sendable>: Sendable {
  private struct Long: Sendable {
    let job: Job
    let signatures: Int
    let listener: String?

    /// What the job counts in the sums of signatures.
    var counted: Int { TurnQueue.isLong(signatures: signatures) ? signatures : 0 }
  }

  /// The most jobs in one turn.
  static var most: Int { 256 }
  /// A job with more signatures is a long one.
  static var fewSignatures: Int { 8 }
  /// For a turn's long jobs together, unless a single one has more.
  static var mostSignatures: Int { 64 }

  private var short: [Job] = []
  /// The long jobs of each source, and what waits behind them.
  private var long: [Source: [Long]] = [:]
  /// The keys of `long`, the next one first.
  private var sources: [Source] = []
  /// The listeners of jobs in `long`: how many jobs, and with which source's these wait.
  private var listeners: [String: (source: Source, count: Int)] = [:]
  /// Jobs with many signatures, and those behind them.
  package private(set) var longCount = 0
  /// The signatures of all long jobs.
  private(set) var longSignatures = 0

  package init() {}

  package var count: Int { short.count + longCount }

  package static func isLong(signatures: Int) -> Bool { signatures > fewSignatures }

  /// Whether the source may have another long job if there may be `most`: each gets at most as many as it leaves free,
  /// so that no source takes the room of all others.
  package func hasRoomForLong(of source: Source, most: Int) -> Bool {
    (long[source.network]?.count ?? 0) < most - longCount
  }

  /// Likewise if their signatures may add up to `most`. A single job always may wait.
  func hasTimeForLong(of source: Source, most: Int) -> Bool {
    guard longSignatures > 0 else { return true }
    let own = long[source.network]?.reduce(0) { $0 + $1.counted } ?? 0
    return own < most - longSignatures
  }

  /// Whether jobs of the listener wait among the long ones.
  func isBehindLong(_ listener: String) -> Bool { listeners[listener] != nil }

  package mutating func add(_ job: Job, signatures: Int, of source: Source, from listener: String?) {
    let earlier = listener.flatMap { listeners[$0] }
    guard Self.isLong(signatures: signatures) || earlier != nil else { return short.append(job) }
    // In the order in which they came, even if the listener's client has changed its address.
    let source = earlier?.source ?? source.network
    if long[source] == nil { sources.append(source) }
    let added = Long(job: job, signatures: signatures, listener: listener)
    long[source, default: []].append(added)
    longCount += 1
    longSignatures += added.counted
    if let listener { listeners[listener] = (source, (earlier?.count ?? 0) + 1) }
  }

  package mutating func takeTurn() -> [Job] {
    var taken = Array(short.prefix(Self.most))
    short.removeFirst(taken.count)
    var (signatures, count) = (0, 0)
    while let source = sources.first, let next = long[source]?.first {
      guard count == 0 || (signatures + next.signatures <= Self.mostSignatures && taken.count < Self.most) else {
        break
      }
      taken.append(next.job)
      signatures += next.signatures
      count += 1
      removeFirst(of: source)
      // Short jobs have waited only for the long one before them.
      if let following = long[source]?.first, !Self.isLong(signatures: following.signatures) { continue }
      sources.removeFirst()
      if long[source] != nil { sources.append(source) }
    }
    return taken
  }

  /// Removes long jobs from the front of each source's, as long as `isOver`.
  package mutating func removeLong(while isOver: (Job) -> Bool) -> [Job] {
    var removed: [Job] = []
    for source in sources {
      while let first = long[source]?.first, isOver(first.job) {
        removed.append(first.job)
        removeFirst(of: source)
      }
    }
    if !removed.isEmpty { sources.removeAll { long[$0] == nil } }
    return removed
  }

  /// Removes the jobs for which `isOver`, wherever they wait.
  mutating func remove(where isOver: (Job) -> Bool) -> [Job] {
    var removed = short.filter(isOver)
    if !removed.isEmpty { short.removeAll(where: isOver) }
    for source in sources {
      guard let over = long[source]?.filter({ isOver($0.job) }), !over.isEmpty else { continue }
      long[source]?.removeAll { isOver($0.job) }
      for each in over {
        removed.append(each.job)
        forget(each, of: source)
      }
    }
    sources.removeAll { long[$0] == nil }
    return removed
  }

  private mutating func removeFirst(of source: Source) {
    guard let removed = long[source]?.removeFirst() else { return }
    forget(removed, of: source)
  }

  private mutating func forget(_ removed: Long, of source: Source) {
    if long[source]?.isEmpty == true { long[source] = nil }
    longCount -= 1
    longSignatures -= removed.counted
    guard let listener = removed.listener, let waiting = listeners[listener] else { return }
    listeners[listener] = waiting.count > 1 ? (waiting.source, waiting.count - 1) : nil
  }
}
