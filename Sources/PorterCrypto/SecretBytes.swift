import CSodium
import PorterPlatform

/// A value that prints, interpolates, dumps and reflects only as the word "redacted".
package protocol Redacted: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Redacted {
  package var description: String { "redacted" }
  package var debugDescription: String { "redacted" }
  package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Secret bytes, overwritten when the last reference goes. Compared in constant time. Immutable, hence safe on any
/// thread.
///
/// A class, because only then is there one copy of the bytes to wipe at the end, however often the struct around them
/// is copied.
package final class SecretBytes: Sendable, Redacted {
  package let count: Int
  /// Written before `init` returns, then only read, until `deinit` owns it alone.
  private nonisolated(unsafe) let storage: UnsafeMutablePointer<UInt8>

  private init(zeros count: Int) {
    // Every key is one of these, so no thread can still be selecting libsodium's implementation while this one calls it
    // with a key.
    Sodium.initializeIfPossible()
    self.count = count
    storage = .allocate(capacity: max(1, count))
    storage.initialize(repeating: 0, count: max(1, count))
  }

  deinit {
    sodium_memzero(storage, count)
    storage.deallocate()
  }

  /// Copies the bytes; the caller's own copy is left unchanged.
  package convenience init(_ bytes: [UInt8]) { self.init(bytes[...]) }

  // For these types only: a generic collection would look up types by name, some 140,000 instructions of a push.
  package convenience init(_ bytes: ArraySlice<UInt8>) {
    self.init(zeros: bytes.count)
    bytes.withUnsafeBufferPointer { bytes in
      if let first = bytes.baseAddress { storage.update(from: first, count: bytes.count) }
    }
  }

  /// Calls `fill` to write the bytes, for functions of libsodium; nil if `fill` reports a failure.
  static func filled(count: Int, by fill: (UnsafeMutablePointer<UInt8>) -> Bool) -> SecretBytes? {
    let bytes = SecretBytes(zeros: count)
    return fill(bytes.storage) ? bytes : nil
  }

  package static func random(_ count: Int, randomness: some Randomness) throws(CryptoError) -> SecretBytes {
    var bytes = randomness.bytes(count)
    defer { Sodium.wipe(&bytes) }
    guard bytes.count == count else { throw .randomnessFailed }
    return SecretBytes(bytes)
  }

  /// The bytes themselves, valid only until `body` returns: for a call that takes a pointer, such as SQLite's `bind`.
  package func withExposedBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    withExtendedLifetime(self) { body(UnsafeRawBufferPointer(start: storage, count: count)) }
  }

  /// A copy that is not wiped. Only for a store that seals it.
  package func exposeForStorage() -> [UInt8] { withExposedBytes { Array($0) } }

  func withPointer<Result>(_ body: (UnsafePointer<UInt8>) -> Result) -> Result {
    withExtendedLifetime(self) { body(UnsafePointer(storage)) }
  }

  func slice(_ range: Range<Int>) -> SecretBytes {
    let part = SecretBytes(zeros: range.count)
    precondition(range.upperBound <= count)
    withExtendedLifetime(self) { part.storage.update(from: storage + range.lowerBound, count: range.count) }
    return part
  }
}

extension SecretBytes: Equatable {
  package static func == (left: SecretBytes, right: SecretBytes) -> Bool {
    left.count == right.count
      && left.withPointer { first in right.withPointer { second in sodium_memcmp(first, second, left.count) == 0 } }
  }
}

/// Overwrites memory owned by others.
package enum Secrets {
  /// Not removed by an optimizer, even if the memory is never read again.
  package static func wipe(_ memory: UnsafeMutableRawBufferPointer) { sodium_memzero(memory.baseAddress, memory.count) }
}

/// Comparison in time that depends only on the lengths.
package enum ConstantTime {
  package static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.count == right.count && sodium_memcmp(left, right, left.count) == 0
  }
}
