import PorterPlatform

/// Where a store is: its file, and what the names of the files beside it begin with.
package struct StoreLocation: Hashable, Sendable {
  private static let suffix = "_chat.db"

  package let file: String
  /// Phase files and the channel are named after it.
  package let stem: String

  /// The store of this prefix, as the C interface names it. The path is taken as written.
  package init(prefix: String) {
    file = prefix + Self.suffix
    stem = prefix
  }

  private init(file: String) {
    self.file = file
    // A link may lead to a file of any name.
    stem = file.hasSuffix(Self.suffix) ? String(file.dropLast(Self.suffix.count)) : file
  }

  /// The same store by the name that every process finds it by, whatever links led here: so that all of them find the same
  /// locks beside it, and a file that takes its place takes that of the store, and not of a link.
  package func resolved(_ files: any Files = SystemFiles()) throws(StoreError) -> StoreLocation {
    do throws(SystemError) {
      return StoreLocation(file: try files.canonicalPath(file))
    } catch {
      throw StoreError(SQLiteError(opening: error.code), opening: file, creates: false, files)
    }
  }
}
