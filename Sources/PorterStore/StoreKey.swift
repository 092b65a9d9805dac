import CSealedVFS
import PorterCrypto
import Synchronization

/// The key of a store. Its bytes are in guarded memory, and it cannot be printed.
package enum StoreKey: Sendable, Redacted {
  /// A plain store.
  case none
  /// 32 bytes.
  case raw(GuardedBytes)
  case passphrase(Passphrase)

  /// Bytes of a raw key's text: `x'`, 64 hexadecimal digits, `'`, as SQLCipher writes a raw key.
  package static let rawTextCount = 3 + 2 * rawCount
  static let rawCount = Int(SEALED_VFS_KEY_BYTES)

  /// Parses a key's text: empty for a plain store, a raw key in the form above, or a passphrase. Text that starts like
  /// a raw key but does not parse as one is rejected: as a passphrase it would seal a store that the intended key does
  /// not open.
  package static func parse(_ text: UnsafeRawBufferPointer) throws(SealError) -> StoreKey {
    guard !text.isEmpty else { return .none }
    guard text.starts(with: "x'".utf8) else {
      guard text.count <= Passphrase.maximumBytes, !isDatabaseAddress(text) else { throw .keyInvalid }
      guard let bytes = GuardedBytes(text) else { throw .noMemory }
      return .passphrase(Passphrase(bytes))
    }
    guard text.count == rawTextCount, text.last == UInt8(ascii: "'"),
      text.dropFirst(2).dropLast().allSatisfy({ hexadecimal($0) != nil })
    else { throw .keyInvalid }
    let key = GuardedBytes(count: rawCount) { memory in
      for index in 0..<rawCount {
        guard let high = hexadecimal(text[2 + 2 * index]), let low = hexadecimal(text[3 + 2 * index]) else {
          return false
        }
        memory[index] = high << 4 | low
      }
      return true
    }
    guard let key else { throw .noMemory }
    return .raw(key)
  }

  /// Where SimpleX's interface takes a key, it also takes the address of another engine's database. Used as a
  /// passphrase, it would seal a new store under a text that contains a password.
  private static func isDatabaseAddress(_ text: UnsafeRawBufferPointer) -> Bool {
    let schemes = [
      "postgres", "postgresql", "mysql", "mariadb", "sqlserver", "mongodb", "mongodb+srv", "redis", "sqlite",
    ]
    return schemes.contains { text.starts(with: "\($0)://".utf8) }
      || ["host=", "dbname="].contains {
        text.starts(with: $0.utf8)
      }
  }

  package static func parse(_ text: String) throws(SealError) -> StoreKey {
    var text = text
    return try text.withUTF8 { bytes -> Result<StoreKey, SealError> in
      Result { () throws(SealError) in try parse(UnsafeRawBufferPointer(bytes)) }
    }.get()
  }

  package var isNone: Bool {
    guard case .none = self else { return false }
    return true
  }

  package var isPassphrase: Bool {
    guard case .passphrase = self else { return false }
    return true
  }

  private static func hexadecimal(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

/// A passphrase, with the last key derived from it: reopening a store needs no second derivation.
package final class Passphrase: Sendable, Redacted {
  static let maximumBytes = 4096

  let bytes: GuardedBytes
  private let last = Mutex<(salt: [UInt8], key: GuardedBytes)?>(nil)

  init(_ bytes: GuardedBytes) { self.bytes = bytes }

  /// The raw key of the store in `file`; nil unless there is a sealed store. Argon2id, version 1.3, 2 passes over 64
  /// MB: about 0.1 s, unless the salt is the same as last time.
  package func key(for file: String) throws(SealError) -> GuardedBytes? {
    var salt = [UInt8](repeating: 0, count: Int(SEALED_VFS_SALT_BYTES))
    guard sealed_vfs_read_salt(file, &salt, nil) == 0 else { return nil }
    let known = last.withLock { last in last.flatMap { $0.salt == salt ? $0.key : nil } }
    if let known { return known }
    let derived = bytes.withExposedBytes { passphrase in
      GuardedBytes(count: StoreKey.rawCount) { key in
        let text = passphrase.bindMemory(to: CChar.self).baseAddress
        return sealed_vfs_derive_key(text, passphrase.count, salt, key.bindMemory(to: UInt8.self).baseAddress) == 0
      }
    }
    guard let derived else { throw .noMemory }
    last.withLock { $0 = (salt, derived) }
    return derived
  }
}
