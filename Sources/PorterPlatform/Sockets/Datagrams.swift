/// One end of a channel of datagrams between processes, until it is closed through the port that opened it.
package struct DatagramEnd: Hashable, Sendable {
  /// Can be waited on with poll(2).
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }
}

/// The outcome of sending a datagram.
package enum DatagramOutcome: Equatable, Sendable {
  /// Delivered; or the receiver's queue is full: it is frozen or busy, and already has enough news.
  case posted
  /// No process listens there, and none will.
  case gone
  /// Failed with the system's error.
  case failed(Int32)
}

/// The address at which a process listens: a name in a directory.
package struct DatagramAddress: Hashable, Sendable {
  package var directory: String
  package var name: String

  package init(directory: String, name: String) {
    self.directory = directory
    self.name = name
  }

  package var path: String { directory + "/" + name }
}

/// The port through which processes on one device send each other datagrams. Nothing waits. Safe from any thread.
package protocol Datagrams: Sendable {
  func open() throws(SystemError) -> DatagramEnd
  func close(_ end: DatagramEnd)

  /// Makes the end listen at this address, as a directory entry that stays until removed. Fails with `EADDRINUSE` if
  /// the address exists.
  func bind(_ end: DatagramEnd, to address: DatagramAddress) throws(SystemError)
  /// Whether no process listens at this address any longer.
  func isAbandoned(_ address: DatagramAddress) -> Bool

  func send(_ bytes: [UInt8], through end: DatagramEnd, to address: DatagramAddress) -> DatagramOutcome
  /// The next datagram, truncated to `limit` bytes; nil if none is waiting.
  func receive(from end: DatagramEnd, limit: Int) -> [UInt8]?
}
