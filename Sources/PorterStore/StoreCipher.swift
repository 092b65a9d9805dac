import CSQLite
import CSealedVFS

/// The cipher that seals a store: a property of its file. See Sources/CSealedVFS/README.md.
package enum StoreCipher: String, Sendable, CaseIterable {
  /// AEGIS-256 where libsodium has it and the processor has instructions for AES, else XChaCha20-Poly1305.
  case fastest
  case xchacha20Poly1305 = "XChaCha20-Poly1305"
  case aegis256 = "AEGIS-256"

  package init?(name: String) { self.init(rawValue: name) }

  /// The cipher of a file, which need not be open and is not changed; nil if the file is not sealed.
  package init?(ofFile path: String) {
    var cipher = SEALED_VFS_FASTEST
    guard sealed_vfs_read_cipher(path, &cipher) == SQLITE_OK else { return nil }
    switch cipher {
    case SEALED_VFS_XCHACHA20_POLY1305: self = .xchacha20Poly1305
    case SEALED_VFS_AEGIS_256: self = .aegis256
    default: return nil
    }
  }

  private var number: sealed_vfs_cipher {
    switch self {
    case .fastest: SEALED_VFS_FASTEST
    case .xchacha20Poly1305: SEALED_VFS_XCHACHA20_POLY1305
    case .aegis256: SEALED_VFS_AEGIS_256
    }
  }

  /// Makes this the cipher of stores that this process creates or gives another key from now on. False if libsodium
  /// does not have it; then nothing changes.
  package func prefer() -> Bool { sealed_vfs_prefer_cipher(number) == SQLITE_OK }
}
