import PorterPlatform

/// The messages that pushes to this process named, until they have come: what `ntfMessage` is emitted for. The last few hundred,
/// since a message that another process has taken in never comes here.
struct ExpectedMessages {
  private enum Name: Hashable {
    case message([UInt8], connection: Int64)
    case time(WallTime, connection: Int64)
  }

  private static let bound = 256
  /// Oldest first.
  private var names: [Name] = []

  mutating func note(_ message: [UInt8], _ connection: Int64) { note(.message(message, connection: connection)) }

  mutating func note(_ time: WallTime, _ connection: Int64) { note(.time(time, connection: connection)) }

  private mutating func note(_ name: Name) {
    names.removeAll { $0 == name }
    names.append(name)
    if names.count > Self.bound { names.removeFirst() }
  }

  /// Whether a push named it; once.
  mutating func take(_ message: SourceMessage, _ connection: Int64) -> Bool {
    let before = names.count
    names.removeAll {
      $0 == .message(message.identifier, connection: connection)
        || $0 == .time(message.timestamp, connection: connection)
    }
    return names.count < before
  }
}
