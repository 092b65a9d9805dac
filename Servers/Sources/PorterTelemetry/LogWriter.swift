import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes structured lines to standard error. A message is a `StaticString`, with values alongside, so that no address,
/// identifier or content can slip in by interpolation.
public struct LogWriter: Sendable {
  public enum Level: Int, Sendable, Comparable, CaseIterable {
    case debug
    case info
    case warning
    case error

    public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

    public var name: String {
      switch self {
      case .debug: "debug"
      case .info: "info"
      case .warning: "warning"
      case .error: "error"
      }
    }
  }

  public enum Form: String, Sendable, CaseIterable {
    case json
    case logfmt
  }

  private let minimum: Level
  private let form: Form
  private let sink: @Sendable (String) -> Void

  /// `sink` receives each line with its newline; without one, lines go to standard error.
  public init(minimum: Level = .info, form: Form = .logfmt, sink: (@Sendable (String) -> Void)? = nil) {
    self.minimum = minimum
    self.form = form
    self.sink = sink ?? Self.standardError
  }

  public func callAsFunction(
    _ level: Level, _ message: StaticString, _ values: KeyValuePairs<StaticString, String> = [:]
  ) {
    guard level >= minimum else { return }
    write(level, "\(message)", values.map { (name: "\($0)", value: $1) })
  }

  /// A line of a library, under the same rule.
  public func line(_ level: String, _ message: String, _ values: [(name: String, value: String)] = []) {
    let level = Level.allCases.first { $0.name == level } ?? .error
    guard level >= minimum else { return }
    write(level, message, values)
  }

  private func write(_ level: Level, _ message: String, _ values: [(name: String, value: String)]) {
    let fields = [(name: "time", value: Self.now()), ("level", level.name), ("message", message)] + values
    switch form {
    case .json: sink("{" + fields.map { "\"\($0)\":\"\(Self.escaped($1))\"" }.joined(separator: ",") + "}\n")
    case .logfmt:
      sink(
        fields.map { key, value in
          let isPlain = !value.isEmpty && value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x22 && $0 != 0x3d }
          return isPlain ? "\(key)=\(value)" : "\(key)=\"\(Self.escaped(value))\""
        }.joined(separator: " ") + "\n")
    }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      default:
        if scalar.value < 0x20 || scalar.value == 0x7f {
          let digits = String(scalar.value, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result
  }

  /// UTC, with milliseconds.
  private static func now() -> String {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var parts = tm()
    gmtime_r(&time.tv_sec, &parts)
    func padded(_ value: Int, _ width: Int = 2) -> String {
      let digits = String(value)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    let day = "\(padded(Int(parts.tm_year) + 1900, 4))-\(padded(Int(parts.tm_mon) + 1))-\(padded(Int(parts.tm_mday)))"
    let clock = "\(padded(Int(parts.tm_hour))):\(padded(Int(parts.tm_min))):\(padded(Int(parts.tm_sec)))"
    return "\(day)T\(clock).\(padded(Int(time.tv_nsec) / 1_000_000, 3))Z"
  }

  @Sendable private static func standardError(_ line: String) {
    var rest = Array(line.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Self.put($0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if count == 0 || errno != EINTR { return }
    }
  }

  private static func put(_ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(2, bytes, count)
    #elseif canImport(Musl)
      Musl.write(2, bytes, count)
    #else
      Darwin.write(2, bytes, count)
    #endif
  }
}
