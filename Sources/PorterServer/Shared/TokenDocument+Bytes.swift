import PorterCrypto
import PorterPush
import PorterRelay

/// Each push rewrites a document twice, and nodes keep in memory what they have recently read: so numbers and lengths take
/// as many bytes as they need, and nothing is stored that other fields determine.
extension TokenDocument {
  /// 1 had the seconds of notifications; 1 and 2 had lengths of four bytes, and keys with their public halves.
  private static let version: UInt8 = 3

  func encoded() -> [UInt8] {
    var bytes = [Self.version]
    for each in [id, Array(provider.utf8), pushToken, signingKey, clientBoxKey, boxKey, pushKey, code] {
      bytes.append(field: each)
    }
    bytes.append(field: Array(state.utf8))
    for each in [generation, period, usedAt, registeredAt, checkedAt] { bytes.append(number: each) }
    bytes.append(items: subscriptions) { bytes, each in
      bytes.append(field: each.notifier)
      bytes.append(field: each.seed)
      bytes.append(status: each.status)
    }
    let numbers = Dictionary(
      zip(subscriptions.map(\.notifier), subscriptions.indices), uniquingKeysWith: { first, _ in first })
    bytes.append(items: notifications.filter { numbers[$0.notifier] != nil }) { bytes, each in
      bytes.append(number: Int64(numbers[each.notifier] ?? 0))
      bytes.append(number: each.milliseconds)
      bytes.append(field: each.nonce)
      bytes.append(field: each.metadata)
    }
    bytes.append(items: pushes) { bytes, each in
      bytes.append(field: Array(each.kind.utf8))
      bytes.append(number: each.version)
      bytes.append(field: Array(each.provider.utf8))
      bytes.append(number: each.dueAt)
    }
    bytes.append(items: wake.map { [$0] } ?? []) { bytes, each in
      bytes.append(number: each.dueAt)
      bytes.append(number: each.wokenAt)
    }
    bytes.append(items: answers) { bytes, each in
      bytes.append(field: each.correlation)
      bytes.append(field: each.json)
      bytes.append(number: each.answeredAt)
    }
    bytes.append(field: past)
    return bytes
  }

  init(decoding bytes: [UInt8]) throws(ServerError) {
    do throws(RelayError) { try self.init(reading: bytes) } catch { throw .damaged(.token) }
  }

  private init(reading bytes: [UInt8]) throws(RelayError) {
    var reader = DocumentReader(bytes)
    let version = try reader.version(most: Self.version)
    id = try reader.counted()
    provider = try reader.text()
    pushToken = try reader.counted()
    signingKey = try reader.counted()
    clientBoxKey = try reader.counted()
    boxKey = try reader.counted()
    pushKey = try reader.counted()
    code = try reader.counted()
    state = try reader.text()
    generation = try reader.number()
    period = try reader.number()
    usedAt = try reader.number()
    registeredAt = try reader.number()
    checkedAt = version < 3 ? 0 : try reader.number()
    subscriptions = try reader.list { (reader) throws(RelayError) in
      Subscription(notifier: try reader.counted(), seed: try reader.seed(), status: try reader.status())
    }
    let notifiers = subscriptions.map(\.notifier)
    notifications = try reader.list { (reader) throws(RelayError) in
      let (notifier, time) = (try reader.notifier(of: notifiers), try reader.number())
      return Notification(
        notifier: notifier, milliseconds: version == 1 ? time &* 1_000 : time, nonce: try reader.counted(),
        metadata: try reader.counted())
    }
    pushes = try reader.list { (reader) throws(RelayError) in
      Push(
        kind: try reader.text(), version: try reader.number(), provider: try reader.text(),
        dueAt: try reader.number())
    }
    let wakes = try reader.list { (reader) throws(RelayError) in
      Wake(dueAt: try reader.number(), wokenAt: try reader.number())
    }
    guard wakes.count <= 1 else { throw .syntax }
    wake = wakes.first
    answers = try reader.list { (reader) throws(RelayError) in
      Answer(correlation: try reader.counted(), json: try reader.counted(), answeredAt: try reader.number())
    }
    past = try reader.counted()
    try reader.end()
    guard isConsistent else { throw .syntax }
    // As a work file would.
    let subscribed = self.notifiers
    notifications.removeAll { !subscribed.contains($0.notifier) }
  }

