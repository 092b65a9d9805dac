/// One end of a channel of datagrams between processes, until it is closed through the port that opened it.
package struct DatagramEnd: Hashable, Sendable {
  /// Can be waited on with poll(2).
  package let descriptor: Int32

  package init(descriptor: Int32) { self.descriptor = descriptor }
}

/// What became of a datagram.
package enum DatagramOutcome: Equatable, Sendable {
  /// Posted; or as many wait there already as the system keeps: the receiver is frozen or busy, and has news enough.
  case posted
  /// No process listens there, and none will.
  case gone
  /// With the system's error.
  case failed(Int32)
}

/// Where a process listens: a name in a directory.
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

  /// Makes the end listen at this address, as a directory entry that stays until it is removed. Fails with `EADDRINUSE`
  /// when there is one already.
  func bind(_ end: DatagramEnd, to address: DatagramAddress) throws(SystemError)
  /// Whether no process listens at this address any more.
  func isAbandoned(_ address: DatagramAddress) -> Bool

  func send(_ bytes: [UInt8], through end: DatagramEnd, to address: DatagramAddress) -> DatagramOutcome
  /// The next datagram, cut off after `limit` bytes; nil when none waits.
  func receive(from end: DatagramEnd, limit: Int) -> [UInt8]?
}
