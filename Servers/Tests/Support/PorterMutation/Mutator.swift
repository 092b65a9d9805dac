#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Changes valid input in a few places, determined by a seed.
public struct Mutator: RandomNumberGenerator {
  public let seed: UInt64
  public let runs: Int
  private var state: UInt64

  /// PORTER_FUZZ_SEED and PORTER_FUZZ_RUNS, if they are set.
  public init() { self.init(seed: Self.number("PORTER_FUZZ_SEED") ?? .random(in: 1 ... .max)) }

  public init(seed: UInt64) {
    self.seed = seed
    runs = Int(Self.number("PORTER_FUZZ_RUNS") ?? 4_000)
    state = seed
  }

  private static func number(_ name: String) -> UInt64? { getenv(name).flatMap { UInt64(String(cString: $0)) } }

  /// SplitMix64.
  public mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// Unchanged, or with up to four changes: bits, bytes, lengths, repeats, moved pieces.
  public mutating func bytes(like seed: [UInt8]) -> [UInt8] {
    var bytes = seed
    for _ in 0..<Int.random(in: 0...4, using: &self) {
      guard !bytes.isEmpty else { break }
      let place = Int.random(in: 0..<bytes.count, using: &self)
      let end = min(bytes.count, place + Int.random(in: 1...16, using: &self))
      switch Int.random(in: 0..<8, using: &self) {
      case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &self)
      case 1: bytes[place] = .random(in: 0...255, using: &self)
      case 2: bytes[place] = [0, 1, 0x7f, 0x80, 0xff][Int.random(in: 0..<5, using: &self)]
      case 3: bytes.insert(.random(in: 0...255, using: &self), at: place)
      case 4: bytes.removeSubrange(place..<end)
      case 5: bytes.removeLast(bytes.count - place)
      case 6: bytes.insert(contentsOf: bytes[place..<end], at: Int.random(in: 0...bytes.count, using: &self))
      default: bytes += [UInt8](repeating: bytes[place], count: Int.random(in: 1...300, using: &self))
      }
    }
    return bytes
  }

  /// One of them, changed; now and then the beginning of one and the end of another.
  public mutating func bytes(like seeds: [[UInt8]]) -> [UInt8] {
    let one = seeds[Int.random(in: 0..<seeds.count, using: &self)]
    guard Int.random(in: 0..<8, using: &self) == 0 else { return bytes(like: one) }
    let other = seeds[Int.random(in: 0..<seeds.count, using: &self)]
    let place = Int.random(in: 0...one.count, using: &self)
    return bytes(like: Array(one[..<place]) + Array(other[min(place, other.count)...]))
  }

  public mutating func text(like seed: String) -> String {
    String(decoding: bytes(like: Array(seed.utf8)), as: UTF8.self)
  }
}
