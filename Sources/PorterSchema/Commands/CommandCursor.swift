import PorterJSON
import PorterPlatform

/// Walks through a command's text. Every failure gives the byte offset and what was expected, and quotes nothing.
struct CommandCursor {
  private let bytes: [UInt8]
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var isAtEnd: Bool { position == bytes.count }

  func failure(_ expected: String) -> ChatError { .nightporter(.commandSyntax(position: position, expected: expected)) }

  /// Skips `literal` if it comes next.
  mutating func skip(_ literal: String) -> Bool {
    guard bytes[position...].starts(with: literal.utf8) else { return false }
    position += literal.utf8.count
    return true
  }

  /// Skips `literal` if it comes next as one or more whole words.
  mutating func skipWord(_ literal: String) -> Bool {
    let end = position + literal.utf8.count
    guard bytes[position...].starts(with: literal.utf8), end == bytes.count || bytes[end] == 0x20 else { return false }
    position = end
    return true
  }

  mutating func expectEnd() throws(ChatError) {
    guard isAtEnd else { throw failure("the command's end") }
  }

  mutating func expectSpace(before what: String) throws(ChatError) {
    guard position < bytes.count, bytes[position] == 0x20 else { throw failure("a space and \(what)") }
    while position < bytes.count, bytes[position] == 0x20 { position += 1 }
  }

  /// Skips a space if something follows it.
  mutating func skipSpace() -> Bool {
    guard position < bytes.count, bytes[position] == 0x20 else { return false }
    while position < bytes.count, bytes[position] == 0x20 { position += 1 }
    return true
  }

  /// A non-negative decimal number.
  mutating func number(_ what: String) throws(ChatError) -> Int64 {
    let digits = bytes[position...].prefix { $0 >= 48 && $0 <= 57 }
    guard let value = Int64(String(decoding: digits, as: UTF8.self)) else { throw failure(what) }
    position = digits.endIndex
    return value
  }

  mutating func spaceAndNumber(_ what: String) throws(ChatError) -> Int64 {
    try expectSpace(before: what)
    return try number(what)
  }

  mutating func numbers(_ what: String) throws(ChatError) -> [Int64] {
    var values = [try number(what)]
    while skip(",") { values.append(try number(what)) }
    return values
  }

  mutating func onOff() throws(ChatError) -> Bool {
    if skipWord("on") { return true }
    if skipWord("off") { return false }
    throw failure("on or off")
  }

  /// ` name=on`, if it comes next.
  mutating func onOffOption(_ name: String) throws(ChatError) -> Bool? {
    guard skip(" \(name)=") else { return nil }
    return try onOff()
  }

  /// The text up to the next space or the end.
  mutating func word(_ what: String) throws(ChatError) -> String {
    let word = bytes[position...].prefix { $0 != 0x20 }
    guard !word.isEmpty else { throw failure(what) }
    position = word.endIndex
    return String(decoding: word, as: UTF8.self)
  }

  mutating func spaceAndWord(_ what: String) throws(ChatError) -> String {
    try expectSpace(before: what)
    return try word(what)
  }

  /// A word whose value `read` parses; a failure points at its first byte.
  mutating func word<Value>(_ what: String, _ read: (String) -> Value?) throws(ChatError) -> Value {
    try expectSpace(before: what)
    let start = position
    let text = try word(what)
    guard let value = read(text) else {
      position = start
      throw failure(what)
    }
    return value
  }

  mutating func base64URL(_ what: String, _ sizes: ClosedRange<Int>) throws(ChatError) -> [UInt8] {
    try word("\(what), base64url") { text in
      TextEncoding.base64URLDecoded(text).flatMap { sizes.contains($0.count) ? $0 : nil }
    }
  }

  mutating func rest() -> String {
    defer { position = bytes.count }
    return String(decoding: bytes[position...], as: UTF8.self)
  }