  /// Content that does not fit in a work file is damage to this token, not a failure of the file (INC-44).
  private var isConsistent: Bool {
    let notified = Set(notifications.map(\.notifier)), kinds = Set(pushes.map(\.kind))
    return notifiers.count == subscriptions.count && notified.count == notifications.count
      && kinds.count == pushes.count && kinds.allSatisfy { PushKind(rawValue: $0) != nil }
  }
}

/// Reads documents of each version.
private struct DocumentReader {
  private var reader: RelayReader
  /// Lengths and numbers have fixed sizes.
  private var isFixed = false

  init(_ bytes: [UInt8]) { reader = RelayReader(bytes) }

  mutating func version(most: UInt8) throws(RelayError) -> UInt8 {
    let version = try reader.byte()
    guard 1...most ~= version else { throw .version }
    isFixed = version < 3
    return version
  }

  mutating func end() throws(RelayError) { try reader.end() }

  mutating func number() throws(RelayError) -> Int64 {
    isFixed ? try reader.signed64() : Int64(bitPattern: try variable())
  }

  private mutating func length() throws(RelayError) -> Int {
    Int(clamping: isFixed ? UInt64(try reader.unsigned32()) : try variable())
  }

  private mutating func count() throws(RelayError) -> Int {
    Int(clamping: isFixed ? UInt64(try reader.unsigned16()) : try variable())
  }

  /// Seven bits a byte, the lowest ones first, as in LEB128. Only the shortest form is accepted.
  private mutating func variable() throws(RelayError) -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while true {
      let byte = try reader.byte()
      guard shift < 63 || byte <= 1 else { throw .syntax }
      value |= UInt64(byte & 0x7f) << shift
      guard byte >= 0x80 else {
        guard byte != 0 || shift == 0 else { throw .syntax }
        return value
      }
      shift += 7
    }
  }

  mutating func counted() throws(RelayError) -> [UInt8] { Array(try reader.bytes(try length())) }

  mutating func text() throws(RelayError) -> String {
    guard let text = String(validating: try counted(), as: UTF8.self) else { throw .syntax }
    return text
  }

  mutating func list<Item>(
    _ item: (inout DocumentReader) throws(RelayError) -> Item
  ) throws(RelayError) -> [Item] {
    var items: [Item] = []
    for _ in 0..<(try count()) { items.append(try item(&self)) }
    return items
  }

  mutating func seed() throws(RelayError) -> [UInt8] {
    let key = try counted()
    return isFixed ? Array(key.prefix(SigningKeyPair.seedCount)) : key
  }

  mutating func status() throws(RelayError) -> String {
    guard !isFixed else { return try text() }
    let code = try reader.byte()
    if code == otherStatus {
      let other = try text()
      guard SubscriptionStatus(rawValue: other) == nil else { throw .syntax }
      return other
    }
    guard let status = SubscriptionStatus(code: code) else { throw .syntax }
    return status.rawValue
  }

  mutating func notifier(of notifiers: [[UInt8]]) throws(RelayError) -> [UInt8] {
    guard !isFixed else { return try counted() }
    let number = try count()
    guard notifiers.indices.contains(number) else { throw .syntax }
    return notifiers[number]
  }
}

/// A status that this version does not know follows as text: it damages one subscription only (INC-44). So later
/// versions must store new ones as text.
private let otherStatus: UInt8 = 0xff

extension SubscriptionStatus {
  fileprivate var code: UInt8 {
    switch self {
    case .new: 0
    case .pending: 1
    case .active: 2
    case .inactive: 3
    case .end: 4
    case .deleted: 5
    case .refused: 6
    case .failed: 7
    }
  }

  fileprivate init?(code: UInt8) {
    guard let status = Self.allCases.first(where: { $0.code == code }) else { return nil }
    self = status
  }
}

extension [UInt8] {
  fileprivate mutating func append(number: Int64) {
    var rest = UInt64(bitPattern: number)
    while rest >= 0x80 {
      append(UInt8(rest & 0x7f) | 0x80)
      rest >>= 7
    }
    append(UInt8(rest))
  }

  fileprivate mutating func append(status text: String) {
    guard let status = SubscriptionStatus(rawValue: text) else {
      append(otherStatus)
      return append(field: Array(text.utf8))
    }
    append(status.code)
  }

  fileprivate mutating func append(field bytes: [UInt8]) {
    append(number: Int64(bytes.count))
    append(contentsOf: bytes)
  }

  fileprivate mutating func append<Item>(items: [Item], _ item: (inout [UInt8], Item) -> Void) {
    append(number: Int64(items.count))
    for each in items { item(&self, each) }
  }
}
