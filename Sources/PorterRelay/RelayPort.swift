/// The port through which a relay comes in: bytes out, bytes back. What they mean is in `spec/protocol/relay.md`, and a
/// transport need not know it.
package protocol RelayPort: Sendable {
  /// Carries one request to the relay and its answer back. Blocks; from any thread.
  ///
  /// Throws what happened on the way (`offline`, `timeout`, `closed`, `storage`). What the relay refused is an answer.
  func exchange(_ request: [UInt8]) throws(RelayError) -> [UInt8]

  /// Whether the relay is a file of this machine: there without a network, and closed within a bounded time.
  var isLocal: Bool { get }

  /// Readable when something may wait at the relay for what this process subscribed to; then call `drainWake()` and
  /// ask. Nil before the first subscription, and for a transport without one. Owned by the port: neither read nor close
  /// it.
  var wakeDescriptor: Int32? { get }

  /// Makes the descriptor unreadable until the next wake-up.
  func drainWake()

  /// Lets go of everything; further exchanges throw `closed`. Closing twice is harmless.
  func close()
}
