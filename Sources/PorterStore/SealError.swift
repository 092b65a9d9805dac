/// Why a store does not open under its key. Never contains any part of a key, a name or a text.
package enum SealError: Error, Hashable, Sendable {
  /// The file is sealed, and no key was given.
  case keyMissing
  /// The file is sealed with another key.
  case keyWrong
  /// The text is not a key: it starts like a raw key but does not parse as one, or is too long for a passphrase.
  case keyInvalid
  /// The key was not to be kept, and the store has been closed since.
  case keyForgotten
  /// An extension was given a passphrase, and does not have enough memory to derive a key from it.
  case rawKeyNeeded
  /// A key was given, but the file is a plain store.
  case notSealed
  /// The file is not a database of any kind.
  case notADatabase
  /// There is no file, or no directory for it, or the path's links form a loop.
  case missing
  /// Sealed by a later version of the format.
  case newerFormat
  /// Sealed with a cipher that the linked libsodium does not have.
  case cipherUnavailable
  /// A part was changed, moved, or taken from another file.
  case damaged(Place)
  /// The file ends before a page that belongs to it.
  case truncated(Place)
  /// Guarded memory, or the 64 MB for a passphrase, could not be allocated.
  case noMemory

  /// A position in the store's files.
  package struct Place: Hashable, Sendable {
    package enum File: String, Sendable {
      case store, log, journal, temporary
    }

    package let file: File
    /// From 1; 0 if unknown.
    package let page: Int64
    /// In the log, from 1; 0 elsewhere.
    package let frame: Int64

    package init(file: File, page: Int64, frame: Int64) {
      self.file = file
      self.page = page
      self.frame = frame
    }
  }
}

extension SealError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .keyMissing: "the store is sealed, and no key was given"
    case .keyWrong: "the store is sealed with another key"
    case .keyInvalid:
      "the key is neither x'64 hexadecimal digits' nor a passphrase of at most 4096 bytes; a database's address is not a key"
    case .keyForgotten: "no key: the store was opened without keeping it"
    case .rawKeyNeeded: "an extension needs the raw key, not the passphrase"
    case .notSealed: "a key was given, and the store is not sealed"
    case .notADatabase: "the file is not a database"
    case .missing: "there is no store, or no directory for it"
    case .newerFormat: "the store was sealed by a newer version"
    case .cipherUnavailable: "the store is sealed with a cipher that this libsodium does not have"
    case .damaged(let place): "the sealed store is damaged: \(place)"
    case .truncated(let place): "the sealed store is cut off: \(place)"
    case .noMemory: "there is no memory for the key"
    }
  }
}

extension SealError.Place: CustomStringConvertible {
  package var description: String {
    var words = "\(file.rawValue), page \(page == 0 ? "unknown" : String(page))"
    if frame > 0 { words += ", frame \(frame)" }
    return words
  }
}
