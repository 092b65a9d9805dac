/// Takes fields off the front of untrusted bytes; nil if they end too early.
struct ByteReader {
  private(set) var remaining: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { remaining = bytes }

  mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count <= remaining.count else { return nil }
    defer { remaining = remaining.dropFirst(count) }
    return remaining.prefix(count)
  }

  mutating func takeByte() -> UInt8? { take(1)?.first }

  mutating func takeUInt32() -> UInt32? {
    take(4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  mutating func takeSecret(_ count: Int) -> SecretBytes? {
    take(count).map { SecretBytes($0) }
  }
}

extension [UInt8] {
  mutating func append(bigEndian value: UInt32) {
    for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: value >> shift)) }
  }

  mutating func append(exposing secret: SecretBytes) {
    secret.withExposedBytes { append(contentsOf: $0) }
  }
}