  mutating func nonEmptyRest(_ what: String) throws(ChatError) -> String {
    guard !isAtEnd else { throw failure(what) }
    return rest()
  }

  /// The rest, as JSON.
  mutating func json(_ what: String) throws(ChatError) -> JSONValue {
    do {
      let value = try JSONValue(parsing: Array(bytes[position...]))
      position = bytes.count
      return value
    } catch {
      position += error.offset
      throw failure("\(what) as JSON (\(error.reason.rawValue))")
    }
  }

  mutating func spaceAndJSON(_ what: String) throws(ChatError) -> JSONValue {
    try expectSpace(before: "\(what) as JSON")
    return try json(what)
  }

  /// The rest, as a JSON string.
  mutating func jsonText(_ what: String) throws(ChatError) -> SecretText {
    try expectSpace(before: "\(what) as a JSON string")
    let start = position
    guard let text = try json(what).stringValue else {
      position = start
      throw failure("\(what) as a JSON string")
    }
    return SecretText(text)
  }

  /// A name, quoted with `'` if it contains spaces.
  mutating func name(_ what: String) throws(ChatError) -> String {
    guard skip("'") else { return try word(what) }
    let name = bytes[position...].prefix { $0 != UInt8(ascii: "'") }
    guard !name.isEmpty, name.endIndex < bytes.count else { throw failure("\(what) and a closing '") }
    position = name.endIndex + 1
    return String(decoding: name, as: UTF8.self)
  }

  mutating func chatReference() throws(ChatError) -> ChatReference {
    try expectSpace(before: "a conversation: @id, #id, *id or :id")
    if skip("@") { return .contact(try number("a contact's id")) }
    if skip(":") { return .pendingConnection(try number("a connection's id")) }
    if skip("*") { return .noteFolder(try number("a folder's id")) }
    guard skip("#") else { throw failure("a conversation: @id, #id, *id or :id") }
    let group = try number("a group's id")
    // A thread inside a group: its identity does not matter, since there are no groups.
    if skip("(_support") {
      if skip(":") { _ = try number("a member's id") }
      guard skip(")") else { throw failure(")") }
    }
    return .group(group)
  }

  mutating func deviceToken() throws(ChatError) -> DeviceToken {
    let providers = PushProvider.allCases.map(\.rawValue).joined(separator: ", ")
    let provider = try word("a provider (\(providers))", PushProvider.init(rawValue:))
    let token = try word("a device token in lower-case hexadecimal") { text -> String? in
      if provider == .null && text == DeviceToken.nullToken { return text }
      if provider == .webPush {
        guard text.utf8.count <= 2 * WebPushAddress.longest else { return nil }
        return TextEncoding.hexDecoded(text).flatMap(WebPushAddress.init(bytes:)).map { _ in text }
      }
      // APNs guarantees no length; currently tokens have 32 bytes.
      guard text.utf8.count <= 512, TextEncoding.hexDecoded(text) != nil else { return nil }
      return text
    }
    return DeviceToken(provider: provider, token: token)
  }
}

extension DeviceToken {
  /// The only token of the provider that reaches nothing.
  package static let nullToken = "test_ntf_token"
}

// MARK: - Members

extension CommandCursor {
  /// The object's members, which must all have these names: a member that no rule reads would be lost.
  func members(of json: JSONValue, _ names: [String]) throws(ChatError) -> JSONObject {
    guard case .object(let object) = json else { throw failure("an object") }
    guard object.members.allSatisfy({ names.contains($0.name) }) else {
      throw failure("no members but \(names.joined(separator: ", "))")
    }
    return object
  }

  /// A member that may be missing or null, but not of another type.
  func optional<Value>(
    _ object: JSONObject, _ name: String, _ expected: String, _ read: (JSONValue) -> Value?
  ) throws(ChatError) -> Value? {
    guard let value = object[name], value != .null else { return nil }
    guard let read = read(value) else { throw failure("\(name): \(expected)") }
    return read
  }
}
