import PorterPlatform

/// Messages named by pushes to this process that have not arrived: those `ntfMessage` is emitted for. Only the last few
/// hundred, since a message that another process has taken in never arrives here.
struct ExpectedMessages {
  /// A class, since an array of objects has a type that every process already has.
  private final class Name {
    let connection: Int64
    /// One of the two is set.
    let message: [UInt8]?
    let time: WallTime?

    init(_ message: [UInt8]?, _ time: WallTime?, connection: Int64) {
      (self.message, self.time, self.connection) = (message, time, connection)
    }

    func isSame(as other: Name) -> Bool {
      connection == other.connection && message == other.message && time == other.time
    }
  }

  private static let bound = 256
  /// Oldest first.
  private var names: [Name] = []
  /// Names of messages that have arrived, also oldest first: one whose acknowledgement had no answer comes again, and
  /// may be asked for again by its name.
  private var taken: [Name] = []

  mutating func note(_ message: [UInt8], _ connection: Int64) { note(Name(message, nil, connection: connection)) }

  mutating func note(_ time: WallTime, _ connection: Int64) { note(Name(nil, time, connection: connection)) }

  private mutating func note(_ name: Name) {
    guard !taken.contains(where: { $0.isSame(as: name) }) else { return }
    names.removeAll { $0.isSame(as: name) }
    names.append(name)
    if names.count > Self.bound { names.removeFirst() }
  }

  /// Whether a push named the message; true once.
  mutating func take(_ message: SourceMessage, _ connection: Int64) -> Bool {
    let before = names.count
    names.removeAll {
      $0.connection == connection && ($0.message == message.identifier || $0.time == message.timestamp)
    }
    guard names.count < before else { return false }
    taken.append(Name(message.identifier, nil, connection: connection))
    taken.append(Name(nil, message.timestamp, connection: connection))
    if taken.count > Self.bound { taken.removeFirst(2) }
    return true
  }
}
