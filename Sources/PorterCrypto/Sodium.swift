import CSodium

/// The library below. No key can exist before it is initialised, so a caller may, but need not, do so at its start.
package enum Sodium {
  private static let status = sodium_init()

  /// Chooses the fastest code for this processor and opens the generator; does so once, whatever thread comes first.
  package static func initialize() throws(CryptoError) {
    guard status >= 0 else { throw .unavailable }
  }

  /// For what cannot throw. The functions that do throw report a failure before anything is made with such a key.
  static func initializeIfPossible() { _ = status }

  /// Overwrites what an array holds. Has to be the array's only owner, else a copy is wiped and the original stays.
  static func wipe(_ bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { sodium_memzero($0.baseAddress, $0.count) }
  }
}
