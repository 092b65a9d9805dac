#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// All settings of a program. Files, environment, flags and help are derived from it.
public struct SettingsTable: Sendable {
  public struct Command: Sendable {
    public let name: String
    public let help: String

    public init(_ name: String, help: String) {
      self.name = name
      self.help = help
    }
  }

  /// The request made by the command line.
  public enum Request: Sendable {
    /// The help, the manual or a sample file, to be printed.
    case document(String)
    case printing(Settings)
    /// The name of the command; the first one if none was given.
    case command(String, Settings)
  }

  public let program: String
  public let summary: String
  /// The prefix of variable names: `PORTER_RELAY`.
  public let prefix: String
  /// Read if it exists and no other file is named.
  public let defaultFile: String
  public let commands: [Command]
  public let settings: [Setting]
  /// Further sections of the manual: a title in capitals, and paragraphs.
  public let notes: [(title: String, text: String)]

  public init(
    program: String, summary: String, prefix: String, defaultFile: String, commands: [Command], settings: [Setting],
    notes: [(title: String, text: String)] = []
  ) {
    self.notes = notes
    self.program = program
    self.summary = summary
    self.prefix = prefix
    self.defaultFile = defaultFile
    self.commands = commands
    self.settings = settings
  }

  func setting(_ name: String) -> Setting? { settings.first { $0.name == name } }

  func variable(_ name: String) -> String {
    prefix + "_" + name.uppercased().map { $0 == "-" ? "_" : String($0) }.joined()
  }

  // MARK: Reading

  /// A file with settings.
  public struct File: Sendable {
    public let contents: String
    /// The file's permissions, if all users can read it.
    public let openMode: UInt32?

    public init(_ contents: String, openMode: UInt32? = nil) {
      self.contents = contents
      self.openMode = openMode
    }
  }

  /// `arguments` excludes the program's name. `read` returns a file, or nil if it does not exist.
  public func request(
    arguments: [String], environment: [String: String], read: (String) throws(SettingsError) -> File?
  ) throws(SettingsError) -> Request {
    var flags: [(name: String, value: String)] = []
    var (command, file, prints): (String?, String?, Bool) = (nil, nil, false)
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--help", "-h", "help": return .document(help)
      case "--manual": return .document(manual)
      case "--sample-config": return .document(sample)
      case "--print-config": prints = true
      default:
        guard argument.hasPrefix("--") else {
          guard command == nil, commands.contains(where: { $0.name == argument }) else {
            throw SettingsError("unexpected argument '\(argument)'; see --help")
          }
          command = argument
          continue
        }
        let (name, value) = try flag(argument, &rest)
        if name == "config" { file = value } else { flags.append((name, value)) }
      }
    }
    let settings = try self.settings(file: file, environment: environment, flags: flags, read: read)
    return prints ? .printing(settings) : .command(command ?? commands.first?.name ?? "", settings)
  }

  private func flag(
    _ argument: String, _ rest: inout ArraySlice<String>
  ) throws(SettingsError) -> (name: String, value: String) {
    let parts = argument.dropFirst(2).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard name == "config" || setting(name) != nil else {
      throw SettingsError("there is no flag --\(name); see --help")
    }
    if parts.count == 2 { return (name, String(parts[1])) }
    guard let value = rest.popFirst() else { throw SettingsError("--\(name) needs a value") }
    return (name, value)
  }

  private func settings(
    file: String?, environment: [String: String], flags: [(name: String, value: String)],
    read: (String) throws(SettingsError) -> File?
  ) throws(SettingsError) -> Settings {
    var result = Settings(self)
    let named = file ?? environment[variable("config")]
    if let file = try read(named ?? defaultFile) {
      try take(file, of: named ?? defaultFile, into: &result)
    } else if let named {
      throw SettingsError("\(named): there is no such file")
    }
    for (name, value) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix + "_") {
      guard name != variable("config") else { continue }
      guard let setting = settings.first(where: { variable($0.name) == name }) else {
        throw SettingsError("\(name): there is no such setting; see --help")
      }
      try result.set(setting.name, to: value, from: .environment(name))
    }
    for (name, value) in flags { try result.set(name, to: value, from: .flag("--" + name)) }
    return result
  }

  private func take(_ file: File, of path: String, into result: inout Settings) throws(SettingsError) {
    for (index, line) in file.contents.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let origin = Settings.Origin.file(path, line: index + 1)
      let text = Self.trimmed(Self.withoutComment(line))
      guard !text.isEmpty else { continue }
      let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { throw SettingsError("\(origin): expected NAME = VALUE") }
      let (name, value) = (String(Self.trimmed(parts[0])), String(Self.trimmed(parts[1])))
      try result.set(name, to: value, from: origin)
      guard let mode = file.openMode, setting(name)?.isSecret(value) == true else { continue }
      throw SettingsError(
        "\(origin): \(name): others can read this file (mode \(String(mode, radix: 8))); run: chmod o-rwx \(path)")
    }
  }

  /// A comment starts a line or follows a space: a relay's address contains a #.
  private static func withoutComment(_ line: Substring) -> Substring {
    var isAfterSpace = true
    for index in line.indices {
      if isAfterSpace, line[index] == "#" { return line[..<index] }
      isAfterSpace = line[index].isWhitespace
    }
    return line
  }

  private static func trimmed(_ text: Substring) -> Substring {
    var text = text
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return text.drop { $0.isWhitespace }
  }
}

