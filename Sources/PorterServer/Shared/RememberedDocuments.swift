import PorterPlatform

/// Documents of tokens as this server last read or stored them. A document may be outdated, which a replacement
/// detects. So they are used only where a replacement follows, and never to refuse or end anything.
struct RememberedDocuments {
  private static let mostBytes = 8 << 20
  /// Larger ones are rare, and slow to decode.
  private static let mostBytesOfOne = 64 << 10
  /// Approximate overhead of each in addition to its bytes.
  private static let overhead = 256

  private struct Entry {
    let record: SharedRecord
    let at: Moment
  }

  /// When the newer ones make up half of all, those not noted since then are forgotten.
  private var newer: [[UInt8]: Entry] = [:]
  private var older: [[UInt8]: Entry] = [:]
  private var newerBytes = 0

  /// `asked`: the time before the cluster was asked. A record with a lower revision comes from a lagging node.
  mutating func note(_ id: [UInt8], _ record: SharedRecord, asked: Moment) {
    if let known = self.record(id), known.revision > record.revision { return }
    guard record.bytes.count <= Self.mostBytesOfOne else { return forget(id) }
    let size = record.bytes.count + Self.overhead
    if newerBytes + size > Self.mostBytes / 2 { (older, newer, newerBytes) = (newer, [:], 0) }
    if let known = newer[id] { newerBytes -= known.record.bytes.count + Self.overhead }
    newer[id] = Entry(record: record, at: asked)
    newerBytes += size
  }

  func record(_ id: [UInt8]) -> SharedRecord? { (newer[id] ?? older[id])?.record }

  func record(_ id: [UInt8], youngerThan age: Span, now: Moment) -> SharedRecord? {
    guard let entry = newer[id] ?? older[id], now - entry.at < age else { return nil }
    return entry.record
  }

  mutating func forget(_ id: [UInt8]) {
    if let known = newer.removeValue(forKey: id) { newerBytes -= known.record.bytes.count + Self.overhead }
    older[id] = nil
  }

  mutating func forgetAll() { (newer, older, newerBytes) = ([:], [:], 0) }
}
