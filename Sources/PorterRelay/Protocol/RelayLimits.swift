/// The protocol's numbers; `spec/protocol/relay.md` gives the reasons.
package enum RelayLimits {
  /// Version of the protocol, the first byte of every request and answer.
  package static let version: UInt8 = 1
  /// Bytes of one message.
  package static let body = 16_384
  /// Undelivered messages in one mailbox.
  package static let undelivered = 128
  package static let retentionDays: Int64 = 21
  /// Entries of one list in a request or answer.
  package static let batch = 256
  /// Arrivals that a client collects before it listens again instead: more than there are contacts.
  package static let arrivalsAtOnce = 1 << 17
  /// Notification services that one listener is woken for. A server needs one, and a person's process none.
  package static let listenerServices: Int64 = 16
  /// Bytes of a request or an answer.
  package static let exchange = 65_536
  /// Bytes of a message's metadata before it is sealed.
  package static let metadata = 128
}
