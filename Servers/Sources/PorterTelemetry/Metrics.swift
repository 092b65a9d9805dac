import Synchronization

/// Counts and measurements in Prometheus' text format. Labels are our own names, never anything a client sent, so their
/// number is bounded.
public final class Metrics: Sendable {
  private struct Family {
    let kind: String
    let help: String
    var values: [String: Double] = [:]
    var histograms: [String: Histogram] = [:]
  }

  private struct Histogram {
    var counts: [Int]
    var sum = 0.0
    var count = 0
  }

  private let families = Mutex<[String: Family]>([:])
  private let gauges = Mutex<[(name: String, help: String, read: @Sendable () -> Double)]>([])
  private let buckets: [String: [Double]]

  /// `buckets`: the limits of each histogram's buckets, ascending.
  public init(buckets: [String: [Double]] = [:]) { self.buckets = buckets }

  public func declare(counter name: String, help: String) {
    families.withLock { $0[name] = Family(kind: "counter", help: help) }
  }

  public func declare(histogram name: String, help: String) {
    families.withLock { $0[name] = Family(kind: "histogram", help: help) }
  }

  /// A value read on demand.
  public func declare(gauge name: String, help: String, read: @escaping @Sendable () -> Double) {
    gauges.withLock { $0.append((name, help, read)) }
  }

  /// `labels` are in printed form: `command="send",result="done"`.
  public func count(_ name: String, _ labels: String = "", by amount: Int = 1) {
    families.withLock { $0[name]?.values[labels, default: 0] += Double(amount) }
  }

  public func observe(_ name: String, _ value: Double, _ labels: String = "") {
    guard let limits = buckets[name] else { return }
    families.withLock { families in
      var histogram =
        families[name]?.histograms[labels] ?? Histogram(counts: [Int](repeating: 0, count: limits.count))
      if let index = limits.firstIndex(where: { value <= $0 }) { histogram.counts[index] += 1 }
      histogram.sum += value
      histogram.count += 1
      families[name]?.histograms[labels] = histogram
    }
  }

  public func value(_ name: String, _ labels: String = "") -> Double {
    families.withLock { $0[name]?.values[labels] ?? 0 }
  }

  /// Everything, ordered by name.
  public var text: String {
    var lines: [String] = []
    for (name, family) in families.withLock({ $0 }).sorted(by: { $0.key < $1.key }) {
      lines += ["# HELP \(name) \(family.help)", "# TYPE \(name) \(family.kind)"]
      for (labels, value) in family.values.sorted(by: { $0.key < $1.key }) {
        lines.append(Self.line(name, labels, value))
      }
      for (labels, histogram) in family.histograms.sorted(by: { $0.key < $1.key }) {
        lines += self.lines(of: histogram, name, labels)
      }
    }
    for gauge in gauges.withLock({ $0 }) {
      lines += ["# HELP \(gauge.name) \(gauge.help)", "# TYPE \(gauge.name) gauge"]
      lines.append(Self.line(gauge.name, "", gauge.read()))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func lines(of histogram: Histogram, _ name: String, _ labels: String) -> [String] {
    let separator = labels.isEmpty ? "" : ","
    var lines: [String] = []
    var total = 0
    for (limit, count) in zip(buckets[name] ?? [], histogram.counts) {
      total += count
      lines.append(Self.line(name + "_bucket", labels + separator + "le=\"\(limit)\"", Double(total)))
    }
    lines.append(Self.line(name + "_bucket", labels + separator + "le=\"+Inf\"", Double(histogram.count)))
    lines.append(Self.line(name + "_sum", labels, histogram.sum))
    lines.append(Self.line(name + "_count", labels, Double(histogram.count)))
    return lines
  }

  private static func line(_ name: String, _ labels: String, _ value: Double) -> String {
    let isWhole = value == value.rounded() && abs(value) < 1e15
    return "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(isWhole ? String(Int64(value)) : String(value))"
  }
}
