public import CNightporter
import PorterCrypto
import PorterJSON
import PorterPlatform
import PorterSchema
import Synchronization

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

// MARK: Version, errors, memory

@c @implementation
public func np_version() -> UnsafePointer<CChar>! { StaticText.version.pointer }

@c @implementation
public func np_abi_version() -> Int32 { NP_ABI_VERSION }

@c @implementation
public func np_error_name(_ error: Int32) -> UnsafePointer<CChar>! {
  let name: StaticString =
    switch np_error(rawValue: UInt32(bitPattern: error)) {
    case NP_OK: "NP_OK"
    case NP_ERROR_NULL: "NP_ERROR_NULL"
    case NP_ERROR_HANDLE: "NP_ERROR_HANDLE"
    case NP_ERROR_UTF8: "NP_ERROR_UTF8"
    case NP_ERROR_ARGUMENT: "NP_ERROR_ARGUMENT"
    case NP_ERROR_STATE: "NP_ERROR_STATE"
    case NP_ERROR_NOTHING_PENDING: "NP_ERROR_NOTHING_PENDING"
    case NP_ERROR_SYSTEM: "NP_ERROR_SYSTEM"
    case NP_ERROR_TIMEOUT: "NP_ERROR_TIMEOUT"
    default: "unknown"
    }
  return StaticText(name).pointer
}

@c @implementation
public func np_string_free(_ string: UnsafeMutablePointer<CChar>!) {
  // It may have been a message, or a key.
  if let string { Secrets.wipe(UnsafeMutableRawBufferPointer(start: string, count: strlen(string))) }
  free(string)
}

/// A literal as C sees it. `StaticString`s end with NUL and live as long as the library.
struct StaticText: Sendable {
  private let text: StaticString

  init(_ text: StaticString) { self.text = text }

  var pointer: UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// A test compares it with NP_VERSION.
  static let version = StaticText("0.1.0")
}

// MARK: Validation

@c @implementation
public func chat_parse_markdown(_ text: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
  CString.make(FormattedText.parseAnswer(CStringArgument(text).text ?? "").text)
}

@c @implementation
public func chat_parse_server(_ address: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
  CString.make(TextChecks.server(CStringArgument(address).text ?? "").text)
}

@c @implementation
public func chat_parse_uri(_ uri: UnsafePointer<CChar>!, _ safe: Int32) -> UnsafeMutablePointer<CChar>! {
  CString.make(WebAddress.parseAnswer(CStringArgument(uri).text ?? "", safe: safe != 0).text)
}

@c @implementation
public func chat_password_hash(
  _ password: UnsafePointer<CChar>!, _ salt: UnsafePointer<CChar>!
) -> UnsafeMutablePointer<CChar>! {
  guard let password = CStringArgument(password).text,
    let salt = CStringArgument(salt).text.flatMap({ TextEncoding.base64URLDecoded($0) })
  else { return CString.make("") }
  return CString.make(TextEncoding.base64URL(Digest.password(Array(password.utf8), salt: salt)))
}

@c @implementation
public func chat_valid_name(_ name: UnsafePointer<CChar>!) -> UnsafeMutablePointer<CChar>! {
  CString.make(CStringArgument(name).text.map { DisplayName.sanitized($0) } ?? "")
}

@c @implementation
public func chat_json_length(_ text: UnsafePointer<CChar>!) -> Int32 {
  CStringArgument(text).text.map { Int32(clamping: TextChecks.jsonLength($0)) } ?? -1
}

// MARK: Log

/// The log sink for controllers created from now on.
enum HostLog {
  private static let chosen = Mutex(Log.silent)

  static var current: Log { chosen.withLock { $0 } }

  static func set(_ log: Log) { chosen.withLock { $0 = log } }
}

/// The host promises that its context may be used from any thread (the header says that the sink is called on any
/// thread).
private struct HostSink: @unchecked Sendable {
  let call: np_log_sink
  let context: UnsafeMutableRawPointer?
}

@c @implementation
public func np_set_log(_ sink: np_log_sink!, _ context: UnsafeMutableRawPointer!, _ minimum_level: Int32) -> np_error {
  guard let minimum = Log.Level(rawValue: minimum_level) else { return NP_ERROR_ARGUMENT }
  guard let sink else {
    HostLog.set(.silent)
    return NP_OK
  }
  let host = HostSink(call: sink, context: context)
  HostLog.set(Log(minimum: minimum) { level, line in line.withCString { host.call(host.context, level.rawValue, $0) } })
  return NP_OK
}
