import Synchronization

@testable import PorterRelay

/// A relay that answers as if it did not know commands added after a certain one.
final class EarlierRelay: RelayPort {
  private let relay: EmbeddedRelay
  private let last: RelayCommand.Tag
  private let count = Mutex(0)

  init(_ relay: EmbeddedRelay, last: RelayCommand.Tag) {
    self.relay = relay
    self.last = last
  }

  /// Requests since the last call.
  func takeCount() -> Int {
    count.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    count.withLock { $0 += 1 }
    if let parsed = try? RelayRequest(decoding: request), parsed.command.tag.rawValue > last.rawValue {
      return RelayAnswer.failed(.syntax).encoded(for: parsed.correlation)
    }
    return try relay.exchange(request)
  }

  var isLocal: Bool { true }
  var wakeDescriptor: Int32? { relay.wakeDescriptor }
  func drainWake() { relay.drainWake() }
  func close() { relay.close() }
}
