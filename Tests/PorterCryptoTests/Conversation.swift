import PorterPlatform
import PropertyTesting

@testable import PorterCrypto

enum Role { case inviter, joiner }

/// Our ratchet and the peer's, joined by an invitation.
struct Talk {
  private(set) var ours: Ratchet
  private(set) var peerCanSend: Bool
  private let peer: CryptoPeer
  private let associatedData: [UInt8]
  private let randomness: SeededRandomness

  /// `role` is ours; the peer plays the other.
  init(role: Role, peer: CryptoPeer, seed: UInt64) throws {
    self.peer = peer
    randomness = SeededRandomness(seed)
    peerCanSend = role == .inviter
    try peer.call("seed", withUnsafeBytes(of: seed) { Array($0) })
    switch role {
    case .inviter:
      let invitation = try InvitationSecret.create(randomness: randomness)
      let accepted = try KeyAgreement.accept(
        invitation, joinerKeys: try peer.value("join", invitation.publicKeys))
      ours = accepted.ratchet
      associatedData = accepted.associatedData
    case .joiner:
      let joined = try KeyAgreement.join(invitationKeys: try peer.value("invite"), randomness: randomness)
      try peer.call("accept", joined.publicKeys)
      ours = joined.ratchet
      associatedData = joined.associatedData
    }
  }

  mutating func weSend(_ text: [UInt8]) throws -> [UInt8] { try ours.encrypt(text, associatedData: associatedData) }

  mutating func weReceive(_ message: [UInt8]) throws -> [UInt8] {
    try ours.decrypt(message, associatedData: associatedData, randomness: randomness)
  }

  func peerSends(_ text: [UInt8]) throws -> [UInt8] { try peer.value("encrypt", text) }

  mutating func peerReceives(_ message: [UInt8]) throws -> [UInt8] {
    let text = try peer.value("decrypt", message)
    peerCanSend = true
    return text
  }
}

/// A conversation over a network that loses, reorders, repeats and garbles. `pick` chooses among all messages ever sent
/// to a side; one that is never picked is lost, one picked twice is repeated.
struct Schedule {
  enum Step {
    case weSend([UInt8])
    case peerSends([UInt8])
    case weReceive(pick: Int)
    case peerReceives(pick: Int)
    case garble(pick: Int, bit: Int)
  }

  var seed: UInt64
  var steps: [Step]

  static var generator: Generator<Schedule> {
    let pick = Generator<Int>.number(0...1_000)
    let text = Generator<[UInt8]>.bytes(0...40)
    let step = Generator<Step>.one(of: [
      text.map { .weSend($0) }, text.map { .peerSends($0) }, pick.map { .weReceive(pick: $0) },
      pick.map { .peerReceives(pick: $0) }, pick.map { .weReceive(pick: $0) }, pick.map { .peerReceives(pick: $0) },
      both(pick, .number(0...10_000)).map { .garble(pick: $0.0, bit: $0.1) },
    ])
    return both(.number(), step.array(0...100)).map { Schedule(seed: $0.0, steps: $0.1) }
  }
}

struct Network {
  struct Message {
    let bytes: [UInt8]
    let text: [UInt8]
    var delivered = false
  }

  var toUs: [Message] = []
  var toPeer: [Message] = []
}
