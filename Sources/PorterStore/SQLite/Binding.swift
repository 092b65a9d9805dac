import CSQLite

/// A value for a statement's parameter.
package enum Binding: Sendable, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByNilLiteral, ExpressibleByBooleanLiteral
{
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(floatLiteral value: Double) { self = .real(value) }
  package init(stringLiteral value: String) { self = .text(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(booleanLiteral value: Bool) { self = .flag(value) }

  /// 0 or 1.
  package static func flag(_ value: Bool) -> Binding { .integer(value ? 1 : 0) }
  package static func optional(_ value: Int64?) -> Binding { value.map(Binding.integer) ?? .null }
  package static func optional(_ value: Double?) -> Binding { value.map(Binding.real) ?? .null }
  package static func optional(_ value: String?) -> Binding { value.map(Binding.text) ?? .null }
  package static func optional(_ value: [UInt8]?) -> Binding { value.map(Binding.blob) ?? .null }
}

/// The row that a statement is on. Columns are numbered from 0. Valid only inside the closure that receives it.
///
/// A column that does not exist, or has another type, reads as SQLite converts it (0, "" or empty); `isNull` identifies
/// null.
package struct Row: ~Copyable {
  private let statement: OpaquePointer

  init(of statement: OpaquePointer) { self.statement = statement }

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }
  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }
  package func flag(_ column: Int32) -> Bool { integer(column) != 0 }
  package func real(_ column: Int32) -> Double { sqlite3_column_double(statement, column) }

  /// Bytes that are not UTF-8 are replaced by U+FFFD.
  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(statement, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  package func blob(_ column: Int32) -> [UInt8] { withBlob(column) { Array($0) } }

  /// SQLite's own bytes, not copied; valid only in the closure.
  package func withBlob<Result, Failure: Error>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let start = sqlite3_column_blob(statement, column)
    let count = start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
    return try body(UnsafeRawBufferPointer(start: start, count: count))
  }

  package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  package func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
  package func optionalBlob(_ column: Int32) -> [UInt8]? { isNull(column) ? nil : blob(column) }
}
