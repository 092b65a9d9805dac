import PorterPlatform

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Why the store returned no result. Never holds a name, a text or a key.
package enum StoreError: Error, Hashable, Sendable {
  case sqlite(SQLiteError)
  /// The key is wrong, or the sealed file is.
  case seal(SealError)
  /// An SQLite file that is not one of our stores.
  case foreign
  /// The store is older than this library, and the caller may not, or did not want to, migrate it.
  case needsMigration(names: [String])
  /// The store was written by a newer library; `version` is its schema's number.
  case newerSchema(version: Int64)
  /// Another process, the `owner`, has claimed the connection since this work began; nothing was written (INC-04).
  case staleEpoch(owner: Owner?)
  case notFound(Entity)
  case duplicate(Entity)
  /// A row does not hold what this library writes there.
  case damaged(Entity)

  package enum Entity: String, Sendable {
    case user, contact, connection, item, ledgerEntry, token, setting, channelKey, reservation, response, address,
      request, call, scope, applicationPush
  }
}

extension StoreError: SQLiteFailure {
  package init(_ error: SQLiteError) { self = error.finding.map(StoreError.seal) ?? .sqlite(error) }

  /// For opening `file`. `creates`: only its directory must exist.
  init(_ error: SQLiteError, opening file: String, creates: Bool, _ files: any Files) {
    let needed = creates ? Store.directory(of: file) : file
    // Links that form a loop do not lead to a store either.
    let isMissing = error.kind == .cannotOpen && (error.systemError == ELOOP || files.isMissing(needed))
    self = isMissing ? .seal(.missing) : StoreError(error)
  }
}

extension StoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .sqlite(let error): "\(error)"
    case .seal(let error): error.description
    case .foreign: "the file is an SQLite database, but not a Nightporter store"
    case .needsMigration: "the store is of an older version; open it from the app, confirming with yesUp"
    case .newerSchema(let version):
      "the store has schema \(version), newer than this library's \(Schema.migrations.count); update the app"
    case .staleEpoch(let owner):
      "\(owner?.description ?? "another process") has taken this connection over; nothing was written"
    case .notFound(let entity): "there is no such \(entity.rawValue)"
    case .duplicate(let entity): "there is such a \(entity.rawValue) already"
    case .damaged(let entity): "the stored \(entity.rawValue) is damaged"
    }
  }
}
