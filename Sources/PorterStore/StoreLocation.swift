import PorterPlatform

/// The location of a store: its file, and the prefix of the names of the files beside it.
package struct StoreLocation: Hashable, Sendable {
  private static let suffix = "_chat.db"

  package let file: String
  /// The prefix for the names of phase files and the channel.
  package let stem: String

  /// The store of this prefix, as the C interface names it. The path is taken as written.
  package init(prefix: String) {
    file = prefix + Self.suffix
    stem = prefix
  }

  /// For a file named by a resolved location.
  init(file: String) {
    self.file = file
    // A link may lead to a file of any name.
    stem = file.hasSuffix(Self.suffix) ? String(file.dropLast(Self.suffix.count)) : file
  }

  /// The same store by its one canonical name, whatever links led here: so all processes find the same locks beside it,
  /// and a replacement file replaces the store itself, not a link to it.
  package func resolved(_ files: any Files = SystemFiles()) throws(StoreError) -> StoreLocation {
    do throws(SystemError) {
      return StoreLocation(file: try files.canonicalPath(file))
    } catch {
      throw StoreError(SQLiteError(opening: error.code), opening: file, creates: false, files)
    }
  }
}
