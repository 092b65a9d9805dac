/// Fixed-size padding, so that a sealed text does not reveal its length: 2-byte big-endian length, data, then `#` up to
/// the size.
package enum Padding {
  /// Bytes taken by the length.
  package static let overhead = 2
  private static let filler = UInt8(ascii: "#")

  /// Throws `.malformed(.plaintext)` if `data` does not fit, or is longer than a 2-byte length can express.
  package static func pad(_ data: [UInt8], to count: Int) throws(CryptoError) -> [UInt8] {
    guard let length = UInt16(exactly: data.count), data.count + overhead <= count else { throw .malformed(.plaintext) }
    var padded = [UInt8]()
    padded.reserveCapacity(count)
    padded.append(UInt8(length >> 8))
    padded.append(UInt8(truncatingIfNeeded: length))
    padded += data
    padded += repeatElement(filler, count: count - padded.count)
    return padded
  }

  /// Throws `.malformed(.padding)` for a length beyond the end, and for any padding but `#`: nothing may be smuggled in
  /// there.
  package static func unpad(_ padded: [UInt8]) throws(CryptoError) -> [UInt8] {
    guard padded.count >= overhead else { throw .malformed(.padding) }
    let end = overhead + (Int(padded[0]) << 8 | Int(padded[1]))
    guard end <= padded.count, isFilled(padded[end...]) else { throw .malformed(.padding) }
    return Array(padded[overhead..<end])
  }

  /// Reads all of it, whatever it finds: without an early exit the loop takes many bytes per step.
  private static func isFilled(_ rest: ArraySlice<UInt8>) -> Bool {
    var difference: UInt8 = 0
    for byte in rest { difference |= byte ^ filler }
    return difference == 0
  }
}
