#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// The port for randomness. A test that replays a night uses a seeded one.
package protocol Randomness: Sendable {
  /// Cryptographically strong bytes. Safe from any thread.
  func bytes(_ count: Int) -> [UInt8]
}

/// The operating system's generator.
package struct SystemRandomness: Randomness {
  /// The most it returns in one call.
  private static let most = 256

  package init() {}

  package func bytes(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    bytes.withUnsafeMutableBytes { bytes in
      for start in stride(from: 0, to: count, by: Self.most) {
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[start..<min(start + Self.most, count)])
        if getentropy(piece.baseAddress, piece.count) != 0 { Self.fill(piece) }
      }
    }
    return bytes
  }

  /// Eight bytes per call. The standard library ends the process if the system has no randomness.
  private static func fill(_ bytes: UnsafeMutableRawBufferPointer) {
    var generator = SystemRandomNumberGenerator()
    for index in bytes.indices { bytes[index] = generator.next() }
  }
}

/// Lets the standard library draw from the port, for example to shuffle a collection.
package struct RandomnessGenerator: RandomNumberGenerator {
  private let randomness: any Randomness

  package init(_ randomness: any Randomness) { self.randomness = randomness }

  package mutating func next() -> UInt64 { randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
