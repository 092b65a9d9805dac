import PorterCrypto
import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Why a process has no end of the channel. It works without one: what others commit is found at the next look into the
/// store, and whoever is asked nothing is believed to be at work while it holds its lock.
package enum ChannelError: Error, Hashable, Sendable {
  /// No directory can be made beside the store.
  case noDirectory(systemError: Int32)
  /// What is there is a link, a file, another user's, or open to others.
  case untrustedDirectory
  /// The path does not fit into a socket's address.
  case pathTooLong
  case system(Int32)
}

/// One process's end of the channel beside a store: a datagram socket in a directory, for as long as it works.
///
/// Threads: belongs to its engine's thread. Nothing waits: sending is one system call to each end that listens, and what
/// cannot be delivered is dropped. `close()` takes the socket away; after SIGKILL it stays as a name at which nobody
/// listens, which whoever comes next removes.
package final class Channel {
  package struct Counts: Equatable, Sendable {
    package var sent = 0
    package var received = 0
    /// Datagrams that were none of ours, or not for this end.
    package var rejected = 0
    /// Authentic ones that had been seen before.
    package var repeated = 0
  }

  /// Of one look, so that a flood keeps nothing else from being done.
  package static let batch = 64
  /// Ends that are told something; more than ever listen, unless somebody fills the directory.
  private static let receivers = 256
  /// After this time a socket at which no process listens is removed.
  private static let abandonedAfter = Span.seconds(10)

  package let address: ChannelAddress
  /// Can be waited on with poll(2).
  package var descriptor: Int32 { end.descriptor }
  package private(set) var counts = Counts()
  private let instance: Instance
  private let boot: [UInt8]
  private let key: AuthenticationKey
  private let ports: Ports
  private let end: DatagramEnd
  private let directory: SocketDirectory
  private var replays: ReplayGuard
  private var counter: UInt64 = 0

  package static func directory(prefix: String, ports: Ports) -> SocketDirectory {
    SocketDirectory(path: prefix + "_chat.channel", ports: ports) { ChannelAddress(name: $0) != nil }
  }

  package init(
    prefix: String, role: ChannelAddress.Role, instance: Instance, key: AuthenticationKey, ports: Ports
  ) throws(ChannelError) {
    let directory = Self.directory(prefix: prefix, ports: ports)
    do throws(SystemError) { try directory.create() } catch { throw .noDirectory(systemError: error.code) }
    guard directory.isPrivate else { throw .untrustedDirectory }
    guard let address = ChannelAddress(role: role, tenancy: ports.randomness.bytes(8)) else { throw .system(0) }
    do throws(SystemError) { end = try directory.listen(at: address.name) } catch {
      throw error.code == ENAMETOOLONG ? .pathTooLong : .system(error.code)
    }
    self.directory = directory
    self.address = address
    self.instance = instance
    self.key = key
    self.ports = ports
    boot = ChannelMessage.bootHash(instance)
    replays = ReplayGuard(opening: Self.nanoseconds(ports.clock))
    directory.removeAbandoned(olderThan: Self.abandonedAfter)
  }

  /// The name goes first: a sender then finds none, rather than one that refuses.
  package func close() {
    directory.remove(address.name)
    ports.datagrams.close(end)
  }

  // MARK: Sending

  /// Tells every end of this role, and gives the counter under which it was said; nil when nobody listens.
  @discardableResult
  package func tell(_ kind: ChannelMessage.Kind, all role: ChannelAddress.Role) -> UInt64? {
    let counter = nextCounter()
    var heard = 0
    let receivers = directory.names().compactMap { ChannelAddress(name: $0) }.filter {
      $0.role == role && $0 != address
    }
    // In no order that anybody could foresee: whoever fills the directory hides nobody for longer than one question.
    var generator = RandomnessGenerator(ports.randomness)
    for receiver in receivers.count > Self.receivers ? receivers.shuffled(using: &generator) : receivers {
      if send(kind, to: receiver, counter: counter) == .posted { heard += 1 }
      if heard == Self.receivers { break }
    }
    return heard > 0 ? counter : nil
  }

  /// Answers a question.
  package func answer(_ question: ChannelMessage) {
    _ = send(.here, to: question.sender, counter: nextCounter(), answers: question.counter)
  }

  private func send(
    _ kind: ChannelMessage.Kind, to receiver: ChannelAddress, counter: UInt64, answers: UInt64 = 0
  ) -> DatagramOutcome {
    let message = ChannelMessage(kind, from: address, instance, to: receiver, counter: counter, answers: answers)
    counts.sent += 1
    return directory.send(message.sealed(with: key), through: end, to: receiver.name)
  }

  private func nextCounter() -> UInt64 {
    counter = max(counter &+ 1, Self.nanoseconds(ports.clock))
    return counter
  }

  private static func nanoseconds(_ clock: any Clock) -> UInt64 { UInt64(max(0, clock.now().nanoseconds)) }

  // MARK: Receiving

  /// What came since the last look, at most `batch` datagrams; what is not authentic, not for this end, from another
  /// boot or said before is dropped.
  package func receive() -> [ChannelMessage] {
    var messages: [ChannelMessage] = []
    for _ in 0..<Self.batch {
      guard let bytes = ports.datagrams.receive(from: end, limit: ChannelMessage.count + 1) else { break }
      do throws(ChannelMessage.Rejection) {
        let message = try ChannelMessage(opening: bytes, with: key, at: address)
        guard message.boot == boot else { throw .foreign }
        if replays.admits(message) {
          counts.received += 1
          messages.append(message)
        } else {
          counts.repeated += 1
        }
      } catch {
        counts.rejected += 1
      }
    }
    return messages
  }
}
