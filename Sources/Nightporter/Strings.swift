import PorterJSON
import PorterSchema

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Strings across the C interface: malloc'd and NUL-terminated on the way out, checked on the way in.
enum CString {
  /// The caller frees it. An embedded NUL would end the string early in C; our texts have none, since JSON escapes it.
  static func make(_ text: String) -> UnsafeMutablePointer<CChar>? {
    text.withCString { strdup($0) }
  }

  static func error(_ error: NightporterError) -> UnsafeMutablePointer<CChar>? {
    make(Answer.error(.nightporter(error)).json.text)
  }
}

/// An argument received as a `const char *`.
enum CStringArgument {
  case text(String)
  case null
  case notUTF8

  init(_ pointer: UnsafePointer<CChar>?) {
    guard let pointer else {
      self = .null
      return
    }
    let bytes = UnsafeBufferPointer(start: pointer, count: strlen(pointer))
    let text = bytes.withMemoryRebound(to: UInt8.self) { String(validating: $0, as: UTF8.self) }
    self = text.map(CStringArgument.text) ?? .notUTF8
  }

  var text: String? {
    guard case .text(let text) = self else { return nil }
    return text
  }
}
