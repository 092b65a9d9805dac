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

/// Why a process has no end of the channel. The process works without one: it sees other processes' commits the next
/// time it reads the store, and a process that cannot be asked counts as running while it holds its lock.
package enum ChannelError: Error, Hashable, Sendable {
  /// The directory beside the store cannot be created.
  case noDirectory(systemError: Int32)
  /// The path holds a link, a file, another user's directory, or one that is open to others.
  case untrustedDirectory
  /// The path does not fit into a socket's address.
  case pathTooLong
  case system(Int32)
}

/// One process's end of the channel beside a store: a datagram socket in a directory, for as long as the process is
/// running.
///
/// Threads: belongs to its engine's thread. Nothing waits: sending is one system call for each listening end, and
/// datagrams that cannot be delivered are dropped. `close()` removes the socket. After SIGKILL it stays as a name
/// without a listener, which the next process to arrive removes.
package final class Channel {
  package struct Counts: Equatable, Sendable {
    package var sent = 0
    package var received = 0
    /// Datagrams that were not ours, or not for this end.
    package var rejected = 0
    /// Authentic datagrams received before.
    package var repeated = 0
  }

  /// Datagrams read in one pass, so that a flood cannot starve other work.
  package static let batch = 64
  /// The most ends that one message is sent to; more than ever listen, unless the directory is being filled on purpose.
  private static let receivers = 256
  /// A socket without a listening process is removed after this time.
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

  /// Whether a process of this role may be listening.
  package static func isHeard(by role: ChannelAddress.Role, prefix: String, ports: Ports) -> Bool {
    directory(prefix: prefix, ports: ports).names().contains { ChannelAddress(name: $0)?.role == role }
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

  /// Removes the name first: a sender then finds no socket, rather than one that refuses.
  package func close() {
    directory.remove(address.name)
    ports.datagrams.close(end)
  }

  // MARK: Sending

  /// Sends to every end of this role. Returns the message's counter, or nil if no end listens.
  @discardableResult
  package func send(_ kind: ChannelMessage.Kind, toAll role: ChannelAddress.Role) -> UInt64? {
    let counter = nextCounter()
    var heard = 0
    // Usually there are none, and no array is allocated.
    var receivers: [ChannelAddress] = []
    for name in directory.names() {
      guard let receiver = ChannelAddress(name: name), receiver.role == role, receiver != address else { continue }
      receivers.append(receiver)
    }
    // In unpredictable order: an attacker who fills the directory hides no process for longer than one question.
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

  /// Datagrams received since the last call, at most `batch`. Drops any that are not authentic, not for this end, from
  /// another boot, or repeated.
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
