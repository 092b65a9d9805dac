import PorterJSON

extension Command {
  /// The longest command accepted, in bytes. A message holds 16 KB, several may be sent at a time, and JSON escapes
  /// some bytes as six.
  package static let maximumBytes = 262_144

  /// Parses a command. Ignores trailing spaces and line ends. Throws a `ChatError`, whose text gives the position and
  /// what was expected, and never quotes the command, because it may contain a password or a link.
  package init(parsing text: String) throws(ChatError) {
    var bytes = Array(text.utf8)
    guard bytes.count <= Self.maximumBytes else {
      throw .nightporter(.commandTooLarge(bytes: bytes.count, limit: Self.maximumBytes))
    }
    while let last = bytes.last, last == 0x20 || (0x09...0x0d).contains(last) { bytes.removeLast() }
    var cursor = CommandCursor(bytes)
    self = try Self.read(&cursor)
    try cursor.expectEnd()
  }

  private static func read(_ cursor: inout CommandCursor) throws(ChatError) -> Command {
    if cursor.skip("@") { return try sendByName(&cursor) }
    for rule in grammar where cursor.skipWord(rule.words) { return try rule.read(&cursor) }
    throw cursor.failure("a command")
  }

  struct Rule: Sendable {
    let words: String
    let read: @Sendable (inout CommandCursor) throws(ChatError) -> Command

    init(_ words: String, _ read: @escaping @Sendable (inout CommandCursor) throws(ChatError) -> Command) {
      self.words = words
      self.read = read
    }

    /// A known but unsupported part of the interface.
    init(_ words: String, absent what: NightporterError.StaticText) {
      self.words = words
      read = { (_: inout CommandCursor) throws(ChatError) in throw .nightporter(.notSupported(what)) }
    }

    /// A command without arguments.
    init(_ words: String, _ command: Command) {
      self.words = words
      read = { (_: inout CommandCursor) throws(ChatError) in command }
    }
  }

  /// Longer rules come before their prefixes: the first match is taken, and reports all errors after it.
  private static let grammar: [Rule] = absentBeginnings + presentRules + absentRules

  static let presentRules: [Rule] =
    userRules + lifecycleRules + notificationRules + itemRules + chatRules + contactRules + addressRules + callRules
    + settingsRules

  /// Come before `/_delete` and `/_accept`, which are their prefixes.
  private static let absentBeginnings: [Rule] = [
    Rule("/_delete member item", absent: "groups"),
    Rule("/_delete link", absent: "groups"),
    Rule("/_accept member", absent: "groups"),
  ]

  /// Distinguished from typing errors, and last, because some are prefixes of supported commands.
  private static let absentRules: [Rule] =
    [
      Rule("/_db export", absent: "archives"),
      Rule("/_db import", absent: "archives"),
      Rule("/_get item info", absent: "versions of messages"),
      Rule("/_get items", absent: "messages of all conversations"),
      Rule("/_set receipts groups", absent: "groups"),
      Rule("/freceive", absent: "files"),
      Rule("/fcancel", absent: "files"),
      Rule("/_set_file_to_receive", absent: "files"),
      Rule("/_set accept member contacts", absent: "groups"),
    ] + groupCommands.map { Rule($0, absent: "groups") }

  private static let groupCommands = [
    "/_group", "/_group_profile", "/_public group", "/_get relays", "/_get link", "/_add relays", "/_add",
    "/_relay allow", "/_join", "/_member", "/_members", "/_block", "/_remove", "/_leave", "/_create link",
    "/_set link role", "/_create member contact", "/_invite member contact",
  ]
}
