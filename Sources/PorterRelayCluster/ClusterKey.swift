import PorterCrypto
import PorterPlatform
import PorterRelay

/// Creates the identifiers of a cluster's mailboxes, and finds the mailbox of each without a lookup.
///
/// An identifier is a permutation, under a key shared by all relays of the cluster, of the mailbox's number and eight
/// random bytes. So the three names of a mailbox need no index, which a cluster could not keep consistent with the
/// record, and none can be derived from another without the key.
struct ClusterKey: Sendable {
  enum Name: UInt8, CaseIterable {
    case recipient = 1
    case sender = 2
    case notifier = 3
    case notification = 4
  }

  /// The content of an identifier.
  struct Parts: Hashable {
    /// 16 bytes.
    var mailbox: [UInt8]
    /// 8 bytes: distinguishes mailboxes created successively with the same key.
    var generation: [UInt8]
  }

  private static let half = RelayIdentifier.count / 2
  /// A permutation needs four rounds of a pseudorandom function (Luby and Rackoff).
  private static let rounds: [UInt8] = [0, 1, 2, 3]
  private let key: AuthenticationKey

  /// Nil unless there are 32 bytes.
  init?(_ bytes: [UInt8]) {
    guard let key = AuthenticationKey(stored: bytes) else { return nil }
    self.key = key
  }

  /// The number of the mailbox created with this key: the same each time.
  func mailbox(recipientKey: SigningPublicKey) -> [UInt8] { Array(key.tag([0] + recipientKey.bytes).prefix(16)) }

  func identifier(_ name: Name, _ parts: Parts) -> RelayIdentifier? {
    RelayIdentifier(bytes: permuted(parts.mailbox + parts.generation, name))
  }

  func parts(_ name: Name, of identifier: RelayIdentifier) -> Parts {
    let bytes = restored(identifier.bytes, name)
    return Parts(mailbox: Array(bytes.prefix(16)), generation: Array(bytes.suffix(8)))
  }

  /// Maps 24 bytes to 24 bytes.
  func permuted(_ bytes: [UInt8], _ name: Name) -> [UInt8] {
    var (left, right) = (Array(bytes.prefix(Self.half)), Array(bytes.suffix(Self.half)))
    for round in Self.rounds { (left, right) = (right, mix(left, with: right, name, round)) }
    return left + right
  }

  func restored(_ bytes: [UInt8], _ name: Name) -> [UInt8] {
    var (left, right) = (Array(bytes.prefix(Self.half)), Array(bytes.suffix(Self.half)))
    for round in Self.rounds.reversed() { (left, right) = (mix(right, with: left, name, round), left) }
    return left + right
  }

  private func mix(_ target: [UInt8], with source: [UInt8], _ name: Name, _ round: UInt8) -> [UInt8] {
    zip(target, key.tag([name.rawValue, round] + source)).map { $0 ^ $1 }
  }

  /// The key under which a record is stored.
  static func text(_ mailbox: [UInt8]) -> String { TextEncoding.base64URL(mailbox) }
}
