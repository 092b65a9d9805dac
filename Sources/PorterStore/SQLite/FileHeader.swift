import CSQLite

/// The first 100 bytes of a database file, read without compiling a statement.
///
/// As old as the last write-back of the log: code that changes one of the numbers writes the log back afterwards.
package struct FileHeader {
  private static let count = 100
  private static let magic = Array("SQLite format 3".utf8) + [0]

  package let isInWALMode: Bool
  package let pageSize: Int64
  package let userVersion: Int64
  package let applicationIdentifier: Int64

  /// Nil unless these are the first bytes of a database.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.count, bytes.starts(with: Self.magic) else { return nil }
    // Format versions for writing and for reading.
    isInWALMode = bytes[18] == 2 && bytes[19] == 2
    let size = Int64(bytes[16]) << 8 | Int64(bytes[17])
    pageSize = size == 1 ? 65_536 : max(512, size)
    func number(at place: Int) -> Int64 {
      Int64(bytes[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
    userVersion = number(at: 60)
    applicationIdentifier = number(at: 68)
  }

  /// Nil if it cannot be read, or is not a header.
  static func read(from handle: OpaquePointer) -> FileHeader? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
      let read = file.pointee.pMethods?.pointee.xRead
    else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      let code = read(file, buffer.baseAddress, Int32(count), 0)
      filled = code == SQLITE_OK ? count : 0
    }
    let header = FileHeader(bytes)
    // Nothing is locked, so the read may be torn: not a finding about the file.
    if header == nil { Sealing.forgetFindings() }
    return header
  }
}

extension Database {
  package var header: FileHeader? { handle.flatMap { FileHeader.read(from: $0) } }
}
