import PorterRelayCluster
import Synchronization

/// Detects lost signals of other relays. Each relay sends numbered beats on the same connection as its signals, and a
/// connection delivers in order: without a gap in the beats, nothing between them is missing either. A relay that had to
/// connect again skips one.
final class Heartbeat: Sendable {
  private struct Peer {
    var number: UInt64
    var heard: ContinuousClock.Instant
  }

  static let interval = Duration.milliseconds(250)
  /// A relay that is silent for longer has ended.
  private static let memory = Duration.seconds(60)

  let name: String
  private let peers = Mutex<[String: Peer]>([:])
  private let own = Mutex<UInt64>(0)

  init() { name = String(UInt64.random(in: .min ... .max), radix: 36) }

  /// The next beat of this relay.
  func next() -> [UInt8] {
    let number = own.withLock { number in
      number += 1
      return number
    }
    return Array("\(name) \(number)".utf8)
  }

  /// Whether signals may have been missed since this peer's last beat.
  func hear(_ beat: [UInt8], now: ContinuousClock.Instant = .now) -> Bool {
    let parts = String(decoding: beat, as: UTF8.self).split(separator: " ")
    guard parts.count == 2, let number = UInt64(parts[1]) else { return false }
    let peer = String(parts[0])
    return peers.withLock { peers in
      let last = peers[peer]
      peers[peer] = Peer(number: number, heard: now)
      for (name, each) in peers where now - each.heard > Self.memory { peers[name] = nil }
      // A new relay has sent no signal before its first beat.
      guard let last else { return number > 1 }
      return number != last.number &+ 1
    }
  }
}
