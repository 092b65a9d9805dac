/// One setting, with the same name in a file, in the environment and as a flag.
public struct Setting: Sendable {
  /// The form of a value, checked before anything else happens.
  public enum Kind: Sendable {
    case text
    case path
    /// A host and a port, as `127.0.0.1:443` or `[::1]:443`.
    case endpoint
    case integer(ClosedRange<Int>)
    /// A number with `s`, `m`, `h` or `d`.
    case duration(ClosedRange<Int>)
    /// A number, or one with `k`, `M` or `G`.
    case bytes(ClosedRange<Int>)
    case choice([String])
    /// The first part of names in NATS: letters, digits, `-` and `_`, which are also all that a bucket's name may have.
    case natsName
    /// `file`, or the addresses of a NATS cluster, separated by commas. Without users: their passwords would be in the
    /// output of `ps`, in logs and in `/health`.
    case store
  }

  /// Words with hyphens: `idle-time` is `--idle-time`, `PREFIX_IDLE_TIME` and `idle-time = …`.
  public let name: String
  public let kind: Kind
  /// Nil if there is no default; the setting may then be left out.
  public let fallback: String?
  public let help: String
  /// Whether its value is not printed.
  public let isSecret: Bool

  /// Whether the value is one that other users of the machine must not read. An address is none in itself.
  func isSecret(_ text: String) -> Bool { AddressUsers.isAny(in: text) || isSecret && !text.contains("://") }

  public init(_ name: String, _ kind: Kind, default fallback: String? = nil, isSecret: Bool = false, help: String) {
    self.name = name
    self.kind = kind
    self.fallback = fallback
    self.help = help
    self.isSecret = isSecret
  }
}

extension Setting.Kind {
  /// For help: a placeholder for the value.
  var placeholder: String {
    switch self {
    case .text: "TEXT"
    case .path: "PATH"
    case .endpoint: "HOST:PORT"
    case .integer: "NUMBER"
    case .duration: "TIME"
    case .bytes: "BYTES"
    case .choice(let words): words.joined(separator: "|")
    case .natsName: "NAME"
    case .store: "file|nats://HOST:PORT,…"
    }
  }

  /// Nil if `text` is a value of this kind; otherwise the expected form.
  func complaint(about text: String) -> String? {
    switch self {
    case .text, .path: text.isEmpty || text.utf8.contains(0) ? "expected a text" : nil
    case .endpoint: Endpoint(text) == nil ? "expected HOST:PORT" : nil
    case .integer(let range): Self.check(Int(text), range, "a number")
    case .duration(let range): Self.check(Self.seconds(text), range, "a time such as 30s, 5m, 2h or 7d,", " seconds")
    case .bytes(let range): Self.check(Self.bytes(text), range, "a number of bytes such as 512k, 64M or 10G,", " bytes")
    case .choice(let words): words.contains(text) ? nil : "expected \(words.joined(separator: " or "))"
    case .natsName: Self.isNATSName(text) ? nil : "expected at most 200 letters, digits, - and _"
    case .store:
      Self.isStore(text) ? nil : "expected file or nats://HOST:PORT, without a user (see nats-credentials),"
    }
  }

  /// The server limits names to 255 bytes; programs append some.
  private static func isNATSName(_ text: String) -> Bool {
    (1...200).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
          true
        default: false
        }
      }
  }

  private static func isStore(_ text: String) -> Bool {
    text == "file"
      || (text.hasPrefix("nats://") || text.hasPrefix("tls://")) && !text.utf8.contains(0) && !isSensitive(text)
  }

  /// Whether it may contain a user and a password, so that it must not be repeated.
  static func isSensitive(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "@")) }

  private static func check(_ value: Int?, _ range: ClosedRange<Int>, _ form: String, _ unit: String = "") -> String? {
    guard let value, range.contains(value) else {
      return "expected \(form) from \(range.lowerBound) to \(range.upperBound)\(unit)"
    }
    return nil
  }

  static func seconds(_ text: String) -> Int? { scaled(text, ["s": 1, "m": 60, "h": 3_600, "d": 86_400]) }

  static func bytes(_ text: String) -> Int? { Int(text) ?? scaled(text, ["k": 1 << 10, "M": 1 << 20, "G": 1 << 30]) }

  private static func scaled(_ text: String, _ units: [Character: Int]) -> Int? {
    guard let unit = text.last, let factor = units[unit], let count = Int(text.dropLast()) else { return nil }
    let (product, overflow) = count.multipliedReportingOverflow(by: factor)
    return overflow ? nil : product
  }
}

/// A host and a port.
public struct Endpoint: Sendable, Equatable, CustomStringConvertible {
  public let host: String
  public let port: Int

  public init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65_535).contains(port)
    else { return nil }
    var host = text[..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(":") {
      return nil
    }
    guard !host.isEmpty else { return nil }
    self.host = String(host)
    self.port = port
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
