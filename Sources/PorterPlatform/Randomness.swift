/// The port for randomness. A test that replays a night uses a seeded one.
package protocol Randomness: Sendable {
  /// Cryptographically strong bytes. Safe from any thread.
  func bytes(_ count: Int) -> [UInt8]
}

/// The operating system's generator.
package struct SystemRandomness: Randomness {
  package init() {}

  package func bytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes = [UInt8]()
    bytes.reserveCapacity(count + 7)
    while bytes.count < count {
      withUnsafeBytes(of: generator.next() as UInt64) { bytes.append(contentsOf: $0) }
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }
}

/// Lets the standard library draw from the port, to shuffle a collection for example.
package struct RandomnessGenerator: RandomNumberGenerator {
  private let randomness: any Randomness

  package init(_ randomness: any Randomness) { self.randomness = randomness }

  package mutating func next() -> UInt64 { randomness.bytes(8).reduce(0) { $0 << 8 | UInt64($1) } }
}
