/// The configured values and their origins.
public struct Settings: Sendable {
  /// Weakest first.
  public enum Origin: Sendable, Equatable, CustomStringConvertible {
    case fallback
    case file(String, line: Int)
    case environment(String)
    case flag(String)

    public var description: String {
      switch self {
      case .fallback: "default"
      case .file(let path, let line): "\(path):\(line)"
      case .environment(let name): name
      case .flag(let name): name
      }
    }
  }

  let table: SettingsTable
  private var values: [String: (text: String, origin: Origin)] = [:]

  init(_ table: SettingsTable) {
    self.table = table
    for setting in table.settings {
      if let fallback = setting.fallback { values[setting.name] = (fallback, .fallback) }
    }
  }

  mutating func set(_ name: String, to text: String, from origin: Origin) throws(SettingsError) {
    guard let setting = table.setting(name) else {
      throw SettingsError("\(origin): there is no setting \(name)")
    }
    if let complaint = setting.kind.complaint(about: text) {
      let shown = setting.isSecret || Setting.Kind.isSensitive(text) ? "" : " instead of '\(text)'"
      throw SettingsError("\(origin): \(name): \(complaint)\(shown)")
    }
    values[name] = (text, origin)
  }

  // MARK: Values

  /// Nil if it is not set and has no default.
  public func text(_ name: String) -> String? { values[name]?.text }

  public func origin(_ name: String) -> Origin? { values[name]?.origin }

  public func require(_ name: String) throws(SettingsError) -> String {
    guard let text = text(name) else { throw SettingsError("\(name) is not set; see --help") }
    return text
  }

  /// Whether it was set, even to its default.
  public func isGiven(_ name: String) -> Bool { origin(name).map { $0 != .fallback } ?? false }

  /// Throws if one of these settings is given although what it belongs to is not: then it has no effect, and the
  /// operator believes that it has.
  public func refuse(_ names: [String], because reason: String) throws(SettingsError) {
    for name in names where isGiven(name) { throw SettingsError("\(name) is set, \(reason)") }
  }

  /// The value of a setting that is an integer, a duration in seconds, or a number of bytes.
  public func number(_ name: String) throws(SettingsError) -> Int {
    let text = try require(name)
    let value: Int? =
      switch table.setting(name)?.kind {
      case .integer: Int(text)
      case .duration: Setting.Kind.seconds(text)
      case .bytes: Setting.Kind.bytes(text)
      default: nil
      }
    guard let value else { throw SettingsError("\(name) is no number") }
    return value
  }

  public func endpoint(_ name: String) throws(SettingsError) -> Endpoint {
    guard let endpoint = Endpoint(try require(name)) else { throw SettingsError("\(name): expected HOST:PORT") }
    return endpoint
  }

  /// In file format, each value with its origin, without secrets.
  public var listing: String {
    var lines: [String] = []
    for setting in table.settings {
      guard let (text, origin) = values[setting.name] else {
        lines.append("# \(setting.name) is not set")
        continue
      }
      lines.append(
        setting.isSecret
          ? "# \(setting.name) is set  # \(origin)"
          : "\(setting.name) = \(AddressUsers.hidden(in: text))  # \(origin)")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// An unusable configuration; the text names the part, and its origin.
public struct SettingsError: Error, Equatable, CustomStringConvertible {
  public let description: String
  public init(_ description: String) { self.description = description }
}
