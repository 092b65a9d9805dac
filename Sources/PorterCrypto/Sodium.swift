import CSodium

/// libsodium. No key can exist before it is initialised, so a caller may initialise it at startup, but need not.
package enum Sodium {
  private static let status = sodium_init()

  /// Selects the fastest implementation for this processor and opens the generator; runs once, on whichever thread
  /// comes first.
  package static func initialize() throws(CryptoError) {
    guard status >= 0 else { throw .unavailable }
  }

  /// For callers that cannot throw. The functions that can throw report the failure before anything is made with such a
  /// key.
  static func initializeIfPossible() { _ = status }

  /// Overwrites the contents of an array. The argument must be the array's only owner, or a copy is wiped and the
  /// original stays.
  static func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
  }
}
