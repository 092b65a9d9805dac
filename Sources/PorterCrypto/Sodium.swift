import CSodium

/// libsodium. No key can exist before it is initialised, so a caller may, but need not, initialise it at its start.
package enum Sodium {
  private static let status = sodium_init()

  /// Selects the fastest implementation for this processor and opens the generator; does so once, on whichever thread
  /// comes first.
  package static func initialize() throws(CryptoError) {
    guard status >= 0 else { throw .unavailable }
  }

  /// For callers that cannot throw. The functions that do throw report a failure before anything is made with such a
  /// key.
  static func initializeIfPossible() { _ = status }

  /// Overwrites the contents of an array. Must be the array's only owner, or a copy is wiped and the original stays.
  static func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
  }
}
