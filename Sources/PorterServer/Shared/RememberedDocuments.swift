import PorterPlatform

/// Documents of tokens as this server has read or stored them last. One may be outdated, which a replacement finds out; so they are used where one
/// follows, and never to refuse or to end anything.
struct RememberedDocuments {
  private static let mostBytes = 8 << 20
  /// Larger ones are rare, and take long to decode.
  private static let mostBytesOfOne = 64 << 10
  /// About what each takes beside its bytes.
  private static let overhead = 256

  private struct Entry {
    let record: SharedRecord
    let at: Moment
  }

  /// What has not been noted since the newer ones began is forgotten when these are half of all.
  private var newer: [[UInt8]: Entry] = [:]
  private var older: [[UInt8]: Entry] = [:]
  private var newerBytes = 0

  /// `asked`: before the cluster was. One of a lower revision comes from a node that lags.
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
