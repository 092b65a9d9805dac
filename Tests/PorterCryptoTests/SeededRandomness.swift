import PorterCrypto
import PorterPlatform
import Synchronization

/// The same bytes for the same seed: SHA-256 of the seed and a counter, block after block.
final class SeededRandomness: Randomness {
  private let seed: UInt64
  private let counter = Mutex<UInt64>(0)

  init(_ seed: UInt64) { self.seed = seed }

  func bytes(_ count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let number = counter.withLock { counter in
        counter += 1
        return counter
      }
      bytes += Digest.sha256([seed, number].flatMap { word in withUnsafeBytes(of: word.bigEndian) { Array($0) } })
    }
    return Array(bytes.prefix(count))
  }
}

/// A port that returns fewer bytes than requested.
struct ExhaustedRandomness: Randomness {
  func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: max(0, count - 1)) }
}
