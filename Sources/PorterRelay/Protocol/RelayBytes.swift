import PorterCrypto

/// Reads a request or an answer front to back; checks every length before use.
package struct RelayReader {
  private var rest: ArraySlice<UInt8>

  package init(_ bytes: [UInt8]) { rest = bytes[...] }
  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool { rest.isEmpty }

  package mutating func bytes(_ count: Int) throws(RelayError) -> ArraySlice<UInt8> {
    guard count >= 0, count <= rest.count else { throw .syntax }
    let taken = rest.prefix(count)
    rest = rest.dropFirst(count)
    return taken
  }

  /// All remaining bytes.
  package mutating func remainder() -> ArraySlice<UInt8> {
    let taken = rest
    rest = rest.suffix(0)
    return taken
  }

  package mutating func byte() throws(RelayError) -> UInt8 {
    guard let byte = rest.popFirst() else { throw .syntax }
    return byte
  }

  /// Big-endian, like all numbers here.
  package mutating func unsigned16() throws(RelayError) -> UInt16 {
    try bytes(2).reduce(0) { $0 << 8 | UInt16($1) }
  }

  package mutating func unsigned32() throws(RelayError) -> UInt32 {
    try bytes(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  package mutating func signed64() throws(RelayError) -> Int64 {
    Int64(bitPattern: try bytes(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  package mutating func identifier() throws(RelayError) -> RelayIdentifier {
    guard let identifier = RelayIdentifier(bytes: try bytes(RelayIdentifier.count)) else { throw .syntax }
    return identifier
  }

  mutating func position() throws(RelayError) -> RelayPosition {
    guard let position = RelayPosition(bytes: try bytes(RelayPosition.count)) else { throw .syntax }
    return position
  }

  package mutating func checkKey() throws(RelayError) -> RelayCheckKey {
    guard let key = RelayCheckKey(bytes: try bytes(RelayCheckKey.count)) else { throw .syntax }
    return key
  }

  package mutating func signingKey() throws(RelayError) -> SigningPublicKey {
    guard let key = SigningPublicKey(bytes: try bytes(SigningPublicKey.count)) else { throw .syntax }
    return key
  }

  package mutating func boxKey() throws(RelayError) -> BoxPublicKey {
    guard let key = BoxPublicKey(bytes: try bytes(BoxPublicKey.count)) else { throw .syntax }
    return key
  }

  mutating func boxNonce() throws(RelayError) -> BoxNonce {
    guard let nonce = BoxNonce(bytes: try bytes(BoxNonce.count)) else { throw .syntax }
    return nonce
  }

  package mutating func signature() throws(RelayError) -> [UInt8] { Array(try bytes(SigningPublicKey.signatureCount)) }

  /// 0 or 1, then the value.
  package mutating func optional<Value>(
    _ read: (inout RelayReader) throws(RelayError) -> Value
  ) throws(RelayError) -> Value? {
    switch try byte() {
    case 0: return nil
    case 1: return try read(&self)
    default: throw .syntax
    }
  }

  /// A 2-byte count, then the items; more than `limit` is refused before any is read.
  package mutating func list<Value>(
    limit: Int, _ read: (inout RelayReader) throws(RelayError) -> Value
  ) throws(RelayError) -> [Value] {
    let count = Int(try unsigned16())
    guard count <= limit else { throw .size }
    var values: [Value] = []
    for _ in 0..<count { values.append(try read(&self)) }
    return values
  }

  package func end() throws(RelayError) {
    guard isAtEnd else { throw .syntax }
  }
}

extension [UInt8] {
  package mutating func append(unsigned16 value: UInt16) {
    append(UInt8(truncatingIfNeeded: value >> 8))
    append(UInt8(truncatingIfNeeded: value))
  }

  package mutating func append(unsigned32 value: UInt32) {
    append(unsigned16: UInt16(truncatingIfNeeded: value >> 16))
    append(unsigned16: UInt16(truncatingIfNeeded: value))
  }

  package mutating func append(signed64 value: Int64) {
    for shift in stride(from: 56, through: 0, by: -8) { append(UInt8(truncatingIfNeeded: value >> Int64(shift))) }
  }

  package mutating func append(optional bytes: [UInt8]?) {
    append(bytes == nil ? 0 : 1)
    if let bytes { self += bytes }
  }

  package mutating func append<Value>(list values: [Value], _ write: (inout [UInt8], Value) -> Void) {
    append(unsigned16: UInt16(clamping: values.count))
    for value in values { write(&self, value) }
  }
}
