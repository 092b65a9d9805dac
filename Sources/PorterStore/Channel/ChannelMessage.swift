import PorterCrypto
import PorterPlatform

/// One end of the channel: a role, and a number drawn anew each time the end is opened. Messages sent to an earlier end
/// of the same process have no receiver (INC-15).
package struct ChannelAddress: Hashable, Sendable, CustomStringConvertible {
  package enum Role: UInt8, CaseIterable, Sendable {
    case app = 1
    case `extension` = 2
    case share = 3

    package init?(name: String) {
      switch name {
      case "app": self = .app
      case "extension": self = .extension
      case "share": self = .share
      default: return nil
      }
    }

    package var name: String {
      switch self {
      case .app: "app"
      case .extension: "extension"
      case .share: "share"
      }
    }

    /// The first letter of a socket's name.
    var letter: String {
      switch self {
      case .app: "a"
      case .extension: "e"
      case .share: "s"
      }
    }
  }

  static let tenancyCount = 8

  package let role: Role
  /// 8 bytes.
  package let tenancy: [UInt8]

  package init?(role: Role, tenancy: [UInt8]) {
    guard tenancy.count == Self.tenancyCount else { return nil }
    self.role = role
    self.tenancy = tenancy
  }

  /// The socket's name: the role's letter, and the number in hexadecimal.
  package var name: String { role.letter + TextEncoding.hex(tenancy) }

  package init?(name: String) {
    guard name.utf8.count == 1 + 2 * Self.tenancyCount, let tenancy = TextEncoding.hexDecoded(name.dropFirst()) else {
      return nil
    }
    guard let role = Role.allCases.first(where: { name.hasPrefix($0.letter) }) else { return nil }
    self.init(role: role, tenancy: tenancy)
    // One name per end: capitals are rejected.
    guard self.name == name else { return nil }
  }

  package var description: String { name }
}

/// A message between processes beside the store; spec/protocol/channel.md specifies the bytes. Every message is a hint:
/// the receiver checks the store or asks the kernel, so a lost, late or repeated message does no harm.
package struct ChannelMessage: Hashable, Sendable {
  package enum Kind: UInt8, CaseIterable, Sendable {
    /// "Are you there?"
    case ask = 1
    /// "I am here": an answer, or an announcement by a process that has just started.
    case here = 2
    /// "Please release the store": the sender is an app that has come to the foreground.
    case yield = 3
    /// "Something changed": the sender has committed something.
    case changed = 4
  }

  package var kind: Kind
  package var sender: ChannelAddress
  package var receiver: ChannelAddress
  package var process: Int32
  package var started: Int64
  package var nonce: [UInt8]
  /// The boot the sender runs in, as the first 16 bytes of its identifier's SHA-256.
  package var boot: [UInt8]
  /// Grows with each message of a sender, and from one sender to the next: nanoseconds since boot.
  package var counter: UInt64
  /// In `here`: the counter of the question; 0 in an announcement.
  package var answers: UInt64

  package init(
    _ kind: Kind, from sender: ChannelAddress, _ instance: Instance, to receiver: ChannelAddress, counter: UInt64,
    answers: UInt64 = 0
  ) {
    self.kind = kind
    self.sender = sender
    self.receiver = receiver
    process = instance.process
    started = instance.started
    nonce = Self.fit(instance.nonce, ChannelAddress.tenancyCount)
    boot = Self.bootHash(instance)
    self.counter = counter
    self.answers = answers
  }

  package static func bootHash(_ instance: Instance) -> [UInt8] {
    Array(Digest.sha256(Array(instance.boot.utf8)).prefix(16))
  }

  private static func fit(_ bytes: [UInt8], _ count: Int) -> [UInt8] {
    Array((bytes + [UInt8](repeating: 0, count: count)).prefix(count))
  }

  /// The size of the whole message in bytes, including its tag.
  package static let count = 4 + 4 + 8 + 8 + 4 + 8 + 8 + 16 + 8 + 8 + AuthenticationKey.tagCount
  private static let magic: [UInt8] = Array("NPch".utf8)
  private static let version: UInt8 = 1

  package func sealed(with key: AuthenticationKey) -> [UInt8] {
    var bytes = Self.magic
    bytes += [Self.version, kind.rawValue, sender.role.rawValue, receiver.role.rawValue]
    bytes += sender.tenancy
    bytes += receiver.tenancy
    bytes.appendBigEndian(UInt32(bitPattern: process))
    bytes.appendBigEndian(UInt64(bitPattern: started))
    bytes += nonce
    bytes += boot
    bytes.appendBigEndian(counter)
    bytes.appendBigEndian(answers)
    return bytes + key.tag(bytes)
  }

  /// Why a datagram is not a message for this end.
  package enum Rejection: Error, Hashable, Sendable {
    case length
    case foreign
    case unauthentic
    /// Authentic, but for another end.
    case misdirected
  }

  /// Opens `bytes` if the sender had the store's key and sent them to this end.
  package init(opening bytes: [UInt8], with key: AuthenticationKey, at receiver: ChannelAddress) throws(Rejection) {
    guard bytes.count == Self.count else { throw .length }
    guard bytes.prefix(4).elementsEqual(Self.magic), bytes[4] == Self.version else { throw .foreign }
    let body = bytes.prefix(Self.count - AuthenticationKey.tagCount)
    guard key.verifies(bytes.suffix(AuthenticationKey.tagCount), of: body) else { throw .unauthentic }
    guard let kind = Kind(rawValue: bytes[5]), let senderRole = ChannelAddress.Role(rawValue: bytes[6]),
      let receiverRole = ChannelAddress.Role(rawValue: bytes[7]),
      let sender = ChannelAddress(role: senderRole, tenancy: Array(bytes[8..<16])),
      let addressee = ChannelAddress(role: receiverRole, tenancy: Array(bytes[16..<24]))
    else { throw .foreign }
    guard addressee == receiver else { throw .misdirected }
    self.kind = kind
    self.sender = sender
    self.receiver = addressee
    process = Int32(truncatingIfNeeded: Self.number(bytes[24..<28]))
    started = Int64(bitPattern: Self.number(bytes[28..<36]))
    nonce = Array(bytes[36..<44])
    boot = Array(bytes[44..<60])
    counter = Self.number(bytes[60..<68])
    answers = Self.number(bytes[68..<76])
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

extension [UInt8] {
  fileprivate mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

/// Lets each message of each sender through once. Anything older than a message that was let through is rejected, so a
/// replay has no effect, however late (INC-15).
package struct ReplayGuard: Sendable {
  /// How many senders are remembered individually.
  package static let capacity = 32

  private var newest = [ChannelAddress: UInt64]()
  /// The counter that an unremembered sender must exceed. Counters are times of one clock, so forgetting a sender never
  /// readmits its old messages.
  private var floor: UInt64

  /// Rejects everything from before `opening`, in nanoseconds since boot.
  package init(opening: UInt64 = 0) { floor = opening }

  package mutating func admits(_ message: ChannelMessage) -> Bool {
    guard message.counter > newest[message.sender] ?? floor else { return false }
    newest[message.sender] = message.counter
    if newest.count > Self.capacity, let oldest = newest.min(by: { $0.value < $1.value }) {
      newest[oldest.key] = nil
      floor = Swift.max(floor, oldest.value)
    }
    return true
  }
}
