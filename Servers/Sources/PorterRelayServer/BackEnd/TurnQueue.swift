/// Jobs waiting for their turn. Jobs with many signatures to verify wait separately, and each turn takes only a few of
/// them, so that the others do not wait for all of these. Jobs of one listener keep their order.
package struct TurnQueue<Job: Sendable>: Sendable {
  private struct Long: Sendable {
    let job: Job
    let signatures: Int
    let listeners: [String]
  }

  /// The most jobs in one turn.
  static var most: Int { 256 }
  /// A job with more signatures is a long one.
  static var fewSignatures: Int { 8 }
  /// For a turn's long jobs together, unless a single one has more.
  static var mostSignatures: Int { 64 }

  private var short: [Job] = []
  private var long: [Long] = []
  /// The listeners of the long jobs.
  private var listeners: [String: Int] = [:]

  package init() {}

  package var count: Int { short.count + long.count }
  /// Jobs with many signatures, and those behind them.
  package var longCount: Int { long.count }

  package static func isLong(signatures: Int) -> Bool { signatures > fewSignatures }

  package mutating func add(_ job: Job, signatures: Int, from listeners: [String]) {
    guard Self.isLong(signatures: signatures) || listeners.contains(where: { self.listeners[$0] != nil }) else {
      return short.append(job)
    }
    long.append(Long(job: job, signatures: signatures, listeners: listeners))
    for listener in listeners { self.listeners[listener, default: 0] += 1 }
  }

  package mutating func takeTurn() -> [Job] {
    var taken = Array(short.prefix(Self.most))
    short.removeFirst(taken.count)
    var (signatures, count) = (0, 0)
    for each in long {
      guard count == 0 || (signatures + each.signatures <= Self.mostSignatures && taken.count < Self.most) else {
        break
      }
      taken.append(each.job)
      signatures += each.signatures
      count += 1
      for listener in each.listeners {
        let left = (listeners[listener] ?? 1) - 1
        listeners[listener] = left == 0 ? nil : left
      }
    }
    long.removeFirst(count)
    return taken
  }
}