// MARK: Help

extension SettingsTable {
  public var help: String {
    var text = "\(program): \(summary)\n\nUsage: \(program) [COMMAND] [FLAGS]\n\nCommands:\n"
    for command in commands { text += row(command.name, command.help) }
    text += "\nFlags:\n"
    for setting in settings {
      let fallback = setting.fallback.map { " [\($0)]" } ?? ""
      text += row("--\(setting.name) \(setting.kind.placeholder)", setting.help + fallback)
    }
    text += row("--config PATH", "file with settings [\(defaultFile), if it exists]")
    text += row("--print-config", "print what is configured, and where, without secrets")
    text += row("--sample-config", "print a file with every setting")
    text += row("--manual", "print the manual, for man -l -")
    text += row("--help", "print this")
    return text + """

      Each flag can also be a line `name = value` of the file, or a variable: --\(settings.first?.name ?? "name") is \
      \(variable(settings.first?.name ?? "name")).
      A variable is stronger than the file, a flag stronger than both.

      """
  }

  private func row(_ left: String, _ right: String) -> String {
    let width = 34
    let padded = left + String(repeating: " ", count: max(1, width - left.count))
    return left.count < width
      ? "  \(padded)\(right)\n" : "  \(left)\n  \(String(repeating: " ", count: width))\(right)\n"
  }
}

// MARK: The process

extension SettingsTable {
  /// The request of the running process.
  public func request() throws(SettingsError) -> Request {
    try request(
      arguments: Array(CommandLine.arguments.dropFirst()), environment: Self.environment(),
      read: { (path) throws(SettingsError) in try Self.contents(of: path) })
  }

  private static func environment() -> [String: String] {
    var result: [String: String] = [:]
    var next = environ
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        result[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return result
  }

  private static func contents(of path: String) throws(SettingsError) -> File? {
    guard let file = fopen(path, "re") else {
      if errno == ENOENT { return nil }
      throw SettingsError("\(path): \(String(cString: strerror(errno)))")
    }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4_096)
    while bytes.count <= 1 << 20 {
      let count = fread(&part, 1, part.count, file)
      if count == 0 { break }
      bytes += part[..<count]
    }
    guard ferror(file) == 0, bytes.count <= 1 << 20 else { throw SettingsError("\(path): cannot be read") }
    var status = stat()
    guard fstat(fileno(file), &status) == 0 else { throw SettingsError("\(path): \(String(cString: strerror(errno)))") }
    // Another user can be of the file's group only if root has arranged that.
    let openMode = status.st_mode & 0o004 == 0 ? nil : UInt32(status.st_mode & 0o777)
    return File(String(decoding: bytes, as: UTF8.self), openMode: openMode)
  }
}
