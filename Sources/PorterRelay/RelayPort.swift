import PorterStore

/// The port to a relay: bytes out, bytes back. `spec/protocol/relay.md` defines their meaning, which a transport need
/// not know.
package protocol RelayPort: Sendable {
  /// Carries one request to the relay and its answer back. Blocks; safe from any thread.
  ///
  /// Throws failures of the transport (`offline`, `timeout`, `closed`, `storage`). A refusal of the relay is an answer.
  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8]

  /// Like `exchange`, for a caller that waits only for this machine's disk. Nil if another thread or process holds what
  /// the exchange needs, or if the relay is on a network: then call `exchange` from a thread that may wait.
  func exchangeWithoutWaiting(_ request: [UInt8]) throws(RelayError) -> [UInt8]?

  /// Announces exchanges: the first ones, or those after `close()`.
  func open()

  /// Whether `close()` ends exchanges in progress, so that they return within a bounded time.
  var endsExchanges: Bool { get }

  /// Whether the relay is a file on this machine: available without a network, and closed within a bounded time.
  var isLocal: Bool { get }

  /// How many exchanges may be in progress at the same time; at least 1. If only one, each must be short.
  var exchangesAtOnce: Int { get }

  /// The way with this number, from 0 and below `exchangesAtOnce`; each carries one exchange at a time.
  func way(_ number: Int) -> any RelayPort

  /// Whether an abandoned exchange is still in progress here: the next one would wait for it.
  var isOccupied: Bool { get }

  /// Becomes readable when something may be waiting at the relay for this process's subscriptions; then call
  /// `drainWake()` and ask. Nil before the first subscription, and for a transport without one. Owned by the port: do
  /// not read or close it.
  var wakeDescriptor: Int32? { get }

  /// Makes the descriptor unreadable until the next wake-up.
  func drainWake()

  /// Whether the relay has reported forgetting the subscriptions since the last call: then subscribe again.
  func takeReset() -> Bool

  /// Why the latest exchange failed, if the transport knows more than the error says. From any thread.
  var problem: String? { get }

  /// Releases every lock, and may keep files open for exchanges that come soon. Not to be called during an exchange.
  /// Must eventually be followed by `close()`. Returns false if nothing is kept open.
  func doze() -> Bool

  /// Releases everything; further exchanges throw `closed`. Closing twice is harmless.
  func close()
}

extension RelayPort {
  package func exchangeWithoutWaiting(_ request: [UInt8]) throws(RelayError) -> [UInt8]? { nil }
  package func open() {}
  package var endsExchanges: Bool { isLocal }
  package func takeReset() -> Bool { false }
  package var problem: String? { nil }
  package func doze() -> Bool { false }
  package var exchangesAtOnce: Int { isLocal ? 1 : 2 }
  package func way(_ number: Int) -> any RelayPort { self }
  package var isOccupied: Bool { false }
}

/// A port for callers that may not wait: an exchange that would have to wait throws as if it had waited in vain.
package struct ImpatientPort: RelayPort {
  private let port: any RelayPort

  package init(_ port: any RelayPort) { self.port = port }

  package func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8] {
    guard let answer = try port.exchangeWithoutWaiting(request) else { throw .storage(SQLiteError(kind: .busy)) }
    return answer
  }

  package var isLocal: Bool { port.isLocal }
  package var wakeDescriptor: Int32? { port.wakeDescriptor }
  package func drainWake() { port.drainWake() }
  package func close() { port.close() }
}
